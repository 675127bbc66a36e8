"""Tidy CSV files of a run, and the way back into `Results`.

==================  ==============================================  ===============================
file                one line for each                               numbers
==================  ==============================================  ===============================
``NAME.csv``        task, setting, replication and score            auc, noisy, relevant
``NAME_models``     task, setting, replication                      risk, identity_error
``NAME_tests``      task, setting, replication and test             true, false, single_...
==================  ==============================================  ===============================

The setting is one column, the parameter of a sweep; without it, it is the standard one. A comment
on the first line says which command made the file, with what.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.papers.treeinner.claims import Claim
from benchmarks.papers.treeinner.methods import COUNTS, Cell
from benchmarks.papers.treeinner.protocol import STANDARD, SWEEPS, Setting, Sweep, Task
from benchmarks.papers.treeinner.runs import Key, Results

TASK_FIELDS = ("data", "task", "relevant_of")
WORTH = ("auc", "noisy", "relevant")
OF_MODELS = ("risk", "identity_error")
CLAIM_FIELDS = ("statement", "case", "margin", "error", "detail", "at_zero")


def tables_of(
    results: Results, tasks: Iterable[Task], sweep: Sweep | None = None
) -> dict[str, list[dict]]:
    """Return the lines of the three files, by the end of their name."""
    tables: dict[str, list[dict]] = {"": [], "_models": [], "_tests": []}
    if sweep is None:
        settings: list[tuple[dict, Setting]] = [({}, STANDARD)]
    else:
        by_value = zip(sweep.values, sweep.settings, strict=True)
        settings = [({sweep.name: value}, setting) for value, setting in by_value]
    for of_setting, setting in settings:
        for task in tasks:
            of_task = dict(zip(TASK_FIELDS, vars(task).values(), strict=True)) | of_setting
            for kind in ("model", "cross-fit"):
                for r, record in results.replications(task, setting, kind).items():
                    for suffix, line in lines_of(record):
                        tables[suffix].append({**of_task, "replication": r, **line})
    return tables


def lines_of(record: dict) -> Iterator[tuple[str, dict]]:
    """Yield the lines of one model or cross-fit with the file that each belongs to."""
    for cell, found in record["scores"].items():
        yield "", {**cell._asdict(), **dict(zip(WORTH, found, strict=True))}
    if "risk" in record:
        yield "_models", {name: record[name] for name in OF_MODELS}
    for test, counts in record.get("tests", {}).items():
        yield "_tests", {"test": test, **counts}


def write_table(lines: list[dict], path: Path, header: str) -> None:
    """Write lines, numbers to six digits."""
    with path.open("w", newline="") as file:
        file.write(f"{header}\n")
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        for line in lines:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()})


def write_tables(tables: dict[str, list[dict]], folder: Path, name: str, header: str) -> None:
    """Write the files of a run that have lines."""
    for suffix, lines in tables.items():
        if lines:
            write_table(lines, folder / f"{name}{suffix}.csv", header)


def read_table(path: Path) -> list[dict[str, str]]:
    """Read the lines of a file."""
    with path.open(newline="") as file:
        next(file)
        return list(csv.DictReader(file))


def read_results(paths: Iterable[Path]) -> Results:
    """Read files of all three kinds into one."""
    records: dict[Key, dict] = {}
    for path in paths:
        for line in read_table(path):
            task = Task(*(line[name] for name in TASK_FIELDS))
            kind = "cross-fit" if line.get("rows") == "cross-fitted" else "model"
            key = (kind, task, setting_of(line), int(line["replication"]))
            record = records.setdefault(key, {"scores": {}, "tests": {}})
            if "score" in line:
                cell = Cell(line["score"], line["rows"], line["attribution"])
                record["scores"][cell] = [float(line[name]) for name in WORTH]
            elif "test" in line:
                record["tests"][line["test"]] = {name: int(line[name]) for name in COUNTS}
            else:
                record.update({name: float(line[name]) for name in OF_MODELS})
    return Results(records)


def setting_of(line: dict[str, str]) -> Setting:
    """Return the setting of a line: standard but for the column of a sweep, if it has one."""
    for sweep in SWEEPS.values():
        if sweep.name in line:
            value = next(v for v in sweep.values if f"{v:g}" == f"{float(line[sweep.name]):g}")
            return sweep.at(value)
    return STANDARD


def write_claims(claims: list[Claim], path: Path, header: str) -> None:
    """Write claims with their margins."""
    lines = [{name: getattr(claim, name) for name in CLAIM_FIELDS} for claim in claims]
    write_table(lines, path, header)


def read_claims(path: Path) -> list[Claim]:
    """Read what `write_claims` wrote."""
    return [
        Claim(
            line["statement"],
            line["case"],
            float(line["margin"]),
            float(line["error"]) if line["error"] else None,
            line["detail"],
            line["at_zero"] == "True",
        )
        for line in read_table(path)
    ]
