"""Local MDI+ beside its peers, as its authors studied it, on tables and on boosted models.

python -m benchmarks.papers.local_mdi_study                  all parts; each can be named
python -m benchmarks.papers.local_mdi_study selection        one of them
python -m benchmarks.papers.local_mdi_study --write          and the CSV files, docs/local_mdi.md
python -m benchmarks.papers.local_mdi_study --more --write   goes on from the CSV files
python -m benchmarks.papers.local_mdi_study --from-results   the tables again, from the CSV files
python -m benchmarks.papers.local_mdi_study --quick          tries the machinery: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Tables come from the folder --data, or $GBT_DATA; parts that need it are skipped without it.
LIME is compared if it is installed (``pip install -e '.[lime]'``), and so is imodels in *cost*.
Ten repetitions are what a part has; the files say how many there are. *seconds* and *cost* are to
be run with ``--jobs 1`` on a machine that does nothing else.
"""

import sys

from benchmarks.papers.local_mdi_study import (
    claims,
    cost,
    counterfactuals,
    picture,
    selection,
    simulated,
    subgroups,
)
from benchmarks.papers.local_mdi_study.models import KINDS
from benchmarks.papers.local_mdi_study.tables import CLASSES, NEEDED, NUMBERS, OF_SCIKIT_LEARN
from benchmarks.study import command
from benchmarks.study.claims import summary as summary_of_claims
from benchmarks.study.claims import table as table_of_claims
from benchmarks.study.files import DOCS
from benchmarks.study.part import Part
from benchmarks.study.tables import values_of


def cells(name: str, values) -> tuple[dict, ...]:
    """Return a cell for each of some values and kinds of models."""
    return tuple({name: value, "model": kind} for value in values for kind in KINDS)


def needed(names) -> tuple[str, ...]:
    """Return those of some tables that come from the folder of data."""
    return tuple(name for name in names if name not in OF_SCIKIT_LEARN)


PARTS = {
    part.name: part
    for part in (
        Part(
            "ranking", cells("function", simulated.SIGNALS), simulated.ranking, 10,
            simulated.ranking_table,
        ),
        Part(
            "correlation", cells("correlation", simulated.CORRELATIONS), simulated.correlation, 10,
            simulated.correlation_table,
        ),
        Part(
            "selection", cells("data", (*NUMBERS, *CLASSES)), selection.experiment, 10,
            selection.table, NEEDED,
        ),
        Part(
            "counterfactuals", cells("data", counterfactuals.DATA), counterfactuals.experiment, 10,
            counterfactuals.table, needed(CLASSES),
        ),
        Part(
            "subgroups", cells("data", NUMBERS), subgroups.experiment, 10, subgroups.table,
            needed(NUMBERS),
        ),
        Part("seconds", tuple({"model": kind} for kind in KINDS), cost.seconds, 10,
             cost.seconds_table),
        Part(
            "cost", tuple({"rows": n, "depth": d} for n in cost.ROWS for d in cost.DEPTHS),
            cost.cost, 3, cost.cost_table,
        ),
    )
}  # fmt: skip


def repetitions(rows) -> str:
    """Say how many repetitions there are, and what stands in brackets."""
    n = len(values_of(rows, "replication"))
    if n == 1:
        return "One repetition."
    return f"Means over {n} repetitions, and in brackets their standard errors."


def sections(parts, tables) -> dict[str, str]:
    """Return the table of every part, those of the ablation and of single tables, and claims."""
    found = {
        f"study {name}": f"{repetitions(rows)}\n\n{parts[name].table(rows)}"
        for name, rows in tables.items()
    }
    if "selection" in tables:
        found["study ablation"] = selection.ladder_table(tables["selection"])
        found["study datasets"] = selection.datasets_table(tables["selection"])
    checked = claims.check(tables)
    if checked:
        found["study claims"] = summary_of_claims(checked, claims.WAYS)
        found["study every claim"] = table_of_claims(checked)
    return found


def draw(tables) -> None:
    """Draw the page's picture."""
    picture.draw(tables, DOCS)


STUDY = command.Study("local_mdi_study", __doc__, PARTS, sections, draw=draw, page_name="local_mdi")

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
