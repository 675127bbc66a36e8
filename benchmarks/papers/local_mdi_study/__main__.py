"""Local MDI+ beside its peers, as its authors studied it, on tables and on boosted models.

python -m benchmarks.papers.local_mdi_study --more --write       goes on from the CSV files

LIME is compared if it is installed (``pip install -e '.[lime]'``), and so is imodels in *cost*.
Ten repetitions are what a part has; the files say how many there are. *seconds* and *cost* are to
be run on a machine that does nothing else.
"""

import sys

from benchmarks.papers.local_mdi_study import (
    claims,
    cost,
    counterfactuals,
    picture,
    selection,
    simulated,
    stability,
    subgroups,
)
from benchmarks.papers.local_mdi_study.models import KINDS
from benchmarks.papers.local_mdi_study.tables import CLASSES, NEEDED, NUMBERS, OF_SCIKIT_LEARN
from benchmarks.study import Part, crossed
from benchmarks.study.claims import summary, table
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS
from benchmarks.study.tables import values_of


def part(name, experiment, table_of, cells, n_replications=10, tables=(), is_timed=False) -> Part:
    """Return a part whose table says how many repetitions there are, and what is in brackets."""

    def table(rows):
        n = len(values_of(rows, "replication"))
        words = f"Means over {n} repetitions, and in brackets their standard errors."
        return f"{'One repetition.' if n == 1 else words}\n\n{table_of(rows)}"

    needs = tuple(of for of in tables if of not in OF_SCIKIT_LEARN)
    return Part(name, cells, experiment, n_replications, table, needs, is_timed=is_timed)


def of_models(**values) -> tuple[dict, ...]:
    """Return a cell for each of some values and kinds of models."""
    return crossed(**values, model=KINDS)


PARTS = (
    part("ranking", simulated.ranking, simulated.ranking_table,
         of_models(function=simulated.SIGNALS)),
    part("correlation", simulated.correlation, simulated.correlation_table,
         of_models(correlation=simulated.CORRELATIONS)),
    part("selection", selection.experiment, selection.table, of_models(data=(*NUMBERS, *CLASSES)),
         tables=NEEDED),
    part("counterfactuals", counterfactuals.experiment, counterfactuals.table,
         of_models(data=counterfactuals.DATA), tables=CLASSES),
    part("subgroups", subgroups.experiment, subgroups.table, of_models(data=NUMBERS),
         tables=NUMBERS),
    part("stability", stability.experiment, stability.table, of_models(data=stability.DATA), 5),
    part("seconds", cost.seconds, cost.seconds_table, of_models(), is_timed=True),
    part("cost", cost.cost, cost.cost_table, crossed(rows=cost.ROWS, depth=cost.DEPTHS), 3,
         is_timed=True),
)  # fmt: skip


def beside(tables) -> dict[str, str]:
    """Return the table of the ablation, and claims."""
    found = {}
    if "selection" in tables:
        found["study ablation"] = selection.ladder_table(tables["selection"])
    if checked := claims.check(tables):
        found["study claims"] = summary(checked, claims.WAYS)
        found["study every claim"] = table(checked)
    return found


STUDY = Study(
    "local_mdi_study", __doc__, PARTS, beside, draw=lambda tables: picture.draw(tables, DOCS),
    page_name="local_mdi", prefix="study ",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
