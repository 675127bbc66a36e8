r"""Interaction constraints: groups of columns that may be on one path from the root.

Below splits on columns a and b, a node may be split on any column of a group that has both a and b
(scikit-learn's ``interaction_cst``; XGBoost's rule is the same if every column is in some group).
So no path has columns that are not together in one group, and a raw prediction is a sum of
functions, each of the columns of one group. With groups of one column, "no_interactions", it is an
*additive* model: base score + f_1(x_1) + ... + f_p(x_p).

The groups that hold all columns of a path settle which columns may follow, and nothing else does.
Growth is handed a table of these states (``gbt.kernels.trees.node_columns``).
"""

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from gbt.kernels.trees.node_columns import FOLLOWING
from gbt.kernels.trees.nodes import records
from gbt.splitting.policy import Groups, Limits
from gbt.tables.names import place_of

SIZES = {"no_interactions": 1, "pairwise": 2}  # of the groups, which are all of one size
MOST_ENTRIES = 2**22  # of the table of states: 64 megabytes


def groups_of(constraints: Any, names: Sequence[str]) -> Groups | None:
    """Return the groups of columns, by number; None if all columns may be on one path.

    All groups of one size are returned as that size. Constraints are "no_interactions", "pairwise",
    a list of lists of names or indices, or None. Columns in no list make up one more group.
    """
    everything = frozenset(range(len(names)))
    if constraints is None:
        return None
    if isinstance(constraints, str):
        return SIZES[constraints] if SIZES[constraints] < len(names) else None
    listed = [
        frozenset(place_of("interaction_constraints", column, names) for column in group)
        for group in constraints
    ]
    others = everything.difference(*listed)
    groups = frozenset([*listed, others] if others else listed)
    return None if everything in groups else groups


def is_interaction_constraints(value: Any) -> bool:
    """Say whether something is a possible value of the estimators' parameter."""
    if value is None or isinstance(value, str):
        return value is None or value in SIZES
    kinds = list | tuple | set | frozenset | np.ndarray
    return isinstance(value, list | tuple) and all(
        isinstance(group, kinds)
        and len(group) > 0
        and all(isinstance(k, str | Integral) and not isinstance(k, bool) for k in group)
        for group in value
    )


def following_of(limits: Limits, n_columns: int) -> np.ndarray:
    """Return the table of states: which columns are open in each, and the state after each.

    Without groups there is one state, of all columns. States of paths that are longer than the tree
    is deep are left out.
    """
    everything = frozenset(range(n_columns))
    groups = frozenset([everything]) if limits.groups is None else limits.groups
    first: Any
    after: Callable[[Any, int], Any]
    if isinstance(groups, int):  # a state is the columns on a path
        first, after = frozenset(), lambda path, k: path | {k}
        open_in = lambda path: everything if len(path) < groups else path  # noqa: E731
    else:  # a state is the groups that hold all columns of a path, bit j for group j
        listed = list(groups)
        with_column = [0] * n_columns
        for j, group in enumerate(listed):
            for k in group:
                with_column[k] |= 1 << j
        first, after = (1 << len(listed)) - 1, lambda state, k: state & with_column[k]
        open_in = lambda state: frozenset().union(*(listed[j] for j in _bits(state)))  # noqa: E731
    entries: dict[Any, list[tuple[int, Any]]] = {}
    layer, n_entries, depth = {first}, 0, 0
    while layer:
        for state in layer:
            entries[state] = [(k, after(state, k)) for k in sorted(open_in(state))]
            n_entries += len(entries[state]) + 1
            _refuse_so_many(n_entries)
        if limits.max_depth is not None and depth >= limits.max_depth:
            break
        found = (below for state in layer for _, below in entries[state])
        layer, depth = {below for below in found if below not in entries}, depth + 1
    n_of_state = np.array([len(of_state) + 1 for of_state in entries.values()])
    place = dict(zip(entries, (np.cumsum(n_of_state) - n_of_state).tolist(), strict=True))
    following = records(n_entries, FOLLOWING)
    following["column"] = [k for of_state in entries.values() for k in (*dict(of_state), -1)]
    following["state"] = [
        place.get(below, 0)  # paths too long to be split have no state
        for of_state in entries.values()
        for below in (*(below for _, below in of_state), None)
    ]
    return following


def _bits(state: int) -> Iterator[int]:
    """Yield the places of the bits of a number that are 1, from the lowest."""
    while state:
        lowest = state & -state
        yield lowest.bit_length() - 1
        state ^= lowest


def _refuse_so_many(n_entries: int) -> None:
    if n_entries > MOST_ENTRIES:
        raise ValueError(
            "interaction_constraints leave too many ways to go on from one split to the next: a"
            f" table of them has more than {MOST_ENTRIES:,} entries. Give fewer or smaller groups,"
            " or lower max_depth."
        )
