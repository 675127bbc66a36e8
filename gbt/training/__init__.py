"""The loop that reads like the paper: gradients, trees, raw predictions, once a round.

Read ``boosting`` first, the loop itself; then ``outputs`` (raw predictions, and the trees that
follow them) and ``histogram_growth``, which grows whole trees in compiled code, with
``histogram_levels`` for categories and ``fixed_point`` for sums of integers. ``policy_growth`` asks
a policy in Python for the splits. ``plan`` has what the trees of a fit have in common,
``grown_trees`` collects them. ``sampling`` draws rows and columns, ``evaluation`` watches the fit
and stops it, ``progress`` prints.
"""
