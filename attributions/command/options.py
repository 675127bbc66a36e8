"""The command line's options, and a check that results can be written."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attributions.command.printed import FEATURES, PICTURE
from attributions.command.unusable import UnusableTableError

COMMAND = "gbt-attributions"  # beside ``python -m attributions``
DEFAULT_FOLDER = Path("attributions_out")
# How argparse reads options.
Options = dict[str, tuple[dict[str, Any], str]]
NAME, FLAG = {"metavar": "NAME"}, {"action": "store_true"}
NAMES = {"metavar": "NAME", "action": "append", "default": []}
ABOUT_A_TABLE: Options = {
    "data": (
        {"type": Path},
        "a file with a line of column names: cells between commas, semicolons, tabs or bars, or a"
        " file of Parquet, Arrow, Excel, JSON or JSON Lines, packed by gzip or not; Parquet and"
        " Arrow are read in batches with --model and without --report, and may be larger than"
        " memory",
    ),
    "target": (NAME, "the column to predict"),
    "positive": (
        {"metavar": "LABEL"},
        "one class to predict, against all others (default: the last of two; three or more are all"
        " told apart)",
    ),
    "keep": (
        NAMES,
        "a column that is a feature, although it looks like an identifier or a date; may be"
        " repeated",
    ),
    "drop": (NAMES, "a column that is to be no feature; may be repeated"),
    "groups": (
        NAME,
        "the column that says which rows belong together, such as those of one person: they are"
        " kept in one half, and count as one draw (default: found by the program where that is"
        " plain)",
    ),
    "no-groups": (FLAG, "take rows for independent, whatever the table looks like"),
    "time": (
        NAME,
        "the column by which rows are in order: fit on the earlier, judge on the later half, and"
        " say what changed there",
    ),
    "no-dates": (FLAG, "make no year, month, weekday, hour and days since the first of dates"),
    "by": (NAME, "the column, such as a region, by whose values held-out rows are judged apart"),
    "event": (
        NAME,
        "the column that says whether the event had come at the target's time; its values are two,"
        " such as 0 and 1, of which the last in order, or --positive, says that it had",
    ),
    "model": (
        {"type": Path, "metavar": "FILE"},
        "a model to judge instead of fitting one: saved by this library, by XGBoost (JSON or"
        " UBJSON) or by LightGBM (text); the rows must be such as it was not trained on",
    ),
}
OTHERS: Options = {
    "task": (
        {"choices": ("regression", "classification", "counts", "survival", "ranking")},
        "what the target holds: numbers; classes; counts, regressed by the Poisson loss; times"
        " after which an event came or observation ended, with --event; or grades by which the rows"
        " of each of --groups are to be put in order, the best first (default: numbers or classes,"
        " by the column's values)",
    ),
    "report": (
        {"type": Path, "metavar": "FILE"},
        "write a report that a browser shows, one HTML file",
    ),
    "open": (FLAG, "show the report in a browser, once it is written"),
    "out": (
        {"type": Path, "metavar": "FOLDER"},
        "where the table of all features and the picture go (default:"
        f" {DEFAULT_FOLDER}, but nowhere with --report)",
    ),
    "seed": ({"type": int, "default": 0}, "of all that is drawn at random (default: %(default)s)"),
}


def program_name() -> str:
    """Return the name by which the program was called."""
    return COMMAND if Path(sys.argv[0]).stem == COMMAND else "python -m attributions"


def check_places(options: argparse.Namespace) -> None:
    """Raise UnusableTableError where results cannot be written, before anything is worked out."""
    for option, place in (("out", options.out), ("report", options.report)):
        for reason in _wrong_with(option, place, options) if place is not None else ():
            raise UnusableTableError(f"--{option}{reason}")
    if options.report is not None and find_spec("matplotlib") is None:
        raise UnusableTableError(
            "--report draws with Matplotlib, which is not installed: pip install matplotlib."
        )


def _wrong_with(option: str, place: Path, options: argparse.Namespace) -> Iterator[str]:
    existing = next(path for path in (place, *place.parents) if path.exists())
    written = [place / FEATURES, place / PICTURE] if option == "out" else [place]
    if option == "out" and not existing.is_dir():
        yield f" takes a folder, and {existing} is a file; name another."
    elif option == "report" and place.is_dir():
        yield f" takes a file, and {place} is a folder; name a file."
    elif option == "report" and not place.parent.is_dir():
        yield f": there is no folder {place.parent}; make it first."
    if not os.access(existing, os.W_OK):
        yield f": {existing} may not be written to; name another place."
    for source in filter(None, (options.data, options.model)):
        if any(path.exists() and source.exists() and path.samefile(source) for path in written):
            yield f" {place} would overwrite {source}, which is read; name another place."


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog=program_name(),
        description="Fit gradient boosted trees and compare what each feature promised in training"
        " (total gain) with what it delivers on other rows (held-out gain). Without --data: on a"
        " table that ships with scikit-learn, joined by a column of random numbers.",
        epilog="With --data half of the rows, drawn at random, are held out. The target must hold"
        " classes or numbers; the output says which. Empty cells, NA and ? are missing values;"
        " words are categories; columns that only say which row it is are left out.",
    )
    table = parser.add_argument_group("your own table")
    for group, options in ((table, ABOUT_A_TABLE), (parser, OTHERS)):
        for name, (how, meaning) in options.items():
            group.add_argument(f"--{name}", help=meaning, **how)
    read, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.error(f"unrecognized: {' '.join(unknown)}; a table is --data FILE --target NAME")
    for is_so, text in _contradictions(read):
        if is_so:
            parser.error(text)
    if read.report is None and read.out is None:
        read.out = DEFAULT_FOLDER
    return read


def _contradictions(options: argparse.Namespace) -> Iterator[tuple[Any, str]]:
    """Yield what options do not go with each other, and whether they are given."""
    task, model, report = options.task, options.model, options.report
    for name in [*ABOUT_A_TABLE, "task"]:
        yield (
            options.data is None and getattr(options, name.replace("-", "_")),
            f"--{name} is about a table; name its file with --data",
        )
    yield (
        task in ("regression", "counts", "ranking") and options.positive is not None,
        f"--positive names a class, so it does not go with --task {task}",
    )
    yield (
        task == "ranking" and options.groups is None,
        "--task ranking puts the rows of a group in order, such as those of one search; name with"
        " --groups the column that says which rows these are",
    )
    yield (
        task == "survival" and options.event is None,
        "--task survival asks when an event comes; name with --event the column that says whether"
        " it has come",
    )
    yield (
        options.event is not None and task not in (None, "survival"),
        f"--event is about times, and does not go with --task {task}",
    )
    yield options.open and report is None, "--open shows the report; name its file with --report"
    yield (
        options.groups is not None and options.no_groups,
        "--groups and --no-groups contradict each other; choose one",
    )
    yield (
        model and options.time is not None,
        "--time is for a model that is fitted here; judge --model on a table of later rows",
    )
    yield (
        model and options.by is not None and report is None,
        "--by with --model takes rows in memory: write a report with --report",
    )
    yield (
        model and report is not None and options.out is not None,
        "--model goes with --report or with --out, which writes no report",
    )
    yield options.seed < 0, f"--seed must not be negative; got {options.seed}"
