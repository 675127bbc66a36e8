"""The trees of several models as one `Ensemble`.

**An average** with weights w_j has the trees of all models, the values of model j multiplied by
w_j. Boosted models go side by side, each after the same share of its own rounds, and a tree is
judged at what the average predicts before it::

    model 0, 2 rounds     .   0.0   .   0.1        order    1.0  0.0  1.1  1.2  0.1  1.3
    model 1, 4 rounds    1.0  1.1  1.2  1.3

Where all models are forests, or have a single round, the average is a forest. A forest beside
boosted models starts, as they do, from what it predicts before any split, which becomes part of the
base score.

G and H of the nodes are those that the members have. If members differ in how far their trees step
(learning rate times weight) or in lambda, the gains of their nodes do not add up to one total, and
G is unknown; training rows supply G at the predictions of the average.

**Side by side** stand models of one target each: their trees are those of the K outputs, and a
model of fewer rounds than others gets trees of a single leaf that is 0.

**Models that read tables of their own**, behind steps of their own or with levels of their own, get
what each of them makes of the user's table, one such table beside the other (`PreparedForEach`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy.sparse import hstack

from gbt.formats.averages import Several, refuse_other_scales
from gbt.formats.imported import with_zeros
from gbt.losses.by_name import is_same
from gbt.losses.several_outputs import SeveralTargets
from gbt.losses.squared_and_logistic import LOSSES
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import rounded_down
from gbt.model.preparation import Preparation
from gbt.model.seen_rows import SeenRows
from gbt.model.tree import NODE_DTYPES
from gbt.tables.categories import EncodedRows
from gbt.tables.level_sets import LevelSets
from gbt.tables.names import are_numbers, refuse_other_columns, without_blanks
from gbt.tables.sparse_rows import SparseRows
from gbt.tables.table import Table

NO_SPLIT = {"feature": -1, "left": -1, "right": -1}  # of a leaf, which has 0 elsewhere
MUST_SHARE: dict[str, Callable[[Ensemble], Any]] = {
    "whether 0 is missing": lambda model: model.zero_is_missing,
    "whether rows have starting values": lambda model: model.has_init_score is True,
    "whether an unseen level is missing": lambda model: (
        model.unseen_is_missing or model.categories is None
    ),
}


def merged(several: Several, ensembles: list[Ensemble]) -> Ensemble:
    """Return the trees of several models as one ensemble.

    If the models have no such sum, a ValueError says what they differ in.
    """
    refuse_other_scales(several, ensembles)
    levels = {ensemble.categories for ensemble in ensembles}
    have_steps = any(ensemble.preparation is not None for ensemble in ensembles)
    if have_steps or len(levels) > 1 or (several.columns is not None and levels != {None}):
        return _with_own_tables(several, ensembles)
    names = several.names or _common_names(several, [one.feature_names for one in ensembles])
    columns = several.columns or [np.arange(len(names))] * len(ensembles)
    return _together(several, [*map(partial(_with_columns, names), columns, ensembles)])


def _together(several: Several, parts: list[Ensemble]) -> Ensemble:
    """Return the trees of models over the same columns as one ensemble."""
    if len({part.input_dtype for part in parts}) > 1:
        parts = [in_float64(part) for part in parts]
    for part in parts[1:]:
        _refuse_differences(several, parts[0], part)
    if not all(part.has_init_score is False for part in parts):  # None is unknown, and no start
        has_start = parts[0].has_init_score or None
        parts = [replace(part, has_init_score=has_start) for part in parts]
    if len({part.unstored_is_missing for part in parts}) > 1:
        parts = [replace(part, unstored_is_missing=None) for part in parts]
    if several.weights is None:
        return _side_by_side(several, parts)
    return _average(parts, several.weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedForEach(Preparation):
    """What each of several models makes of a table, side by side."""

    several: Several
    members: list[Ensemble]

    def rows(self, X: Any) -> Any:
        """Return the rows that the models' trees read, sparse if all of them are."""
        if self.several.columns is not None:  # which are taken by their places
            refuse_other_columns(Table(X), self.names)
        parts = [one.as_input(self.several.given_to(j, X)) for j, one in enumerate(self.members)]
        if all(isinstance(part, SparseRows) for part in parts):
            return hstack([part.stored for part in parts], format="csr")
        return EncodedRows.of(np.hstack([part[:] for part in parts]), None, is_prepared=True)


def _with_own_tables(several: Several, members: list[Ensemble]) -> Ensemble:
    """Return the trees of models that read the tables which `PreparedForEach` puts side by side."""
    names, origins, names_out = several.names, [], []
    levels: list[Any] = []
    if names is None:
        before = [
            one.preparation.names if one.preparation else one.feature_names for one in members
        ]
        names = _common_names(several, before)
    for j, one in enumerate(members):
        own = range(len(names)) if several.columns is None else several.columns[j].tolist()
        steps, itself = one.preparation, [(k,) for k in range(one.n_features)]
        for origin in itself if steps is None else steps.origins:
            origins.append(tuple(sorted({own[k] for k in origin})))  # a bag may draw one twice
        names_out += [f"{j}: {name}" for name in one.feature_names]
        levels += one.categories or [None] * one.n_features
    preparation = PreparedForEach(
        steps=(),
        names=names,
        origins=tuple(origins),
        names_out=tuple(names_out),
        several=several,
        members=members,
    )
    given: dict[str, Any] = {"preparation": preparation, "credit": preparation.credit}
    has_levels = any(one.categories is not None for one in members)
    ends = np.cumsum([one.n_features for one in members])
    parts = []
    for own_places, one in zip(np.split(np.arange(ends[-1]), ends[:-1]), members, strict=True):
        if has_levels:
            no_sets = LevelSets.of([None] * len(one.feature))
            given |= {"categories": tuple(levels), "level_sets": one.level_sets or no_sets}
        parts.append(replace(_with_columns(tuple(names_out), own_places, one), **given))
    return _together(several, parts)


def _average(parts: list[Ensemble], weights: np.ndarray) -> Ensemble:
    """Return the average of models over the same columns."""
    is_forest = all(part.is_forest or part.n_rounds == 1 for part in parts)
    is_mixed = not is_forest and any(part.is_forest for part in parts)
    if is_mixed:
        parts = [_from_its_start(part) if part.is_forest else part for part in parts]
    rates = np.array([part.learning_rate for part in parts]) * weights
    step_alike = len({*rates.tolist()}) == 1 and len({part.reg_lambda for part in parts}) == 1
    whole = [[(r + 1) / part.n_rounds for r in range(part.n_rounds)] for part in parts]
    order = np.argsort(np.concatenate(whole), kind="stable")
    base_score = sum(weight * part.base_score for weight, part in zip(weights, parts, strict=True))
    scaled = [
        replace(part, value=weight * part.value)
        for weight, part in zip(weights.tolist(), parts, strict=True)
    ]
    known = frozenset.intersection(*(part.statistics for part in parts))
    about = next((part.about_gradients for part in parts if part.about_gradients), None)
    if is_mixed or not step_alike:
        known -= {"gradients"}
        about = (
            "The models of this average differ in the length of their steps or in lambda, so that"
            " the gains of their nodes do not add up to one total"
        )
    mean_rate = np.average(rates, weights=[max(part.n_rounds, 1) for part in parts])
    seen = [part.seen_rows for part in parts if part.seen_rows is not None]
    return _end_to_end(
        scaled,
        order,
        statistics=known,
        about_gradients=about,
        base_score=base_score,
        learning_rate=float(rates[0] if step_alike else mean_rate),
        reg_lambda=parts[0].reg_lambda if step_alike else 0.0,
        is_forest=is_forest,
        seen_rows=reduce(SeenRows.union, seen) if len(seen) == len(parts) else None,
    )


def _side_by_side(several: Several, parts: list[Ensemble]) -> Ensemble:
    """Return models of one target each as the outputs of one model."""
    first, n_rounds = parts[0], max(part.n_rounds for part in parts)
    if first.loss.name not in LOSSES or first.n_outputs > 1:
        raise ValueError(
            f"The models in this {several.name} have the {first.loss.name} loss; several targets"
            f" side by side are taken under {[*LOSSES]} alone. Give the model of a target:"
            " model.estimators_[k]."
        )
    first_of = np.cumsum([0, *(part.n_rounds for part in parts)])
    nothing = first_of[-1]  # the round that stands after all
    order = [
        first_of[j] + r if r < part.n_rounds else nothing
        for r in range(n_rounds)
        for j, part in enumerate(parts)
    ]
    return _end_to_end(
        parts,
        np.array(order, dtype=np.int64),
        statistics=frozenset.intersection(*(part.statistics for part in parts)),
        loss=SeveralTargets(len(parts), first.loss.name),
        base_score=np.array([part.base_score for part in parts]),
        seen_rows=None,
    )


def _end_to_end(parts: list[Ensemble], order: np.ndarray, **others: Any) -> Ensemble:
    """Return one ensemble of the rounds of all parts, counted through, in an order.

    After the last of them stands a tree of a single leaf that is 0, of models of one output.
    """
    n_outputs, known = parts[0].n_outputs, others["statistics"]
    sizes = np.concatenate([*(np.diff(part.tree_offset) for part in parts), [1]])
    starts = np.cumsum(sizes) - sizes
    trees = (order[:, np.newaxis] * n_outputs + np.arange(n_outputs)).ravel()
    offset = np.cumsum([0, *sizes[trees]])
    node = np.repeat(starts[trees] - offset[:-1], sizes[trees]) + np.arange(offset[-1])
    arrays: dict[str, Any] = {
        name: np.concatenate([*(getattr(part, name) for part in parts), [leaf]])[node]
        for name, leaf in {**dict.fromkeys(NODE_DTYPES, 0), **NO_SPLIT}.items()
    }
    arrays = with_zeros(arrays, known)
    if parts[0].level_sets is not None:
        own = [part.level_sets for part in parts if part.level_sets is not None]
        sets = LevelSets.end_to_end([*own, LevelSets.of([None])])
        arrays["level_sets"] = sets.in_order(node)
    ensemble = replace(parts[0], **arrays, tree_offset=offset, **others)
    ensemble.validate()
    return ensemble


def _from_its_start(ensemble: Ensemble) -> Ensemble:
    """Return a forest with the values of its roots in the base score, and out of its trees.

    Boosted models start from there, too: from what they predict before any split.
    """
    roots = ensemble.value[ensemble.tree_offset[:-1]]
    by_round = roots.reshape(ensemble.n_rounds, ensemble.n_outputs)
    start = by_round.sum(axis=0) if ensemble.n_outputs > 1 else float(roots.sum())
    moved = ensemble.value - np.repeat(roots, np.diff(ensemble.tree_offset))
    return replace(ensemble, value=moved, base_score=ensemble.base_score + start, is_forest=False)


def in_float64(ensemble: Ensemble) -> Ensemble:
    """Return a model that sends float64 rows where it sends them once they are float32.

    A number is rounded to the nearest float32, at a tie to the even one. So the largest that is
    rounded to r or below is the middle between r and the next float32, or just below the middle::

        float32        r           n         x = middle goes to r or to n, whichever is even
                  -----|-----+-----|-----
    """
    if ensemble.input_dtype == np.float64:
        return ensemble
    r = rounded_down(ensemble.threshold)
    n = np.nextafter(r, np.float32(np.inf))
    middle = (r.astype(np.float64) + n.astype(np.float64)) / 2
    with np.errstate(over="ignore"):
        goes_up = middle.astype(np.float32) > r
    last = np.where(goes_up, np.nextafter(middle, -np.inf), middle)
    is_number = (ensemble.left >= 0) & ~ensemble.has_set
    return replace(
        ensemble, threshold=np.where(is_number, last, ensemble.threshold), input_dtype=np.float64
    )


def _common_names(several: Several, all_names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names of the columns; numbers in place of names give way to names."""
    named = [names for names in all_names if not are_numbers(names)] or all_names[:1]
    blanks = max(named, key=lambda names: "".join(names).count(" "))  # LightGBM has none
    without = without_blanks(blanks)
    for names in all_names:
        if len(names) != len(blanks) or not (are_numbers(names) or names in (blanks, without)):
            raise ValueError(
                f"The models in this {several.name} have other columns: {[*blanks[:5]]}... and"
                f" {[*names[:5]]}... Fit them on the same table."
            )
    return blanks


def _with_columns(names: tuple[str, ...], columns: np.ndarray, ensemble: Ensemble) -> Ensemble:
    """Return a member that counts the columns of the whole, of which it may read some only."""
    seen = ensemble.seen_rows if np.array_equal(columns, range(len(names))) else None
    feature = np.where(ensemble.left >= 0, columns[np.maximum(ensemble.feature, 0)], -1)
    return replace(ensemble, feature=feature, feature_names=names, seen_rows=seen)


def _refuse_differences(several: Several, first: Ensemble, other: Ensemble) -> None:
    """Raise ValueError if two models cannot be put together."""
    if not is_same(first.loss, other.loss):
        names = f"{first.loss.name} and {other.loss.name}"
        if first.loss.name == other.loss.name:
            names = f"{first.loss.name} with other parameters, such as another library's hessian"
        raise ValueError(
            f"The models in this {several.name} have different losses, {names}: their trees add up"
            " to different things."
        )
    for what, has in MUST_SHARE.items():
        if has(first) != has(other):
            raise ValueError(
                f"The models in this {several.name} differ in {what}, {has(first)} and"
                f" {has(other)}; such models cannot be put together. Give one of them."
            )
