"""Growing trees: a node is opened, its rows are partitioned, the finished tree is written down.

``quantise`` makes integers of gradients, ``nodes`` is the record of a node that grows, ``growth``
is what the leader of a team of threads decides and ``tasks`` what each of its threads does,
``partition`` divides the rows of a node, ``finish`` puts the tree in preorder with the float64 sums
that it remembers, and ``rounds`` is the loop of boosting, compiled. ``drawing`` and
``judged_tasks`` are what there is to do where some rows choose splits and others judge them.
"""
