"""Unbiased gain (Zhang, Zhang and Li 2023): one factor of every gain comes from other rows.

Read ``gain`` first. ``rows`` adds up rows at the nodes, in memory or of Dask, ``closed_forms``
makes of the sums one number a split, and ``subsets`` is the paper's own form, ratios over subsets
of equal size.
"""
