"""LightGBM's models.

``model`` makes an `Imported` of a booster: read it first. ``text`` reads the text in which LightGBM
saves boosters, and ``trees`` puts their nodes in preorder.
"""

from gbt.formats.lightgbm.model import from_lightgbm as from_lightgbm
from gbt.formats.lightgbm.model import import_lightgbm as import_lightgbm
