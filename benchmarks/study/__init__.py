"""Studies: simulations of many replications that can be interrupted and go on.

A study has parts, a part has cells, and a cell is repeated with a stream of random numbers of its
own, so that no number depends on how many processes there were or in which order they ran.
Results are CSV files in ``benchmarks/results`` and tables in a page of ``docs``.
"""
