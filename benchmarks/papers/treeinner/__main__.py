"""Run the experiments of Sun 2022 again.

python -m benchmarks.papers.treeinner table4 --data FOLDER      Table 4: 56 cells, 20 replications
python -m benchmarks.papers.treeinner sweep depth               one sweep and its five figures
python -m benchmarks.papers.treeinner all --data FOLDER         everything, and what the paper lacks
python -m benchmarks.papers.treeinner page                  tables of the pages from committed files
"""

import argparse
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from benchmarks.papers.treeinner import claims, report, table
from benchmarks.papers.treeinner.methods import Clock
from benchmarks.papers.treeinner.protocol import (
    CHIP_PARTS,
    CONTROL,
    QUICK_SHRINKS,
    SEED,
    STANDARD,
    SWEEPS,
    TASKS,
    Protocol,
    Task,
    available_tasks,
    chip_file,
    read_chip,
)
from benchmarks.papers.treeinner.runs import (
    Finished,
    Key,
    OtherRunError,
    Results,
    compile_kernels,
    duration,
    made_by,
    plan,
    run,
)
from benchmarks.study.tables import markdown
from gbt.parallel.cores import available_cores

COMMAND = "python -m benchmarks.papers.treeinner"
OUT = Path("treeinner_results")
N_FULL = 20
NO_CHIP = (
    "The ChIP half is skipped: its data were not given. Name their folder with --data or in the"
    f" environment variable GBT_DATA; it holds {' and '.join(f'{p}.csv.gz' for p in CHIP_PARTS)}."
)


def wanted_by(command: str, options, protocol: Protocol) -> list[Key]:
    """Return what a command asks for."""
    tasks = available_tasks(protocol, TASKS)
    keys: dict[Key, None] = {}

    def add(kind, tasks: Iterable[Task], settings):
        for task in tasks:
            for setting in settings:
                for r in range(options.replications):
                    keys[kind, task, setting, r] = None

    if command == "table4":
        add("model", tasks if options.relevant == "low" else CONTROL, [STANDARD])
    elif command == "sweep":
        add("model", tasks, SWEEPS[options.name].settings)
    else:
        for sweep in SWEEPS.values():
            add("model", tasks, sweep.settings)
        add("model", CONTROL, [STANDARD])
        add("cross-fit", [*tasks, *CONTROL], [STANDARD])
    return list(keys)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(
        prog=COMMAND, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    common = argparse.ArgumentParser(add_help=False)
    add = common.add_argument
    add("--data", type=Path, help="folder of the ChIP data; default: $GBT_DATA")
    add("--protocol", choices=("code", "text"), default="code", help="what made Table 4, or what")
    add("--replications", type=int, default=N_FULL, metavar="N", help="data sets; 20 in the paper")
    add("--jobs", type=int, default=available_cores(), help="number of processes")
    add("--seed", type=int, default=SEED)
    add("--out", type=Path, default=OUT, help=f"results folder; default: {OUT}")
    add("--resume", action="store_true", help="go on from what the results folder has")
    add("--quick", action="store_true", help="try the machinery: numbers mean nothing")
    commands = top.add_subparsers(dest="command", required=True)
    table4 = commands.add_parser("table4", parents=[common], help="Table 4")
    table4.add_argument(
        "--relevant", choices=("low", "all"), default="low", help="all: the control"
    )
    sweep = commands.add_parser("sweep", parents=[common], help="one sweep of Table 1")
    sweep.add_argument("name", choices=tuple(SWEEPS))
    everything = commands.add_parser("all", parents=[common], help="Table 4, all sweeps, and more")
    everything.add_argument("--write", action="store_true", help="write docs and committed files")
    commands.add_parser("page", help="write the pages' tables again from the committed files")
    return top


def protocol_of(options, error) -> Protocol:
    """Return the protocol that the options ask for; call ``error`` where they are at fault."""
    if options.replications < 2:
        error("--replications must be at least 2: a standard deviation needs two")
    if options.jobs < 1:
        error("--jobs must be at least 1")
    folder = options.data or (Path(os.environ["GBT_DATA"]) if os.environ.get("GBT_DATA") else None)
    if folder is not None:
        try:
            for part in CHIP_PARTS:
                read_chip(chip_file(folder, part))
        except (OSError, ValueError) as problem:
            error(f"the ChIP data cannot be read: {problem}")
        folder = folder.resolve()
    shrink = QUICK_SHRINKS if options.quick else 1
    return Protocol(options.protocol, options.seed, folder, shrink)


def header_of(options, made: dict) -> str:
    """Say which command made a file, with what."""
    words = [options.command]
    if options.command == "sweep":
        words.append(options.name)
    if getattr(options, "relevant", "low") != "low":
        words.append("--relevant all")
    if options.quick:
        words.append("--quick")
    words += [f"--protocol {options.protocol}", f"--replications {options.replications}"]
    others = ", ".join(
        f"{k} {v}" for k, v in made.items() if k not in ("protocol", "shrink", "seed")
    )
    return f"# {COMMAND} {' '.join(words)}; seed {options.seed}; {others}"


def times(finished: Finished, wall: dict[str, float], jobs: int) -> str:
    """Return where the time of this session went: on the clock, and by process."""
    parts: dict[str, dict[str, float]] = {}
    for data, of_data in finished.seconds.items():
        for part, seconds in of_data.items():
            parts.setdefault(part, {})[data] = seconds
    names = list(finished.seconds)
    rows = [
        [part, *(f"{of_part.get(n, 0.0):.1f}" for n in names), f"{sum(of_part.values()):.1f}"]
        for part, of_part in sorted(parts.items(), key=lambda item: -sum(item[1].values()))
    ]
    total = [sum(of_part.get(n, 0.0) for of_part in parts.values()) for n in names]
    rows.append(["**all**", *(f"{t:.1f}" for t in total), f"{sum(total):.1f}"])
    spent = ", ".join(f"{part} {duration(seconds)}" for part, seconds in wall.items())
    words = (
        f"{duration(sum(wall.values()))} with {jobs} process{'es' if jobs > 1 else ''}: {spent}."
        " Seconds of models in all processes:"
    )
    return f"## Time\n\n{words}\n\n{markdown(['part', *names, 'sum'], rows, 1)}\n"


def is_full(options) -> bool:
    """Return whether numbers can be held against the paper's."""
    return options.protocol == "code" and not options.quick and options.replications >= N_FULL


def execute(options, protocol: Protocol) -> int:
    """Run what is not finished, then print and write the report; return the exit code."""
    clock = Clock()
    made = made_by(protocol)
    if protocol.folder is None:
        print(NO_CHIP, file=sys.stderr)
    finished = Finished(options.out, made, options.resume)
    wanted = wanted_by(options.command, options, protocol)
    pieces = plan(wanted, finished.records)
    try:
        if pieces:
            with clock("compiling or loading kernels"):
                compile_kernels(protocol)
            with clock("models"):
                run(pieces, protocol, finished, options.jobs)
    except KeyboardInterrupt:
        print(
            f"\nInterrupted. {sum(key in finished.records for key in wanted)} of {len(wanted)}"
            f" results are kept in {finished.path}; add --resume to go on.",
            file=sys.stderr,
        )
        return 130
    results = Results({key: finished.records[key] for key in wanted})
    header = header_of(options, made)
    with clock("tables and figures"):
        found = claims.check(results)
        report.write_run(results, found, options.out, options.command, header)
        if getattr(options, "write", False):
            report.commit(results, found, header)
    print(f"{header}\n\n{report.printed(results, found)}")
    if protocol.folder is None:
        print(f"{NO_CHIP}\n")
    print(times(finished, clock.seconds, options.jobs))
    print(f"Results are in {options.out}.")
    agrees = all(a.holds for a in table.agreements(table.compare(results)))
    return 0 if agrees or not is_full(options) else 1


def main(arguments=None) -> int:
    """Run a command; return the exit code."""
    line = parser()
    options = line.parse_args(arguments)
    if options.command != "table4":  # said before an hour of work, not after it
        try:
            import_module("matplotlib")
        except ImportError:
            line.error("the figures need Matplotlib: pip install '.[plot]'")
    if options.command == "page":
        report.write_page()
        return 0
    protocol = protocol_of(options, line.error)
    if getattr(options, "write", False) and (protocol.folder is None or not is_full(options)):
        line.error("--write needs the ChIP data and a full run of protocol code")
    try:
        return execute(options, protocol)
    except OtherRunError as problem:
        line.error(str(problem))


if __name__ == "__main__":
    sys.exit(main())
