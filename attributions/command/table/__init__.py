"""A file becomes a task: what is predicted, from which columns, and on which rows it is judged.

``file`` reads named columns of ``cells``, those of Parquet and Arrow typed (``arrow``, which also
reads them in batches); ``columns`` decides what kind each column is, ``target`` what kind of task
the target makes, and ``task`` puts all of it together. ``unusable`` is the error with its hints.
"""
