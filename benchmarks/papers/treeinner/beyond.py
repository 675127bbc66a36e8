"""Beyond the paper: what its design rewards.

The design is confounded: in the simulated data the relevant features are among the ten of fewest
values, so a score that knows nothing of y but punishes many values does well. Two such scores stand
beside the others, and a control draws the relevant features from all fifty.
"""

from benchmarks.papers.treeinner import claims, methods
from benchmarks.papers.treeinner.methods import GAIN, MINUS_GAIN, PARTIAL, Cell
from benchmarks.papers.treeinner.protocol import CONTROL, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.claims import Claim
from benchmarks.study.tables import cell_of, markdown

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
