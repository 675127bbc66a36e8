"""What attributions return: small frozen records of dense arrays.

``LocalAttribution`` holds one row of numbers a sample: how much each feature moved the prediction
of that row, away from ``base_values``. For a method that decomposes the whole prediction

    raw_prediction[i] = base_values[i] + sum_k values[i, k]        (its ``residual`` is 0)

Both sides are in link space: log-odds for the logistic loss.

``GlobalAttribution`` holds one number a feature. Where that number is a sum over rows it comes with
the standard error of the sum, and results of separate chunks of rows merge into the result of all.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from attributions.bootstrap import symmetric_t
from attributions.groups import Groups, check_apart, labels_of
from attributions.inputs import as_weight
from attributions.kurtosis import LIMIT
from attributions.row_sums import RowSums, sum_over_rows

N_SHOWN = 10  # features in the text of a result


@dataclass(frozen=True, eq=False, repr=False)
class LocalAttribution:
    """Contributions of every feature to every row's prediction.

    Parameters
    ----------
    values : float64 array of shape (n, p)
        Contribution of feature k to row i, in link space.
    base_values : float64 array of shape (n,)
        Where the contributions start from.
    feature_names : tuple of str
        One name a column of ``values``.
    method : str
        The attribution that was used, for captions and messages.
    data : float64 array of shape (n, p), optional
        The rows that were explained; plots colour the contributions by them.
    index : pandas.Index of length n, optional
        What the rows were called in the frame that was explained; ``to_frame`` keeps it.
    """

    values: np.ndarray
    base_values: np.ndarray
    feature_names: tuple[str, ...]
    method: str
    data: np.ndarray | None = None
    index: Any = None

    def __post_init__(self):
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 2:
            raise ValueError(
                f"values has shape {values.shape}; it needs one row a sample and one column a"
                " feature."
            )
        n_rows, n_features = values.shape
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "base_values", np.asarray(self.base_values, dtype=np.float64))
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        _check_shape("base_values", self.base_values, (n_rows,))
        if len(self.feature_names) != n_features:
            raise ValueError(
                f"{len(self.feature_names)} feature names were given for {n_features} columns of"
                " values; each column needs one."
            )
        if self.data is not None:
            object.__setattr__(self, "data", np.asarray(self.data, dtype=np.float64))
            _check_shape("data", self.data, values.shape)
        if self.index is not None:
            _check_shape("index", self.index, (n_rows,))

    def __repr__(self):
        n_rows, n_features = self.values.shape
        return f"<LocalAttribution {self.method}: {n_rows:,} rows, {n_features} features>"

    def residual(self, raw_prediction) -> np.ndarray:
        """Return the part of the prediction that the contributions leave unexplained.

        Parameters
        ----------
        raw_prediction : array of shape (n,)
            ``ensemble.raw_predict`` of the same rows.

        Returns
        -------
        float64 array of shape (n,)
            ``raw_prediction - base_values - values.sum(axis=1)``: 0 within rounding for PreDecomp,
            Saabas and TreeSHAP.
        """
        raw_prediction = np.asarray(raw_prediction, dtype=np.float64)
        _check_shape("raw_prediction", raw_prediction, self.base_values.shape)
        return raw_prediction - self.base_values - self.values.sum(axis=1)

    def to_frame(self):
        """Return the contributions as a pandas.DataFrame of shape (n, p), a column a feature.

        Its rows are called what they were in the frame that was explained.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas, or use .values and .feature_names."
            ) from error
        return pandas.DataFrame(self.values, index=self.index, columns=list(self.feature_names))

    def to_shap(self):
        """Return a shap.Explanation, which shap's own plots draw.

        Returns
        -------
        shap.Explanation
            With ``values`` and ``data`` of shape (n, p) and ``base_values`` of shape (n,).
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs shap: pip install shap.") from error
        return shap.Explanation(
            values=self.values,
            base_values=self.base_values,
            data=self.data,
            feature_names=list(self.feature_names),
        )

    def plot(self, **options):
        """Draw the contributions; see ``attributions.plots.LocalAttributionDisplay``.

        Parameters
        ----------
        **options
            Passed to ``LocalAttributionDisplay.from_attribution``.

        Returns
        -------
        LocalAttributionDisplay
        """
        from attributions.plots import LocalAttributionDisplay

        return LocalAttributionDisplay.from_attribution(self, **options)


# Methods whose value is expected to be 0 or less for a feature that does not help.
_TESTABLE = ("tree_inner", "partial_inner", "forest_inner", "permutation")

# Methods that are not sums over rows, and why.
_NOT_SUMS = {
    "total_gain": "it is read off the model, not summed over rows",
    "permutation": "shuffling a chunk is not a part of shuffling all rows",
    "unbiased_gain": "it is made of ratios of sums over rows",
    "mdi_plus": "a metric is no sum over rows",
    "mdi_oob": "its means are over other rows for each tree",
}
_NO_ERROR = {
    **_NOT_SUMS,
    "permutation": "its metric gives one number for all rows; with a function that gives one a row"
    " there are",
}


@dataclass(frozen=True, eq=False, repr=False)
class GlobalAttribution:
    """One number a feature, with a standard error where rows can give one.

    Parameters
    ----------
    values : float64 array of shape (p,)
        Importance of every feature; for ``tree_inner`` and its relatives also its direction:
        positive helped, negative hurt.
    standard_error : float64 array of shape (p,) or None
        Of ``values`` as sums over independently drawn rows, the model held fixed. None where no
        such thing exists.
    n_samples : int
        Rows that were summed over.
    feature_names : tuple of str
        One name a value.
    method : str
        What was computed, with its individual attribution: ``"tree_inner(predecomp)"``.
    per_tree : float64 array of shape (M, p), optional
        What every tree adds to ``values``: importance along boosting.
    repeats : float64 array of shape (p, n_repeats), optional
        The single shuffles of ``permutation``, of which ``values`` are the means. Their spread is
        that of shuffling the same rows; it says nothing about other rows.
    groups : array of shape (G,), optional
        The distinct labels of rows that belong together, where standard errors count these.
    contributions : float64 array of shape (n or G, p), optional
        What every row or group adds to ``values``; kept by `from_rows`.
    kurtosis : float64 array of shape (p,), optional
        Of the contributions of training rows; see `is_reliable`.
    """

    values: np.ndarray
    standard_error: np.ndarray | None
    n_samples: int
    feature_names: tuple[str, ...]
    method: str
    per_tree: np.ndarray | None = None
    repeats: np.ndarray | None = None
    groups: np.ndarray | None = None
    contributions: np.ndarray | None = None
    kurtosis: np.ndarray | None = None

    def __post_init__(self):
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        n_features = len(self.feature_names)
        for name in ("values", "standard_error", "per_tree", "repeats", "kurtosis"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        _check_shape("values", self.values, (n_features,))
        if self.standard_error is not None:
            _check_shape("standard_error", self.standard_error, (n_features,))
        if self.kurtosis is not None:
            _check_shape("kurtosis", self.kurtosis, (n_features,))
        if self.per_tree is not None:
            _check_shape("per_tree", self.per_tree, (len(self.per_tree), n_features))
        if self.repeats is not None:
            _check_shape("repeats", self.repeats, (n_features, *self.repeats.shape[1:]))

    def __repr__(self):
        shown = self.ranking()[:N_SHOWN]
        names = [self.feature_names[k] for k in shown]
        lines = [f"{self.method}, {len(self.values)} features"]
        for k, name in zip(shown, names, strict=True):
            error = "" if self.standard_error is None else f" +- {self.standard_error[k]:.3g}"
            doubt = "" if self.is_reliable is None or self.is_reliable[k] else "  unreliable"
            lines.append(f"  {name:<{max(map(len, names))}}  {self.values[k]:>10.4g}{error}{doubt}")
        if len(self.values) > N_SHOWN:
            lines.append(f"  ... {len(self.values) - N_SHOWN} more")
        return "\n".join(lines)

    @classmethod
    def from_rows(
        cls, rows: LocalAttribution, sample_weight=None, groups=None
    ) -> "GlobalAttribution":
        """Sum an attribution of rows over the rows.

        ``from_rows(tree_inner_rows(model, X, y))`` is ``tree_inner(model, X, y)`` to the last bit.
        Subsets of the rows say for whom a feature helped and for whom it hurt.

        Parameters
        ----------
        rows : LocalAttribution
            Contributions of n >= 1 rows.
        sample_weight : array of shape (n,), optional
            Multiplies a row's contributions; 0 and 1 pick a subset, whose standard error then
            allows for its chance size.
        groups : array of shape (n,), optional
            Labels of rows that belong together, as for `tree_inner`.

        Returns
        -------
        GlobalAttribution
        """
        values = np.ascontiguousarray(rows.values)
        if not len(values):
            raise ValueError("The attribution has no rows; a sum needs at least one.")
        if sample_weight is not None:
            values = values * as_weight(sample_weight, len(values))[:, np.newaxis]
        together = Groups.of(groups, len(values))
        sums = sum_over_rows(lambda block: (values[block], None), len(values), 1, together)
        return cls(
            values=sums.total,
            standard_error=sums.standard_error,
            n_samples=len(values),
            feature_names=rows.feature_names,
            method=rows.method,
            groups=labels_of(together),
            contributions=values if together is None else together.within(slice(None), values)[1],
        )

    @property
    def is_reliable(self) -> np.ndarray | None:
        """Whether intervals and p-values are to be relied on, bool of shape (p,).

        False where few rows may carry the sum: the kurtosis of the training rows' contributions is
        more than a tenth of the number of held-out rows (or groups). None unless a measure was
        given the training rows (``training=``), since held-out rows cannot tell: those that have
        missed the rare large contributions look the safest. More held-out rows are the remedy.
        """
        if self.kurtosis is None:
            return None
        return self.kurtosis <= LIMIT * self._n_draws

    def confidence_interval(
        self, level: float = 0.95, method: str = "normal", random_state: int = 0
    ) -> np.ndarray:
        """Return confidence intervals of the expected ``values`` on as many new rows.

        Parameters
        ----------
        level : float
            Share of such intervals that are to contain the expectation, above 0 and below 1.
        method : {"normal", "bootstrap-t"}
            The symmetric bootstrap-t is wider where few rows carry the sum, and infinite where
            rows drawn from the table often miss them all. It needs the contributions of the rows,
            which results of `from_rows` have.
        random_state : int
            Seed of the bootstrap.

        Returns
        -------
        float64 array of shape (p, 2)
            Lower and upper ends. A feature that no tree uses has the interval [0, 0].

        Notes
        -----
        The intervals describe the fitted model, which they take as given: they hold over draws of
        rows, not over refits. The rows must be independent draws and must not have been used for
        fitting, tuning or early stopping. With few rows or heavy tails a feature that only a few
        rows reach may be covered less often than stated.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r}; it must lie between 0 and 1, as .95 does.")
        standard_error = self._standard_error("confidence intervals")
        if method == "bootstrap-t":
            factor = symmetric_t(self._kept_contributions(method), level, random_state)
        elif method == "normal":
            factor = np.full(len(self.values), ndtri((1 + level) / 2))
        else:
            raise ValueError(f"method={method!r}; use 'normal' or 'bootstrap-t'.")
        half_width = np.zeros(len(self.values))
        np.multiply(factor, standard_error, out=half_width, where=standard_error > 0)
        return np.column_stack([self.values - half_width, self.values + half_width])

    def p_values(self) -> np.ndarray:
        """Return one-sided p-values against "this feature does not help on new rows".

        The null hypothesis of feature k is that the expectation of its value is 0 or less; the
        p-value is 1 - Phi(value / standard error), and 1 for a feature that no tree uses.

        Returns
        -------
        float64 array of shape (p,)
            For several features at once give them to ``scipy.stats.false_discovery_control``
            (Benjamini-Hochberg).

        Notes
        -----
        * The test is conditional on the fitted model: it asks whether this model's use of the
          feature helps, not whether the feature could help another model.
        * The rows must be independent draws that were not used for fitting, tuning or early
          stopping. On training rows the p-values are meaningless.
        * It is conservative for ``tree_inner``: a feature without effect is on average below 0, so
          false positives were 2-4 % at a nominal 5 % in simulations with independent features;
          ``partial_inner`` had 5-8 % there and finds more (docs/inference.md).
        * Where `is_reliable` is False, or not known and tails are long, false positives are more.
        * "Not significant" is not "noise": a weak but real feature may be missed, and a value below
          0 can come from overfitting a useful feature.
        """
        if not self._is_testable:
            raise ValueError(
                f"{self.method} has no p-values: a feature without effect can have a value above 0"
                f" for other reasons than chance. Use {', '.join(_TESTABLE)} on held-out rows."
            )
        standard_error = self._standard_error("p-values")
        z = np.full(self.values.shape, -np.inf)
        moved = (standard_error > 0) | (self.values != 0)
        with np.errstate(divide="ignore"):
            np.divide(self.values, standard_error, out=z, where=moved)
        return ndtr(-z)

    def ranking(self) -> np.ndarray:
        """Return the feature numbers, best first; equal values in the order of the columns."""
        return np.argsort(-self.values, kind="stable")

    def normalized(self, ord: int = 1) -> np.ndarray:
        """Return ``values`` divided by their norm, to compare methods of different units.

        Parameters
        ----------
        ord : {1, 2}
            Sum of absolute values, or root of the sum of squares.

        Returns
        -------
        float64 array of shape (p,)
            Zeros stay zeros.
        """
        if ord not in (1, 2):
            raise ValueError(f"ord={ord!r}; use 1 or 2.")
        norm = np.linalg.norm(self.values, ord)
        return self.values / norm if norm > 0 else self.values.copy()

    def merge(self, other: "GlobalAttribution") -> "GlobalAttribution":
        """Return the attribution of the rows of both: sums add up, standard errors combine.

        Chunks of a long table, parts of a parallel job and machines of a cluster give what one call
        over all rows would have given, but for the rounding of another order of addition.

        Parameters
        ----------
        other : GlobalAttribution
            The same method, of the same model, on other rows. Where rows belong to groups, no
            group may have rows in both, because its square needs its whole sum.

        Returns
        -------
        GlobalAttribution

        Notes
        -----
        Squares about the mean are recovered from the standard errors and merged by the formula of
        Chan, Golub and LeVeque (1983); see ``attributions.row_sums``.
        """
        self._check_mergeable(other)
        squares, others_squares = self._squares, other._squares
        has_error = squares is not None and others_squares is not None
        zeros = np.zeros(len(self.values))
        sums = RowSums(
            self._n_draws, self.values, squares if has_error else zeros, self.per_tree
        ).merge(
            RowSums(
                other._n_draws,
                other.values,
                others_squares if has_error else zeros,
                other.per_tree,
            )
        )
        return replace(
            self,
            values=sums.total,
            standard_error=sums.standard_error if has_error else None,
            n_samples=self.n_samples + other.n_samples,
            per_tree=sums.per_tree,
            groups=_both(np.concatenate, self.groups, other.groups),
            contributions=_both(np.concatenate, self.contributions, other.contributions),
            kurtosis=_both(np.maximum.reduce, self.kurtosis, other.kurtosis),
        )

    def grouped(self, members) -> "GlobalAttribution":
        """Return exact sums over groups of features; see ``attributions.feature_groups.grouped``.

        Parameters
        ----------
        members : dict of str to list of str
            The features of every group, as in ``{"weather": ["rain", "wind"]}``. Features that are
            in none stay as they are.

        Returns
        -------
        GlobalAttribution
            With standard errors that know how members vary together, if `from_rows` made this one.
        """
        from attributions.feature_groups import grouped

        return grouped(self, members)

    def to_frame(self):
        """Return a pandas.DataFrame, best feature first.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature name, with columns ``value`` and, where there are any,
            ``standard_error``, ``p_value`` and ``is_reliable``.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas, or use .values and .feature_names."
            ) from error
        columns = {"value": self.values}
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
            if self._is_testable:
                columns["p_value"] = self.p_values()
        if self.is_reliable is not None:
            columns["is_reliable"] = self.is_reliable
        index = pandas.Index(self.feature_names, name="feature")
        return pandas.DataFrame(columns, index=index).iloc[self.ranking()]

    def plot(self, **options):
        """Draw bars with error bars; see ``attributions.plots.ImportanceDisplay``.

        Parameters
        ----------
        **options
            Passed to ``ImportanceDisplay.from_attribution``.

        Returns
        -------
        ImportanceDisplay
        """
        from attributions.plots import ImportanceDisplay

        return ImportanceDisplay.from_attribution(self, **options)

    @property
    def _kind(self) -> str:
        """The method without its individual attribution."""
        return self.method.split("(")[0]

    @property
    def _is_testable(self) -> bool:
        """Whether no effect means a value of 0 or less, so that there are p-values."""
        is_of_targets = self._kind == "forest_inner" and self.method.endswith(", target)")
        return self._kind in _TESTABLE and not is_of_targets

    @property
    def _n_draws(self) -> int:
        """How many independent draws were summed: rows, or groups of rows."""
        return self.n_samples if self.groups is None else len(self.groups)

    @property
    def _squares(self):
        """Sum of squares about the mean of the draws; None where no standard error says it."""
        if self._n_draws == 1:
            return np.zeros(len(self.values))
        if self.standard_error is None:
            return None
        return self.standard_error**2 * ((self._n_draws - 1) / self._n_draws)

    def _kept_contributions(self, wanted) -> np.ndarray:
        """Return what every row contributes; say where it is kept."""
        if self.contributions is None:
            raise ValueError(
                f"{wanted} needs the contributions of single rows, which this result does not keep."
                " Make it with GlobalAttribution.from_rows(tree_inner_rows(model, X, y))."
            )
        return self.contributions

    def _standard_error(self, wanted):
        """Return the standard error; say why there is none."""
        if self.standard_error is None:
            reason = _NO_ERROR.get(self._kind) or (
                f"it was computed from a single {'row' if self.groups is None else 'group'}"
                if self._n_draws == 1
                else "it was computed with standard_error=False"
            )
            raise ValueError(f"{self.method} has no standard errors, so no {wanted}: {reason}.")
        return self.standard_error

    def _check_mergeable(self, other):
        """Refuse, by name, what does not add up."""
        if not isinstance(other, GlobalAttribution):
            raise ValueError(f"Only a GlobalAttribution can be merged; got {other!r}.")
        if self._kind in _NOT_SUMS:
            raise ValueError(f"{self.method} cannot be merged: {_NOT_SUMS[self._kind]}.")
        if self.method != other.method:
            raise ValueError(f"{self.method} cannot be merged with {other.method}.")
        if self.feature_names != other.feature_names:
            raise ValueError(
                "Attributions of different features cannot be merged: one has"
                f" {_first_difference(self.feature_names, other.feature_names)}."
            )
        check_apart(self.groups, other.groups)
        mine, others = self.per_tree, other.per_tree
        if (mine is None) != (others is None):
            raise ValueError(
                "Only one of the attributions has per_tree; compute both with it or both without."
            )
        if mine is not None and mine.shape != others.shape:
            raise ValueError(
                f"per_tree has {len(mine)} trees in one attribution and {len(others)} in the"
                " other; only attributions of the same model can be merged."
            )
        for one, another in ((self, other), (other, self)):
            if one._squares is None and another.standard_error is not None:
                raise ValueError(
                    "Only one of the attributions has a standard error; compute both with it or"
                    " both without."
                )


def _check_shape(name, array, shape):
    """Refuse an array of another shape than the attribution's."""
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; the attribution needs {shape}.")


def _both(combine, one, another):
    """Combine what both results have; None where one has none."""
    return None if one is None or another is None else combine([one, another])


def _first_difference(names, others):
    """Say where two lists of feature names part."""
    if len(names) != len(others):
        return f"{len(names)} and the other {len(others)}"
    k = next(k for k in range(len(names)) if names[k] != others[k])
    return f"{names[k]!r} as feature {k} and the other {others[k]!r}"
