"""What an importer hands over: an ensemble, and what it could not find out.

A model of another library is turned into an `Ensemble` once and kept while it lives, as long as it
stays as it was.
"""

import warnings
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple
from weakref import ref

from gbt.model import Ensemble


class Imported(NamedTuple):
    """A model of another library."""

    ensemble: Ensemble
    library: str
    unknown: str | None = None  # why the sums of gradients are unknown: "it was trained with ..."
    doubt: str | None = None  # why they may be those of another loss
    has_hidden_start: bool = False  # the base score was worked out from the first tree's nodes
    is_sampled: bool = False  # each tree saw some rows only, so sums over all rows cannot check it
    has_dropped: bool = False  # DART grew trees at predictions that cannot be worked out again
    counts_are_weights: bool = False  # its counts are sums of weights, which happen to be whole
    has_levels_of_rows: bool = False  # of categories that it keeps by their hashes

    @property
    def warning(self) -> str | None:
        """What to say to whoever gave no training rows."""
        ask = (
            "Give the rows that it was trained on, gbt.formats.as_ensemble(model, X=X_train,"
            " y=y_train), to have them found out. Predictions and attributions that need no"
            " gradients of the training are not concerned."
        )
        if self.unknown is not None:
            return f"G of the nodes of this {self.library} model is unknown: {self.unknown}. {ask}"
        if self.doubt is not None:
            return (
                f"G and H of the nodes of this {self.library} model are of unknown origin:"
                f" {self.doubt}. {ask}"
            )
        return None


_KEPT: dict[int, tuple[ref, Hashable, Imported]] = {}  # by id, because not all models are hashable


def kept(model: Any, state: Hashable, make: Callable[[], Imported]) -> Imported:
    """Return what was made of a model when it was in this state, or make it now."""
    key = id(model)
    found = _KEPT.get(key)
    if found is None or found[0]() is not model or found[1] != state:
        found = ref(model, lambda _: _KEPT.pop(key, None)), state, make()
        _KEPT[key] = found
    return found[2]


def forget(model: Any) -> None:
    """Forget what was made of a model, for whoever measures how long that takes."""
    _KEPT.pop(id(model), None)


def warn_of(imported: Imported) -> Ensemble:
    """Return the ensemble, with a warning if something about it is not known."""
    if imported.warning is not None:
        warnings.warn(imported.warning, UserWarning, stacklevel=3)
    return imported.ensemble
