"""Results of features and of rows: what is read off them, what adds up, and what is refused."""

from dataclasses import FrozenInstanceError, replace
from functools import partial

import numpy as np
import pandas
import pytest
from scipy import stats

from attributions import GlobalAttribution, LocalAttribution
from gbt.parallel.in_order import ROWS_PER_BLOCK
from tests.asserts import assert_close, assert_same, peer

NAMES = ("a", "b", "c", "d")


def result_of(values, standard_error=None, method="tree_inner(predecomp)", **others):
    names = NAMES[: len(values)]
    return GlobalAttribution(values, standard_error, 100, names, method, **others)


def rows_of(values, method="tree_inner(predecomp)"):
    values = np.asarray(values, dtype=float)
    return LocalAttribution(values, np.zeros(len(values)), NAMES[: values.shape[1]], method)


def test_what_it_holds():
    result = result_of([1, 2], [0.5, 0.25], per_tree=[[0, 1], [1, 1], [0, 0]])
    assert result.values.dtype == result.standard_error.dtype == np.float64
    assert result.per_tree.shape == (3, 2)
    assert result.repeats is None
    of_rows = attribution(values=[[1, 2], [3, 4], [5, 6]], feature_names=["age", "income"])
    assert of_rows.values.dtype == np.float64
    assert of_rows.feature_names == ("age", "income")
    for one in (result, of_rows):
        with pytest.raises(FrozenInstanceError):
            one.values = np.zeros(2)
    for wrong in ({"values": [1.0]}, {"standard_error": [1.0]}, {"per_tree": np.zeros((3, 1))}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} has shape"):
            replace(result, **wrong)


def test_confidence_intervals_are_normal():
    result = result_of([1.0, -2.0, 0.0], [0.5, 1.0, 0.0])
    # 1.959964 is the .975 quantile of the normal distribution.
    expected = [[1 - 0.5 * 1.959964, 1 + 0.5 * 1.959964], [-3.959964, -0.040036], [0, 0]]
    np.testing.assert_array_less(np.abs(result.confidence_interval() - expected), 1e-6)
    for level in (0.5, 0.8, 0.99):
        low, high = stats.norm.interval(level, loc=[1, -2], scale=[0.5, 1])
        interval = result.confidence_interval(level)[:2]
        assert_close(interval, np.column_stack([low, high]), 10.0)
    for level in (0, 1, 95, -0.5):
        with pytest.raises(ValueError, match=f"level={level}"):
            result.confidence_interval(level)


def test_p_values_are_one_sided():
    result = result_of([2.0, -2.0, 0.0, 1.0], [1.0, 1.0, 1.0, 4.0])
    # 1 - Phi(2) = .0227501 from a table; below 0 it is more than a half.
    np.testing.assert_array_less(np.abs(result.p_values()[:3] - [0.0227501, 0.9772499, 0.5]), 1e-6)
    assert_close(result.p_values(), stats.norm.sf([2, -2, 0, 0.25]), 1.0)
    far = result_of([30.0], [1.0]).p_values()
    assert_close(far, stats.norm.sf([30.0]), 1e-194)  # 1 - Phi would have rounded to 0
    # A feature that no tree uses: no evidence. One that always helps by the same: all of it.
    assert_same(result_of([0.0, 3.0, -3.0], [0.0, 0.0, 0.0]).p_values(), [1.0, 0.0, 1.0])
    for method in ("partial_inner(saabas)", "forest_inner(x, residual)", "tree_inner(my target)"):
        assert_same(result_of([0.0], [1.0], method).p_values(), [0.5])


@pytest.mark.parametrize(
    "method",
    ["absolute(predecomp, tree)", "forest_inner(x, target)", "unbiased_gain(paper)", "total_gain"],
)
def test_p_values_are_refused_where_they_mean_nothing(method):
    with pytest.raises(ValueError, match=r"has no p-values.*tree_inner.*held-out"):
        result_of([1.0], [1.0], method).p_values()


def test_no_standard_error_says_why():
    not_wanted = result_of([1.0])
    single = replace(not_wanted, n_samples=1)
    gain = result_of([1.0], method="total_gain")
    for result, why in (
        (not_wanted, "standard_error=False"),
        (single, "a single row"),
        (gain, "read off the model"),
        (replace(single, method="total_gain"), "read off the model"),
        (replace(single, method="permutation(roc_auc)"), "a single row"),
        (replace(not_wanted, method="permutation(r2)"), "one number for all rows"),
        (replace(not_wanted, method="unbiased_gain(symmetric)"), "standard_error=False"),
        (replace(not_wanted, method="unbiased_gain(sampled)"), "sampled.*has none"),
    ):
        with pytest.raises(ValueError, match=f"no standard errors, so no confidence.*{why}"):
            result.confidence_interval()
    with pytest.raises(ValueError, match="so no p-values"):
        not_wanted.p_values()


def test_the_ranking_keeps_the_order_of_equals():
    result = result_of([1.0, 3.0, 1.0, -5.0])
    assert_same(result.ranking(), [1, 0, 2, 3])


def test_normalized():
    result = result_of([3.0, -4.0])
    assert_same(result.normalized(), [3 / 7, -4 / 7])
    assert_same(result.normalized(ord=2), [0.6, -0.8])
    assert_same(result_of([0.0, 0.0]).normalized(2), [0.0, 0.0])
    with pytest.raises(ValueError, match="ord=3"):
        result.normalized(3)


def test_merging_by_hand():
    """Rows 1, 3 and row 8: sums 4 and 8; squares about the means 2 and 0."""
    pair = GlobalAttribution.from_rows(rows_of([[1.0], [3.0]]))
    one = GlobalAttribution.from_rows(rows_of([[8.0]]))
    assert_same(pair.standard_error, [2.0])  # sqrt(2 / 1 * 2)
    assert one.standard_error is None

    both = pair.merge(one)

    assert_same(both.values, [12.0])
    assert both.n_samples == 3
    assert_close(both.standard_error, [np.sqrt(3 / 2 * (9 + 1 + 16))], 10.0)  # about the mean 4
    singles = GlobalAttribution.from_rows(rows_of([[1.0]])).merge(one)
    assert_close(singles.standard_error, [np.sqrt(2 * 2 * 3.5**2)], 10.0)
    for of in ("per_tree", "per_output"):
        parts = result_of([1.0, 2.0], [1.0, 1.0], **{of: np.array([[1.0, 0.0], [0.0, 2.0]])})
        assert_same(getattr(parts.merge(parts), of), [[2.0, 0.0], [0.0, 4.0]])
    many, single = result_of([1.0]), replace(result_of([2.0]), n_samples=1)  # without errors
    for merged in (many.merge(many), many.merge(single), single.merge(many)):
        assert merged.standard_error is None


def test_from_rows_is_the_numpy_formula_over_blocks():
    rng = np.random.default_rng(0)
    values = rng.normal(1000.0, 1.0, size=(2 * ROWS_PER_BLOCK + 77, 3))
    result = GlobalAttribution.from_rows(rows_of(values))
    terms = values.sum(axis=0)
    assert_close(result.values, terms, terms)
    error = np.sqrt(len(values)) * values.std(axis=0, ddof=1)
    # The mean is known to eps * 1000, a thousand times the spread: that much of it may be lost.
    assert_close(result.standard_error, error, 1000 * error)
    fortran = GlobalAttribution.from_rows(rows_of(np.asfortranarray(values)))
    assert_same(fortran.values, result.values)


def test_from_rows_with_weights():
    rows = rows_of([[1.0, -1.0], [2.0, 5.0], [4.0, 0.0]])
    weighted = GlobalAttribution.from_rows(rows, sample_weight=[2, 0, 1])
    assert_same(weighted.values, [6.0, -2.0])
    assert weighted.n_samples == 2  # of 2 and 4, and of -2 and 0
    assert_close(weighted.standard_error, [2.0, 2.0], 10.0)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\)"):
        GlobalAttribution.from_rows(rows, sample_weight=[1, 1])
    for weight in ([np.nan, 1, 1], [-1, 1, 1]):
        with pytest.raises(ValueError, match="sample_weight"):
            GlobalAttribution.from_rows(rows, weight)
    with pytest.raises(ValueError, match="no rows"):
        GlobalAttribution.from_rows(rows_of(np.zeros((0, 2))))
    with pytest.raises(TypeError, match=r"sums a LocalAttribution, .* got GlobalAttribution"):
        GlobalAttribution.from_rows(weighted)


def test_what_does_not_add_up_is_refused_by_name():
    result = result_of([1.0, 2.0], [1.0, 1.0])
    changed = partial(replace, result)
    parts = {"per_tree": np.zeros((3, 2)), "per_output": np.zeros((3, 2)), "kurtosis": np.zeros(2)}
    of_one = [(changed(**{name: part}), f"has {name}") for name, part in parts.items()]
    of_one.append((changed(standard_error=None), "has a standard error"))
    alone = {
        "total_gain": "not summed over rows",
        "permutation(roc_auc)": "shuffling a chunk",
        "unbiased_gain": "ratios",
        "held_out_gain": "means of nodes are those of all rows.*tables of Dask",
    }
    for one, other, why in (
        (result, 3, "Only a GlobalAttribution can be merged; got int"),
        *((changed(method=method), changed(method=method), why) for method, why in alone.items()),
        (result, changed(method="partial_inner(x)"), r"tree_inner\(predecomp\).*partial_inner"),
        (result, changed(feature_names=("a", "B")), "'b' as feature 1 and the other 'B'"),
        (result, result_of([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), "2 and the other 3"),
        *((result, other, f"Only one of the attributions {has}") for other, has in of_one),
        *((other, result, f"Only one of the attributions {has}") for other, has in of_one),
        (of_one[0][0], changed(per_tree=np.zeros((4, 2))), "3 trees in one attribution and 4"),
        (of_one[1][0], changed(per_output=np.zeros((4, 2))), "3 outputs in one attribution and 4"),
    ):
        with pytest.raises(ValueError, match=why):
            one.merge(other)


def test_to_frame():
    frame = result_of([1.0, 3.0], [0.1, 0.3]).to_frame()
    expected = pandas.DataFrame(
        {"value": [3.0, 1.0], "standard_error": [0.3, 0.1], "p_value": 2 * [stats.norm.sf(10)]},
        index=pandas.Index(["b", "a"], name="feature"),
    )
    pandas.testing.assert_frame_equal(frame, expected)
    assert list(result_of([1.0]).to_frame().columns) == ["value"]
    assert "p_value" not in result_of([1.0], [1.0], "absolute(predecomp, tree)").to_frame()
    of_rows = attribution().to_frame()
    assert list(of_rows.columns) == ["age", "income"]
    assert_same(of_rows.to_numpy(), attribution().values)
    with_ends = result_of([1.0, 3.0], [0.1, 0.3]).to_frame(level=0.9)
    assert list(with_ends.columns) == ["value", "standard_error", "lower", "upper", "p_value"]
    ends = with_ends[["lower", "upper"]].to_numpy()
    assert_close(ends, [stats.norm.interval(0.9, v, v / 10) for v in (3, 1)], 4)
    half = replace(result_of([1.0], [0.1], "held_out_gain"), percent_of_one=50.0)
    ends = half.to_frame(level=0.9)[["percent_lower", "percent_upper"]].to_numpy()
    assert_close(ends, [stats.norm.interval(0.9, 50, 5)], 60)
    with pytest.raises(ValueError, match="no confidence intervals"):
        result_of([1.0]).to_frame(level=0.9)


def attribution(**changes):
    """Return contributions of two features to three rows."""
    fields = {
        "values": np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]]),
        "base_values": np.array([10.0, 10.0, 10.0]), "feature_names": ("age", "income"),
        "method": "by hand", "data": np.array([[7.0, 8.0], [9.0, np.nan], [1.0, 2.0]]),
    }  # fmt: skip
    return LocalAttribution(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": np.zeros(3)}, r"values has shape \(3,\)"),
        ({"base_values": np.zeros(2)}, r"base_values has shape \(2,\).*needs \(3,\)"),
        ({"base_values": 0.0}, r"base_values has shape \(\).*needs \(3,\)"),
        ({"feature_names": ("age",)}, r"1 feature names were given for 2 columns"),
        ({"index": np.arange(2)}, r"index has shape \(2,\).*needs \(3,\)"),
        ({"data": np.zeros((3, 3))}, r"data has shape \(3, 3\).*needs \(3, 2\)"),
    ],
)
def test_shapes_must_agree(changes, message):
    with pytest.raises(ValueError, match=message):
        attribution(**changes)


def test_residual_is_what_base_value_and_contributions_leave():
    assert_same(attribution().residual([13.0, 9.0, 11.0]), [0.0, 0.0, 0.5])
    with pytest.raises(ValueError, match=r"raw_prediction has shape \(2,\).*needs \(3,\)"):
        attribution().residual([13.0, 9.0])


def test_to_shap_is_what_shap_draws():
    shap = peer("shap")

    explanation = attribution().to_shap()

    assert isinstance(explanation, shap.Explanation)
    assert_same(explanation.values, attribution().values)
    assert_same(explanation.base_values, [10.0, 10.0, 10.0])
    assert_same(explanation.data, attribution().data)
    assert explanation.feature_names == ["age", "income"]
    assert explanation[1].base_values == 10.0
    assert_same(explanation[:, "income"].values, [2.0, -4.0, 0.5])


@pytest.mark.parametrize(
    ("module", "method", "message"),
    [("pandas", "to_frame", "pip install pandas"), ("shap", "to_shap", "pip install shap")],
)
def test_what_to_install_is_said(monkeypatch, module, method, message):
    monkeypatch.setitem(__import__("sys").modules, module, None)  # as if it were not installed

    with pytest.raises(ImportError, match=message):
        getattr(attribution(), method)()
