"""The report in a real browser: sorting, finding, single rows, colours, and no request to anywhere.

Skipped with the reason where no Chromium is installed; see ``tests.browser``.
"""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from attributions.command import run
from attributions.command.run import main
from attributions.plots.colors import contrast
from tests.attributions.command.tables import HOSTILE, columns, explored, write_csv
from tests.browser import started

FEATURES = "document.querySelector('#features')"
ROWS = "[...document.querySelectorAll('#features tbody tr')]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


run_fit = run.fit
FEW_COLUMNS = {
    "splitter": "greedy", "n_estimators": 400, "learning_rate": 0.01, "max_depth": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of words, gaps, noise and a hostile name, of more rows than can be looked at."""
    folder = tmp_path_factory.mktemp("report")
    table = columns(600)
    table[HOSTILE[0]] = np.random.default_rng(3).normal(size=600).round(3)
    path, out = write_csv(folder / "table.csv", table), folder / "out.html"
    options = ["--data", path, "--target", "y", "--drop", "amount", "--report", out]
    with pytest.MonkeyPatch.context() as patch:  # trees that use two columns of five
        patch.setattr(run, "fit", lambda task, parameters: run_fit(task, FEW_COLUMNS))
        assert main([*map(str, options)]) == 0
    return out


def column(browser, place, attribute="textContent"):
    """Return what a column of the table of features holds, from top to bottom."""
    return browser.run(f"{ROWS}.map((row) => row.cells[{place}].{attribute})")


def test_nothing_is_asked_for_and_nothing_complained_of(browser, report):
    for options in ({}, {"width": 375}, {"dark": True}, {"script": False}):
        browser.open(report, **options)
        assert browser.complaints() == []
        assert browser.requests() == [report.resolve().as_uri()]


def test_a_script_that_is_not_the_pages_own_does_not_run(browser, report, tmp_path):
    """The page's policy names its script: one that got in otherwise would be refused."""
    planted = tmp_path / "planted.html"
    text = report.read_text(encoding="utf-8")
    planted.write_text(text.replace("</main>", "<script>window.bad = 1</script></main>"))
    browser.open(planted)
    assert browser.run("window.bad === undefined")
    assert browser.complaints() != []  # and that is how complaints look


def test_every_column_sorts_both_ways_and_unused_features_stay_last(browser, report):
    browser.open(report)
    headings = browser.run(f"[...{FEATURES}.tHead.rows[0].cells].map((h) => h.textContent)")
    assert len(headings) == 7
    n_used = column(browser, 1).index("not used")
    assert n_used == 2  # two decide, three do not
    values = [float(v) for v in column(browser, 2, "dataset.value")]
    assert values[:2] == sorted(values[:2], reverse=True)  # so the page comes
    for place, heading in enumerate(headings):
        button = f"#features th:nth-child({place + 1}) button"
        seen = set()
        for _ in range(2):
            browser.press(button)
            order = browser.run(f"{FEATURES}.tHead.rows[0].cells[{place}].ariaSort")
            seen.add(order)
            if place < 2:
                values = [text.lower() for text in column(browser, place)]
            else:
                values = [float(v) for v in column(browser, place, "dataset.value")]
            used = values[:n_used]
            assert used == sorted(used, reverse=order == "descending"), heading
            assert column(browser, 1)[n_used:] == ["not used"] * 3
            sorts = browser.run(f"[...{FEATURES}.tHead.rows[0].cells].map((h) => h.ariaSort)")
            assert sorts.count("none") == 6
        assert seen == {"ascending", "descending"}


def test_a_feature_is_found_by_its_name(browser, report):
    browser.open(report)
    browser.enter("#find-feature", "SCRIPT")
    shown = browser.run(
        f"{ROWS}.filter((r) => r.offsetHeight > 0).map((r) => r.cells[0].textContent)"
    )
    assert shown == [HOSTILE[0]]
    assert browser.run("document.querySelector('#found').textContent") == "1 of 5"
    browser.enter("#find-feature", "")
    assert browser.run(f"{ROWS}.filter((r) => r.offsetHeight > 0).length") == 5


BEGINS = "[...document.querySelectorAll('.move')].map((m) => +m.style.getPropertyValue('--from'))"


def shown_row(browser):
    """Return the caption and the cells of the row that is shown."""
    caption = browser.run("document.querySelector('#row-caption').textContent")
    cells = browser.run(
        "[...document.querySelectorAll('#row-table tbody tr')]"
        ".map((r) => [...r.cells].map((c) => c.textContent))"
    )
    return caption, cells


def test_a_row_is_found_and_its_moves_add_up(browser, report):
    told = explored(report.read_text(encoding="utf-8"))
    rows = told["rows"]
    browser.open(report)
    for place in (0, 70, len(rows) - 1):
        number, _, predicted, truth, features, others = rows[place]
        browser.enter("#find-row", str(number), "change")
        caption, cells = shown_row(browser)
        assert caption == f"Row {number}: predicted {predicted}; in truth {truth}"
        assert browser.run("document.querySelector('#row').selectedIndex") == place
        assert len(cells) == len(features) + 3  # start, the others, the prediction
        log_odds = [
            float(line[2].replace("\N{MINUS SIGN}", "-").replace(",", "")) for line in cells
        ]
        share = float(re.match(r"[\d.]+", predicted)[0]) / 100
        assert abs(1 / (1 + np.exp(-log_odds[-1])) - share) < 2e-3
        assert abs(sum(log_odds[:-1]) - log_odds[-1]) < 0.02
        for line, (_, _, moved, helped) in zip(cells[1:-2], features, strict=True):
            assert line[2].startswith("+") == (moved > 0)
            assert line[3].startswith("helped") == (helped > 0)
        sums = np.cumsum([told["base"], *(moved for _, _, moved, _ in features), others[0]])
        ends = (sums - sums.min()) / np.ptp(sums)  # a bar begins where the one above it ends
        begins = np.concatenate([ends[:1], np.minimum(ends[:-1], ends[1:]), ends[-1:]])
        np.testing.assert_allclose(browser.run(BEGINS), begins, atol=1e-6)


def test_amounts_are_written_alike_wherever_they_stand(browser, tmp_path):
    table, page = columns(60), tmp_path / "a.html"
    path = write_csv(tmp_path / "a.csv", {"x": table["x"], "y": -1e5 * table["amount"]})
    assert main(["--data", str(path), "--target", "y", "--report", str(page)]) == 0
    browser.open(page)
    caption, cells = shown_row(browser)
    assert re.search(r"in truth -?\d+,\d{3}$", caption)
    assert f"predicted {cells[-1][2].replace(chr(0x2212), '-')};" in caption


def test_rows_are_walked_through(browser, report):
    rows = explored(report.read_text(encoding="utf-8"))["rows"]
    browser.open(report)
    assert shown_row(browser)[0].startswith(f"Row {rows[0][0]}:")
    assert browser.run("document.querySelector('#previous').disabled")
    browser.press("#next")
    assert shown_row(browser)[0].startswith(f"Row {rows[1][0]}:")
    browser.press("#previous")
    assert shown_row(browser)[0].startswith(f"Row {rows[0][0]}:")
    browser.enter("#find-row", "100000", "change")
    said = browser.run("document.querySelector('#row-status').textContent")
    assert said == "Row 100000 is not among the 200 rows that can be looked at."
    groups = browser.run("[...document.querySelectorAll('#row optgroup')].map((g) => g.label)")
    assert groups == [*dict.fromkeys(row[1] for row in rows)]


def test_everything_but_sorting_and_single_rows_is_there_without_a_script(browser, report):
    browser.open(report, script=False)
    layout = browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])
    (document,) = layout["documents"]
    drawn = {layout["strings"][n] for n in document["layout"]["text"] if n >= 0}
    assert {"helps", "not used", "What the words mean"} <= drawn
    assert any("This part needs JavaScript" in line for line in drawn)
    assert not any("Find a feature" in line for line in drawn)


def test_the_first_screen_is_the_answer(browser, report):
    browser.open(report, width=1200, height=900)
    for selector in ("#summary li:last-child", "#summary figcaption"):
        bottom = f"document.querySelector('{selector}').getBoundingClientRect().bottom"
        assert browser.run(bottom) < 900
    browser.open(report, width=360, height=740)
    bottom = "document.querySelector('#summary figure svg').getBoundingClientRect().bottom"
    assert browser.run(bottom) < 740


def test_pictures_are_dark_on_dark_screens(browser, report):
    """Their paper is the page's, and their letters can be read on it."""
    browser.open(report, dark=True)
    box = browser.run(
        "(() => { const b = document.querySelector('figure svg').getBoundingClientRect();"
        " return {x: b.x, y: b.y, width: b.width, height: b.height, scale: 1}; })()"
    )
    shot = browser.call("Page.captureScreenshot", clip=box)
    pixels = np.asarray(Image.open(BytesIO(b64decode(shot["data"]))).convert("RGB"))
    colors, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    paper = colors[counts.argmax()]
    assert paper.tolist() == [0x16, 0x18, 0x1B]
    assert max(contrast(color / 255, paper / 255) for color in colors) > 10
    blue = colors[(colors[:, 2] > 100) & (colors[:, 2] > 1.5 * colors[:, 0])]  # of what helps
    assert max(contrast(color / 255, paper / 255) for color in blue) > 4.5


@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_is_not_wider_than_the_screen(browser, report, width):
    browser.open(report, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    # nor is a word of a picture cut off by its edge
    outside = browser.run(
        "[...document.querySelectorAll('figure svg')].flatMap((s) => {"
        " const b = s.getBoundingClientRect();"
        " return [...s.querySelectorAll('text')].filter((t) => {"
        " const r = t.getBoundingClientRect();"
        " return r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1"
        " || r.bottom > b.bottom + 1; }).map((t) => t.textContent); })"
    )
    assert outside == []


@pytest.mark.slow
def test_the_page_is_read_aloud_with_names(browser, report):
    """Every control, picture and region has a name in what a screen reader is given."""
    browser.open(report)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {"button", "combobox", "searchbox", "spinbutton", "image", "region", "table", "link"}
    roles = {}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in named and not node.get("ignored"):
            roles.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert {"button", "combobox", "searchbox", "spinbutton", "image", "table"} <= set(roles)
    assert all(name.strip() for names in roles.values() for name in names)
    assert any("share of total gain" in name for name in roles["image"])
