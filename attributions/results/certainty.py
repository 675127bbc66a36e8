"""What errors say of sums over rows: intervals, p-values, and whether these are to be relied on.

``attributions.statistics.row_sums`` computes standard errors while rows are summed;
``attributions.statistics.together`` has the intervals and p-values that hold together.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from attributions.methods import facts_of, is_of_fits, is_testable, methods_with, of_rows
from attributions.options import check_one_of, check_share
from attributions.statistics import together
from attributions.statistics.bootstrap import symmetric_t
from attributions.statistics.groups import warn_of_few_groups
from gbt.tables.names import shown


class WithErrors:
    """The part of a `GlobalAttribution` that asks how sure its values are."""

    values: np.ndarray
    standard_error: np.ndarray | None
    n_samples: int
    method: str
    groups: np.ndarray | None
    contributions: np.ndarray | None
    kurtosis: np.ndarray | None

    @property
    def n_draws(self) -> int:
        """How many independent draws were summed: rows, or groups of rows."""
        return self.n_samples if self.groups is None else len(self.groups)

    @property
    def is_reliable(self) -> np.ndarray | None:
        """Whether intervals and p-values are to be relied on, bool of shape (p,).

        False where few rows may carry the sum: the kurtosis of contributions is more than a fifth,
        or for ``tree_inner`` and its relatives a tenth, of the number of held-out rows (or groups).
        Held-out rows alone cannot show it: those that have missed the rare large contributions
        look the safest. ``held_out_gain`` takes the kurtosis from the model, whose nodes know how
        rare its large steps are. The others take it from training rows (``training=``), of which
        the rare ones have made the small nodes; without these it is None. More held-out rows are
        the remedy.
        """
        if self.kurtosis is None:
            return None
        return self.kurtosis <= facts_of(self.method).kurtosis_limit * self.n_draws

    def confidence_interval(
        self,
        level: float = 0.95,
        method: str = "normal",
        random_state: int = 0,
        *,
        simultaneous: bool = False,
    ) -> np.ndarray:
        """Return confidence intervals of the expected ``values`` on as many new rows.

        Parameters
        ----------
        level : float
            Share of such intervals that are to contain the expectation, above 0 and below 1.
        method : {"normal", "bootstrap-t"}
            The symmetric bootstrap-t is wider where few rows carry the sum, and infinite where
            draws often miss them all. It needs `from_rows`, which keeps rows' contributions.
        random_state : int
            Seed of the bootstrap.
        simultaneous : bool
            Whether all intervals are to hold together: ``attributions.statistics.together``. They
            are narrower where ``second_moments`` or ``contributions`` say how features vary
            together. Where `is_reliable` is False they have no upper end, and but for
            ``held_out_gain`` no lower one (:doc:`docs/report.md </report>`).

        Returns
        -------
        float64 array of shape (p, 2)
            Lower and upper ends. A feature that no tree uses has the interval [0, 0].

        Notes
        -----
        The intervals describe the fitted model, which they take as given: they hold over draws of
        rows, not over refits. The rows must be independent draws and must not have been used for
        fitting, tuning or early stopping. A feature that only a few rows reach may be covered less
        often than stated.
        """
        check_share(0.95, level=level)
        check_one_of(("normal", "bootstrap-t"), method=method)
        standard_error = self._standard_error("confidence intervals")
        if simultaneous:
            if method != "normal":
                raise ValueError(
                    f"method={shown(method)} has no simultaneous intervals; use 'normal'."
                )
            return together.intervals(self, standard_error, level)
        if method == "bootstrap-t":
            factor = symmetric_t(self._kept_contributions(), level, random_state)
        else:
            warn_of_few_groups(self.groups)
            factor = np.full(len(self.values), ndtri((1 + level) / 2))
        half_width = np.zeros(len(self.values))
        np.multiply(factor, standard_error, out=half_width, where=standard_error != 0)
        return np.column_stack([self.values - half_width, self.values + half_width])

    def p_values(self, adjust: str | None = None) -> np.ndarray:
        """Return one-sided p-values against "this feature does not help on new rows".

        The null hypothesis of feature k is that the expectation of its value is 0 or less; the
        p-value is 1 - Phi(value / standard error), and 1 for a feature that no tree uses.

        Parameters
        ----------
        adjust : {None, "joint"}
            "joint" adjusts for all features, and asks whether a value is 0, not 0 or less: it is at
            most 0.05 where the simultaneous `confidence_interval` at 95 % leaves out 0, and only
            there. Of such features one result in twenty at most has a false one.

        Returns
        -------
        float64 array of shape (p,)
            Those of None fit ``scipy.stats.false_discovery_control`` (Benjamini-Hochberg).

        Notes
        -----
        * The test is conditional on the fitted model: it asks whether this model's use of the
          feature helps, not whether the feature could help another model, nor whether the target
          depends on it: a noisy copy of a useful column, correlation 0.8, had p < 0.05 in 56 %
          of cases with ``tree_inner``, in 73 % with ``partial_inner``. ``given_others`` asks that.
        * The rows must be independent draws that were not used for fitting, tuning or early
          stopping. On training rows the p-values are meaningless.
        * It is conservative for ``tree_inner``: a feature without effect is on average below 0, so
          false positives were 2-4 % at a nominal 5 % in simulations with independent features;
          ``partial_inner`` had 5-8 % there and finds more (:doc:`docs/inference.md </inference>`).
        * They are too small from fewer than some 30 groups, as a `FewGroupsWarning` says, or where
          `is_reliable` is False, or not known and tails long.
        * "Not significant" is not "noise": a weak but real feature may be missed.
        """
        if not is_testable(self.method):
            raise ValueError(
                f"{self.method} has no p-values: a feature without effect can have a value above 0"
                f" for other reasons than chance. Use {methods_with('is_testable')} on held-out"
                " rows."
            )
        check_one_of(("joint", None), adjust=adjust)
        standard_error = self._standard_error("p-values")
        if adjust == "joint":
            return together.p_values(self, standard_error)
        warn_of_few_groups(self.groups)
        z = np.full(self.values.shape, -np.inf)
        moved = (standard_error > 0) | (self.values != 0)
        with np.errstate(divide="ignore"):
            np.divide(self.values, standard_error, out=z, where=moved)
        return ndtr(-z)

    def _kept_contributions(self) -> np.ndarray:
        """Return what every row contributes, or raise an error that says which results keep it."""
        if self.contributions is None:
            rows = f"{of_rows(self.method)}_rows(model, X, y)"
            make = f"Make it with GlobalAttribution.from_rows({rows})."
            if is_of_fits(self.method):
                make = "Take method='normal', which allows for several fits."
            raise ValueError(
                "bootstrap-t needs the contributions of single rows, which this result does not"
                f" keep. {make}"
            )
        return self.contributions

    def _standard_error(self, wanted: str) -> np.ndarray:
        """Return the standard error, or raise an error that says why there is none."""
        if self.standard_error is None:
            facts, draw = facts_of(self.method), "row" if self.groups is None else "group"
            reason = facts.without_errors if facts.has_errors else facts.no_sum
            if self.n_draws == 1 and facts.has_errors:
                reason = f"it was computed from a single {draw}"
            raise ValueError(f"{self.method} has no standard errors, so no {wanted}: {reason}.")
        return self.standard_error
