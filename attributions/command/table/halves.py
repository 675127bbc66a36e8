"""Which rows are trained on and which are held out: at random, by groups, or the later ones.

At random, each half gets the same share of every class, so that a file sorted by its target does no
harm. Groups stay whole. In the order of time all rows of one moment, such as a day, are on one
side.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attributions.command.question import Question
from attributions.command.rules.belonging import labels_of_groups
from attributions.command.rules.columns import Column
from attributions.command.rules.target import Target, differ
from attributions.command.unusable import UnusableTableError, listed
from attributions.names import elided
from gbt.tables.names import counted

NEEDED = {"cox": "an event before another row's", "ndcg": "rows of one group with different grades"}


class Halves(NamedTuple):
    """Rows that have a target, and their targets."""

    train: np.ndarray  # their numbers
    valid: np.ndarray
    y: np.ndarray  # of all rows
    classes: tuple[str, ...]  # in words, where they are more than two
    description: list[str]
    n_without_time: int  # rows with a target that are left out where --time is given


def halves_of(
    path: Path, columns: Mapping[str, Column], target: Target, question: Question
) -> Halves:
    """Split the rows that have a target as is asked; say how."""
    labelled = np.flatnonzero(target.is_known)
    n_without = {"a target": len(target.y) - len(labelled), "a time": 0}
    y, has_shares = target.shared[labelled], target.has_shares
    if question.time is not None:
        times = columns[question.time]
        if times.kind == "words" or times.n_distinct < 2:
            raise UnusableTableError(
                f"--time {question.time}: {path} has {times.n_distinct:,} different {times.kind}"
                " there; it takes a column of dates or numbers, by which rows can be put in order."
            )
        has_time = ~np.isnan(times.numbers[labelled])
        labelled, n_without["a time"] = labelled[has_time], int(np.sum(~has_time))
        train, valid = halves_in_time(times.numbers[labelled])
        how = f"the earlier and the later ones by {elided(question.time)}"
    elif question.groups is not None:
        groups = labels_of_groups(columns[question.groups])[labelled]
        train, valid = halves_of_groups(groups, y, has_shares, question.seed)
        n_each = [len(np.unique(groups[half])) for half in (train, valid)]
        how = (
            f"{n_each[0]:,} and {n_each[1]:,} whole values of {elided(question.groups)}, at random"
            f" (seed {question.seed})"
        )
    else:
        train, valid = random_halves(y, has_shares, question.seed)
        how = f"at random (seed {question.seed})"
        how += ", with the same share of each class" * target.is_classification
        how += ", with the same share of events" * (target.loss == "cox")
    halves = labelled[train], labelled[valid]
    y, classes, rare = _without_rare(target, *halves)
    is_left = ~np.isnan(y if y.ndim == 1 else y[:, 0])
    train, valid = (half[is_left[half]] for half in halves)
    if not all(differ(y[half], target.loss) for half in (train, valid)):
        kept = f", with rows of the same {question.groups} in one half" * bool(question.groups)
        needed, of = "different values", ""
        if target.is_classification:
            fewest = np.unique(target.y[labelled], return_counts=True)[1].min()
            needed, of = "every class", f" of the rarest class, which has {fewest:,}"
        needed = NEEDED.get(target.loss or "", needed)
        with_what = "a target" + " and a time" * (question.time is not None)
        raise UnusableTableError(
            f"{path} has {len(labelled):,} rows with {with_what}: too few to have {needed} in both"
            f" halves{kept}; it needs more rows{of}."
        )
    without = " and ".join(f"{n:,} without {what}" for what, n in n_without.items() if n)
    without = f"; {without} are left out" * bool(without)
    said = f"Rows: {len(train):,} to train on and {len(valid):,} held out, {how}{without}."
    return Halves(train, valid, y, classes, [said, *rare], n_without["a time"])


def _without_rare(
    target: Target, train: np.ndarray, valid: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
    """Leave out rows of classes that are in one half only, and renumber the other classes.

    Returns targets (nan: left out), the classes if they are more than two, and lines for the user.
    """
    y, classes = target.y, np.array(target.classes, dtype=object)
    if not len(classes):
        return y, (), []
    count = partial(np.bincount, minlength=len(classes))
    n_of = np.array([count(y[half].astype(np.int64)) for half in (train, valid)])
    is_rare = (n_of == 0).any(axis=0)
    if not is_rare.any():
        return y, target.classes, []
    number = np.where(is_rare, np.nan, np.cumsum(~is_rare) - 1.0)
    known = ~np.isnan(y)
    left = np.full(len(y), np.nan)
    left[known] = number[y[known].astype(np.int64)]
    n_rows, names = int(n_of[:, is_rare].sum()), tuple(classes[~is_rare])
    said = (
        f"Classes that have no rows in one of the halves are left out,"
        f" {counted(n_rows, 'row')}: {listed([*classes[is_rare]])}."
    )
    return left, names if len(names) > 2 else (), [said]


def random_halves(
    y: np.ndarray, is_classification: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows at random into two halves, each class for itself; return ascending indices."""
    order = np.random.default_rng(seed).permutation(len(y))
    if is_classification:
        order = order[np.argsort(y[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def halves_of_groups(
    groups: np.ndarray, y: np.ndarray, is_classification: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split whole groups at random, the larger ones first to the half that has fewer rows."""
    places = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(places)
    order = np.random.default_rng(seed).permutation(len(sizes))
    if is_classification:  # neighbours have alike targets, and go to different halves
        means = np.bincount(places, weights=y) / sizes
        order = order[np.argsort(means[order], kind="stable")]
    half_of, n_rows = np.zeros(len(sizes), dtype=np.int64), [0, 0]
    for first in range(0, len(order), 2):
        pair = order[first : first + 2]
        pair = pair[np.argsort(-sizes[pair], kind="stable")]
        smaller = int(n_rows[1] < n_rows[0])
        for group, half in zip(pair, (smaller, 1 - smaller), strict=False):
            half_of[group] = half
            n_rows[half] += sizes[group]
    is_held_out = half_of[places] == 1
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def halves_in_time(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the earlier and the later half; all rows of one moment are on one side.

    The cut is before or after the moment of the middle row, wherever halves are more equal.
    """
    moments, counts = np.unique(times, return_counts=True)
    ends = np.cumsum(counts)[:-1]
    if not len(ends):
        return np.arange(len(times)), np.empty(0, dtype=np.int64)
    first_later = moments[1 + np.argmin(np.abs(ends - len(times) / 2))]
    return np.flatnonzero(times < first_later), np.flatnonzero(times >= first_later)
