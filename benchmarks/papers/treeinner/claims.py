"""What the paper says of its results, as statements that a program finds true or false."""

from benchmarks.papers.treeinner.methods import CELLS, MODEL, Cell
from benchmarks.papers.treeinner.protocol import SWEEPS, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.claims import Claim
from benchmarks.study.tables import mean_and_error

IDENTITY_ERROR = 1e-9
HELD_OUT = Cell("TreeInner", "valid", "PreDecomp")
HELD_OUT_SHAP = Cell("TreeInner", "valid", "TreeSHAP")
OURS = (HELD_OUT, HELD_OUT_SHAP)

BEST = "TreeInner on held-out rows is best"
HELD_OUT_WINS = "held-out rows beat training rows"
PREDECOMP_WINS = "PreDecomp >= TreeSHAP inside held-out TreeInner"
NEGATIVE = "held-out TreeInner gives noise features negative scores"
ONLY = "no other score gives noise features negative scores"
GROWS = "the gap between held-out and training rows grows"
IDENTITY = f"Proposition 3: total gain and TreeInner differ by less than {IDENTITY_ERROR:g}"


def check(results: Results) -> list[Claim]:
    """Check every claim that the settings run so far can decide."""
    tasks = results.tasks(TASKS)
    claims = [best(results, task) for task in tasks]
    for score in ("TreeInner", "ForestInner", "Permutation"):
        claims += [c for task in tasks for c in held_out_wins(results, task, score)]
    claims += [predecomp_wins(results, task) for task in tasks]
    claims += [c for task in tasks for c in negative_scores(results, task)]
    for name in ("depth", "rounds"):
        claims += [gap_grows(results, task, name) for task in results.tasks_of(SWEEPS[name])]
    return claims + identity(results)


def best(results: Results, task) -> Claim:
    """Compare the better held-out TreeInner with the best of all other cells."""
    mean = {cell: float(results.of(task, cell).mean()) for cell in CELLS}
    first = max(OURS, key=lambda cell: mean[cell])
    second = max((cell for cell in CELLS if cell not in OURS), key=lambda cell: mean[cell])
    margin = results.of(task, first) - results.of(task, second)
    detail = f"{first} {mean[first]:.4f}, {second} {mean[second]:.4f}"
    return Claim(BEST, task.name, *mean_and_error(margin), detail)


def held_out_wins(results: Results, task, score: str) -> list[Claim]:
    """Compare the AUC of a score on held-out rows with that on training rows."""
    claims = []
    for cell in CELLS:
        if cell.score == score and cell.rows == "valid":
            held_out = results.of(task, cell)
            train = results.of(task, cell._replace(rows="train"))
            detail = f"{held_out.mean():.4f}, {train.mean():.4f}"
            name = " ".join(part for part in (score, cell.attribution) if part != "-")
            margin = mean_and_error(held_out - train)
            claims.append(Claim(f"{name}: {HELD_OUT_WINS}", task.name, *margin, detail))
    return claims


def predecomp_wins(results: Results, task) -> Claim:
    """Compare the two individual attributions inside held-out TreeInner."""
    ours, shap = (results.of(task, cell) for cell in OURS)
    detail = f"{ours.mean():.4f}, {shap.mean():.4f}"
    return Claim(PREDECOMP_WINS, task.name, *mean_and_error(ours - shap), detail, at_zero=True)


def negative_scores(results: Results, task) -> list[Claim]:
    """Look at the mean score of noisy features, at unit l2 norm: ours below 0, no other is."""
    noisy = {cell: mean_and_error(results.of(task, cell, "noisy")) for cell in CELLS}
    claims = [
        Claim(NEGATIVE, f"{task.name}, {cell.attribution}", -noisy[cell][0], noisy[cell][1])
        for cell in OURS
    ]
    lowest = min((cell for cell in CELLS if cell not in OURS), key=lambda cell: noisy[cell][0])
    below = [str(c) for c in CELLS if c not in OURS and noisy[c][0] < 0]
    detail = "below 0: " + ", ".join(below) if below else f"lowest: {lowest}"
    return [*claims, Claim(ONLY, task.name, *noisy[lowest], detail, at_zero=True)]


def gap_grows(results: Results, task, sweep: str) -> Claim:
    """Compare held-out minus training TreeInner at the largest value with that at the smallest."""
    gaps = [
        results.of(task, HELD_OUT, setting=setting)
        - results.of(task, HELD_OUT._replace(rows="train"), setting=setting)
        for setting in SWEEPS[sweep].settings
    ]
    detail = ", ".join(f"{gap.mean():.3f}" for gap in gaps)
    margin = mean_and_error(gaps[-1] - gaps[0])
    return Claim(f"{GROWS} with {sweep}", task.name, *margin, detail)


def identity(results: Results) -> list[Claim]:
    """Look at the largest error of Proposition 3 over every model, task by task."""
    found: dict[str, list[float]] = {}
    for (task, _, cell), rows in results.rows.items():
        if cell == MODEL:
            found.setdefault(task.name, []).extend(row["identity_error"] for row in rows)
    return [
        Claim(
            IDENTITY, name, IDENTITY_ERROR - max(errors),
            detail=f"largest of {len(errors)} models: {max(errors):.1e}",
        )
        for name, errors in found.items()
    ]  # fmt: skip
