"""Finish: write down a grown tree in preorder, with the float64 sums that it remembers.

Integers searched for the splits; what is stored are sums of the floats themselves. A leaf adds up
its rows in their order, a parent its two children, so that the sums of a parent are those of its
children to the last bit, whatever happened while the tree grew::

    step(t)  = G_t / (H_t + lambda)         score(t) = G_t step(t)         value(t) = -rate step(t)
    gain(t)  = score(left) + score(right) - score(t)
"""

import numpy as np

from gbt.kernels.compiling import kernel


@kernel
def score_and_step(sum_gradient, sum_hessian, reg_lambda):
    """Return G^2 / (H + lambda) and G / (H + lambda), 0 where there is no weight."""
    weight = sum_hessian + reg_lambda
    step = sum_gradient / weight if weight > 0.0 else 0.0
    return sum_gradient * step, step


@kernel
def add_up_rows(rows, start, stop, left, right, gradient, hessian, weight, sums):
    """Add up w g and w h of the rows of every leaf, in their order, and parents from children.

    rows                        (m,)           int32     IN    rows of a node beside each other
    start, stop, left, right    (n_nodes,)     int64     IN    children after their parent
    gradient, hessian, weight   (n,)           float64   IN
    sums                        (n_nodes, 2)   float64   OUT
    """
    for node in range(len(start) - 1, -1, -1):
        g = h = 0.0
        if left[node] >= 0:
            g = sums[left[node], 0] + sums[right[node], 0]
            h = sums[left[node], 1] + sums[right[node], 1]
        else:
            for row in rows[start[node] : stop[node]]:
                g += weight[row] * gradient[row]
                h += weight[row] * hessian[row]
        sums[node, 0], sums[node, 1] = g, h


@kernel
def finish_tree(
    rows, start, stop, left, right, gradient, hessian, weight, reg_lambda, learning_rate,
    place, leaf_of_row, links, numbers,
):  # fmt: skip
    """Write children, sums, gain and value of every node to its place in preorder.

    rows ... weight   see ``add_up_rows``
    place             (n_nodes,)     int64     IN
    leaf_of_row       (n,)           int32     OUT   of the rows that take part
    links             (3, n_nodes)   int64     OUT   left, right, number of rows
    numbers           (4, n_nodes)   float64   OUT   G, H, gain, value
    """
    sums = np.empty((len(start), 2))
    add_up_rows(rows, start, stop, left, right, gradient, hessian, weight, sums)
    for node in range(len(start)):
        to = place[node]
        score, step = score_and_step(sums[node, 0], sums[node, 1], reg_lambda)
        gain = 0.0
        links[0, to] = links[1, to] = -1
        if left[node] >= 0:
            l, r = left[node], right[node]
            links[0, to], links[1, to] = place[l], place[r]
            score_l, _ = score_and_step(sums[l, 0], sums[l, 1], reg_lambda)
            score_r, _ = score_and_step(sums[r, 0], sums[r, 1], reg_lambda)
            gain = score_l + score_r - score
        else:
            for row in rows[start[node] : stop[node]]:
                leaf_of_row[row] = to
        links[2, to] = stop[node] - start[node]
        numbers[0, to], numbers[1, to] = sums[node, 0], sums[node, 1]
        numbers[2, to], numbers[3, to] = gain, -learning_rate * step
