"""Nodes whose rows others hold: the policy searches them as in memory, and by the same code.

What ``gbt.kernels.trees.tasks`` calls LOOK and RECORD needs histograms and no rows. The members'
histograms, added up, are those that a single machine would have.
"""

from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.platform.handing import call_at, handed
from gbt.kernels.trees.tasks import LOOK, RECORD, ZERO


@uncounted
def search_nodes(n_nodes, work, policy):
    """Find the splits of the first nodes, each of which has a slot with its histogram.

    n_nodes   int64             IN
    work      ``Work``   INOUT  see ``gbt.kernels.cuts.memory``
    policy                      address of a kernel, see ``gbt.kernels.trees.tasks``
    """
    look_at_nodes(n_nodes, handed(work), policy)


@internal
def look_at_nodes(n_nodes, work, policy):
    """Do what `search_nodes` does, given addresses."""
    n_packs = len(work.table.packs)
    for j in range(n_nodes):
        for p in range(n_packs):
            call_at(policy, LOOK, j * n_packs + p, ZERO, work)
        call_at(policy, RECORD, j, ZERO, work)
