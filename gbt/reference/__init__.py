"""Gradient boosting in plain NumPy and loops: public, taught from, and tested against.

Read ``boosting`` from top to bottom: a loss, a tree, the loop. ``splits`` is how a node finds its
best cut, ``policies`` are two other ways to choose one, from sets of a node's rows, and ``sets``
has the sets and bins that the fast search draws. ``distributed`` is boosting on rows that lie in
several parts, ``survival`` has losses of times to an event, and ``ranking`` of an order. Nothing
here is fast, and nothing here imports the fast code.
"""

from gbt.reference.boosting import Model, Node, boost, boost_classes, grow
from gbt.reference.distributed import boost_shares

__all__ = ["Model", "Node", "boost", "boost_classes", "boost_shares", "grow"]
