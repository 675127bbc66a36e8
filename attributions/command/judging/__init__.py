"""A model is judged on held-out rows: how good it is, what each feature brings, what is doubtful.

``findings`` is the record of a judged model, from which ``verdicts`` derives what is said of each
feature. ``of_table`` fits with random halves and, where rows belong together, by groups;
``of_model`` judges a saved model, also on a file larger than memory. ``other_models`` compares a
model with simpler ones and finds what gives the answer away, and ``over`` what changed over time,
or differs by a column.
"""
