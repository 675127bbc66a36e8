"""What each feature is worth on rows that the model has not seen.

Read ``gain`` first: the held-out gain, what splits are worth to such rows. ``splits`` has the
closed form of one split and what a row adds to it, ``rows_at_splits`` the walks over the rows,
``asked`` at which predictions the loss is asked on the way, ``exposures`` what is different where
rows start from values of their own, ``among_rows`` where the loss of a row depends on other rows,
and ``constant_loss`` of which loss values are per cent.

The other measures are TreeInner (Sun 2022) and its relatives, all of them sums over rows. Read
``tree_inner`` (each feature's part of every boosting step, against the gradient of new rows), then
``rows_before_trees``, which works it out block by block. ``single_rows`` keeps the terms of the sum
row by row, and ``pairs`` divides them by the features that were split on above.
"""
