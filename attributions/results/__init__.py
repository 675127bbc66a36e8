"""What attributions return: small frozen records of dense arrays.

=====================  =============================================================================
``LocalAttribution``   One row of numbers a sample, see ``attributions.results.per_row``
``GlobalAttribution``  One number a feature, see ``attributions.results.per_feature``
``PairAttribution``    One number a pair of features, see ``attributions.results.per_pair``
=====================  =============================================================================

Both print as a table, are read by a feature's name, ``result["age"]``, and are drawn by ``plot()``.
"""

from attributions.names import UnknownFeatureError
from attributions.results.per_feature import GlobalAttribution
from attributions.results.per_pair import PairAttribution
from attributions.results.per_row import LocalAttribution

__all__ = ["GlobalAttribution", "LocalAttribution", "PairAttribution", "UnknownFeatureError"]
