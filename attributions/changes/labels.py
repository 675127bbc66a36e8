"""Labels of rows, such as months or regions: which there are, in which order, and whose rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.names import first_of
from attributions.statistics.groups import Groups
from gbt.parallel.chunks import in_memory

SHOWN = 8  # labels that a message names


@dataclass(frozen=True, eq=False)
class Labels:
    """The distinct labels of rows."""

    names: tuple[Any, ...]  # in their order
    of_row: np.ndarray  # the number of each row's label
    is_ordered: bool  # whether one comes before another: numbers, times and ordered categories

    @classmethod
    def of(cls, by: Any, n_rows: int) -> "Labels":
        """Take one label a row: an array, a Series or Categorical of pandas, or such labels."""
        if isinstance(by, Labels):
            return by
        by = in_memory(by)
        dtype: Any = getattr(by, "dtype", None)
        if hasattr(dtype, "ordered"):  # of pandas; those of polars become words
            codes = np.asarray(getattr(by, "cat", by).codes).astype(np.intp)
            found = Groups.of(np.where(codes < 0, np.nan, codes), n_rows, "by")
            names = tuple(dtype.categories[int(code)] for code in found.labels)
            return cls(names, found.of_row, bool(dtype.ordered))
        array = np.asarray(by)
        found = Groups.of(array, n_rows, "by")
        names = tuple(found.labels if array.dtype.kind == "M" else found.labels.tolist())
        is_ordered = array.dtype.kind in "iufM" or not any(isinstance(n, str | bool) for n in names)
        return cls(names, found.of_row, is_ordered)


def label_text(label: Any) -> str:
    """Return a label as it is shown: a time without what is 0 in it."""
    if isinstance(label, np.datetime64):
        return str(np.datetime_as_string(label, unit="auto"))
    if hasattr(label, "isoformat"):
        return str(label).removesuffix(" 00:00:00")
    return str(label)


def _are_equal(name: Any, wanted: Any) -> bool:
    return isinstance(found := name == wanted, bool | np.bool_) and bool(found)


def find_label(wanted: Any, names: tuple[Any, ...], role: str) -> int:
    """Return the number of a label, given itself or as it is shown; name those that exist."""
    equal = [j for j, name in enumerate(names) if _are_equal(name, wanted)]
    alike = [j for j, name in enumerate(names) if label_text(name) == label_text(wanted)]
    if found := equal or alike:
        return found[0]
    some = first_of([*map(label_text, names)], SHOWN)
    raise ValueError(f"{role}={wanted!r} is not there; the labels are {some}.")
