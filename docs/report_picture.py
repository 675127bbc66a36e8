"""The picture of the report in README: its first screen, as a browser shows it.

    python -m docs.report_picture    writes docs/report.png; needs Chromium and Pillow

The report is that of the demonstration, ``python -m attributions --report report.html``.
"""

from base64 import b64decode
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from attributions.command.run import main
from tests.browser import started

WIDTH, MARGIN = 1000, 16
N_COLORS = 32  # of letters and lines there are few, and the file stays small


def first_screen(report, folder):
    """Return what a report says first, as PNG."""
    with started(folder) as browser:
        browser.open(report, width=WIDTH)
        end = browser.run("document.querySelector('#summary').getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": end + MARGIN}
        shot = browser.call(
            "Page.captureScreenshot", captureBeyondViewport=True, clip=clip | {"scale": 1}
        )
    return b64decode(shot["data"])


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.html")
        main(["--report", str(report)])
        picture = Image.open(BytesIO(first_screen(report, Path(folder, "profile"))))
        path = Path(__file__).with_name("report.png")
        picture.convert("RGB").quantize(N_COLORS).save(path, optimize=True)
