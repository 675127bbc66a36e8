"""Losses of times to an event, which of many rows has not come yet when their observation ends.

Such a row is *censored*: all that is known is that its event comes later, if ever. Read ``cox``
first (who has the event before whom), then ``aft`` and ``laws`` (when it comes), ``times`` (what
people have as targets) and ``concordance`` (how well predictions order the rows).
"""

from gbt.losses.survival.aft import Aft
from gbt.losses.survival.concordance import uno_concordance
from gbt.losses.survival.cox import Cox

__all__ = ["Aft", "Cox", "uno_concordance"]
