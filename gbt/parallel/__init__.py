"""Work in parts: threads on one machine, and chunks of rows wherever they lie.

``cores`` counts the cores that this process may use, ``threads`` runs the same serial kernel on
several blocks at once, ``in_order`` merges what blocks of rows gave in the order of the rows, so
that results do not depend on the number of threads. ``chunks`` does the same for tables of Dask,
and ``blas`` keeps BLAS from starting threads beside ours.
"""

from gbt.parallel.threads import effective_n_jobs

__all__ = ["effective_n_jobs"]
