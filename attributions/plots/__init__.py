"""Pictures of attributions and trees: display objects like those of scikit-learn.

A display keeps the data that it draws: ``ImportanceDisplay(result)``. Its ``plot`` draws it, again
and on other axes if need be, sets ``ax_`` and ``figure_``, and returns the display.

===========================  =======================================================================
``ImportanceDisplay``        Features by importance: bars with 95 % intervals
``BoostingDisplay``          Importance along boosting: a curve for each feature
``ByLabelDisplay``           Importance by month, region or class: lines, dots or colours
``ForWhomDisplay``           What a feature is worth to groups of rows
``LossChangeDisplay``        How much parts of a loss add to its change
``UsedUsefulDisplay``        How much the model uses each feature, and how far that helps: points
``PairsDisplay``             What features earned below splits on others, one square a pair
``CurveDisplay``             Predictions by the value of one feature, and how that is distributed
``LocalAttributionDisplay``  One row as a waterfall or a force plot, or all rows as a swarm
``TreeDisplay``              One tree of a model, with the sums that its nodes remember
===========================  =======================================================================

All ``plot`` take ``ax`` (where to draw), ``title`` and ``figsize`` (of a new figure, in inches).
Displays of many features are made with ``max_display`` (how many to show, or to name, at most).

Blue helps, vermilion hurts, and grey cannot be told, since its interval has 0 in it. Contributions
to a single prediction are vermilion if they move it up and blue if down, as in shap. Colour-blind
readers tell the two apart, too (Okabe and Ito 2008). Bars and points are hollow where an interval
is not to be relied on (``is_reliable``). Other colours are those of the axes, so dark styles stay
dark.
Names are drawn as they are, cut in the middle where they are too long; a figure of one's own leaves
room for them with ``layout="constrained"``. If nearly all values would coincide on an axis, it
becomes a symlog axis, and its label says so. Matplotlib is imported when something is drawn.
"""

from attributions.plots.colors import BLUE, GREY, INK, VERMILION
from attributions.plots.curves import BoostingDisplay, CurveDisplay
from attributions.plots.importance import (
    ByLabelDisplay,
    ForWhomDisplay,
    ImportanceDisplay,
    LossChangeDisplay,
)
from attributions.plots.pairs import PairsDisplay
from attributions.plots.rows import LocalAttributionDisplay
from attributions.plots.tree import TreeDisplay
from attributions.plots.used_useful import UsedUsefulDisplay

__all__ = [
    "BLUE", "GREY", "INK", "VERMILION", "BoostingDisplay", "ByLabelDisplay", "CurveDisplay",
    "ForWhomDisplay", "ImportanceDisplay", "LocalAttributionDisplay", "LossChangeDisplay",
    "PairsDisplay", "TreeDisplay", "UsedUsefulDisplay",
]  # fmt: skip
