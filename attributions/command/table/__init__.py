"""A file becomes a task: what is predicted, from which columns, and on which rows it is judged.

``file`` reads named columns of cells, ``columns`` decides what kind each column is, ``target`` what
kind of task the target makes, and ``task`` puts all of it together; ``batches`` reads Arrow and
Parquet files that are larger than memory.
"""
