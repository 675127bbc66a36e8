"""How a node chooses its split: one policy a file.

===================  ===============================================================================
``greedy``           the cut of largest gain
``cross_validated``  the feature whose cut does best on folds of the node's rows
``unbiased``         three parts of the node's rows choose cut, feature, and whether to split
===================  ===============================================================================

Trees of these three grow in compiled code (``gbt.training.histogram_growth``), to which the last
two say how their rows judge. Every other policy is asked depth by depth, in NumPy: ``policy`` has
the question to a policy and its answer, ``cuts`` finds the best cuts of every column. ``monotone``
keeps predictions in order, ``interactions`` says which columns may meet on a path.

``policies_by_name`` lists these three. A new policy is a new file here, or anywhere else: its
object is handed to an estimator as ``splitter=``.
"""

from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from gbt.splitting.unbiased import Unbiased

__all__ = ["CrossValidated", "Greedy", "Unbiased"]
