"""How a node chooses its split: one policy a file, all with the same interface.

===================  ===============================================================================
``greedy``           the cut of largest gain
``cross_validated``  the feature whose cut does best on folds of the node's rows
``unbiased``         three parts of the node's rows choose cut, feature, and whether to split
===================  ===============================================================================

``frontier`` has the question to a policy and its answer, and divides the rows of a node at random
for policies that need parts. ``cuts`` finds the best cuts of every column for all of them,
``monotone`` keeps predictions in order, and ``policies`` has the policies by name. Trees of these
three grow in compiled code (``gbt.training.histogram_growth``) unless every cut is to be scanned;
``judges`` describes the last two for it. A new policy is a new file here, or anywhere else: its
object is handed to an estimator as ``splitter=``.
"""

from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from gbt.splitting.unbiased import Unbiased

__all__ = ["CrossValidated", "Greedy", "Unbiased"]
