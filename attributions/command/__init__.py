"""The program, ``python -m attributions``: a table goes in, one verdict a feature comes out.

Read ``run`` first. ``options`` are the command line's; ``table`` reads the file and makes a task of
it, ``model_file`` reads a fitted model; ``findings`` are the numbers, ``verdicts`` and ``cautions``
what is said of them, ``judgement`` puts these together. ``printed`` writes for the terminal,
``page`` as HTML, and ``in_batches`` judges files that are larger than memory.
"""
