"""The loop that reads like the paper: gradients, trees, raw predictions, once a round.

Read ``boosting`` first, the loop itself; then ``outputs`` (raw predictions, and the trees that
follow them) and ``growing`` (open nodes, ask a policy for their splits, partition the rows).
``plan`` has what the trees of a fit have in common, ``grown_trees`` collects them. Our own three
policies grow whole trees in compiled code: ``histogram_growth``, with ``histogram_levels`` for
categories and ``fixed_point`` for sums of integers. ``sampling`` draws rows and columns,
``evaluation`` watches the fit and stops it, ``progress`` prints.
"""
