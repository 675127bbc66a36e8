"""Mutation: do the tests notice a plausible defect in a line that is drawn at random?

    python -m tests.house.mutants --seed 1 [--lines 40] [--only gbt/training]

A defect is a change of the syntax tree that a tired author might have made: ``<`` for ``<=``, an
index off by one, arguments swapped, a statement left out. It is made in a copy of the working tree,
where the tests of the line's folder then run until one fails. A hang or a crash counts as noticed,
too. What nobody noticed is printed as a diff: write the test that fails, or say beside the line why
nothing else comes of it.
"""

import argparse
import ast
import builtins
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from gbt.kernels.platform.filing import own_folder

ROOT = Path(__file__).parents[2]
AS_PATIENT = 4  # times as long as the tests take without a defect
UNCOMPILED = "-m 'kernels and not large'"  # compiling every defect would take far longer
TESTS = {  # of the modules whose names begin so; the longest beginning counts
    "attributions/changes": "tests/attributions/changes",
    "attributions/held_out": "tests/attributions/held_out",
    "attributions/kernels": f"{UNCOMPILED} tests/attributions/per_row",
    "attributions/kernels/contrasts": "tests/attributions/held_out tests/attributions/unbiased",
    "attributions/kernels/elastic_net": "tests/attributions/mdi",
    "attributions/kernels/held_out": "tests/attributions/held_out",
    "attributions/kernels/spots": "tests/attributions/held_out tests/attributions/unbiased",
    "attributions/kernels/stumps": "tests/attributions/mdi",
    "attributions/refits": "tests/attributions/refits tests/attributions/test_starting_values.py",
    "attributions/statistics": "tests/attributions/statistics tests/attributions/held_out",
    "gbt/estimators": "tests/gbt --ignore tests/gbt/formats --ignore tests/gbt/kernels",
    "gbt/files": "tests/gbt/test_saving.py tests/gbt/formats",
    "gbt/formats": "tests/gbt/formats",
    "gbt/formats/pipelines": "tests/gbt/formats/test_wrappers.py"
    " tests/attributions/test_pipelines.py",
    "attributions/walk": "tests/attributions/held_out tests/attributions/unbiased",
    "gbt/kernels": f"{UNCOMPILED} tests/gbt/kernels tests/gbt/training tests/gbt/splitting"
    " tests/gbt/tables",
    "gbt/kernels/platform": "tests/gbt/kernels"
    " -k 'compiling or filing or instructions or lowering or thread_team'",
    "gbt/kernels/distributed": "tests/gbt/training/test_distributed.py",
    "gbt/losses": "tests/gbt/losses tests/gbt/training/test_several_outputs.py",
    "gbt/model": "tests/gbt/model tests/gbt/test_saving.py tests/gbt/test_seen_rows.py",
    "gbt/reference": "tests/gbt/test_reference.py tests/gbt/test_reference_distributed.py"
    " tests/gbt/splitting tests/gbt/tables/test_categories_growing.py"
    " tests/gbt/training/test_interactions.py",
    "gbt/splitting": "tests/gbt/splitting tests/gbt/training",
    "gbt/tables": "tests/gbt/tables tests/gbt/test_bad_input.py",
    "gbt/training": "tests/gbt/training tests/gbt/splitting tests/gbt/test_defaults.py",
    "gbt/training/distributed": "tests/gbt/training/test_distributed.py"
    " tests/gbt/training/test_distributed_on_clusters.py",
}
OPERATORS = [
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr), (ast.LShift, ast.RShift),
]  # fmt: skip
NAMES = [
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("zeros", "ones"),
    ("floor", "ceil"), ("left", "right"), ("start", "stop"), ("first", "last"), ("g", "h"),
    ("gradient", "hessian"), ("sum_gradient", "sum_hessian"),
]  # fmt: skip
OTHER = {this: that for a, b in OPERATORS + NAMES for this, that in ((a, b), (b, a))}
Defect = tuple[ast.AST, ast.AST]  # a node, and what stands in its place


def defects(node: ast.AST, words: set[str]) -> Iterator[Defect]:
    """Yield the defects of a node and of those below it; ``words`` are the names that exist."""
    match node:
        case ast.JoinedStr() | ast.Raise():  # words for the user
            parts = []
        case ast.FunctionDef() | ast.ClassDef():  # without decorators and annotations
            parts = node.body
        case ast.AnnAssign():
            parts = [node.value] if node.value else []
        case _:
            parts = ast.iter_child_nodes(node)
    for part in parts:
        yield from defects(part, words)
    for of in (in_statement, in_operation, in_call, in_index):
        yield from of(node)
    yield from in_name_or_number(node, words)


def in_statement(node: ast.AST) -> Iterator[Defect]:
    match node:
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield node, ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield node, ast.Pass()


def in_operation(node: ast.AST) -> Iterator[Defect]:
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in OTHER:
            yield node, changed(node, op=OTHER[type(op)]())
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                if type(op) in OTHER:
                    yield node, changed(node, ops=[*ops[:i], OTHER[type(op)](), *ops[i + 1 :]])
        case ast.UnaryOp(operand=operand):
            yield node, operand
        case ast.IfExp(body=body, orelse=orelse):
            yield node, changed(node, body=orelse, orelse=body)


def in_call(node: ast.AST) -> Iterator[Defect]:
    match node:
        case ast.Call(args=args, keywords=keywords):
            for i in range(1, len(args)):
                swapped = [*args[: i - 1], args[i], args[i - 1], *args[i + 1 :]]
                yield node, changed(node, args=swapped)
            for i in range(len(keywords)):
                yield node, changed(node, keywords=keywords[:i] + keywords[i + 1 :])


def in_index(node: ast.AST) -> Iterator[Defect]:
    match node:
        case ast.Subscript(slice=index):
            for part in index.elts if isinstance(index, ast.Tuple) else [index]:
                ends = [part.lower, part.upper] if isinstance(part, ast.Slice) else [part]
                for end in ends:
                    if end is not None and not isinstance(end, ast.Constant):
                        yield end, ast.BinOp(end, ast.Add(), ast.Constant(1))


def in_name_or_number(node: ast.AST, words: set[str]) -> Iterator[Defect]:
    match node:
        case ast.Name(id=name) if OTHER.get(name) in words:
            yield node, changed(node, id=OTHER[name])
        case ast.Attribute(attr=name) if name in OTHER:
            yield node, changed(node, attr=OTHER[name])
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield node, ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield node, ast.Constant(2.0 * value or 1.0)


def changed(node: ast.AST, **fields) -> ast.AST:
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def draw(seed: int, n_lines: int, folder: str) -> list[tuple[str, Defect]]:
    """Return modules and their defects, one defect a line.

    Lines are drawn by what they say and not by their numbers, so that a seed draws the same lines
    after others have changed.
    """
    found: dict[tuple[str, int], list[Defect]] = {}
    streams: dict[tuple[str, int], random.Random] = {}
    for path in ROOT.glob("*/**/*.py"):
        name = str(path.relative_to(ROOT))
        if not (name.startswith(tuple(TESTS)) and name.startswith(folder)):
            continue
        tree = ast.parse(path.read_text())
        words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for old, new in defects(tree, words | set(dir(builtins))):
            if ast.unparse(old) != ast.unparse(new):
                found.setdefault((name, old.lineno), []).append((old, new))
        times_seen = Counter[str]()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            times_seen[line] += 1
            streams[name, number] = random.Random(f"{seed} {name} {line} {times_seen[line]}")
    drawn = sorted(found, key=lambda place: streams[place].random())[:n_lines]
    return [(place[0], streams[place].choice(found[place])) for place in sorted(drawn)]


def with_defect(source: str, defect: Defect) -> str:
    """Return the text of a module with a defect; it is ASCII, so columns count characters."""
    old, new = defect
    lines = source.splitlines(keepends=True)
    before = "".join(lines[: old.lineno - 1]) + lines[old.lineno - 1][: old.col_offset]
    after = lines[old.end_lineno - 1][old.end_col_offset :] + "".join(lines[old.end_lineno :])
    return before + ast.unparse(ast.fix_missing_locations(new)) + after


def tests_of(name: str) -> str:
    """Return what pytest is asked for a module."""
    return TESTS[max(filter(name.startswith, TESTS), key=len)]


def fails(copy: Path, asked: str, limit: float | None) -> bool:
    """Say whether a test fails in the copy, or does not end in time."""
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider"]
    settings = {
        "HYPOTHESIS_PROFILE": "plain",
        "NUMBA_DISABLE_JIT": str(+(UNCOMPILED in asked)),
        "NUMBA_CACHE_DIR": str(copy.parent),  # defects in how code is filed stay there
    }
    with subprocess.Popen(
        command + shlex.split(asked), cwd=copy, env=os.environ | settings,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.wait(limit) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and the processes that tests have started
            return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--only", default="", metavar="FOLDER")
    asked = parser.parse_args()
    drawn = draw(asked.seed, asked.lines, asked.only)
    n_unnoticed, limits = 0, {}
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "_build"))
        if own_folder().exists():
            shutil.copytree(own_folder(), copy.with_name("gbt"))
        for i, (name, defect) in enumerate(drawn):
            told = f"{i} of {len(drawn)} tried, {n_unnoticed} not noticed; next {name}"
            print(told, file=sys.stderr, flush=True)
            tests = tests_of(name)
            if tests not in limits:
                begun = time.monotonic()
                if fails(copy, tests, None):
                    sys.exit(f"A test fails without any defect: pytest {tests}")
                limits[tests] = AS_PATIENT * (time.monotonic() - begun)
            source = (copy / name).read_text()
            other = with_defect(source, defect)
            (copy / name).write_text(other)
            if not fails(copy, tests, limits[tests]):
                n_unnoticed += 1
                lines = source.splitlines(), other.splitlines()
                print("\n".join(unified_diff(*lines, name, name, n=1, lineterm="")), flush=True)
            (copy / name).write_text(source)
    print(f"seed {asked.seed}: {len(drawn)} defects, of which {n_unnoticed} were not noticed")


if __name__ == "__main__":
    main()
