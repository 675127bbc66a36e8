"""The two estimators: parameters, tables and targets as people have them, and models from files.

No arithmetic: a fit is `gbt.training`, a prediction `gbt.model`. Read in this order: `parameters`,
what a fit may be told, with `defaults` and `constraints`; `tables`, which are checked once, where
they come in, and `in_chunks`, those of Dask; `base`, a fit from table to model, with `predictions`;
`classifier` and `regressor`, what targets mean; `loading`, models from files. Beside these stand
`named_parameters`, which gets and sets them, and `other_names`, those of other libraries.
"""

from gbt.estimators.classifier import GBTClassifier
from gbt.estimators.regressor import GBTRegressor

__all__ = ["GBTClassifier", "GBTRegressor"]
