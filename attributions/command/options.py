"""The command line's options, and a check that results can be written."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from attributions.command.printed import FEATURES, PICTURE
from attributions.command.unusable import UnusableTableError

COMMAND = "gbt-attributions"  # beside ``python -m attributions``
DEFAULT_FOLDER = Path("attributions_out")


def program_name() -> str:
    """Return the name by which the program was called."""
    return COMMAND if Path(sys.argv[0]).stem == COMMAND else "python -m attributions"


def check_places(options: argparse.Namespace) -> None:
    """Raise UnusableTableError where results cannot be written, before anything is worked out."""
    for option, place in (("out", options.out), ("report", options.report)):
        if place is None:
            continue
        is_folder = option == "out"
        if not is_folder and place.is_dir():
            raise UnusableTableError(
                f"--report takes a file, and {place} is a folder; name a file."
            )
        if not is_folder and not place.parent.is_dir():
            raise UnusableTableError(f"--report: there is no folder {place.parent}; make it first.")
        existing = next(path for path in (place, *place.parents) if path.exists())
        if is_folder and not existing.is_dir():
            raise UnusableTableError(
                f"--out takes a folder, and {existing} is a file; name another."
            )
        if not os.access(existing, os.W_OK):
            raise UnusableTableError(
                f"--{option}: {existing} may not be written to; name another place."
            )
        written = [place / FEATURES, place / PICTURE] if is_folder else [place]
        for source in (options.data, options.model):
            if source and any(
                p.exists() and source.exists() and p.samefile(source) for p in written
            ):
                raise UnusableTableError(
                    f"--{option} {place} would overwrite {source}, which is read; name another"
                    " place."
                )


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
    table.add_argument(
        "--data",
        type=Path,
        help="a file with a line of column names: cells between commas, semicolons, tabs or bars,"
        " or a file of Parquet, Arrow, Excel, JSON or JSON Lines, packed by gzip or not; Parquet"
        " and Arrow are read in batches with --model and without --report, and may be larger than"
        " memory",
    )
    table.add_argument("--target", metavar="NAME", help="the column to predict")
    table.add_argument(
        "--positive",
        metavar="LABEL",
        help="one class to predict, against all others (default: the last of two; three or more are"
        " all told apart)",
    )
    for option, what in (
        ("--keep", "a column that is a feature, although it looks like an identifier or a date"),
        ("--drop", "a column that is to be no feature"),
    ):
        table.add_argument(
            option, metavar="NAME", action="append", default=[], help=f"{what}; may be repeated"
        )
    _add_options_of_independence(table)
    _add_options_of_tasks(parser, table)
    table.add_argument(
        "--model",
        type=Path,
        metavar="FILE",
        help="a model to judge instead of fitting one: saved by this library, by XGBoost (JSON or"
        " UBJSON) or by LightGBM (text); the rows must be such as it was not trained on",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a report that a browser shows, one HTML file",
    )
    parser.add_argument(
        "--open", action="store_true", help="show the report in a browser, once it is written"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where the table of all features and the picture go (default:"
        f" {DEFAULT_FOLDER}, but nowhere with --report)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of all that is drawn at random (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    _refuse_contradictions(parser, options)
    if options.report is None and options.out is None:
        options.out = DEFAULT_FOLDER
    return options


def _add_options_of_tasks(parser: argparse.ArgumentParser, table: argparse._ArgumentGroup) -> None:
    """Add what says of what kind the target is."""
    parser.add_argument(
        "--task",
        choices=("regression", "classification", "counts", "survival", "ranking"),
        help="what the target holds: numbers; classes; counts, regressed by the Poisson loss; times"
        " after which an event came or observation ended, with --event; or grades by which the rows"
        " of each of --groups are to be put in order, the best first (default: numbers or classes,"
        " by the column's values)",
    )
    table.add_argument(
        "--event",
        metavar="NAME",
        help="the column that says whether the event had come at the target's time; its values are"
        " two, such as 0 and 1, of which the last in order, or --positive, says that it had",
    )


def _add_options_of_independence(table: argparse._ArgumentGroup) -> None:
    """Add what is asked of rows that belong together, or have a time."""
    table.add_argument(
        "--groups",
        metavar="NAME",
        help="the column that says which rows belong together, such as those of one person: they"
        " are kept in one half, and count as one draw (default: found by the program where that is"
        " plain)",
    )
    table.add_argument(
        "--no-groups",
        action="store_true",
        help="take rows for independent, whatever the table looks like",
    )
    table.add_argument(
        "--time",
        metavar="NAME",
        help="the column by which rows are in order: fit on the earlier, judge on the later half,"
        " and say what changed there",
    )
    table.add_argument(
        "--no-dates",
        action="store_true",
        help="make no year, month, weekday and days since the first of columns of dates",
    )
    table.add_argument(
        "--by",
        metavar="NAME",
        help="the column, such as a region, by whose values held-out rows are judged apart",
    )


def _refuse_contradictions(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse options that do not go with each other."""
    about_a_table = ["target", "task", "positive", "keep", "drop", "model"]
    about_a_table += ["groups", "no_groups", "no_dates", "time", "by", "event"]
    if options.data is None:
        for name in about_a_table:
            if getattr(options, name):
                parser.error(
                    f"--{name.replace('_', '-')} is about a table; name its file with --data"
                )
    if options.task in ("regression", "counts") and options.positive is not None:
        parser.error(f"--positive names a class, so it does not go with --task {options.task}")
    _refuse_about_pairs(parser, options)
    if options.open and options.report is None:
        parser.error("--open shows the report; name its file with --report")
    if options.groups is not None and options.no_groups:
        parser.error("--groups and --no-groups contradict each other; choose one")
    if options.model is not None:
        _refuse_beside_a_model(parser, options)
    if options.seed < 0:
        parser.error(f"--seed must not be negative; got {options.seed}")


def _refuse_about_pairs(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse times without events, grades without groups, and what does not go with them."""
    if options.task == "ranking":
        if options.groups is None:
            parser.error(
                "--task ranking puts the rows of a group in order, such as those of one search;"
                " name with --groups the column that says which rows these are"
            )
        for name in ("time", "by", "positive"):
            if getattr(options, name) is not None:
                parser.error(f"--{name} does not go with --task ranking")
    if options.task == "survival" and options.event is None:
        parser.error(
            "--task survival asks when an event comes; name with --event the column that says"
            " whether it has come"
        )
    if options.event is not None and options.task not in (None, "survival"):
        parser.error(f"--event is about times, and does not go with --task {options.task}")
    if options.event is not None and options.by is not None:
        parser.error(
            "--by judges some rows apart, and does not go with --event: rows at risk are needed"
            " together"
        )


def _refuse_beside_a_model(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse options that do not go with a model that is given."""
    if options.time is not None:
        parser.error(
            "--time is for a model that is fitted here; judge --model on a table of later rows"
        )
    if options.by is not None and options.report is None:
        parser.error("--by with --model takes rows in memory: write a report with --report")
    if options.report is not None and options.out is not None:
        parser.error("--model goes with --report or with --out, which writes no report")
