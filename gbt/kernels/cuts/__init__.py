"""Finding cuts: from values to codes and bins, to sums, to the best split of a node.

``ranking`` makes codes and bins of a column once. The histogram search reads ``histogram`` (sums by
bin), ``search`` (bounds say which bins may hold the best cut) and ``refine`` (every cut in those),
on ``packed_bins`` and in ``memory`` that is laid out once. ``scores`` says what a cut is worth;
where predictions must rise or fall with a column, ``bounds`` keeps steps in order. ``levels`` finds
sets of levels of categorical columns. ``judging`` is the search where some ``sets`` of rows choose
splits and others judge them.
"""
