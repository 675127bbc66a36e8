"""Merging: the results of two sets of rows become the result of all these rows.

Sums over rows add up. A standard error does not, but the sum of squares about the mean, from which
it was made, can be recovered from it,

    M = standard_error^2 (n - 1) / n

and two such sums merge by a formula of Chan, Golub and LeVeque (1983), which
``attributions.statistics.row_sums`` has. Where rows belong to groups and a group has rows in both
results, its square does not follow from the squares of its two parts; so results with groups keep
the sum of every group, and these are added.

Only results of one method, one model and different rows can be merged. Everything else is refused
by name. Results of several models, each judged on rows of its own, can be added (`added`), also
those of measures that need all rows of one model at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attributions.methods import facts_of, methods_with
from attributions.names import first_difference
from attributions.results.grouping import with_sums
from attributions.statistics.groups import check_apart
from attributions.statistics.powers_of_two import exponent_of
from attributions.statistics.row_sums import RowSums
from gbt.model.credit import Group
from gbt.tables.names import without_blanks

# What a result has only on demand: the option that asks for it, and what its rows are.
OPTIONAL = {
    "per_tree": ("per_tree=True", "trees"),
    "per_output": ("per_output=True", "outputs"),
    "kurtosis": ("training=", "features"),
    "second_moments": ("second_moments=True", "features"),
}


def merged(one: Any, other: Any) -> Any:
    """Return the result of the rows of both: `GlobalAttribution.merge`."""
    if no_sum := facts_of(one.method).no_sum:
        raise ValueError(f"{one.method} cannot be merged: {no_sum}.")
    return replace(_summed(one, other), percent_of_one=None)  # the best constant is another


def added(one: Any, other: Any) -> Any:
    """Return the sum of the results of two models, each judged on rows of its own.

    Values in per cent then refer to the summed loss of two constants, each the best on its rows.
    """
    if not facts_of(one.method).adds_up_models:
        raise ValueError(
            f"{one.method} of several models cannot be added; measures that can are"
            f" {methods_with('adds_up_models')}."
        )
    units = one.percent_of_one, other.percent_of_one
    together = None if None in units else 1 / sum(1 / unit for unit in units if unit)
    return replace(_summed(one, other), percent_of_one=together)


def with_all_features(results: Sequence[Any]) -> list[Any]:
    """Return results of several models, each with the features of all.

    Steps of pipelines that were fitted on other rows may combine other columns. A model in which no
    column is credited to some group says that the group is worth 0.
    """
    own = [tuple(n for n in r.feature_names if not isinstance(n, Group)) for r in results]
    names = tuple(dict.fromkeys(name for result in results for name in result.feature_names))
    if len(set(own)) > 1 or all(result.feature_names == names for result in results):
        return list(results)  # what differs otherwise is refused
    return [_with_features(result, names) for result in results]


def _with_features(result: Any, names: tuple[str, ...]) -> Any:
    """Return a result with zeros for features that it has not."""
    belongs = np.zeros((len(result), len(names)))
    belongs[np.arange(len(result)), [*map(names.index, result.feature_names)]] = 1.0
    error = result.standard_error
    error = None if error is None else error @ belongs
    return replace(with_sums(result, names, belongs), standard_error=error)


def _summed(one: Any, other: Any) -> Any:
    _refuse_what_does_not_add_up(one, other)
    has_error = _has_squares(one) and _has_squares(other)
    sums = _sums(one, has_error) + _sums(other, has_error)
    contributions = sums.by_group
    if sums.labels is None:
        contributions = _both(np.concatenate, one.contributions, other.contributions)
    return replace(
        one,
        values=sums.total,
        standard_error=sums.standard_error if has_error else None,
        n_samples=one.n_samples + other.n_samples,
        per_tree=sums.beside,
        groups=sums.labels,
        contributions=contributions,
        kurtosis=_both(np.maximum.reduce, one.kurtosis, other.kurtosis),
        per_output=_both(np.add.reduce, one.per_output, other.per_output),
        second_moments=sums.second_moments,
    )


def _sums(result: Any, has_error: bool) -> RowSums:
    """Return the sums that a result was made of; squares about the mean only if it has an error."""
    n_draws, error, products = result.n_draws, np.zeros(len(result.values)), result.second_moments
    if has_error and n_draws > 1:
        error = result.standard_error
    exponent = exponent_of(error)
    if products is not None:
        products = np.ldexp(products, -np.add.outer(exponent, exponent))
    return RowSums(
        n_rows=n_draws,
        total=result.values,
        squares=np.ldexp(error, -exponent) ** 2 * ((n_draws - 1) / n_draws),
        beside=result.per_tree,
        labels=result.groups,
        by_group=None if result.groups is None else result.contributions,
        products=products,
        exponent=exponent,
    )


def _has_squares(result: Any) -> bool:
    """Say whether the sum of squares about the mean can be recovered; of one draw it is 0."""
    return result.n_draws == 1 or result.standard_error is not None


def _refuse_what_does_not_add_up(one: Any, other: Any) -> None:
    """Raise ValueError, by name, unless both are sums of the same kind over different rows."""
    if one.method != other.method:
        raise ValueError(
            f"{one.method} cannot be merged with {other.method}; merge results of one measure, with"
            " the same options."
        )
    if without_blanks(one.feature_names) != without_blanks(other.feature_names):
        raise ValueError(
            "Attributions of different features cannot be merged: one has"
            f" {first_difference(one.feature_names, other.feature_names)}."
        )
    keep_sums = one.contributions is not None and other.contributions is not None
    have_errors = one.standard_error is not None or other.standard_error is not None
    check_apart(one.groups, other.groups, may_share=keep_sums or not have_errors)
    for name, (option, parts) in OPTIONAL.items():
        mine, others = getattr(one, name), getattr(other, name)
        if (mine is None) != (others is None):
            raise ValueError(
                f"Only one of the attributions has {name}; compute both with {option} or both"
                " without."
            )
        if mine is not None and mine.shape != others.shape:
            raise ValueError(
                f"{name} has {len(mine)} {parts} in one attribution and {len(others)} in the"
                " other; only attributions of the same model can be merged."
            )
    for this, that in ((one, other), (other, one)):
        if not _has_squares(this) and that.standard_error is not None:
            raise ValueError(
                "Only one of the attributions has a standard error; compute both with it or"
                " both without."
            )


def _both(combine: Callable[[list], np.ndarray], one: Any, other: Any) -> np.ndarray | None:
    """Combine an entry of both results; None if one of them lacks it."""
    return None if one is None or other is None else combine([one, other])
