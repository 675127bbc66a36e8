r"""What rows say at every split of their paths: where they are asked, and what that adds to.

Rows have gone down some trees; here they climb from their leaves to the roots, all rows of a block
a step at a time. A step is known by the child c that it comes from, so that what belongs to it,
feature, change of the value and sums, stands at c::

        t [3]            feature[c] = 3          up[c] = t
       / \               step[c] = v_c - v_t
      b   c              asked = f - F_3         F_3: what feature 3 has contributed before

A row that has arrived at a root stays there, where steps and parts are 0.

1. `ask` writes the raw predictions at which the derivative of the loss is wanted, one a row and
   step, and takes raw predictions and contributions to the next round.
2. The loss turns them into gradients (``gbt.losses``).
3. `add_up_steps` adds the gradients up at every child, `add_parts_of_steps` turns them into the
   parts of rows.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import internal, kernel


class Paths(NamedTuple):
    """Steps to the nodes of all N nodes of M trees, known by the child; 0 at roots but for up."""

    up: np.ndarray  # (N,) uint64, the parent; a root is its own
    feature: np.ndarray  # (N,) uint64, that the parent splits on
    step: np.ndarray  # (N,) float64, value less that of the parent; 0 in a forest
    value: np.ndarray  # (N,) float64, that a leaf adds to the raw prediction; 0 in a forest
    levels: np.ndarray  # (M,) int64, steps from the root to the lowest leaf


@internal
def write_asked(leaf, paths, raw, work, at, asked):
    """Write the raw predictions without the feature of every step of one tree.

    leaf           (n,)        unsigned   IN    counted through all trees
    paths ... work             see ``ask``
    at             (n,)        uint64     memory
    asked          (S, n, K)   float64    OUT
    """
    for i in range(at.shape[0]):
        at[i] = leaf[i]
    for s in range(asked.shape[0]):
        for i in range(at.shape[0]):
            k = paths.feature[at[i]]
            for o in range(raw.shape[0]):
                asked[s, i, o] = raw[o, i] - work[o, k, i]
            at[i] = paths.up[at[i]]


@internal
def move(leaf, n_steps, paths, at, raw, work):
    """Take raw predictions and contributions to one output to its next tree.

    leaf    (n,)       unsigned   IN      counted through all trees
    at      (n,)       uint64     memory
    raw     (n,)       float64    INOUT
    work    (p, n)     float64    INOUT
    """
    for i in range(at.shape[0]):
        at[i] = leaf[i]
        raw[i] += paths.value[at[i]]
    for _ in range(n_steps):
        for i in range(at.shape[0]):
            work[paths.feature[at[i]], i] += paths.step[at[i]]
            at[i] = paths.up[at[i]]


@kernel
def ask(leaves, first, paths, raw, work, asked):
    """Write the raw predictions without the feature of every step, round by round.

    T trees of whole rounds, K outputs, S levels at most.

    leaves   (T, n)         unsigned   IN     counted through all trees
    first                   int64      IN     which tree of the model the first of them is
    paths                   ``Paths``  IN
    raw      (K, n)         float64    INOUT  before the first round; then after the last
    work     (K, p, n)      float64    INOUT  what each feature has contributed
    asked    (T, S, n, K)   float64    OUT
    """
    n_outputs, at = raw.shape[0], np.empty(raw.shape[1], np.uint64)
    for begin in range(0, leaves.shape[0], n_outputs):
        for m in range(begin, begin + n_outputs):
            write_asked(leaves[m], paths, raw, work, at, asked[m])
        for o in range(n_outputs):
            m = begin + o
            move(leaves[m], paths.levels[first + m], paths, at, raw[o], work[o])


@kernel
def add_up_steps(leaves, first, paths, gradient, weight, sums):
    """Add up the weighted gradients of every step at its child, and rows and weights at leaves.

    leaves, first, paths          see ``ask``
    gradient   (T, S, n)   float64   IN
    weight     (n,)        float64   IN
    sums       (N, 3)      float64   INOUT   w g of the step, w, rows that weigh something
    """
    up, levels = paths.up, paths.levels
    at = np.empty(leaves.shape[1], np.uint64)
    for m in range(leaves.shape[0]):
        for i in range(at.shape[0]):
            at[i] = leaves[m, i]
            sums[at[i], 1] += weight[i]
            sums[at[i], 2] += weight[i] > 0.0
        for s in range(levels[first + m]):
            for i in range(at.shape[0]):
                sums[at[i], 0] += weight[i] * gradient[m, s, i]
                at[i] = up[at[i]]


@kernel
def add_parts_of_steps(leaves, first, paths, part, gradient, out):
    """Add every row's parts, a g + b at each step, to the features of the steps.

    leaves, first, paths          see ``ask``
    part       (N, 2)      float64   IN      a and b of the step to a node
    gradient   (T, S, n)   float64   IN
    out        (p, n)      float64   INOUT
    """
    up, feature, levels = paths.up, paths.feature, paths.levels
    at = np.empty(leaves.shape[1], np.uint64)
    for m in range(leaves.shape[0]):
        for i in range(at.shape[0]):
            at[i] = leaves[m, i]
        for s in range(levels[first + m]):
            for i in range(at.shape[0]):
                c = at[i]
                out[feature[c], i] += part[c, 0] * gradient[m, s, i] + part[c, 1]
                at[i] = up[c]
