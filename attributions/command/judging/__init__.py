"""A model is judged on held-out rows: how good it is, what each feature brings, what is doubtful.

``findings`` is the record of a judged model, from which ``verdicts`` derives what is said of each
feature. ``of_table`` fits with random halves and, where rows belong together (``agreement`` of a
model's errors shows it, beside the columns), by groups; ``of_model`` judges a saved model, also on
a file larger than memory. ``simpler`` compares a model with simpler ones, ``leaks`` finds what
gives the answer away, and ``over`` what changed over time, or differs by a column.
"""
