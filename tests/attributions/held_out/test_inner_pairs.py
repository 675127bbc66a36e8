"""What features earned below splits on others: by hand, by definition, adding up to the whole."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from attributions import LocalPairAttribution, PairAttribution, tree_inner, tree_inner_pairs
from attributions.testing import judged
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_inner import fitted_rows
from tests.tree_cases import ensemble_of, tree_of


def a_chain():
    """Return the tree of the drawing in the kernel's module, with values 0, 1, 3, 7 going down.

    a splits on 2 at 0, b on 0 at 0, c on 2 at -1; all go left to go on.
    """
    return tree_of(
        feature=[2, 0, 2, -1, -1, -1, -1], threshold=[0, 0, -1, 0, 0, 0, 0],
        left=[1, 2, 3, -1, -1, -1, -1], right=[6, 5, 4, -1, -1, -1, -1],
        value=[0, 1, 3, 7, 3.5, 1.25, -2],
    )  # fmt: skip


def test_a_chain_by_hand():
    ensemble = ensemble_of([a_chain()], 3, learning_rate=0.5)
    X = np.array([[-1.0, 0, -2], [-1, 0, -0.5], [1, 0, -2], [0, 0, 3]])
    y = np.array([1.0, 2, 4, 8])

    result = tree_inner_pairs(ensemble, X, y)

    # -g = y and alpha = 1/2. To 2 alone: 1, 1, 1, -2 times y; to 0 below 2: 2, 2, 1/4, 0;
    # to 2 below 0: 4, 1/2, 0, 0.
    assert_same(result.matrix(), [[0, 0, 2 * (2 + 4 + 1)], [0] * 3, [2 * (4 + 1), 0, 2 * -9.0]])
    assert_same(result.importance(), [14, 0, -8])
    assert_same(result.pairs, [[0, 2], [2, 0], [2, 2]])
    assert (result["x0", "x2"], result["x0", "x0"]) == (14, 0)
    assert list(result) == [("x0", "x2"), ("x2", "x0"), ("x2", "x2")]
    assert [result[pair] for pair in result] == [14, 10, -18]
    # 8, 2, 0, 0 about 2.5: 30.25 + .25 + 6.25 + 6.25 = 43, times 4 / 3.
    assert_close(result.standard_error[1], np.sqrt(4 / 3 * 43), 8)
    assert len(result) == 3
    assert result.n_samples == 4


def test_what_was_earned_below_two_is_shared():
    tree = a_chain()
    tree.feature[2] = 1
    ensemble = ensemble_of([tree], 3)
    result = tree_inner_pairs(ensemble, np.array([[-1.0, -2, -2]]), np.array([1.0]))
    assert_same(result.matrix(), [[0, 0, 2], [2, 0, 2], [0, 0, 1]])
    assert result.standard_error is None


@given(case=judged())
def test_steps_of_saabas_add_up_as_well(case):
    rows = {"X": case.X, "y": case.y, "ifa": "saabas", "sample_weight": case.weight}
    whole = tree_inner(case.ensemble, **rows).values
    assert_close(tree_inner_pairs(case.ensemble, **rows).importance(), whole, case.terms)


def test_only_splits_have_others_above():
    ensemble, X, y = fitted_rows(20)
    for ifa in ("tree_shap", lambda ensemble, m, X: np.zeros(X.shape)):
        with pytest.raises(ValueError, match=r"cannot say below which.*'saabas'"):
            tree_inner_pairs(ensemble, X, y, ifa=ifa)


def result_of():
    return PairAttribution(
        values=np.array([1.0, -2.0, 4.0]), standard_error=np.array([0.5, 1.0, 1.0]),
        pairs=np.array([[0, 1], [1, 1], [2, 0]]), n_samples=7, feature_names=("a", "b", "c"),
        method="tree_inner_pairs(predecomp)",
    )  # fmt: skip


def test_the_table():
    result = result_of()
    assert repr(result).splitlines() == [
        "tree_inner_pairs(predecomp), 3 pairs, sum over 7 rows",
        "  rank  feature  below         value  standard error",
        "     1  c        a            4.0000          1.0000",
        "     2  a        b            1.0000          0.5000",
        "     3  b        (no other)  -2.0000          1.0000",
    ]
    frame = result.to_frame()
    assert [*frame["feature"]] == ["c", "a", "b"]
    assert [*frame["below"][:2]] == ["a", "b"]
    assert frame["below"].isna()[2]
    assert [*frame["standard_error"]] == [1.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="asked for by two names; got 'a'"):
        result["a"]
    with pytest.raises(ValueError, match="No feature is called 'd'"):
        result["a", "d"]


def test_the_picture():
    from matplotlib import pyplot

    display = result_of().plot()
    areas = display.squares_.get_sizes()
    # Features by their largest square: a (4, with c), c, b (2). (a, b), (c, a), (b, b) row by row.
    assert_close(areas / areas[0], [1, 4, 2], 4)
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert [label.get_text() for label in axis.get_ticklabels()] == ["a", "c", "b"]
    values = np.array([1.0, 0.019, 0.02])  # of the largest, of which 2 % are seen
    small = replace(result_of(), values=values, pairs=np.array([[0, 0], [1, 1], [2, 2]]))
    names = [label.get_text() for label in small.plot().ax_.yaxis.get_ticklabels()]
    assert names == ["a", "c"]
    # Of rows: a and b alone 1 and 3, together twice 2, on each of two rows with either sign.
    square = np.array([[1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    of_rows = LocalPairAttribution(
        np.array([square, -square]), np.zeros(2), ("a", "b", "c"), "tree_shap_pairs"
    ).plot()
    squares = of_rows.squares_
    assert_close(squares.get_sizes() / squares.get_sizes()[0], [1, 4, 3], 4)
    # a comes first, whose largest square is that with b; the upper triangle says nothing new
    assert squares.get_offsets().tolist() == [[0, 0], [0, 1], [1, 1]]
    assert "mean |contribution" in of_rows.ax_.get_xlabel()
    assert "2 rows" in of_rows.ax_.get_xlabel()
    pyplot.close("all")
