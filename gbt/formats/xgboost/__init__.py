"""XGBoost's models.

``model`` makes an `Imported` of a booster: read it first. ``document`` and ``ubjson`` read
XGBoost's two kinds of files, ``trees`` puts nodes in preorder, ``training`` finds out how it was
trained, ``smoothed`` has the derivatives of losses without curvature, and ``writing`` writes a
model of ours as XGBoost's JSON.
"""

from gbt.formats.xgboost.model import from_xgboost as from_xgboost
from gbt.formats.xgboost.model import import_xgboost as import_xgboost
