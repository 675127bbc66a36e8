"""Tidy CSV files of a run, and the way back into `Results`.

==================  ==============================================  ===============================
file                one line for each                               numbers
==================  ==============================================  ===============================
``table4``          task, replication and score                     auc, noisy, relevant
``models``          task and replication                            risk, identity_error
``tests``           task, depth, replication and test               true, false, single_...
``claims``          statement and case                              margin, error
``points``          marker of Figures 1 to 3                        mean, standard_error
==================  ==============================================  ===============================
"""

from collections.abc import Iterable
from itertools import product

from benchmarks.papers.treeinner.methods import COUNTS, Cell
from benchmarks.papers.treeinner.protocol import STANDARD, SWEEPS, Task
from benchmarks.papers.treeinner.runs import TASK_FIELDS, Key, Results
from benchmarks.study.claims import Claim
from benchmarks.study.files import RESULTS, read_rows, write_rows

WORTH = ("auc", "noisy", "relevant")
OF_MODELS = ("risk", "identity_error")


def tables_of(results: Results, tasks: Iterable[Task]) -> dict[str, list[dict]]:
    """Return the lines of the first three files."""
    tables: dict[str, list[dict]] = {"table4": [], "models": [], "tests": []}
    for task, kind in product(tasks, ("model", "cross-fit")):
        for r, record in results.replications(task, STANDARD, kind).items():
            of_task = {**dict(zip(TASK_FIELDS, vars(task).values(), strict=True)), "replication": r}
            for cell, found in record["scores"].items():
                worth = dict(zip(WORTH, found, strict=True))
                tables["table4"].append({**of_task, **cell._asdict(), **worth})
            if "risk" in record:
                tables["models"].append(of_task | {name: record[name] for name in OF_MODELS})
    for depth, task in product(SWEEPS["depth"].values, tasks):
        of_task = {**dict(zip(TASK_FIELDS, vars(task).values(), strict=True)), "depth": depth}
        for r, record in results.replications(task, SWEEPS["depth"].at(depth)).items():
            for test, counts in record["tests"].items():
                tables["tests"].append({**of_task, "replication": r, "test": test, **counts})
    return tables


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


def results_in(lines: Iterable[dict]) -> Results:
    """Return results from the lines of the first three files."""
    records: dict[Key, dict] = {}
    for line in lines:
        task = Task(*(line[name] for name in TASK_FIELDS))
        kind = "cross-fit" if line.get("rows") == "cross-fitted" else "model"
        setting = SWEEPS["depth"].at(line["depth"]) if "depth" in line else STANDARD
        key = (kind, task, setting, line["replication"])
        record = records.setdefault(key, {"scores": {}, "tests": {}})
        if "score" in line:
            cell = Cell(*(line[name] for name in Cell._fields))
            record["scores"][cell] = [line[name] for name in WORTH]
        elif "test" in line:
            record["tests"][line["test"]] = {name: line[name] for name in COUNTS}
        else:
            record.update({name: line[name] for name in OF_MODELS})
    return Results(records)


def claims_in(lines: Iterable[dict]) -> list[Claim]:
    """Return claims from the lines of their file."""
    return [
        Claim(**{**line, "error": line["error"] if line["error"] != "" else None,
                 "at_zero": line["at_zero"] == "True"})
        for line in lines
    ]  # fmt: skip
