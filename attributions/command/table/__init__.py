"""A file becomes a task: what is predicted, from which columns, and on which rows it is judged.

``file`` reads named columns with pandas, those of text by ``text``. ``task`` makes a task of them,
by ``attributions.command.rules`` and with ``halves`` of the rows; ``given`` does for a model that
is there already, also in batches. ``description`` says what was done.
"""
