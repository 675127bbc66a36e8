"""How training grows: its time, its peak memory, and what the first call in a process costs.

    python -m benchmarks.speed.growth --write                  some ten minutes on two quiet cores

``time``        Whole fits of few trees, over rows, columns, distinct values, depth and threads, and
                beside each the ranking of the columns alone. An exponent is the slope of log time
                over log size by least squares, over all sizes or over the upper half of the range
                (on the log scale), where what a fit costs whatever its size has the least weight.
``memory``      Peak resident memory of a fresh process: with the kernels loaded, with the data,
                and after a fit; beside it what the arrays add up to by calculation.
``first-call``  Fresh processes: importing, and what each first call costs, without and with
                compiled kernels on disk, by another checkout, and by a wheel with machine code.

No time is printed unless small trees are those of ``gbt.reference`` and large ones are the same to
the last bit for 1 and 2 threads. In the CSV file parts that were not measured keep their lines.
"""

import argparse
import csv
import platform
import sys
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import sklearn

import gbt
from benchmarks.speed.growth import first_call, fit_time, memory
from benchmarks.speed.growth.picture import draw
from benchmarks.speed.growth.plan import FULL, QUICK, SEED, Plan
from benchmarks.study.files import DOCS, fill
from benchmarks.study.files import RESULTS as FOLDER
from benchmarks.study.tables import markdown
from gbt.parallel.cores import available_cores

RESULTS = FOLDER / "growth.csv"
PICTURE = DOCS / "growth.svg"

PARTS = {
    "time": (fit_time.measure_time, fit_time.time_table, fit_time.time_claims),
    "memory": (memory.measure_memory, memory.memory_table, memory.memory_claims),
    "first-call": (
        first_call.measure_first_call,
        first_call.first_call_table,
        first_call.first_call_claims,
    ),
}


def claims_table(part: str, records) -> str:
    """Return what a part claims, and whether it holds."""
    found = PARTS[part][2](records)
    return markdown(["holds", "claim"], [[f"**{holds}**", words] for words, holds in found])


def conditions(part: str, plan: Plan) -> str:
    """Say how a part was measured, and what its numbers depend on."""
    repeats = {
        "time": f"{plan.n_rounds} trees a fit, medians of {plan.repeats}",
        "memory": f"depth 6, {plan.memory[0].n_rounds} trees, one process each",
        "first-call": f"{plan.starts} processes, {plan.cold_starts} where kernels are compiled",
    }[part]
    return (
        f"{command_of(part)} --write; seed {SEED}; {repeats};"
        f" {platform.machine()}, {available_cores()} cores; gbt {gbt.__version__},"
        f" NumPy {np.__version__}, Numba {numba.__version__}, scikit-learn {sklearn.__version__},"
        f" Python {platform.python_version()}"
    )


def write_csv(records, said: dict[str, str], path: Path) -> None:
    """Write one line a number, under a comment for each part that says where they come from."""
    with path.open("w", newline="") as file:
        file.writelines(f"# {said[part]}\n" for part in PARTS if part in said)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["part", "series", "size", "repeat", "quantity", "value"])
        for part in PARTS:
            writer.writerows([*r[:-1], f"{r[-1]:.6g}"] for r in records if r[0] == part)


def read_csv(path: Path) -> tuple[list[tuple], dict[str, str]]:
    """Read what `write_csv` wrote; of a file that is not there, nothing."""
    if not path.exists():
        return [], {}
    lines = path.read_text().splitlines(keepends=True)
    comments = [line[2:].strip() for line in lines if line.startswith("#")]
    said = {part: c for part in PARTS for c in comments if c.startswith(f"{command_of(part)} ")}
    found = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [
        (r["part"], r["series"], int(r["size"]), int(r["repeat"]), r["quantity"], float(r["value"]))
        for r in found
    ], said


def command_of(part: str) -> str:
    """Return the command that measures one part, without options."""
    return f"python -m benchmarks.speed.growth {part}"


def sections(records, said: dict[str, str]) -> dict[str, str]:
    """Return the tables and the claims of each measured part."""
    texts = {}
    for part, origin in said.items():
        texts[part] = (
            f"{PARTS[part][1](records)}\n\n{origin}. Every number: `benchmarks/results/growth.csv`"
        )
        texts[f"{part} claims"] = claims_table(part, records)
    return texts


def main(arguments=None) -> int:
    """Measure, print tables and claims and, if asked, write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("part", nargs="?", choices=[*PARTS, "all"], default="all")
    add("--quick", action="store_true", help="tiny sizes: does it run at all?")
    add("--write", action="store_true", help="write page, numbers and picture")
    add("--out", type=Path, help="draw the picture to this file")
    add("--from-results", action="store_true", help="read the CSV, do not measure")
    add("--beside", type=Path, help="another checkout, for its first calls")
    add("--wheel", help="a Python that has a wheel with machine code: first calls")
    options = parser.parse_args(arguments)
    if options.quick and (options.write or options.from_results):
        parser.error("--quick is for trying out: not with --write or --from-results")
    plan = replace(QUICK if options.quick else FULL, beside=options.beside, wheel=options.wheel)
    asked = list(PARTS) if options.part == "all" else [options.part]
    records, said = read_csv(RESULTS) if options.write or options.from_results else ([], {})
    if options.from_results:
        asked = [part for part in asked if part in said]
    for part in asked:
        if not options.from_results:
            records = [r for r in records if r[0] != part] + PARTS[part][0](plan)
            said[part] = conditions(part, plan)
        shown = f"{PARTS[part][1](records)}\n\n{claims_table(part, records)}"
        print(f"## {part}\n\n{said[part]}\n\n{shown}\n", flush=True)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        write_csv(records, said, RESULTS)
        records, said = read_csv(RESULTS)  # the page shows what the file has, rounding included
        fill(sections(records, said), "growth")
    picture = options.out or (PICTURE if options.write else None)
    if picture and "time" in said:
        draw(records, picture)
    holds = all(holds for part in asked for _, holds in PARTS[part][2](records))
    print(f"All claims hold: {holds}")
    return 0 if holds or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
