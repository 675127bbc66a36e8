"""The example of docs/testing.md does what the page says."""

import re
from pathlib import Path

import pytest
from hypothesis import settings

from attributions.testing import check_missing_values, ensembles
from tests.conftest import PROFILE

PAGE = (Path(__file__).parents[2] / "docs/testing.md").read_text()


@pytest.fixture(scope="module")
def page():
    """Run the page's programs, one after the other, and return what they define."""
    names = {}
    for program in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        # No path: Hypothesis would read the page for the source of a test, and fails from 3.13 on.
        exec(compile(program, "a program of the page", "exec"), names)
    return names


def test_the_new_attribution_has_thirty_lines_at_most():
    programs = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[:2]
    assert sum(bool(line.strip()) for program in programs for line in program.splitlines()) <= 30


def test_the_drawn_example_is_true(page):
    page["test_leaves_of_a_path_are_where_shares_end"]()


@pytest.mark.slow
def test_the_failure_reads_as_on_the_page(page):
    """But for the numbers, which depend on what Hypothesis tries first."""
    settings.register_profile("page", max_examples=500, deadline=None, derandomize=True)
    settings.load_profile("page")
    try:
        with pytest.raises(AssertionError) as failure:
            check_missing_values(page["walked"], models=ensembles(max_trees=1, max_depth=2))
    finally:
        settings.load_profile(PROFILE)
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
    assert without_numbers(str(failure.value)) == without_numbers(shown)


def without_numbers(text):
    """Leave words and the shape of the tree."""
    words = re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "#", text.strip())
    words = words.replace("missing left", "missing right").replace("x#", "#")
    return [re.sub(r"  +", "  ", line.strip()) for line in words.splitlines()]
