"""How many of the peers' tests stop at a feature that is there now."""

from importlib.util import find_spec

from tests.peers import FEATURES


def test_what_is_there_has_a_module_of_tests():
    there = {feature: where for feature, (_, where) in FEATURES.items() if where}
    assert [feature for feature, where in there.items() if find_spec(where) is None] == []


def test_the_count():
    """184 of the 275 say where they stopped."""
    assert sum(n for n, _ in FEATURES.values()) == 184
    assert sum(n for n, where in FEATURES.values() if where) == 154
