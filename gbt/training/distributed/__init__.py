"""Training on rows in shares: a table of Dask, whose rows lie on several machines or on disk.

Every member of a team holds a share of the rows and answers questions about it; the leader asks,
adds up the answers and decides. All sums are of integers, or exact until one float is
made of them, so the model is the same to the last bit for every number of members and every cut of
the rows, and the same as in memory::

    leader    scales      which cuts may be best?       splits          values of leaves
    members   |  ^        |  ^                          |  ^            |  ^
              v  |        v  |                          v  |            v  |
           sum of |g|     histograms, then pieces    rows divided     sums G and H

Read ``leader`` first, which grows a tree so, and ``questions``, what it tells members and is told;
then ``member``, what each of these does, and ``bin_search`` and ``exact_search``, by which the
leader finds the best cuts between bins and inside them.
``edges`` chooses the bins that all members share, ``team`` asks all members at once, here or on a
cluster, ``table`` is the table as the estimators see it, and ``outputs`` stands in the loop of
boosting.
"""
