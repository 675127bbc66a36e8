"""Tables and the picture of docs/accuracy.md, from benchmarks/results/accuracy_losses.csv.

A number is a loss divided by the constant's. Of a table all its targets, sizes and repetitions are
averaged first, so that errors are those over tables, which are what is drawn at random.
"""

import numpy as np
from scipy.stats import rankdata

from benchmarks.accuracy import ours
from benchmarks.accuracy.others import CHOOSING, LIBRARIES, WAYS
from benchmarks.accuracy.tasks import FOLDED, SIZES, halves
from benchmarks.study.files import DOCS
from benchmarks.study.pictures import picture
from benchmarks.study.tables import by_values, cell_of, markdown, mean_and_error
from benchmarks.study.whole_tables import WHOLE, WITH_WORDS
from gbt.estimators.defaults import LARGEST_UNBIASED

SHORT = ("to 300", "to 1,000", "to 3,000", "to 10,000", "more")
NEEDED = [name for name in WHOLE if name != FOLDED]
DEFAULT, STOPPED = "ours, default", "ours, stopped"
HALVES = {"choose": "first half, to choose by", "confirm": "second half, to confirm"}
GROUPS = (
    "up to 300 rows", "301 to 1,000", "1,001 to 3,000", "3,001 to 10,000", "more than 10,000",
)  # fmt: skip
COMPARED = (
    DEFAULT, "greedy", "cross-validated", STOPPED,
    *(f"{library}, {way}" for way in WAYS for library in LIBRARIES),
    *(f"{library}, own defaults" for library in CHOOSING), "linear model",
)  # fmt: skip
COLOURS = (
    "#000000", "#7f7f7f", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
)  # fmt: skip
BEST = (DEFAULT, *(n for n in COMPARED if "stopped" in n or n.split(",")[0] in CHOOSING))


def settings_of_default(size: int) -> tuple[str, str]:
    """Return which setting the default is for so many rows, and the one that stops early."""
    if size <= LARGEST_UNBIASED:
        return "unbiased, pooled", "unbiased, pooled, stopped"
    greedy = "greedy, 20 rows, weight .001, 256 bins"
    return greedy, f"{greedy}, stopped"


def there(rows: list[dict]) -> dict[str, str]:
    """Return the halves that have been fitted, and what they are for."""
    found = {row["half"] for row in rows}
    return {half: words for half, words in HALVES.items() if half in found}


def group_of(row: dict) -> str:
    """Return which sizes a line is one of."""
    return GROUPS[int(np.searchsorted(SIZES, row["rows"]))]


def lines_of(losses: list[dict]) -> list[dict]:
    """Return a line a task, size and repetition, with the losses of all trainers.

    Among them are what the default predicts, and what it does if it stops early.
    """
    of_half, lines = halves(), []
    for (task, n_rows, _), own in by_values(losses, "task", "rows", "replication"):
        line = {row["trainer"]: row["loss"] for row in own}
        default, stopped = map(line.get, settings_of_default(n_rows))
        line |= {"half": of_half[task.split(",")[0]], "task": task, "rows": n_rows}
        is_first = own[0]["replication"] == 0
        lines.append({**line, DEFAULT: default, STOPPED: stopped, "is_first": is_first})
    return lines


def complete(rows: list[dict], names) -> list[dict]:
    """Return the lines that have a number of each of these."""
    return [row for row in rows if all(isinstance(row.get(name), float) for name in names)]


def by_table(rows: list[dict], numbers: np.ndarray) -> np.ndarray:
    """Return the mean over the lines of every table."""
    tables = np.array([row["task"].split(",")[0] for row in rows])
    return np.array([numbers[tables == name].mean(axis=0) for name in dict.fromkeys(tables)])


def of_tables(rows: list[dict], names) -> dict[str, np.ndarray]:
    """Return rank, loss and whether a constant is better, a line a table and a column a name."""
    kept = complete(rows, names)
    losses = np.array([[row[name] for name in names] for row in kept])
    found = {"rank": rankdata(losses, axis=1), "loss": losses, "worse": losses > 1}
    return {what: by_table(kept, numbers) for what, numbers in found.items()}


def above(losses: np.ndarray, reference: np.ndarray) -> str:
    """Return by how much a loss is above another, in per cent of the constant's.

    Not in per cent of the other: that goes to 0 where classes can be told apart without error.
    """
    return cell_of(100 * (losses - reference), 1, "+")


def comparison(rows: list[dict]) -> str:
    """List ranks, losses and where a constant is better, a line a trainer."""
    names = [n for n in COMPARED if n != "CatBoost, own defaults"]
    words_of = there(rows)
    columns = [of_tables([r for r in rows if r["half"] == half], names) for half in words_of]
    of_each = ("mean rank", "above ours", "mean loss", "useless")
    head = ["", *(f"{words}: {what}" for words in words_of.values() for what in of_each)]
    lines = []
    for j in np.argsort(columns[0]["rank"].mean(axis=0)):
        line = [names[j]]
        for found in columns:
            reference = found["loss"][:, names.index(DEFAULT)]
            line += [
                cell_of(found["rank"][:, j], 1),
                "" if names[j] == DEFAULT else above(found["loss"][:, j], reference),
                f"{found['loss'][:, j].mean():.3f}",
                f"{found['worse'][:, j].mean():.0%}",
            ]
        lines.append(line)
    return markdown(head, lines)


def by_size(rows: list[dict]) -> str:
    """List by how much losses are above the default's, by half and rows to train on."""
    names = [*BEST, "greedy", "cross-validated", "linear model"]
    head = ["above ours"]
    lines = {name: [name] for name in names if name != DEFAULT}
    for half, words in there(rows).items():
        for group in GROUPS:
            of_group = [r for r in rows if r["half"] == half and group_of(r) == group]
            head.append(f"{words.split(',')[0]}, {group}")
            for name, line in lines.items():
                is_known = len(complete(of_group, [DEFAULT, name])) > len(of_group) / 2
                found = of_tables(of_group, [DEFAULT, name])["loss"] if is_known else None
                line.append(above(found[:, 1], found[:, 0]) if is_known else "")
    return markdown(head, [*lines.values()])


def of_words(rows: list[dict]) -> str:
    """List the losses of tables with words at their most rows, and the means over the tables."""
    names = [DEFAULT, "greedy", "cross-validated", *(f"{name}, alike" for name in LIBRARIES)]
    lines, found = [], []
    for (task,), own in by_values(rows, "task"):
        if task.split(",")[0] in WITH_WORDS:
            n_rows = max(row["rows"] for row in own)
            most = [row for row in own if row["rows"] == n_rows]
            found += most
            losses = (np.mean([row[name] for row in most]) for name in names)
            lines.append([task, f"{n_rows:,}", *(f"{loss:.3f}" for loss in losses)])
    means = of_tables(found, names)["loss"].mean(axis=0)
    lines.append(["**mean over tables**", "", *(f"**{loss:.3f}**" for loss in means)])
    return markdown(["table, target", "rows", *names], lines)


def parameters(rows: list[dict], splitter: str) -> str:
    """List what every change of one splitter's parameters does to the loss, on the first half."""
    chosen_by = [row for row in rows if row["half"] == "choose" and row["is_first"]]
    lines, head = [], [f"{splitter}, changed"]
    for group in GROUPS[:2]:
        head += [f"{group}: above", f"{group}: mean loss"]
    for name in ours.settings():
        if name.split(",")[0] == splitter and name != splitter:
            line = [name]
            for group in GROUPS[:2]:
                of_group = [row for row in chosen_by if group_of(row) == group]
                before, after = of_tables(of_group, [splitter, name])["loss"].T
                line += [above(after, before), f"{after.mean():.3f}"]
            lines.append(line)
    return markdown(head, lines)


def sections(losses: list[dict]) -> dict[str, str]:
    """Return all tables of the page by their names."""
    rows = lines_of(losses)
    return {
        "comparison": comparison(rows),
        "sizes": by_size(rows),
        "words": of_words(rows),
        **{f"parameters of {name}": parameters(rows, name) for name in ours.CHANGES},
    }


def draw(losses: list[dict]) -> None:
    """Draw mean ranks among the best ways of all libraries, by rows to train on, a panel a half."""
    kept = lines_of(losses)
    panels = there(kept)
    shape = {"figsize": (9.2, 4.2), "sharey": True, "squeeze": False}
    with picture(DOCS / "accuracy.svg", 1, len(panels), **shape) as (figure, axes):
        for ax, (half, words) in zip(axes[0], panels.items(), strict=True):
            found = {}
            for place, group in enumerate(GROUPS):
                of_group = [r for r in kept if r["half"] == half and group_of(r) == group]
                if complete(of_group, BEST):
                    found[place] = mean_and_error(of_tables(of_group, BEST)["rank"])
            for j, (name, colour) in enumerate(zip(BEST, COLOURS, strict=True)):
                ax.errorbar(
                    np.array([*found]) + 0.06 * (j - len(BEST) / 2),
                    [mean[j] for mean, _ in found.values()],
                    [error[j] for _, error in found.values()],
                    color=colour, marker="o", markersize=4, elinewidth=0.6, label=name,
                    linewidth=2.5 if name == DEFAULT else 1.0,
                )  # fmt: skip
            ax.set_xticks(np.arange(len(GROUPS)), SHORT)
            ax.set_title(words, fontsize="medium")
            ax.set_xlabel("rows to train on")
        axes[0, 0].set_ylabel(f"mean rank of {len(BEST)} by loss on new rows")
        axes[0, 0].invert_yaxis()
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
