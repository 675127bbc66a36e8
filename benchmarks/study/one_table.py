"""A program of one table: it simulates, prints, and keeps the table and its numbers if asked to."""

import argparse
from collections.abc import Callable

from benchmarks.study.files import RESULTS, fill, write_rows


def run(
    name: str,
    words: str,
    simulate: Callable[[], list[dict]],
    table: Callable[[list[dict]], str],
    seed: int,
    arguments=None,
) -> None:
    """Print the table of ``benchmarks.papers.inference.NAME``; with ``--write``, keep it.

    The numbers go to ``benchmarks/results/NAME.csv``, the table to the place of docs/inference.md
    that is called like the program, with spaces.
    """
    parser = argparse.ArgumentParser(description=words.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the page and the CSV file")
    asked = parser.parse_args(arguments)
    rows = simulate()
    print(table(rows))
    if asked.write:
        command = f"python -m benchmarks.papers.inference.{name} --write"
        write_rows(RESULTS / f"{name}.csv", rows, command, f"seed {seed}")
        fill({name.replace("_", " "): table(rows)}, "inference")
