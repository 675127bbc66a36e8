"""Gradient boosting in plain NumPy and loops: public, taught from, and tested against.

Read ``boosting`` from top to bottom: a loss, a tree, the loop. ``splits`` is how a node finds its
best cut, ``policies`` are two other ways to choose one, from sets of a node's rows, and ``sets``
says how the fast search draws these and bins values. ``shares`` is boosting once more, of rows that
lie in parts. Nothing here is fast, and nothing here imports
the code that is.
"""

from gbt.reference.boosting import Model, Node, boost, boost_classes, grow
from gbt.reference.shares import boost_shares

__all__ = ["Model", "Node", "boost", "boost_classes", "boost_shares", "grow"]
