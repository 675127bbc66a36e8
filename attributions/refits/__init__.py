"""What fits models: importances over several fits, features chosen by them, columns left out.

``cross_fit`` lets every row judge by a model that has not seen it, ``selector`` chooses features in
a Pipeline, ``given_others`` asks what a column says that the others do not (``without_column`` fits
the model that it needs). ``measures`` checks what a measure takes that is handed on.
"""

from attributions.refits.cross_fit import cross_fit
from attributions.refits.given_others import given_others
from attributions.refits.selector import HeldOutSelector

__all__ = ["HeldOutSelector", "cross_fit", "given_others"]
