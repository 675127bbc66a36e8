"""Which tests run, and on how many drawn examples.

``python -m pytest`` runs the core set: every promise is checked, each in its cheapest way. Tests
marked ``slow`` hold the same promises on more cases; ``python -m pytest --runslow`` runs them too.
Tests marked ``nightly`` are run in the Hypothesis profile of that name only. What is left out is
counted as deselected, and the last lines say how to run it.

``.ci/run`` runs tests in several environments. ``--note-passed FILE`` notes which tests passed, and
with which versions of other packages. ``--passed FILE`` leaves these out where the versions are the
same, but for tests that draw examples, as another profile draws others. ``--with-peers`` leaves out
what does not reach another library (``tests.with_peers``).

Where no files are named, the tests run in two processes (pytest-xdist; ``-n 0`` keeps them in one).
What both need compiled is compiled before they start, see ``tests.first_calls``.

Hypothesis profiles are chosen by the environment variable HYPOTHESIS_PROFILE. The default,
``plain``, tries few examples, the same ones every time; ``dev`` and ``ci`` look further. There is
no deadline anywhere: the first example compiles kernels and takes seconds.
"""

import json
import os
import warnings
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from gbt.kernels.platform.compiling import IS_COMPILING
from tests.asserts import peer
from tests.first_calls import compile_in_two_processes
from tests.with_peers import compares_with_peers

os.environ.setdefault("MPLBACKEND", "agg")  # pictures are drawn without a window
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.register_profile("plain", max_examples=5, deadline=None, derandomize=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "plain")
settings.load_profile(PROFILE)

LEFT_OUT = pytest.StashKey[int]()
DESELECTED = pytest.StashKey[int]()


def pytest_addoption(parser):
    """Add the option by which slow tests run, and those by which a run carries on from another."""
    parser.addoption("--runslow", action="store_true", help="run the tests marked slow, too")
    parser.addoption("--with-peers", action="store_true", help="run those that need peers alone")
    parser.addoption("--note-passed", metavar="FILE", help="write down the tests that passed")
    parser.addoption("--passed", metavar="FILE", help="leave out tests that passed before")


class NotePassed:
    """Writes the names of tests that passed into a file, and the versions of what is installed."""

    def __init__(self, path):
        self.path, self.names = Path(path), []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.names.append(report.nodeid)

    def pytest_sessionfinish(self):
        self.path.write_text(json.dumps({"versions": versions(), "passed": self.names}))


def versions():
    """Return the version of every package that is installed."""
    return {distribution.name: distribution.version for distribution in distributions()}


def passed_before(path):
    """Return the names of tests that passed, none if what they ran with is installed otherwise."""
    if not Path(path).exists():
        return set()
    noted = json.loads(Path(path).read_text())
    return set(noted["passed"]) if noted["versions"].items() <= versions().items() else set()


def draws_examples(item):
    """Say whether what a test looks at depends on the profile of Hypothesis."""
    return getattr(item.obj, "is_hypothesis_test", False) or hasattr(item.module, "PROFILE")


def pytest_configure(config):
    """Note what passes where reports come together: in the process that starts the others."""
    if config.getoption("--note-passed") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NotePassed(config.getoption("--note-passed")))


def pytest_xdist_auto_num_workers(config):
    """Run all tests in two processes, and those of files or folders that are named in one."""
    return 2 if config.args_source == pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_xdist_setupnodes(config):
    """Compile before the two processes start, so that they do not both compile the same.

    A run that carries on from another finds what that one has compiled.

    Threads of OpenMP, which peers and scikit-learn's histograms use, spin while they wait for each
    other. Where processes share cores they spin in place of those they wait for: three fits of 300
    rows have taken 45 seconds, and 0.2 with threads that sleep.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if IS_COMPILING and not config.getoption("--passed"):
        compile_in_two_processes()


def pytest_collection_modifyitems(config, items):
    """Leave out what is slow or nightly, in sight: pytest counts these tests as deselected."""
    left_out = set()
    if PROFILE != "nightly":
        left_out.add("nightly")
    if not config.getoption("--runslow"):
        left_out.add("slow")
    passed = passed_before(path) if (path := config.getoption("--passed")) else set()
    kept, deselected = [], []
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        is_left_out = (
            bool(marks & left_out)
            or (item.nodeid in passed and not draws_examples(item))
            or (config.getoption("--with-peers") and not compares_with_peers(item))
        )
        (deselected if is_left_out else kept).append(item)
    # The house first: at the end, its longest test would keep one process busy and the other idle.
    items[:] = sorted(kept, key=lambda item: "house" not in item.path.parts)
    config.hook.pytest_deselected(items=deselected)
    config.stash[LEFT_OUT] = sum(item.get_closest_marker("slow") is not None for item in deselected)
    config.stash[DESELECTED] = len(deselected)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Begin NumPy's own stream anew: a fit without ``random_state`` draws its seed from that."""
    np.random.seed(0)  # noqa: NPY002  the stream itself is wanted


def pytest_sessionfinish(session):
    """Let a process that runs tests tell the one that prints, which has not collected any."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = [
            config.stash.get(key, 0) for key in (LEFT_OUT, DESELECTED)
        ]


def pytest_testnodedown(node):
    """Count once what was left out, as each process has left out the same."""
    stash, told = node.config.stash, getattr(node, "workeroutput", {}).get("left_out")
    if told and LEFT_OUT not in stash:
        stash[LEFT_OUT], n_deselected = told
        node.config.hook.pytest_deselected(items=[SimpleNamespace()] * n_deselected)


def pytest_terminal_summary(terminalreporter, config):
    """Say that there is more to run."""
    count = config.stash.get(LEFT_OUT, 0)
    if count and not config.getoption("--runslow"):
        terminalreporter.write_line(f"{count} slow tests were left out: --runslow runs them too")


@pytest.fixture(scope="module")
def worker_processes():
    """Return a client of Dask whose cluster is two worker processes of one thread each."""
    distributed = peer("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
