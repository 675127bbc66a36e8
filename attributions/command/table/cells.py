"""The cells of one column as its file holds them: typed, or texts of which each is kept once.

Arrow and Parquet files know the types of columns, so numbers, booleans and moments keep theirs.
Everything else, and every column of a text file, is texts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from gbt.tables.spelled import is_blank, plain_number


@dataclass(frozen=True, eq=False)
class Cells:
    """A column, or a batch of its rows.

    Parameters
    ----------
    holds : {"numbers", "booleans", "moments", "texts"}
        Moments are seconds since 1970.
    values : array of shape (n,)
        The numbers or moments, nan where missing; of the others each row's place among ``texts``.
    texts : list of str
        The different booleans or texts in the order in which they come, without blanks around them.
    example : str
        The first moment, as it is written.
    """

    holds: str
    values: np.ndarray
    texts: Sequence[str] = ()
    example: str = ""

    @classmethod
    def of(cls, values: Iterable[Any], rows: np.ndarray | None = None) -> "Cells":
        """Make texts of any values, None where missing; ``rows`` says which one each row has."""
        column = GrowingCells()
        column.extend("" if value is None else str(value).strip() for value in values)
        place, places = column.place, column.places()
        if rows is None:
            return cls("texts", places, [*place])
        found, first = np.unique(places[rows], return_index=True)  # of a list of levels: in use
        order = np.argsort(first)
        renumbered = np.empty(len(place), dtype=np.int64)
        renumbered[found[order]] = np.arange(len(found))
        return cls("texts", renumbered[places[rows]], [[*place][k] for k in found[order]])

    def with_texts(self) -> "Cells":
        """Return the cells as texts, numbers and moments included."""
        if self.holds not in ("numbers", "moments"):
            return self
        distinct, rows = np.unique(self.values, return_inverse=True)
        values = distinct.tolist()
        if self.holds == "moments":
            values = [None if np.isnan(value) else self._written(value) for value in values]
        return Cells.of(values, rows)

    def _written(self, seconds: float) -> str:
        """Return a moment as the example is written, as a date or with the time of day."""
        text = str(datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None))
        return text if " " in self.example else text.split(" ")[0]

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers, nan where there is none; and which cells are no number, but not missing.

        Booleans are 0 and 1.
        """
        if self.holds in ("numbers", "moments"):
            found = self.values.astype(np.float64, copy=False)
            known = ~np.isnan(self.values)
        else:
            of_text = {"True": 1.0, "False": 0.0} if self.holds == "booleans" else {}
            each = [of_text.get(text, plain_number(text)) for text in self.texts]
            found = np.array(each, dtype=np.float64)[self.values]
            known = ~np.array([is_blank(text) for text in self.texts], dtype=bool)[self.values]
        is_finite = np.isfinite(found)
        if not np.isinf(
            found
        ).any():  # the cells' own array: a table of a million rows is kept once
            return found, known & ~is_finite
        return np.where(is_finite, found, np.nan), known & ~is_finite


class GrowingCells:
    """A column of texts that comes some rows at a time; only different texts stay in memory."""

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        self._places: list[np.ndarray] = []

    def extend(self, texts: Iterable[str]) -> None:
        """Add rows."""
        place = self.place
        found = [place.setdefault(text, len(place)) for text in texts]
        self._places.append(np.array(found, dtype=np.int64))

    def places(self) -> np.ndarray:
        """Return each row's place among the different texts."""
        return np.concatenate(self._places) if self._places else np.empty(0, dtype=np.int64)

    def cells(self) -> Cells:
        """Return the column as far as it has come."""
        return Cells("texts", self.places(), [*self.place])


def joined(batches: Sequence[Cells]) -> Cells:
    """Return batches of one column as one."""
    first = batches[0]
    if first.holds in ("numbers", "moments"):
        example = next((batch.example for batch in batches if batch.example), "")
        return Cells(first.holds, np.concatenate([b.values for b in batches]), example=example)
    texts = [text for batch in batches for text in batch.texts]
    starts = np.cumsum([0, *(len(batch.texts) for batch in batches[:-1])])
    rows = np.concatenate([b.values + start for b, start in zip(batches, starts, strict=True)])
    whole = Cells.of(texts, rows)
    return Cells(first.holds, whole.values, whole.texts)
