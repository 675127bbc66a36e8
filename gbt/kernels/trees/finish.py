"""Finish: store a grown tree in preorder, with the float64 sums that it remembers.

Splits were searched with integers; stored are sums of the floats themselves. The sum of a leaf is
the float64 number nearest to the exact sum over its rows, whatever their order; a parent adds up
its two children, so that its sums are theirs to the last bit::

    step(t)  = -G_t / (H_t + lambda)        score(t) = -G_t step(t)        value(t) = rate step(t)
    gain(t)  = score(left) + score(right) - score(t)
"""

import numpy as np

from gbt.kernels.cuts.bounds import value_within
from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.rows.sums import NOTHING, plus
from gbt.kernels.trees.quantise import of_row, settled


@forced_inline
def score_and_step(sum_gradient, sum_hessian, reg_lambda):
    """Return G^2 / (H + lambda) and -G / (H + lambda), or 0 if H + lambda is 0."""
    weight = sum_hessian + reg_lambda
    step = -sum_gradient / weight if weight > 0.0 else 0.0
    return -sum_gradient * step, step


@internal
def put_in_preorder(nodes):
    """Find the place of every node when the tree is read root, left branch, right branch."""
    for j in range(len(nodes) - 1, -1, -1):
        node = nodes[j]
        node.branch = 1
        if node.left >= 0:
            node.branch += nodes[node.left].branch + nodes[node.right].branch
    nodes[0].place = 0
    for j in range(len(nodes)):
        node = nodes[j]
        if node.left >= 0:
            nodes[node.left].place = node.place + 1
            nodes[node.right].place = node.place + 1 + nodes[node.left].branch


@forced_inline
def rates_of(rules):
    """Return lambda, the learning rate, and the unit of the nodes' bounds."""
    return rules.reg_lambda, rules.learning_rate, rules.h_scale / rules.g_scale


@internal
def write_sums(record, node, g, h, score_of_children, rates):
    """Store the sums of a node and what follows from them; gains only at splits."""
    reg_lambda, learning_rate, unit = rates
    score, step = score_and_step(g, h, reg_lambda)
    record.sum_gradient, record.sum_hessian = g, h
    record.value = value_within(learning_rate * step, node, learning_rate, unit)
    record.gain = score_of_children - score if record.feature >= 0 else 0.0


@internal
def write_leaf(record, node, g, h, rates):
    """Store a leaf."""
    record.n_samples = node.stop - node.start
    record.feature = record.left = record.right = -1
    record.threshold, record.missing_left = 0.0, False
    write_sums(record, node, g, h, 0.0, rates)


@internal
def finish_leaves(first, last, rows, nodes, training, rates, leaf_of_row, tree, partials):
    """Write the leaves among the nodes first:last to their places, with the sums over their rows.

    Where all rows of the table take part, the value of its leaf is added to every row's raw
    prediction.

    rows          (m,)           int32         IN    rows of a node beside each other
    nodes         (n_nodes,)     NODE          IN    children after their parent, in preorder places
    training                     ``Training``  INOUT raw predictions change
    rates                                      IN    see ``rates_of``
    leaf_of_row   (n,)           int32         OUT   of the rows that take part
    tree          (n_nodes,)     NODE_RECORD   OUT   see ``gbt.model.tree``
    partials      (m,)           float64       scratch
    """
    gradient, hessian, weight = training.gradient, training.hessian, training.weight
    raw_prediction = training.raw_prediction
    has_all = nodes[0].stop - nodes[0].start == len(leaf_of_row)
    has_one = len(hessian) == len(weight) == 1
    for j in range(first, last):
        node = nodes[j]
        if node.left < 0:
            record = tree[node.place]
            of_g = of_h = NOTHING
            for i in range(node.start, node.stop):
                row = np.uint64(rows[i])  # unsigned, as in ``gbt.kernels.cuts.histogram``
                w = of_row(weight, row)
                of_g = plus(of_g, w * gradient[row])
                if not has_one:
                    of_h = plus(of_h, w * of_row(hessian, row))
                leaf_of_row[row] = node.place
            start, stop = node.start, node.stop
            g = settled(of_g, gradient, weight, rows, start, stop, partials)
            h = (stop - start) * (weight[0] * hessian[0])
            if not has_one:
                h = settled(of_h, hessian, weight, rows, start, stop, partials)
            write_leaf(record, node, g, h, rates)
            if has_all:
                value = record.value
                for i in range(node.start, node.stop):
                    raw_prediction[np.uint64(rows[i])] += value


@internal
def finish_splits(nodes, rates, tree, rows_at_cut):
    """Write the nodes that split to their places; return whether all numbers are finite.

    Thresholds come later (``gbt.tables.columns``).

    nodes, rates, tree                         IN    see ``finish_leaves``; leaves are written
    rows_at_cut   (n_nodes, 2)   int32         OUT   of a split: rows with the highest value below
                                                     the cut and the lowest above, -1 if none is
    """
    is_finite = True
    for j in range(len(nodes) - 1, -1, -1):
        node, record = nodes[j], tree[nodes[j].place]
        if node.left >= 0:
            record.n_samples = node.stop - node.start
            record.feature, record.missing_left = node.feature, node.missing_left != 0
            record.threshold = 0.0
            record.left, record.right = nodes[node.left].place, nodes[node.right].place
            rows_at_cut[node.place, 0], rows_at_cut[node.place, 1] = node.low_row, node.high_row
            g = h = score = 0.0
            for child in (tree[record.left], tree[record.right]):
                g += child.sum_gradient
                h += child.sum_hessian
                score += score_and_step(child.sum_gradient, child.sum_hessian, rates[0])[0]
            write_sums(record, node, g, h, score, rates)
        for number in (record.sum_gradient, record.sum_hessian, record.gain, record.value):
            is_finite &= np.isfinite(number)
    return is_finite
