"""What is asked of a table: the options of the command line that are about it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

SAID_BY = {
    "groups": "which rows belong together",
    "time": "when a row was",
    "event": "whether the event came",
}


@dataclass(frozen=True)
class Question:
    """The options of the command line that are about a table, by their names."""

    target: str
    task: str | None = None  # None: the rule of `CLASSES_OR_NUMBERS`
    positive: str | None = None  # the class to predict, or what `event` holds where the event came
    keep: Collection[str] = ()  # columns that are to be features, whatever they look like
    drop: Collection[str] = ()  # columns that are not to be
    seed: int = 0  # of the split into two halves
    classes: Sequence[str] | None = None  # what a given model calls its classes, if more than two
    groups: str | None = None  # the column whose values hold rows together
    time: str | None = None  # the column in whose order the earlier rows are fitted
    by: str | None = None  # the column by whose values the held-out rows are judged apart
    no_groups: bool = False  # none are looked for
    no_dates: bool = False  # dates are not taken apart
    event: str | None = None  # the column that says whether the event had come
