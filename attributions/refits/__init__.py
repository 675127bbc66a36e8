"""Measures that fit models: importances over several fits, chosen features, columns left out.

``cross_fit`` judges every row by a model that has not seen it, ``selector`` chooses features in a
Pipeline, and ``given_others`` asks what a column says that the others do not; ``without_column``
makes the clones that it fits. ``measures`` checks a measure that is given as an argument, and hands
it its rows.
"""
