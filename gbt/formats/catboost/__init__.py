"""CatBoost's models.

``model`` makes an `Imported` of a model: read it first. ``binary`` reads CatBoost's own format,
``trees`` puts nodes in preorder, and ``levels`` finds the levels of categories among rows.
"""

from gbt.formats.catboost.model import import_catboost as import_catboost
