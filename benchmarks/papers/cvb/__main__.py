"""Cross-validated boosting in the simulations and on the real tables of Adler and Painsky (2022).

python -m benchmarks.papers.cvb                     all parts
python -m benchmarks.papers.cvb null power          these parts: null, power, real, criterion, adult
python -m benchmarks.papers.cvb --write             and the CSV files, docs/cvb.md and its pictures
python -m benchmarks.papers.cvb --from-results      the tables again, from the CSV files
python -m benchmarks.papers.cvb --quick             tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Real tables come from the folder --data, or $GBT_DATA, and are skipped without it.
"""

import sys

from benchmarks.papers.cvb import criterion, real, simulations
from benchmarks.papers.cvb.picture import draw
from benchmarks.study import command
from benchmarks.study.command import own_table
from benchmarks.study.files import DOCS

PARTS = {
    part.name: part
    for part in (*map(simulations.part, simulations.PAPER), real.PART, *criterion.PARTS)
}


def sections(parts, tables) -> dict[str, str]:
    """Return the tables of all parts, SHAP values, and the importances of Amazon."""
    found = own_table(parts, tables)
    for case in simulations.PAPER:
        if case in tables:
            found[f"{case}, shap"] = simulations.shap_table(tables[case])
    if "real" in tables:
        for measure in real.PAPER_SHARES:
            found[f"amazon, {measure}"] = real.amazon_table(tables["real"], measure)
    return found


STUDY = command.Study("cvb", __doc__, PARTS, sections, draw=lambda tables: draw(tables, DOCS))

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
