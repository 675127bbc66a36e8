"""The result of an importer: an ensemble, and what could not be found out.

A model of another library is turned into an `Ensemble` once, and the result is kept as long as the
model exists and does not change. Most attributions do not need G of the training, so an import does
not warn if it is unknown; `Ensemble.require` raises the error when G is needed.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ref

import numpy as np

from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class Imported:
    """A model of another library."""

    ensemble: Ensemble
    library: str
    unknown: str | None = None  # why the sums of gradients are unknown: "it was trained with ..."
    doubt: str | None = None  # why they may be those of another loss
    has_hidden_start: bool = False  # the base score was computed from the first tree's nodes
    weight_of_1: float = 1.0  # factor on weights of class 1, which that base score does not have
    is_sampled: bool = False  # each tree saw some rows only, so sums over all rows cannot check it
    has_dropped: bool = False  # DART grew trees at predictions that cannot be computed again
    trained_on: Callable[[np.ndarray], Loss] | None = (
        None  # weights -> the training loss, if another
    )
    counts_are_weights: bool = False  # its counts are sums of weights that happen to be whole
    levels: dict[int, list[Any]] = field(default_factory=dict)  # kept levels, in its own order
    has_levels_of_rows: bool = False  # it has only hashes, and rows have told the levels
    has_counters: bool = False  # its columns were other numbers in training than they are for rows
    leaves_are_steps: bool = False  # a leaf's value is -learning_rate G/(H + lambda) of its rows

    def __post_init__(self) -> None:
        about = None
        if self.unknown is not None:
            about = f"G of the nodes of this {self.library} model is unknown: {self.unknown}"
        elif self.doubt is not None:
            about = (
                f"G and H of the nodes of this {self.library} model are of unknown origin:"
                f" {self.doubt}"
            )
        if about is not None:
            object.__setattr__(self, "ensemble", replace(self.ensemble, about_gradients=about))

    def with_starts(self) -> "Imported":
        """Return the import of a model that was trained from starting values of its rows."""
        if self.ensemble.has_init_score is not None and not self.has_hidden_start:
            return self  # it knows, as ours do
        given, n_outputs = self.ensemble, self.ensemble.n_outputs
        value = given.value.copy()
        if (
            self.has_hidden_start
        ):  # what was subtracted from the first trees belongs to them after all
            sizes = np.diff(given.tree_offset[: n_outputs + 1])
            value[: given.tree_offset[n_outputs]] += np.repeat(given.base_score, sizes)
        nothing = np.zeros(n_outputs) if n_outputs > 1 else 0.0
        ensemble = replace(given, value=value, base_score=nothing, has_init_score=True)
        return replace(self, ensemble=ensemble, has_hidden_start=False)


_KEPT: dict[int, tuple[ref, Hashable, Imported]] = {}  # by id, because not all models are hashable


def kept(model: Any, state: Hashable, make: Callable[[], Imported]) -> Imported:
    """Return the kept import of a model in this state, or make it now."""
    key = id(model)
    found = _KEPT.get(key)
    if found is None or found[0]() is not model or found[1] != state:
        found = ref(model, lambda _: _KEPT.pop(key, None)), state, make()
        _KEPT[key] = found
    return found[2]


def forget(model: Any) -> None:
    """Forget the import of a model, for measurements of how long importing takes."""
    _KEPT.pop(id(model), None)
