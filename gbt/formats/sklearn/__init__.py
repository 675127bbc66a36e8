"""scikit-learn's models.

``model`` makes an `Imported` of gradient boosting of both kinds, forests and single trees;
``categories`` reads those of gradient boosting on histograms.
"""

from gbt.formats.sklearn.model import import_sklearn as import_sklearn
