"""Measures that fit models: importances over several fits, chosen features, columns left out.

``cross_fit`` judges every row by a model that has not seen it, ``selector`` chooses features in a
Pipeline, and ``given_others`` asks what a column says that the others do not; ``without_column``
makes the clones that it fits. ``measures`` checks a measure that is given as an argument, and hands
it its rows.
"""

from attributions.refits.cross_fit import cross_fit
from attributions.refits.given_others import given_others
from attributions.refits.selector import HeldOutSelector

__all__ = ["HeldOutSelector", "cross_fit", "given_others"]
