"""The definitions in plain loops: slow, meant to be read from top to bottom, and tested against.

``definitions`` has the attributions and measures, ``inference`` how far off a sum over rows may be,
``held_out`` what splits are worth to rows that they have not seen.
Nothing here imports the code that is fast.
"""
