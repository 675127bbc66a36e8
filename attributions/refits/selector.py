"""Features chosen by their worth on held-out rows, as a step of a scikit-learn Pipeline.

Models are fitted on some rows and judged on others, so that every row judges once (``cross_fit``).
One-sided p-values of the features then decide, corrected for the number of features. The claim
about a feature that is kept is that such a model's use of it pays. That holds for correlated
features, too, but a copy of a useful column, useless in itself, can be kept (docs/inference.md).
With ``given_others`` as the measure the claim is about the column, and copies are dropped.

A single cut in two halves costs one fit instead of five, but another seed then keeps other
features: of those that either of two seeds kept, both kept 72 %, and 85 % with five folds
(``python -m benchmarks.papers.inference selector-cuts``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import Tags, get_tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from attributions.held_out.gain import held_out_gain
from attributions.inputs import as_random_state
from attributions.options import check_one_of, check_share
from attributions.refits.cross_fit import cross_fit, kind_of_split
from attributions.refits.measures import GivenRows, as_option, losses_of, refuse_no_estimator
from gbt.model.credit import Group, members_of
from gbt.tables.table import as_given, collected


class HeldOutSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Keep features that help on held-out rows, at a false-discovery rate.

    Parameters
    ----------
    estimator : estimator
        Clones of it are fitted, each on a part of the rows. Of a pipeline all steps are, and its
        input columns are selected.
    measure : callable
        Takes a fitted model, X and y, returns a GlobalAttribution that has p-values:
        ``held_out_gain``, ``tree_inner``, or ``functools.partial`` of one; with ``cv=None`` also
        ``permutation``. A measure that needs the rows that were fitted on, such as
        ``partial(given_others, regressor=...)``, is given them as ``training``.
    fdr : float
        Wanted share of false discoveries among the features kept, above 0 and below 1.
    correction : {"bh", "by"}
        Benjamini-Hochberg, or Benjamini-Yekutieli, which holds under any dependence of the p-values
        and keeps fewer features.
    cv : int, splitter of scikit-learn, list of (rows to fit, rows to judge), or None
        Folds, as for `cross_fit`: as many fits, and no row judges twice. None cuts the rows in
        two, for a single fit.
    test_size : float
        Share of the rows (of groups, if there are groups) that judge where ``cv`` is None.
    random_state : int, RandomState, Generator or None
        Seed of the folds, or of the cut.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone; only where ``cv`` is None.
    attribution_ : GlobalAttribution
        What the measure returned; with folds what `cross_fit` returned.
    p_values_ : float64 array of shape (p,)
        Of the features of ``attribution_``. These are the columns, and behind them groups of
        columns that steps of a pipeline have combined.
    support_ : bool array of shape (p,)
        Which columns are kept; those of a group that is kept are.
    n_features_in_, feature_names_in_
        As seen in ``fit``.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        measure: Callable = held_out_gain,
        fdr: float = 0.1,
        correction: str = "bh",
        cv: Any = 5,
        test_size: float = 0.5,
        random_state: Any = 0,
    ):
        self.estimator = estimator
        self.measure = measure
        self.fdr = fdr
        self.correction = correction
        self.cv = cv
        self.test_size = test_size
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        init_score: Any = None,
    ) -> "HeldOutSelector":
        """Fit the estimator on some rows and judge its features on others.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, p)
        y, groups, sample_weight, init_score
            As for `cross_fit`; groups are not cut in two.
        """
        check_share(0.1, fdr=self.fdr)
        check_one_of(("bh", "by"), correction=self.correction)
        if self.cv is None:
            check_share(0.5, test_size=self.test_size)
        refuse_no_estimator(self.estimator, "estimator")
        X = collected(X)
        if hasattr(X, "columns"):  # the estimator is to see the frame, with names and dtypes
            validate_data(self, X, y, skip_check_array=True)
        else:
            losses = losses_of(self.estimator)
            are_times = np.asarray(y).dtype.names or any(loss.has_pairs for loss in losses)
            checked = validate_data(
                self,
                as_given(X),
                "no_validation" if are_times else y,  # which is left to the estimator
                accept_sparse="csr",
                dtype=None,
                ensure_all_finite="allow-nan" if get_tags(self).input_tags.allow_nan else True,
                ensure_min_samples=2,
            )
            X, y = (checked, y) if are_times else checked
        beside = {"sample_weight": sample_weight, "groups": groups, "init_score": init_score}
        if self.cv is None:
            rows = GivenRows.of(self.estimator, self.measure, X, y, **beside)
            fitted_on, held_out = rows.sides(self._cut(X, y, rows.kept_whole))
            self.estimator_ = fitted_on.fitted(self.estimator)
            options = held_out.beside | as_option(fitted_on.training, self.measure)
            result = self.measure(self.estimator_, held_out.X, held_out.y, **options)
        else:
            how = {"cv": self.cv, "random_state": self.random_state}
            result = cross_fit(self.estimator, X, y, self.measure, **how, **beside)
        self.attribution_, self.p_values_ = result, result.p_values()
        if np.isnan(self.p_values_).any():
            raise ValueError(
                f"X has {len(y)} rows, so that only two of them judge a model, and two say nothing"
                " of how much they vary. Give more rows, or let more of them judge: a larger"
                " test_size with cv=None, or fewer folds."
            )
        adjusted = false_discovery_control(self.p_values_, method=self.correction)
        self.support_ = self._columns_of(adjusted <= self.fdr)
        return self

    def _columns_of(self, is_kept: np.ndarray) -> np.ndarray:
        """Return which columns are kept, or are members of groups that are."""
        names = self.attribution_.feature_names
        columns = [name for name in names if not isinstance(name, Group)]
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"The measure judges {len(columns)} columns, and X has {self.n_features_in_}:"
                " columns of X are selected, so leave out columns='transformed'."
            )
        kept = {
            m for name, own in zip(names, is_kept, strict=True) if own for m in members_of(name)
        }
        return np.array([name in kept for name in columns])

    def transform(self, X: Any) -> Any:
        """Return the columns of X that are kept, as an array or what ``set_output`` asks for."""
        X = as_given(X)
        if (
            hasattr(X, "select_dtypes")
            and _get_output_config("transform", self)["dense"] == "default"
        ):
            # scikit-learn would convert pandas' categories, which may be words, to numbers.
            X = X.astype(dict.fromkeys(X.select_dtypes("category").columns, object))
        return super().transform(X)

    def _cut(self, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to fit on and those to judge on."""
        kinds = GroupShuffleSplit, StratifiedShuffleSplit, ShuffleSplit
        kind = kind_of_split(self.estimator, y, groups, kinds)
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
        tags.target_tags = of_estimator.target_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = False
        return tags
