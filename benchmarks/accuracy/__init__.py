"""How well trainers predict on real tables: what our defaults were chosen by.

`tasks` has the tables and draws their rows, `ours` the settings of our three splitters that are
compared, `others` the libraries, a linear model and the constant, `__main__` fits, and `report`
makes tables and the picture of ``docs/accuracy.md``.
"""
