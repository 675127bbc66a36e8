"""Losses of an order: which rows of a query come first, whatever their predictions are.

A search, a shop or a feed answers a query with a list of rows, which have grades: 0 for no use, up
to 4 or so, or just 0 and 1. Rows of other queries are no matter. Read ``pairs`` first (the two
losses), then ``queries`` (rows sorted by query; what people have as queries) and ``places`` (what a
place in the list counts; the NDCG). ``gbt.reference.ranking`` has all of it in plain loops.
"""

from gbt.losses.ranking.pairs import NDCG, Pairwise

__all__ = ["NDCG", "Pairwise"]
