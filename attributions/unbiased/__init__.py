"""Unbiased gain (Zhang, Zhang and Li 2023): one factor of every gain comes from other rows.

Read ``gain`` first. ``node_sums`` adds up what rows are worth at splits, ``closed_forms`` makes one
number a split of the sums, ``in_chunks`` does both for tables that may lie in Dask, and ``subsets``
is the paper's own form, ratios over subsets of equal size.
"""

from attributions.unbiased.gain import unbiased_gain

__all__ = ["unbiased_gain"]
