"""``python -m attributions``: what a fitted model uses, and what of it helps on new rows.

The command fits a model to a table (``--data FILE --target NAME``), says how good it is on rows
that it has not seen, and prints its features ranked by their held-out gain there, beside total
gain. Without a table it shows this on one that ships with scikit-learn, with a column of random
numbers added: over the seeds 0 to 19 the mean place of this column among eleven is 6.3 by total
gain and 8.6 by held-out gain (standard errors 0.4).
"""

import sys
from io import TextIOWrapper

from attributions.command.run import main


def run() -> None:
    """Run the command with the arguments of the shell."""
    if isinstance(sys.stdout, TextIOWrapper):  # a name may have letters that it cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())


if __name__ == "__main__":
    run()
