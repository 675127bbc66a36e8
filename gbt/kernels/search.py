"""Search: the cut of largest gain over all cuts of all features, exactly, looking at few of them.

A cut sends rows left or right. With the integer sums G and H of both sides and the penalty lambda,

    score(cut) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)

and the gain is the score less that of the node, so the largest score is sought. For each feature:

1. Histogram. Add up g, |g|, h and rows of every coarse bin.
2. Edges. Score the cuts between bins. Where every code has a bin of its own that is all.
3. Bounds. For every bin, bound the score of the cuts inside it (below).
4. Refinement. While the largest bound of any feature is not below the best score so far: sort by
   code the rows of that feature's bins whose bound is not below it, and score every cut in them.

A small node is one bin: its rows are sorted at once.

The bound. Let a bin start with sums (G_0, H_0) to its left, and hold gradients that add up to +P and
-N and hessians that add up to h. A cut inside it has G_l in [G_0 - N, G_0 + P], H_l >= H_0, and
H_r >= H - H_0 - h::

      G_0 - N            G_0 + P
         |------- G_l -------|            score(cut) <= max over both ends of
         0 . . . [ bin ] . . . H            G_l^2 / (H_0 + lambda) + (G - G_l)^2 / (H - H_0 - h + lambda)

because smaller denominators only raise it, and what is then left is a convex parabola in G_l, which
is largest at an end. The result is the best of all cuts, ties included: bins are skipped only where
the bound is strictly below a score that some cut reaches.

Ties of the score: the lowest feature, then the highest cut; a cut with missing rows is scored with
them on either side, and at equal score they go where the present rows have more hessian, then left.
"""

import numpy as np

from gbt.kernels.compiling import kernel

# Columns of a histogram.
GRADIENT, MAGNITUDE, HESSIAN, ROWS = 0, 1, 2, 3
# Below this many rows sorting costs less than clearing and scanning 256 bins.
SORT_AT_ONCE = 64
# A bound is computed with a few roundings of 1e-16 each, and so is the score that it must not miss.
SAFETY = 1.0 + 1e-12


@kernel
def score_of(left_g, left_h, right_g, right_h, penalty):
    """Return the score, symmetric in left and right to the last bit, with one division."""
    left_weight = left_h + penalty
    right_weight = right_h + penalty
    return (left_g * left_g * right_weight + right_g * right_g * left_weight) / (
        left_weight * right_weight
    )


@kernel
def score_cut(left_g, left_h, left_n, node, limits):
    """Return the score of a cut, or -inf where a side is too light or has too few rows.

    left_g, left_h, left_n     int64                 IN   sums over the rows that go left
    node                       3 x int64             IN   the same over all rows of the node
    limits                     penalty, least h (float64) and least rows (int64) of a side   IN
    """
    right_h = node[1] - left_h
    right_n = node[2] - left_n
    penalty, min_hessian, min_rows = limits
    if left_h <= 0 or right_h <= 0 or left_n < min_rows or right_n < min_rows:
        return -np.inf
    if float(left_h) < min_hessian or float(right_h) < min_hessian:
        return -np.inf
    return score_of(float(left_g), float(left_h), float(node[0] - left_g), float(right_h), penalty)


@kernel
def score_both_ways(g, h, n, missing, node, limits):
    """Return the score of a cut and whether missing rows go left.

    g, h, n     int64       IN   sums over the present rows left of the cut
    missing     3 x int64   IN   sums over the node's rows without a value
    """
    missing_right = score_cut(g, h, n, node, limits)
    more_on_the_left = h >= node[1] - missing[1] - h
    if missing[2] == 0:
        return missing_right, more_on_the_left
    missing_left = score_cut(g + missing[0], h + missing[1], n + missing[2], node, limits)
    if missing_left > missing_right or (missing_left == missing_right and more_on_the_left):
        return missing_left, True
    return missing_right, False


@kernel
def fill_histogram(bins, rows, gradient, hessian, histogram):
    """Add the rows of a node to the histogram of one feature.

    bins                 (n,)         uint8   IN   of the feature, for all rows of the table
    rows                 (m,)         int32   IN   of the node
    gradient, hessian    (m,)         int64   IN   of those rows
    histogram            (bins, 4)    int64   OUT
    """
    histogram[:] = 0
    for i in range(len(rows)):
        entry = histogram[bins[rows[i]]]
        entry[GRADIENT] += gradient[i]
        entry[MAGNITUDE] += abs(gradient[i])
        entry[HESSIAN] += hessian[i]
        entry[ROWS] += 1


@kernel
def bin_sums(histogram, b):
    """Return the sums of g, h and rows in one bin."""
    return histogram[b, GRADIENT], histogram[b, HESSIAN], histogram[b, ROWS]


@kernel
def best_edge(histogram, n_bins, node, limits):
    """Return score, bin and direction of missing rows of the best cut after a whole bin."""
    missing = bin_sums(histogram, n_bins)
    best, best_bin, best_missing_left = -np.inf, 0, False
    g, h, n = 0, 0, 0
    for b in range(n_bins):
        if histogram[b, ROWS] == 0:
            continue
        g += histogram[b, GRADIENT]
        h += histogram[b, HESSIAN]
        n += histogram[b, ROWS]
        score, missing_left = score_both_ways(g, h, n, missing, node, limits)
        if score >= best:
            best, best_bin, best_missing_left = score, b, missing_left
    return best, best_bin, best_missing_left


@kernel
def bound_of_box(low, high, h_before, h_inside, node, limits):
    """Bound the score of the cuts with G_l in [low, high] and H_l in [h_before, + h_inside]."""
    penalty, min_hessian, _ = limits
    left_h = max(float(h_before), min_hessian)
    right_h = max(float(node[1] - h_before - h_inside), min_hessian)
    if left_h + penalty == 0.0 or right_h + penalty == 0.0:
        return np.inf
    at_low = score_of(float(low), left_h, float(node[0] - low), right_h, penalty)
    at_high = score_of(float(high), left_h, float(node[0] - high), right_h, penalty)
    return max(at_low, at_high) * SAFETY


@kernel
def bound_bins(histogram, n_bins, node, limits, bounds):
    """Bound the score of the cuts inside every bin, and return the largest bound.

    bounds   (n_bins + 1,)   float64   OUT   -inf where there is no cut inside
    """
    missing = bin_sums(histogram, n_bins)
    largest = -np.inf
    g, h = 0, 0
    for b in range(n_bins):
        bounds[b] = -np.inf
        if histogram[b, ROWS] > 1:
            plus = (histogram[b, MAGNITUDE] + histogram[b, GRADIENT]) // 2
            minus = histogram[b, MAGNITUDE] - plus
            inside = histogram[b, HESSIAN]
            bounds[b] = bound_of_box(g - minus, g + plus, h, inside, node, limits)
            if missing[2] > 0:
                low, high = g + missing[0] - minus, g + missing[0] + plus
                bound = bound_of_box(low, high, h + missing[1], inside, node, limits)
                bounds[b] = max(bounds[b], bound)
            largest = max(largest, bounds[b])
        g += histogram[b, GRADIENT]
        h += histogram[b, HESSIAN]
    bounds[n_bins] = -np.inf  # missing rows have no order
    return largest


@kernel
def best_in_order(keys, before, missing, gradient, hessian, node, limits, best):
    """Return the better of ``best`` and the best cut after any of some rows sorted by code.

    keys                (m,)                   int64   IN   code << 32 | position in the node
    before, missing     3 x int64                      IN   sums left of these rows, and of missing
    gradient, hessian   (rows of the node,)    int64   IN
    best                score, code, direction         IN
    """
    best_score, best_code, best_missing_left = best
    g, h, n = before
    for i in range(len(keys)):
        row = keys[i] & 0xFFFFFFFF
        code = keys[i] >> 32
        g += gradient[row]
        h += hessian[row]
        n += 1
        if i + 1 < len(keys) and keys[i + 1] >> 32 == code:
            continue
        score, missing_left = score_both_ways(g, h, n, missing, node, limits)
        if score > best_score or (score == best_score and code > best_code):
            best_score, best_code, best_missing_left = score, code, missing_left
    return best_score, best_code, best_missing_left


@kernel
def sort_selected(bins, codes, rows, selected, keys):
    """Sort the rows in selected bins by code, and return how many they are.

    bins, codes   (n,)          uint8, int32   IN    of one feature
    rows          (m,)          int32          IN    of the node
    selected      (n_bins + 1)  bool           IN
    keys          (m,)          int64          OUT   code << 32 | position in the node
    """
    n = 0
    for i in range(len(rows)):
        if selected[bins[rows[i]]]:
            keys[n] = np.int64(codes[rows[i]]) << 32 | i
            n += 1
    keys[:n].sort()
    return n


@kernel
def refine(
    bins, codes, rows, gradient, hessian, histogram, n_bins, selected, node, limits, keys, best
):
    """Return the better of ``best`` and the best cut inside the selected bins of one feature."""
    sort_selected(bins, codes, rows, selected, keys)
    missing = bin_sums(histogram, n_bins)
    g, h, n, first = 0, 0, 0, 0
    for b in range(n_bins):
        if selected[b]:
            in_bin = keys[first : first + histogram[b, ROWS]]
            best = best_in_order(
                in_bin, (g, h, n), missing, gradient, hessian, node, limits, best
            )
            first += histogram[b, ROWS]
        g += histogram[b, GRADIENT]
        h += histogram[b, HESSIAN]
        n += histogram[b, ROWS]
    return best


@kernel
def search_by_sorting(bins, codes, n_bins, rows, gradient, hessian, node, limits, selected, keys):
    """Return the best cut of one feature of a small node: all its rows are one bin."""
    selected[:n_bins] = True
    selected[n_bins] = False
    n_present = sort_selected(bins, codes, rows, selected, keys)
    missing_g, missing_h = node[0], node[1]
    for key in keys[:n_present]:
        missing_g -= gradient[key & 0xFFFFFFFF]
        missing_h -= hessian[key & 0xFFFFFFFF]
    missing = (missing_g, missing_h, node[2] - n_present)
    nothing = (-np.inf, 0, False)
    in_order = keys[:n_present]
    return best_in_order(in_order, (0, 0, 0), missing, gradient, hessian, node, limits, nothing)


@kernel
def search_node(features, table, rows, gradient, hessian, node, limits, to_beat, scratch):
    """Return score, feature, code and direction of missing rows of the best cut of a node.

    features            (q,)     int64              IN      to look at, ascending
    table               codes, bins, n_bins, last_code_of_bin of Columns    IN
    rows                (m,)     int32              IN      of the node
    gradient, hessian   (m,)     int64              IN      of those rows
    node                3 x int64                   IN      their sums, and m
    to_beat             (1,)     float64            INOUT   best score known; shared by threads, for a
                                                            stale value prunes less and changes nothing
    scratch             histograms (q, 256, 4) int64, bounds (256,) float64, selected (256,) bool,
                        keys (m,) int64, largest_bound (q,) float64
    """
    codes, bins, n_bins, last_code_of_bin = table
    histograms, bounds, selected, keys, largest_bound = scratch
    cuts = [(-np.inf, 0, False)] * len(features)
    for q, f in enumerate(features):
        if len(rows) <= SORT_AT_ONCE:
            cuts[q] = search_by_sorting(
                bins[f], codes[f], n_bins[f], rows, gradient, hessian, node, limits, selected, keys
            )
            largest_bound[q] = -np.inf
        else:
            histogram = histograms[q]
            fill_histogram(bins[f], rows, gradient, hessian, histogram[: n_bins[f] + 1])
            score, edge, missing_left = best_edge(histogram, n_bins[f], node, limits)
            cuts[q] = (score, np.int64(last_code_of_bin[f, edge]), missing_left)
            is_exact = last_code_of_bin[f, n_bins[f] - 1] == n_bins[f] - 1
            largest_bound[q] = (
                -np.inf if is_exact else bound_bins(histogram, n_bins[f], node, limits, bounds)
            )
        to_beat[0] = max(to_beat[0], cuts[q][0])
    while True:
        q = np.argmax(largest_bound)
        if largest_bound[q] == -np.inf or largest_bound[q] < to_beat[0]:
            break
        f = features[q]
        bound_bins(histograms[q], n_bins[f], node, limits, bounds)
        for b in range(n_bins[f] + 1):
            selected[b] = bounds[b] > -np.inf and bounds[b] >= to_beat[0]
        cuts[q] = refine(
            bins[f], codes[f], rows, gradient, hessian, histograms[q], n_bins[f], selected, node,
            limits, keys, cuts[q],
        )
        to_beat[0] = max(to_beat[0], cuts[q][0])
        largest_bound[q] = -np.inf
    best_score, best_code, best_missing_left = cuts[0]
    best_feature = features[0]
    for q in range(1, len(features)):
        if cuts[q][0] > best_score:
            best_score, best_code, best_missing_left = cuts[q]
            best_feature = features[q]
    return best_score, best_feature, best_code, best_missing_left


@kernel
def search_nodes(
    features, table, rows, gradient, hessian, start, stop, sums, limits, to_beat,
    score, feature, code, missing_left,
):
    """Search every open node of a frontier; see ``search_node``.

    rows, gradient, hessian   (n,)         int32, int64   IN   of all nodes, a node's beside each other
    start, stop               (nodes,)     int64          IN   node j owns rows[start[j]:stop[j]]
    sums                      (nodes, 3)   int64          IN   of g, h and |g|
    to_beat                   (nodes,)     float64        INOUT
    score ... missing_left    (nodes,)                    OUT
    """
    n_features = len(features)
    most_rows = np.max(stop - start)
    scratch = (
        np.empty((n_features if most_rows > SORT_AT_ONCE else 0, 256, 4), dtype=np.int64),
        np.empty(256),
        np.empty(256, dtype=np.bool_),
        np.empty(most_rows, dtype=np.int64),
        np.empty(n_features),
    )
    for j in range(len(start)):
        own = slice(start[j], stop[j])
        node = (sums[j, 0], sums[j, 1], stop[j] - start[j])
        score[j], feature[j], code[j], missing_left[j] = search_node(
            features, table, rows[own], gradient[own], hessian[own], node, limits,
            to_beat[j : j + 1], scratch,
        )
