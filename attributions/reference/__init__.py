"""The definitions in plain loops: slow, meant to be read from top to bottom, and tested against.

``definitions`` has the attributions and measures, ``inference`` standard errors of sums over rows,
``held_out`` the held-out gain, ``stumps`` local MDI+ and MDI+, and ``shapley`` Shapley values and
their interactions. Nothing here imports the fast code.
"""
