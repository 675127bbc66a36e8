"""How far off a sum over rows may be.

Read ``row_sums`` first: sums over rows, with what their standard error needs. ``groups`` counts
rows that belong together as one, ``kurtosis`` tells when a few rows carry a sum, and ``bootstrap``
has intervals for such sums; ``chunk_sums`` adds up over tables in chunks.
"""

from attributions.statistics.groups import FewGroupsWarning

__all__ = ["FewGroupsWarning"]
