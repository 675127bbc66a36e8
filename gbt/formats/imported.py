"""What every reader makes of a model: its nodes, an ensemble of them, and what could not be found.

A reader puts the nodes of all trees in preorder (`LibraryNodes`), finds out what they know, and
hands over an `Imported`. Most attributions do not need G of the training, so an import does not
warn if it is unknown; `Ensemble.require` raises the error when G is needed.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from gbt.formats.listed_levels import Listed
from gbt.formats.nodes import Preorder
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble
from gbt.model.soundness import NEEDED_FOR
from gbt.model.statistics import node_gain
from gbt.model.tree import NODE_DTYPES

SUMS = frozenset({"counts", "hessians", "gradients"})
STEPS = "steps"


class LibraryNodes(NamedTuple):
    """What a library keeps of all nodes, in preorder."""

    tree: Preorder
    feature: np.ndarray  # this and the next two are not read at leaves
    threshold: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray  # of the leaves; of inner nodes, what the library keeps there
    sum_hessian: np.ndarray  # or the weight of the rows, where the library keeps that
    n_samples: np.ndarray | None = None
    listed: Listed | None = None  # the levels that go left where categories are split

    def gradients(self, learning_rate: float, penalty: float | np.ndarray) -> np.ndarray:
        """Return G of all nodes, added up from leaves of the value -rate G/(H + penalty)."""
        return self.tree.add_up(-self.value / learning_rate * (self.sum_hessian + penalty))

    def imported(
        self,
        library: str,
        unknown: str | None,
        value: np.ndarray,
        sum_gradient: np.ndarray,
        known: Collection[str],
        doubt: str | None = None,
        declared: Collection[int] = (),
        **others: Any,
    ) -> "Imported":
        """Return a sound `Ensemble` of these nodes, and what is known of its origin.

        Statistics that are not ``known`` are not read; gradients are not if a reason is given why
        they are ``unknown``. A ``doubt`` says why they may be those of another loss. Columns that
        are ``declared`` categories may be in no split. The ``others`` are fields of `Imported` and
        of `Ensemble`, the base scores in an array.
        """
        known = frozenset(known) - ({"gradients"} if unknown is not None else set())
        own = {one.name: others.pop(one.name) for one in fields(Imported) if one.name in others}
        tree, inner = self.tree, ~self.tree.is_leaf
        has_threshold = inner if self.listed is None else inner & ~self.listed.has_list
        root = tree.by_node(tree.tree_offset[:-1])
        gain = np.zeros(len(inner))
        if {"gradients", "hessians"} <= known:
            sums = sum_gradient, self.sum_hessian
            gain = node_gain(tree.left, tree.right, *sums, others["reg_lambda"])
        arrays: dict[str, Any] = {
            "feature": np.where(inner, self.feature, -1),
            "threshold": np.where(has_threshold, self.threshold, 0.0),
            "left": np.where(inner, tree.left - root, -1),
            "right": np.where(inner, tree.right - root, -1),
            "missing_left": inner & self.missing_left,
            "sum_gradient": sum_gradient,
            "sum_hessian": self.sum_hessian,
            "n_samples": self.n_samples,
            "gain": gain,
            "value": value,
        }
        arrays = with_zeros(arrays, known)
        arrays = {name: np.asarray(arrays[name]).astype(of) for name, of in NODE_DTYPES.items()}
        if self.listed is not None:
            names, levels = others["feature_names"], own.get("levels", {})
            others |= self.listed.as_sets(library, self.feature, names, levels, declared)
        if others.get("categories") is None:
            others.pop("unseen_is_missing", None)
        if others["loss"].has_queries:  # every library has pairs and weights of its own
            own["compared"] = own.get("compared", SUMS) & {"counts"}
        about, of_nodes = None, f"of the nodes of this {library} model"
        if unknown is not None:
            about = f"G {of_nodes} is unknown: {unknown}"
        elif doubt is not None:
            about = f"G and H {of_nodes} are of unknown origin: {doubt}"
        base_score = np.asarray(others.pop("base_score"), dtype=np.float64)
        ensemble = Ensemble(
            **arrays,
            tree_offset=tree.tree_offset,
            statistics=known,
            about_gradients=about,
            base_score=base_score if others["loss"].n_outputs > 1 else base_score.item(),
            **{"has_init_score": None, **others},  # no library says so
        )
        ensemble.validate()
        return Imported(ensemble, library, **own)


def with_zeros(arrays: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return arrays of nodes with 0 in place of what is not known."""
    of_nodes = np.zeros(len(arrays["left"]))
    unknown = {name: of_nodes for name, of in NEEDED_FOR.items() if of not in known}
    if "values" not in known:
        unknown["value"] = np.where(arrays["left"] < 0, arrays["value"], 0.0)
    return {**arrays, **unknown}


@dataclass(frozen=True, eq=False)
class Imported:
    """A model of another library."""

    ensemble: Ensemble
    library: str
    # Which sums of training rows must be the library's, if it keeps them. Those of others belong to
    # other predictions or columns. With "steps", a leaf's value is -rate G/(H + lambda).
    compared: frozenset[str] = SUMS
    is_sampled: bool = False  # each tree saw some rows only: sums over all rows cannot check it
    # Of the weights of the training rows, the loss of the training if it is another.
    trained_on: Callable[[np.ndarray], Loss] | None = None
    # If the base score was computed from the first tree's nodes: the factor on weights of class 1,
    # which that base score does not have.
    start_weight_of_1: float | None = None
    levels: dict[int, list[Any]] = field(default_factory=dict)  # by column, in the library's order

    def with_starts(self) -> "Imported":
        """Return the import of a model that was trained from starting values of its rows."""
        given, is_hidden = self.ensemble, self.start_weight_of_1 is not None
        if given.has_init_score is not None and not is_hidden:
            return self  # it knows, as ours do
        if is_hidden:  # what was subtracted from the first trees belongs to them after all
            given = moved_start(given, np.zeros(given.n_outputs))
        nothing = np.zeros(given.n_outputs) if given.n_outputs > 1 else 0.0
        ensemble = replace(given, base_score=nothing, has_init_score=True)
        return replace(self, ensemble=ensemble, start_weight_of_1=None)


def moved_start(ensemble: Ensemble, base_score: Any) -> Ensemble:
    """Return a model of the same predictions that starts from another base score.

    The difference is taken from the nodes of the first trees.
    """
    moved = np.zeros(ensemble.n_trees)
    moved[: ensemble.n_outputs] = np.subtract(base_score, ensemble.base_score)
    value = ensemble.value - np.repeat(moved, np.diff(ensemble.tree_offset))
    return replace(ensemble, value=value, base_score=base_score)
