"""One walk: rows find their spot in every tree once, and climb from there.

A *spot* is where a row ends in a tree: a leaf, or in a shallow tree one of its 16 places
(``gbt.kernels.rows.descent``). A *step* leads from a node t to a child c, which names it::

    rows  --down-->  spots  --up-->  each step adds  a_c g + b_c h + d_c   to the feature of t

First walks add rows up at the nodes, second ones tell what each row adds to what was made of these
sums. Read ``layout_of_steps``, then ``rows_at_spots``, rows in memory or in chunks of Dask.
Measures differ in a, b, d and g: ``attributions.held_out`` asks the loss anew at each step,
without the step's feature; ``attributions.unbiased`` takes the derivatives before the tree.
PreDecomp, Saabas and TreeInner need no sums of nodes, only the second walk.
"""
