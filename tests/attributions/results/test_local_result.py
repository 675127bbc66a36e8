from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from attributions import LocalAttribution, predecomp
from tests.asserts import assert_same, peer
from tests.tree_cases import example_1


def attribution(**changes):
    """Return contributions of two features to three rows."""
    fields = {
        "values": np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]]),
        "base_values": np.array([10.0, 10.0, 10.0]),
        "feature_names": ("age", "income"),
        "method": "by hand",
        "data": np.array([[7.0, 8.0], [9.0, np.nan], [1.0, 2.0]]),
    }
    return LocalAttribution(**{**fields, **changes})


def test_residual_is_what_base_value_and_contributions_leave():
    assert_same(attribution().residual([13.0, 9.0, 11.0]), [0.0, 0.0, 0.5])


def test_residual_needs_one_prediction_a_row():
    with pytest.raises(ValueError, match=r"raw_prediction has shape \(2,\).*needs \(3,\)"):
        attribution().residual([13.0, 9.0])


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


def test_it_is_frozen_and_of_float64():
    result = attribution(
        values=[[1, 2], [3, 4], [5, 6]], feature_names=["age", "income"], data=None
    )

    assert result.values.dtype == np.float64
    assert result.feature_names == ("age", "income")
    assert result.data is None
    with pytest.raises(FrozenInstanceError):
        result.values = np.zeros((3, 2))


def test_an_attribution_carries_the_rows_that_it_explains():
    ensemble, X, _ = example_1(0)

    assert_same(predecomp(ensemble, X).data, X)


def test_to_frame():
    pandas = peer("pandas")

    frame = attribution().to_frame()

    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["age", "income"]
    assert_same(frame.to_numpy(), attribution().values)


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
