"""``python -m attributions``: what a fitted model uses, and what of it helps on new rows.

The command fits the paper's standard model (Sun 2022: 400 trees of depth 4, learning rate .01,
lambda 1), says how good it is on held-out rows, and prints its features ranked by their held-out
gain there, beside total gain. By default the data are the paper's simulated ones, where the truth
is known. Their classification task is the default: in the regression task the signal is 0.4 % of
the variance and no method finds it in 1,000 rows.

A single draw says little. Over the seeds 0 to 39 the five best features hold on average so many of
the five relevant ones (standard errors up to .2):

==============  =============  ==========
task            held-out gain  total gain
==============  =============  ==========
classification  2.2            0.3
regression      0.6            0.1
==============  =============  ==========
"""

import sys
from io import TextIOWrapper

from attributions.command.run import main


def run() -> None:
    """Be the command of the shell."""
    if isinstance(sys.stdout, TextIOWrapper):  # a name may have letters that it cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())


if __name__ == "__main__":
    run()
