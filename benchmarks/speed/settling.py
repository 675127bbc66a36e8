"""Settling: what comes before every timed run, so that it does not pay for the run before it.

The threads of OpenMP, which XGBoost and LightGBM use, look for more work for some milliseconds
after their last, and meanwhile take a core from whoever runs next: three milliseconds of prediction
on two threads took five. A pause would do, but let the processor fall asleep and wake up slowly.
So time is spent here, at work, until they have gone.
"""

import time

SECONDS = 0.02


def settle() -> None:
    """Keep one core busy until threads that wait in vain have given up."""
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        pass
