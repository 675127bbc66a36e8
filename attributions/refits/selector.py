"""Features chosen by what they bring on held-out rows, as a step of a scikit-learn Pipeline.

The rows are cut in two. A model is fitted on one part and judged on the other; one-sided p-values
of its features then decide, corrected for how many there are. What is claimed of a feature that is
kept is that this model's use of it pays. That holds for correlated features, too, but a copy of a
useful column, useless in itself, can be kept (docs/inference.md). With ``given_others`` as the
measure the claim is about the column, and copies are dropped.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from attributions.held_out.tree_inner import tree_inner
from attributions.inputs import as_random_state
from attributions.refits.measures import as_option, refuse_no_estimator, refuse_no_measure
from gbt.tables.given import as_given
from gbt.tables.targets import distinct_labels

CORRECTIONS = ("bh", "by")


class HeldOutSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Keep features whose use pays on held-out rows, at a false-discovery rate.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted on a part of the rows.
    measure : callable
        Takes the fitted model, X and y, returns a GlobalAttribution that has p-values:
        ``tree_inner``, ``partial_inner``, ``permutation``, or ``functools.partial`` of one. One
        that takes the rows that were fitted on, such as ``partial(given_others, regressor=...)``,
        gets them, too, as ``training``: ``tree_inner`` and ``partial_inner`` then know which
        p-values few rows may carry (``attribution_.is_reliable``), for one more pass over rows.
    fdr : float
        Wanted share of false discoveries among the features kept, above 0 and below 1.
    correction : {"bh", "by"}
        Benjamini-Hochberg, or Benjamini-Yekutieli, which holds under any dependence of the p-values
        and keeps fewer features.
    test_size : float
        Share of the rows (of groups, if there are groups) that judge.
    random_state : int, RandomState, Generator or None
        Seed of the cut.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    attribution_ : GlobalAttribution
        What the measure returned.
    p_values_ : float64 array of shape (p,)
    support_ : bool array of shape (p,)
        Which features are kept.
    n_features_in_, feature_names_in_
        As seen in ``fit``.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        measure: Callable = tree_inner,
        fdr: float = 0.1,
        correction: str = "bh",
        test_size: float = 0.5,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.measure = measure
        self.fdr = fdr
        self.correction = correction
        self.test_size = test_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> "HeldOutSelector":
        """Fit the estimator on a part of the rows and judge its features on the others.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,)
        groups : array of shape (n,), optional
            Labels of rows that belong together; groups are not cut in two.

        Returns
        -------
        HeldOutSelector
        """
        if not 0 < self.fdr < 1:
            raise ValueError(f"fdr={self.fdr!r}; it must lie between 0 and 1, as .1 does.")
        if self.correction not in CORRECTIONS:
            raise ValueError(f"correction={self.correction!r}; use one of {CORRECTIONS}.")
        refuse_no_estimator(self.estimator, "estimator")
        refuse_no_measure(self.measure, *["groups"] * (groups is not None))
        if hasattr(X, "columns"):  # the estimator shall see the frame, with names and dtypes
            validate_data(self, X, y, skip_check_array=True)
        else:
            X, y = validate_data(
                self,
                as_given(X),
                y,
                dtype=None,
                ensure_all_finite="allow-nan" if get_tags(self).input_tags.allow_nan else True,
                ensure_min_samples=2,
            )
        fitted_on, held_out = self._cut(X, y, groups)
        training = _safe_indexing(X, fitted_on), _safe_indexing(y, fitted_on)
        self.estimator_ = clone(self.estimator).fit(*training)
        options = {} if groups is None else {"groups": _safe_indexing(groups, held_out)}
        options |= as_option(training, self.measure)
        self.attribution_ = self.measure(
            self.estimator_, _safe_indexing(X, held_out), _safe_indexing(y, held_out), **options
        )
        self.p_values_ = self.attribution_.p_values()
        adjusted = false_discovery_control(self.p_values_, method=self.correction)
        self.support_ = adjusted <= self.fdr
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns that are kept.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)

        Returns
        -------
        array, or what ``set_output`` asks for, of shape (n, number of columns kept)
        """
        X = as_given(X)
        if (
            hasattr(X, "select_dtypes")
            and _get_output_config("transform", self)["dense"] == "default"
        ):
            # scikit-learn would make numbers of pandas' categories, which may be words.
            X = X.astype(dict.fromkeys(X.select_dtypes("category").columns, object))
        return super().transform(X)

    def _cut(self, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to fit on and those to judge on."""
        if groups is not None:
            kind = GroupShuffleSplit
        elif is_classifier(self.estimator):
            distinct_labels(y)  # says what is wrong with them; the cut would not
            kind = StratifiedShuffleSplit
        else:
            kind = ShuffleSplit
        splitter = kind(
            1, test_size=self.test_size, random_state=as_random_state(self.random_state)
        )
        return next(splitter.split(np.empty((len(y), 0)), y, groups))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator)
        tags.input_tags = of_estimator.input_tags
        tags.input_tags.sparse = False  # whatever the estimator takes, fit and transform do not
        tags.target_tags = of_estimator.target_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = False
        return tags
