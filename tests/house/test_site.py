"""What checks the site notices what is wrong with one, and the site names all that is public."""

import re
from pathlib import Path

import pytest

import attributions
import gbt
from attributions import testing
from tests.site import faults

DOCS = Path(__file__).parents[2] / "docs"
INDEX = 'Search.setIndex({"terms": {"tree_inn": 0, "nois": 1, "categori": [0, 1]}})'
GOOD = '<h1 id="top">One</h1><a href="two.html#part">two</a><a href="#top">up</a>'
OTHER = (
    '<p id="part"></p><a href="https://arxiv.org">a paper</a><img src="data:image/gif;base64,R">'
)


def write(folder, page=GOOD, index=INDEX):
    (folder / "one.html").write_text(page)
    (folder / "two.html").write_text(OTHER)
    (folder / "searchindex.js").write_text(index)
    return faults(folder)


def test_a_good_site_has_no_faults(tmp_path):
    assert write(tmp_path) == []


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="three.html">', "one.html links to three.html, which is not there"),
        ('<a href="two.html#no">', "one.html links to two.html#no, a page without that part"),
        ('<a href="#no">', "one.html links to #no, a page without that part"),
        ('<img src="picture.png">', "one.html links to picture.png, which is not there"),
        ('<script src="https://a.b/c.js">', "one.html fetches https://a.b/c.js"),
        ('<link rel="stylesheet" href="//a.b/c.css">', "one.html fetches //a.b/c.css"),
    ],
)
def test_a_fault_is_noticed(tmp_path, page, fault):
    assert write(tmp_path, page=GOOD + page) == [fault]


def test_words_that_cannot_be_found_are_noticed(tmp_path):
    found = write(tmp_path, index=INDEX.replace("nois", "nose"))
    assert found == ["the search does not know 'noise'"]


def test_an_empty_site_is_noticed(tmp_path):
    assert len(faults(tmp_path)) == 4


def test_the_reference_has_every_public_name():
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api/index.md").read_text(), flags=re.MULTILINE)
    public = {*gbt.__all__, *attributions.__all__, *attributions.plots.__all__, *testing.__all__}
    constants = {name for name in public if name.isupper()}
    assert public - constants - {"plots"} <= set(listed)
