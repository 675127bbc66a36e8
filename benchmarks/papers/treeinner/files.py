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

from collections.abc import Iterable, Iterator

from benchmarks.papers.treeinner.methods import COUNTS, Cell
from benchmarks.papers.treeinner.protocol import STANDARD, SWEEPS, Setting, Sweep, Task
from benchmarks.papers.treeinner.runs import TASK_FIELDS, Key, Results
from benchmarks.study.claims import Claim
from benchmarks.study.files import RESULTS, read_rows, write_rows

WORTH = ("auc", "noisy", "relevant")
OF_MODELS = ("risk", "identity_error")


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
        yield "", cell._asdict() | dict(zip(WORTH, found, strict=True))
    if "risk" in record:
        yield "_models", {name: record[name] for name in OF_MODELS}
    for test, counts in record.get("tests", {}).items():
        yield "_tests", {"test": test, **counts}


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
        key = (kind, task, setting_of(line), line["replication"])
        record = records.setdefault(key, {"scores": {}, "tests": {}})
        if "score" in line:
            cell = Cell(line["score"], line["rows"], line["attribution"])
            record["scores"][cell] = [line[name] for name in WORTH]
        elif "test" in line:
            record["tests"][line["test"]] = {name: line[name] for name in COUNTS}
        else:
            record.update({name: line[name] for name in OF_MODELS})
    return Results(records)


def setting_of(line: dict) -> Setting:
    """Return the setting of a line: standard but for the depth, if it has one."""
    return SWEEPS["depth"].at(line["depth"]) if "depth" in line else STANDARD


def claims_in(lines: Iterable[dict]) -> list[Claim]:
    """Return claims from the lines of their file."""
    return [
        Claim(**{**line, "error": line["error"] if line["error"] != "" else None,
                 "at_zero": line["at_zero"] == "True"})
        for line in lines
    ]  # fmt: skip
