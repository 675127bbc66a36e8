"""What changed: worth of features over time, between groups of rows, between two models.

Read ``worth`` first: what features are worth to some rows in a unit that can be compared, and what
each row adds to its error. ``contrasts`` takes the difference of two such sets, and ``differences``
is the table of them. ``labels`` reads the labels of rows and ``by_label`` judges each.
``loss_parts`` divides a loss, ``loss_change`` tells where it went, from some rows to others or from
one model to another. ``for_whom`` looks for groups of rows.
"""
