"""The MDI family: every tree is a linear model of its splits, and a better one can be fitted.

Read ``stump_problem`` first (a tree as columns of stumps), then ``local_mdi`` (one row of numbers a
sample) and ``mdi_plus`` (one number a feature, from rows that a fit has not used).
``training_trees`` reconstructs the rows, responses and weights of each tree. ``linear_models`` has
the linear models by name: ``least_squares`` (with the ridge), ``elastic_net``, ``logistic`` (both
for labels, by Newton's method), and ``explicit`` for any of scikit-learn's.
"""
