"""The classics, to compare with: total gain, absolute attributions, permutation importance.

``total_gain`` is what splits promised on the training rows, ``absolute`` how far a feature moves
predictions, right or wrong, ``permutation`` how much the score drops when a feature's values are
shuffled; ``shuffle_errors`` has the standard error of the last. ``partial_dependence`` is the mean
prediction as a function of one feature.
"""
