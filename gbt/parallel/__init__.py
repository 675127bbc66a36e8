"""Work in parts: threads on one machine, and chunks of rows on any.

``threads`` runs the same serial kernel on several blocks at once, and ``in_order`` merges the
results of blocks in the order of the rows, so that they do not depend on the number of threads.
``chunks`` does the same for tables of Dask, and ``blas`` keeps BLAS from starting threads beside
ours.
"""

from gbt.parallel.threads import effective_n_jobs

__all__ = ["effective_n_jobs"]
