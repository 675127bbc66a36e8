"""Features that belong together: one number for the weather, not one for rain and one for wind.

Measures that add up contributions of features add up over features, too, signs included: what one
member of a group saved and what another cost cancel. The standard error of such a sum depends on
how its members vary together, so each row's contributions are summed over the members first. Where
rows are too many to be kept, or lie in Dask, the second moments S, p x p numbers, are enough: the
sum of a group's features, b'z with b of 0 and 1, has the squares b'Sb about its mean. Where members
cancel, this loses the digits that they share, which sums of rows do not.

The other way round, what is credited to several columns together, as "city x kind", can be shared
among them in equal parts: then b has 1/2 for either. The group was judged as one, with the work of
all that is made of it taken out, so that a group without effect is worth 0, and so are its parts.
But if kind alone has an effect, half of what it does in "city x kind" goes to city: a part that is
above 0 says that the group helps, not that each of its columns does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attributions.methods import facts_of, is_of_fits, methods_with, of_rows
from attributions.names import find_feature
from attributions.statistics.row_sums import RowSums
from gbt.model.credit import Group, members_of
from gbt.tables.names import shown


def grouped(result: Any, members: Mapping[str, Iterable[str]]) -> Any:
    """Return a `GlobalAttribution` with sums over groups of features first, then the others."""
    return _summed(result, *_membership(result.feature_names, members))


class Shareable:
    """A result by features, some of which may be groups of columns: ``gbt.model.credit``."""

    def shared(self: Any) -> Any:
        """Return the result with what groups such as "city x kind" do shared by their columns.

        Returns
        -------
        GlobalAttribution or LocalAttribution
            Of the columns alone. Each has equal parts of what its groups do, which says that these
            help, not which of their columns does. The parts of a Shapley value, of which a group is
            one player, are no Shapley values of columns.
        """
        names = tuple(name for name in self.feature_names if not isinstance(name, Group))
        parts = np.zeros((len(self.feature_names), len(names)))
        for k, name in enumerate(self.feature_names):
            own = [names.index(member) for member in members_of(name)]
            parts[k, own] = 1 / len(own)
        if len(names) == len(parts):
            return self
        if not hasattr(self, "base_values"):
            return _summed(self, names, parts)
        values = np.moveaxis(np.moveaxis(self.values, 1, -1) @ parts, -1, 1)
        data = None if self.data is None else self.data[:, : len(names)]
        levels = None if self.categories is None else self.categories[: len(names)]
        return replace(self, values=values, feature_names=names, data=data, categories=levels)


def _summed(result: Any, names: tuple[str, ...], belongs: np.ndarray) -> Any:
    """Return a result of sums of features, with the shares in ``belongs``, (p, number of sums)."""
    if not facts_of(result.method).adds_up_features:
        raise ValueError(
            f"{result.method} does not add up over features. Measures that do are"
            f" {methods_with('adds_up_features')}."
        )
    rows, moments = result.contributions, result.second_moments
    if result.standard_error is not None and rows is None and moments is None:
        name = of_rows(result.method)
        make = (
            f"GlobalAttribution.from_rows({name}_rows(model, X, y)) or, if rows are many, with"
            f" {name}(model, X, y, second_moments=True)"
        )
        if is_of_fits(result.method):
            make = f"cross_fit(estimator, X, y, partial({name}, second_moments=True))"
        raise ValueError(
            "The standard error of a sum over features needs the contributions of single rows, or"
            f" how features vary together; this result keeps neither. Make it with {make}."
        )
    sums, standard_error = with_sums(result, names, belongs), None
    if moments is not None:  # rounding may leave less than 0 where members cancel
        squares = np.maximum(np.diag(sums.second_moments), 0.0)
        standard_error = RowSums(result.n_draws, sums.values, squares).standard_error
    if rows is not None:
        standard_error = RowSums.of(sums.contributions).standard_error
    return replace(sums, standard_error=standard_error)


def with_sums(result: Any, names: tuple[str, ...], belongs: np.ndarray) -> Any:
    """Return what a result says of sums of features, but for their errors."""
    by_feature = ("values", "per_tree", "per_output", "contributions")
    kept = {name: getattr(result, name) for name in by_feature}
    changed = {name: None if own is None else own @ belongs for name, own in kept.items()}
    moments = result.second_moments
    changed["second_moments"] = None if moments is None else belongs.T @ moments @ belongs
    return replace(result, feature_names=names, standard_error=None, kurtosis=None, **changed)


def _membership(feature_names: tuple[str, ...], members: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the sums, and a matrix of 0 and 1: which feature is in which of them."""
    if not isinstance(members, Mapping):
        raise ValueError(
            f"Groups are a dict from names to lists of features, such as {{'size': ['height',"
            f" 'weight']}}; got {shown(members)}."
        )
    group_of: dict[int, str] = {}
    for group, features in members.items():
        if isinstance(features, str):
            raise ValueError(f"Group {group!r} is the string {features!r}; give a list of names.")
        for name in features:
            k = find_feature(name, feature_names)
            if k in group_of:
                raise ValueError(
                    f"{name!r} is in the groups {group_of[k]!r} and {group!r}; leave it in one."
                )
            group_of[k] = group
    alone = [name for k, name in enumerate(feature_names) if k not in group_of]
    taken = sorted(set(members) & set(alone))
    if taken:
        raise ValueError(
            f"{taken[0]!r} is the name of a group and of a feature outside of it; rename the group."
        )
    names = (*members, *alone)
    belongs = np.zeros((len(feature_names), len(names)))
    own = iter(range(len(members), len(names)))  # the same name may be there twice
    for k in range(len(feature_names)):
        belongs[k, names.index(group_of[k]) if k in group_of else next(own)] = 1.0
    return names, belongs
