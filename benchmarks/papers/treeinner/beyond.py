"""Beyond the paper: what its design rewards, what p-values find, and what cross-fitting adds.

*The design is confounded.* In the simulated data the relevant features are among the ten of fewest
values, so a score that knows nothing of y but punishes many values does well. Two such scores stand
beside the others, and a control draws the relevant features from all fifty.
"""

from benchmarks.papers.treeinner import claims, methods
from benchmarks.papers.treeinner.methods import GAIN, MINUS_GAIN, PARTIAL, Cell
from benchmarks.papers.treeinner.protocol import CONTROL, SWEEPS, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.claims import Claim
from benchmarks.study.tables import cell_of, column, markdown

SHOWN = (
    (methods.FEWEST_VALUES, "no y"),
    (MINUS_GAIN, "no held-out rows"),
    (GAIN, "total gain"),
    (Cell("Permutation", "valid", "-"), ""),
    (claims.HELD_OUT, ""),
    (claims.HELD_OUT_SHAP, ""),
    (PARTIAL, "ours"),
)


def design_table(results: Results) -> str:
    """Return AUC by score and task: the paper's design, and the control."""
    tasks = sorted(
        results.tasks((*TASKS, *CONTROL)),
        key=lambda task: (task.data == "ChIP", task.relevant == "all"),
    )
    rows = []
    for cell, note in SHOWN:
        name = f"{cell} ({note})" if note else str(cell)
        rows.append([name, *(cell_of(results.of(task, cell), 3) for task in tasks)])
    for first, second in (
        (claims.HELD_OUT, MINUS_GAIN),
        (claims.HELD_OUT, GAIN),
        (PARTIAL, claims.HELD_OUT),
    ):
        differences = (results.of(task, first) - results.of(task, second) for task in tasks)
        rows.append([f"*{first} less {second}*", *(cell_of(d, 3, "+") for d in differences)])
    return markdown(["score", *(task.name for task in tasks)], rows, 1)


def control_claims(results: Results) -> list[Claim]:
    """Check, in the control, what the paper claims of its own design."""
    tasks = results.tasks(CONTROL)
    return [
        *(claims.best(results, task) for task in tasks),
        *(c for task in tasks for c in claims.held_out_wins(results, task, "TreeInner")),
        *(claims.predecomp_wins(results, task) for task in tasks),
        *(c for task in tasks for c in claims.negative_scores(results, task)),
    ]


def tests_table(results: Results) -> str:
    """Return precision and recall of both tests by task and depth."""
    rows = []
    for task in results.tasks((*TASKS, *CONTROL)):
        for setting in SWEEPS["depth"].settings:
            for test in methods.TESTS:
                if counts := results.rows.get((task, setting, test)):
                    name = f"`{test.attribution}`"
                    rows.append([task.name, setting.depth, name, *rates(counts, task)])
    header = ["task", "depth", "test", "precision", "recall", "found", "noise", "relevant"]
    return markdown(header, rows, 3)


def rates(counts: list[dict[str, int]], task) -> list[str]:
    """Return the columns of `tests_table`.

    Precision is of all discoveries together, since many data sets have none; recall is the mean
    share of relevant features found. The last two are shares of features with p < 0.05 without
    correction.
    """
    n_relevant, n_noisy = 5, 75 if task.data == "ChIP" else 45
    true, false, single_true, single_false = (column(counts, name) for name in methods.COUNTS)
    n_found = true.sum() + false.sum()
    return [
        f"{true.sum() / n_found:.2f}" if n_found else "-",
        cell_of(true / n_relevant, 3),
        f"{true.sum()} + {false.sum()}",
        f"{single_false.mean() / n_noisy:.3f}",
        f"{single_true.mean() / n_relevant:.3f}",
    ]


def cross_fit_table(results: Results) -> str:
    """Return AUC of one fit on half of the rows, and of five fits on four fifths; "" without."""
    rows = []
    pairs = {claims.HELD_OUT: methods.CROSS_FIT, PARTIAL: methods.CROSS_FIT_PARTIAL}
    for single, crossed in pairs.items():
        for task in results.tasks((*TASKS, *CONTROL)):
            one, five = results.of(task, single), results.of(task, crossed)
            if len(five):
                cells = [cell_of(one, 3), cell_of(five, 3), cell_of(five - one, 3, "+")]
                rows.append([task.name, single.score, *cells])
    names = ["task", "score", "one half", "cross-fitted", "difference"]
    return markdown(names, rows, 2) if rows else ""
