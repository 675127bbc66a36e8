"""A file becomes a task: what is predicted, from which columns, and on which rows it is judged.

``file`` reads named columns, those of text by ``text``, and ``task`` makes a task of them, by
``attributions.command.rules`` and with ``halves`` of the rows. ``demonstration`` is a task that
needs no file.
"""
