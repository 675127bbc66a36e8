"""A real Chromium, driven over its DevTools protocol by pipe, with the standard library alone.

Messages are JSON objects that end with a zero byte; Chromium reads them from its descriptor 3 and
answers at 4. An answer has the number of what it answers, everything else is an event. Nothing
waits for a time: a call returns when its answer has come, a page is open when it says so.
"""

import fcntl
import json
import os
import shutil
from contextlib import contextmanager, suppress

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-extensions", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip


def find_browser():
    """Return the program, or skip the test: ``GBT_REQUIRE_BROWSER=1`` makes that a failure."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = "no Chromium is installed (Debian and Ubuntu: apt-get install chromium)"
        if os.environ.get("GBT_REQUIRE_BROWSER") == "1":
            pytest.fail(f"GBT_REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(reason)
    return found


class Browser:
    """One page of a browser that runs."""

    def __init__(self, answers, questions):
        self._answers, self._questions = answers, questions
        self._unread, self._n_calls, self._session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """Call a method and return its result."""
        self._n_calls += 1
        message = {"id": self._n_calls, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._questions, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._n_calls:
                assert "error" not in answer, f"{method}: {answer}"
                return answer["result"]

    def open(self, path, width=1200, height=900, dark=False, script=True):
        """Open a file and wait until it is loaded; forget events of earlier pages."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 700,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not self.named("Page.loadEventFired"):
            self._read()
        return self

    def named(self, method):
        """Return the parameters of all events of a name since the page was opened."""
        return [event["params"] for event in self.events if event["method"] == method]

    def run(self, expression):
        """Return the value of an expression of the page's language."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, selector, key="Enter"):
        """Give an element the focus and press a key on it."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        code = {"Enter": 13, "Tab": 9}[key]
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                **({"text": "\r"} if (key, kind) == ("Enter", "keyDown") else {}),
            )  # fmt: skip

    def enter(self, selector, text, event="input"):
        """Write into an input and tell the page."""
        self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            f" e.value = {json.dumps(text)}; e.dispatchEvent(new Event('{event}')); }})()"
        )

    def complaints(self):
        """Return errors and warnings of the console, exceptions, and failed requests."""
        return [
            *self.named("Runtime.exceptionThrown"),
            *self.named("Runtime.consoleAPICalled"),
            *self.named("Log.entryAdded"),
        ]

    def requests(self):
        """Return the addresses that the page asked for."""
        return [event["request"]["url"] for event in self.named("Network.requestWillBeSent")]

    def _read(self):
        """Return the next message; keep it if it is an event."""
        while b"\0" not in self._unread:
            more = os.read(self._answers, 1 << 20)
            assert more, "Chromium has ended"
            self._unread += more
        text, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message


@contextmanager
def started(folder):
    """Start a browser whose files are in a folder, and end it at last."""
    program = find_browser()
    # Chromium's ends must not be 3 or 4 before they are put there.
    to_read, questions = os.pipe()
    answers, to_write = os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
    os.close(to_read)
    os.close(to_write)
    quiet = os.open(os.devnull, os.O_RDWR)
    actions = [
        *((os.POSIX_SPAWN_DUP2, theirs[k], 3 + k) for k in (0, 1)),
        *((os.POSIX_SPAWN_DUP2, quiet, k) for k in (0, 1, 2)),
    ]
    arguments = [program, *FLAGS, f"--user-data-dir={folder}"]
    process = os.posix_spawn(program, arguments, os.environ, file_actions=actions)
    for end in (*theirs, quiet):
        os.close(end)
    try:
        browser = Browser(answers, questions)
        yield browser
        browser._session = None
        with suppress(AssertionError, BrokenPipeError):
            browser.call("Browser.close")
    finally:
        os.close(questions)  # Chromium ends when nobody can ask it any more
        os.close(answers)
        os.waitpid(process, 0)
