"""Cross-validated boosting in the simulations and on the real tables of Adler and Painsky (2022).

python -m benchmarks.papers.cvb --write
"""

import sys

from benchmarks.papers.cvb import criterion, real, simulations
from benchmarks.papers.cvb.picture import draw
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS


def beside(tables) -> dict[str, str]:
    """Return SHAP values, and the importances of Amazon."""
    cases = [case for case in simulations.PAPER if case in tables]
    found = {f"{case}, shap": simulations.shap_table(tables[case]) for case in cases}
    if "real" in tables:
        for measure in real.PAPER_SHARES:
            found[f"amazon, {measure}"] = real.amazon_table(tables["real"], measure)
    return found


PARTS = (*simulations.PARTS, real.PART, *criterion.PARTS)
STUDY = Study("cvb", __doc__, PARTS, beside, draw=lambda tables: draw(tables, DOCS))

if __name__ == "__main__":
    sys.exit(main(STUDY))
