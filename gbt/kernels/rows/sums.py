"""Sums that do not depend on the order of rows: each is the float64 nearest to the exact sum.

Adding floats rounds, differently in another order. The exact sum has no order, nor has its nearest
float64 number, which is what Python's ``math.fsum`` returns. While numbers are added, the rounding
error of each addition is computed, exactly (Knuth, "Seminumerical Algorithms", 4.2.2, theorem B),
and added up, too::

    high    1e16        1e16 + 1 = 1e16          the sum, rounded at every addition
    low     0           1                        what the additions lost
    slack   0           1                        magnitudes of what they lost

The exact sum is high + low, up to what ``low`` has lost itself, which is at most n eps slack.
Nearly always that leaves no doubt about the nearest number. Otherwise the numbers are added once
more, into partial sums that do not overlap and together are exact (Shewchuk, "Adaptive Precision
Floating-Point Arithmetic", 1997), of which two or three are enough for most rows.

Each addition waits for the one before it, so the processor computes the errors in idle time.
"""

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, inlined, internal, uncounted

EPS = np.finfo(np.float64).eps
NOTHING = (0.0, 0.0, 0.0)  # high, low and slack of no numbers


@forced_inline
def two_sum(a, b):
    """Return a + b, rounded, and the exact rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@forced_inline
def plus(total, x):
    """Return high, low and slack after one more number."""
    high, low, slack = total
    high, lost = two_sum(high, x)
    return high, low + lost, slack + abs(lost)


@forced_inline
def merged(total, other):
    """Return high, low and slack of two sums together: two more additions to ``low``."""
    high, lost = two_sum(total[0], other[0])
    return high, total[1] + other[1] + lost, total[2] + other[2] + abs(lost)


@forced_inline
def nearest(total, n):
    """Return the number nearest to the exact sum, and whether it certainly is the nearest.

    ``n`` is how many additions to ``low`` there were. A sum that is not finite is not certain.
    """
    high, low, slack = total
    rounded, rest = two_sum(high, low)
    doubt = 2.0 * n * EPS * slack + 4.0 * EPS * abs(rest)  # of ``low``, and of what is added here
    return rounded, (rounded + (rest + doubt) == rounded) & (rounded + (rest - doubt) == rounded)


@internal
def add_to_partials(x, partials, start, stop):
    """Add a number to the partial sums in start:stop; return where they stop then.

    partials   (m,)   float64   INOUT   ascending, no two of which overlap
    """
    kept = start
    for i in range(start, stop):
        x, lost = two_sum(x, partials[i])
        if lost != 0.0:
            partials[kept] = lost
            kept += 1
    partials[kept] = x
    return kept + 1


@inlined
def sum_of_partials(partials, start, stop):
    """Return the number nearest to the sum of partials, of two equally near ones the even one."""
    stop -= 1
    total, lost = partials[stop], 0.0
    while stop > start and lost == 0.0:
        stop -= 1
        total, lost = two_sum(total, partials[stop])
    # Half a unit was rounded to even; what is still below it says which side was meant.
    if stop > start and (lost > 0.0) == (partials[stop - 1] > 0.0):
        other = total + 2.0 * lost
        if other - total == 2.0 * lost:
            total = other
    return total


@uncounted
def add_by_place(place, x, totals):
    """Add numbers up by their places.

    place    (n,)     integer   IN
    x        (n,)     float64   IN
    totals   (m, 3)   float64   INOUT   high, low and slack of every place; 0 on entry
    """
    for i in range(len(place)):
        own = totals[place[i]]
        own[0], own[1], own[2] = plus((own[0], own[1], own[2]), x[i])
