"""What attributions return: small frozen records of dense arrays.

`LocalAttribution` has a row of numbers a sample, `GlobalAttribution` one number per feature and
`PairAttribution` one per pair of features. They print as a table, are read by a feature's name,
``result["age"]``, and are drawn by ``plot()``. `LocalPairAttribution` has a square of numbers a
sample, and `FeatureCurve` is a function of one feature.
"""

from attributions.names import UnknownFeatureError
from attributions.results.curve import FeatureCurve
from attributions.results.per_feature import GlobalAttribution
from attributions.results.per_pair import LocalPairAttribution, PairAttribution
from attributions.results.per_row import LocalAttribution

__all__ = [
    "FeatureCurve",
    "GlobalAttribution",
    "LocalAttribution",
    "LocalPairAttribution",
    "PairAttribution",
    "UnknownFeatureError",
]
