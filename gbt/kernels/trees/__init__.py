"""Growing trees: nodes are opened, their rows are partitioned, finished trees are stored.

``quantise`` makes integers of gradients, ``nodes`` is the record of a node that grows, ``growth``
has the decisions of the leader of a team of threads and ``tasks`` the work of its threads,
``partition`` divides the rows of a node, ``finish`` puts the tree in preorder with the float64 sums
that it remembers, and ``rounds`` is the loop of boosting, compiled. What depends on the policy is
in ``greedy_tasks`` and, where some rows choose splits and others judge them, in ``judged_tasks``
with ``drawing`` and, for pooled trees, ``experience``.
"""
