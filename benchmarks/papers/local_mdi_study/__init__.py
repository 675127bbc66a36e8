"""Local MDI+ studied as its authors did: on tables, beside its peers, and put together alike.

Read ``methods`` first (what is compared, and how trees are put together), ``tables`` and ``models``
(what on), then a part: ``simulated`` (ranking, correlation), ``selection``, ``counterfactuals``,
``subgroups``, ``stability`` and ``cost``. ``claims`` says which statements of the paper hold.
"""
