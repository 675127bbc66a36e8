"""Studies: simulations of many replications that can be interrupted and go on.

A study has parts, a part has cells, and a cell is repeated with a stream of random numbers of its
own, so that no number depends on how many processes there were or in which order they ran.
Results are CSV files in ``benchmarks/results`` and tables in a page of ``docs``.

Parts and models are made with what is here, tables with ``tables``; ``command`` runs a study.
"""

from benchmarks.study.part import SEED, NumberedPart, Part, crossed
from benchmarks.study.peers import is_installed, model_of, ours
from benchmarks.study.tables import chosen, column, markdown

__all__ = [
    "SEED", "NumberedPart", "Part", "chosen", "column", "crossed", "is_installed", "markdown",
    "model_of", "ours",
]  # fmt: skip
