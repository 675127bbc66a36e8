"""Tidy CSV files of a run, and the way back into rows.

==================  ==============================================  ===============================
file                one line for each                               numbers
==================  ==============================================  ===============================
``table4``          task, replication and score                     auc, noisy, relevant
``models``          task and replication                            risk, identity_error
``claims``          statement and case                              margin, error
``points``          marker of Figures 1 to 3                        mean, standard_error
==================  ==============================================  ===============================
"""

from collections.abc import Iterable, Iterator

from benchmarks.papers.treeinner.methods import MODEL, WORTH, Cell
from benchmarks.papers.treeinner.protocol import STANDARD
from benchmarks.papers.treeinner.runs import TASK_FIELDS, task_and_setting
from benchmarks.study.claims import Claim
from benchmarks.study.files import RESULTS, read_rows, write_rows

# Columns of the files of rows, those of the standard setting.
COLUMNS = {
    "table4": (*TASK_FIELDS, "replication", *Cell._fields, *WORTH),
    "models": (*TASK_FIELDS, "replication", "risk", "identity_error"),
}


def tables_of(rows: Iterable[dict]) -> dict[str, list[dict]]:
    """Return the lines of the first two files."""
    standard = [row for row in rows if task_and_setting(row)[1] == STANDARD]
    return {
        name: [{c: row[c] for c in columns} for row in standard if columns[-1] in row]
        for name, columns in COLUMNS.items()
    }


def write(name: str, lines: list[dict], command: str) -> None:
    """Write lines, numbers to six digits."""
    short = [
        {key: f"{v:.6g}" if isinstance(v, float) else v for key, v in line.items()}
        for line in lines
    ]
    write_rows(RESULTS / f"treeinner_{name}.csv", short, command)


def read(name: str) -> list[dict]:
    """Read what `write` wrote."""
    return read_rows(RESULTS / f"treeinner_{name}.csv")


def rows_of_files() -> Iterator[dict]:
    """Yield the rows that the first two files were made of."""
    for name in COLUMNS:
        for line in read(name):
            yield {**vars(STANDARD), **MODEL._asdict(), **line}


def claims_in(lines: Iterable[dict]) -> list[Claim]:
    """Return claims from the lines of their file."""
    return [
        Claim(**{**line, "error": line["error"] if line["error"] != "" else None,
                 "at_zero": line["at_zero"] == "True"})
        for line in lines
    ]  # fmt: skip
