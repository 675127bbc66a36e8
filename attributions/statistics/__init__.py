"""How far off a sum over rows may be.

Read ``row_sums`` first: sums over rows, with what their standard error needs. ``groups`` counts
rows that belong together as one, ``together`` has intervals of many sums that hold together, and
``bootstrap`` intervals for sums that a few rows carry.
``powers_of_two`` has units in which numbers can be squared that are too large or too small for it.
"""
