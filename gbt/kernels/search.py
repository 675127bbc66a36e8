"""Search: the cut of largest gain over all cuts of all features, exactly, looking at few of them.

A cut sends rows left or right. With the integer sums G and H of both sides and the penalty lambda,

    score(cut) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)

and the gain is the score less that of the node, so the largest score is sought. For each feature:

1. Histogram. Add up g, |g|, h and rows of every coarse bin.
2. Edges. Score the cuts between bins. Where every code has a bin of its own that is all.
3. Bounds. For every bin, bound the score of the cuts inside it (below).
4. Refinement. While the largest bound of any feature is not below the best score so far: put in
   order of code the rows of that feature's bins whose bound is not below it, by a histogram of
   codes or by sorting, and score every cut in them.

Where a node has few rows and a feature many bins, all rows are sorted at once instead.

The bound. Let the sums left of a bin be (G_0, H_0), and let it hold gradients that add up to +P
and -N and hessians that add up to h. A cut inside it has G_l in [G_0 - N, G_0 + P], H_l >= H_0 and
H_r >= H - H_0 - h::

    G_0 - N          G_0 + P          score(cut) <= the larger, over both ends of the arrow, of
       <------ G_l ------>               G_l^2 / (H_0 + lambda)
    ___________[bin]__________             + (G - G_l)^2 / (H - H_0 - h + lambda)
       H_0       h   H - H_0 - h

because smaller denominators only raise it, and what is then left is a parabola in G_l that opens
upwards and is largest at an end. A bin is passed over only where its bound is below a score that
some cut reaches, so the result is the best of all cuts, ties included.

Ties of the score: the lowest feature, then the highest cut; a cut with missing rows is scored with
them on either side, and at equal score they go where the present rows have more hessian, then left.

Arguments that travel together are tuples:

    node      int64 sums of g and h over the node's rows, int64 number of rows
    limits    float64 lambda, float64 least H of a side, int64 least rows of a side
    data      int32 rows (m,), int64 gradient (m,), int64 hessian (m,) of the node's m rows
    column    uint8 bins (n,), int32 codes (n,), int64 number of bins, int32 last code of each bin
    scratch   float64 bounds (256,), bool selected (256,), int64 keys (m,), int64 shift (256,)
    cut       float64 score, int64 code, bool whether missing rows go left
"""

import numpy as np

from gbt.kernels.compiling import kernel

# Columns of a histogram.
GRADIENT, MAGNITUDE, HESSIAN, ROWS = 0, 1, 2, 3
# Sorting a row costs about as much as clearing and scanning this many bins.
BINS_PER_SORTED_ROW = 8
# Sorting a row costs about as much as clearing and scanning this many entries by code.
CODES_PER_SORTED_ROW = 8
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

    left_g, left_h, left_n   int64   IN   sums over the rows that go left
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
def fill_histogram(bins, data, histogram):
    """Add the rows of a node to the histogram of one feature.

    histogram   (bins, 4)   int64   OUT
    """
    rows, gradient, hessian = data
    histogram[:] = 0
    for i in range(len(rows)):
        entry = histogram[bins[rows[i]]]
        entry[GRADIENT] += gradient[i]
        entry[MAGNITUDE] += abs(gradient[i])
        entry[HESSIAN] += hessian[i]
        entry[ROWS] += 1


@kernel
def sums_of_bin(histogram, b):
    """Return the sums of g, h and rows in one bin."""
    return histogram[b, GRADIENT], histogram[b, HESSIAN], histogram[b, ROWS]


@kernel
def best_edge(histogram, n_bins, node, limits):
    """Return score, bin and direction of missing rows of the best cut after a whole bin."""
    missing = sums_of_bin(histogram, n_bins)
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
    """Bound the score of the cuts with G_l in [low, high] and H_l from h_before to + h_inside."""
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
    missing_g, missing_h, missing_n = sums_of_bin(histogram, n_bins)
    largest = -np.inf
    g = h = node[0] - node[0]  # an int64 zero: a literal 0 would compile the kernels below again
    for b in range(n_bins):
        bounds[b] = -np.inf
        inside_g, inside_h, inside_n = sums_of_bin(histogram, b)
        if inside_n > 1:
            plus = (histogram[b, MAGNITUDE] + inside_g) // 2
            low, high = g + plus - histogram[b, MAGNITUDE], g + plus
            bounds[b] = bound_of_box(low, high, h, inside_h, node, limits)
            if missing_n > 0:
                low, high, before = low + missing_g, high + missing_g, h + missing_h
                bounds[b] = max(bounds[b], bound_of_box(low, high, before, inside_h, node, limits))
            largest = max(largest, bounds[b])
        g += inside_g
        h += inside_h
    bounds[n_bins] = -np.inf  # missing rows have no order
    return largest


@kernel
def sort_selected(column, rows, selected, keys):
    """Sort the rows in selected bins by code, and return how many they are.

    rows       (m,)            int32   IN    of the node
    selected   (n_bins + 1,)   bool    IN
    keys       (m,)            int64   OUT   code << 32 | position in the node
    """
    bins, codes, _, _ = column
    n = 0
    for i in range(len(rows)):
        if selected[bins[rows[i]]]:
            keys[n] = np.int64(codes[rows[i]]) << 32 | i
            n += 1
    keys[:n].sort()
    return n


@kernel
def best_in_order(keys, before, missing, data, node, limits, best):
    """Return the better of the cut ``best`` and the best cut after any of some sorted rows.

    keys              (k,)        int64   IN   see ``sort_selected``
    before, missing   3 x int64           IN   sums of g, h, rows left of them, and without value
    """
    _, gradient, hessian = data
    best_score, best_code, best_missing_left = best
    g, h, n = before
    for k in range(len(keys)):
        i = keys[k] & 0xFFFFFFFF
        code = keys[k] >> 32
        g += gradient[i]
        h += hessian[i]
        n += 1
        if k + 1 < len(keys) and keys[k + 1] >> 32 == code:
            continue
        score, missing_left = score_both_ways(g, h, n, missing, node, limits)
        if score > best_score or (score == best_score and code > best_code):
            best_score, best_code, best_missing_left = score, code, missing_left
    return best_score, best_code, best_missing_left


@kernel
def search_by_sorting(column, data, node, limits, scratch):
    """Return the best cut of one feature of a small node: all its present rows are one bin."""
    _, selected, keys, _ = scratch
    rows, gradient, hessian = data
    n_bins = column[2]
    selected[:n_bins] = True
    selected[n_bins] = False
    present = keys[: sort_selected(column, rows, selected, keys)]
    missing_g, missing_h, missing_n = node
    for key in present:
        missing_g -= gradient[key & 0xFFFFFFFF]
        missing_h -= hessian[key & 0xFFFFFFFF]
        missing_n -= 1
    zero = node[0] - node[0]
    missing = (missing_g, missing_h, missing_n)
    no_cut = (-np.inf, zero, False)
    return best_in_order(present, (zero, zero, zero), missing, data, node, limits, no_cut)


@kernel
def search_feature(column, data, node, limits, histogram, scratch):
    """Return the best cut of one feature between bins, and the largest bound on any inside one."""
    bins, _, n_bins, last_codes = column
    if len(data[0]) * BINS_PER_SORTED_ROW <= n_bins:
        return search_by_sorting(column, data, node, limits, scratch), -np.inf
    fill_histogram(bins, data, histogram[: n_bins + 1])
    score, edge, missing_left = best_edge(histogram, n_bins, node, limits)
    best = (score, np.int64(last_codes[edge]), missing_left)
    if last_codes[n_bins - 1] == n_bins - 1:  # a bin a code: there is nothing inside
        return best, -np.inf
    return best, bound_bins(histogram, n_bins, node, limits, scratch[0])


@kernel
def best_in_bin(by_code, first_code, before, missing, node, limits, best):
    """Return the better of the cut ``best`` and the best cut after any code of one bin.

    by_code           (codes, 3)   int64   IN   sums of g, h and rows of every code of the bin
    before, missing   3 x int64            IN   sums of g, h, rows left of it, and without value
    """
    best_score, best_code, best_missing_left = best
    g, h, n = before
    for c in range(len(by_code)):
        if by_code[c, 2] > 0:
            g += by_code[c, 0]
            h += by_code[c, 1]
            n += by_code[c, 2]
            score, missing_left = score_both_ways(g, h, n, missing, node, limits)
            if score >= best_score and (score > best_score or first_code + c > best_code):
                best_score, best_code, best_missing_left = score, first_code + c, missing_left
    return best_score, best_code, best_missing_left


@kernel
def fill_by_code(column, data, selected, shift, by_code):
    """Add the rows of the selected bins to a histogram of their codes.

    selected   (n_bins + 1,)   bool    IN
    shift      (n_bins + 1,)   int64   IN      what a bin adds to its codes to find their entries
    by_code    (codes, 3)      int64   INOUT   zero on entry
    """
    bins, codes, _, _ = column
    rows, gradient, hessian = data
    for i in range(len(rows)):
        b = bins[rows[i]]
        if selected[b]:
            entry = by_code[codes[rows[i]] + shift[b]]
            entry[0] += gradient[i]
            entry[1] += hessian[i]
            entry[2] += 1


@kernel
def select_bins(column, histogram, to_beat, scratch):
    """Select the bins that can hold a cut as good as ``to_beat``; return their rows and codes."""
    _, _, n_bins, last_codes = column
    bounds, selected, _, shift = scratch
    n_rows = n_codes = histogram[0, ROWS] - histogram[0, ROWS]
    first_code = n_codes
    for b in range(n_bins):
        selected[b] = bounds[b] > -np.inf and bounds[b] >= to_beat
        if selected[b]:
            shift[b] = n_codes - first_code
            n_rows += histogram[b, ROWS]
            n_codes += last_codes[b] + 1 - first_code
        first_code = np.int64(last_codes[b] + 1)
    selected[n_bins] = False
    return n_rows, n_codes


@kernel
def refine_feature(column, data, node, limits, to_beat, histogram, scratch, best):
    """Return the better of ``best`` and the best cut inside the bins that can reach ``to_beat``."""
    _, _, n_bins, last_codes = column
    bounds, selected, keys, shift = scratch
    bound_bins(histogram, n_bins, node, limits, bounds)
    n_rows, n_codes = select_bins(column, histogram, to_beat, scratch)
    is_sorted = n_rows * CODES_PER_SORTED_ROW < n_codes
    by_code = np.zeros((0 if is_sorted else n_codes, 3), dtype=np.int64)
    if is_sorted:
        sort_selected(column, data[0], selected, keys)
    else:
        fill_by_code(column, data, selected, shift, by_code)
    missing = sums_of_bin(histogram, n_bins)
    g = h = n = first = first_code = node[0] - node[0]
    for b in range(n_bins):
        inside_g, inside_h, inside_n = sums_of_bin(histogram, b)
        next_code = np.int64(last_codes[b] + 1)
        if selected[b] and is_sorted:
            in_bin = keys[first : first + inside_n]
            best = best_in_order(in_bin, (g, h, n), missing, data, node, limits, best)
            first += inside_n
        elif selected[b]:
            codes_in_bin = by_code[first_code + shift[b] : next_code + shift[b]]
            best = best_in_bin(codes_in_bin, first_code, (g, h, n), missing, node, limits, best)
        g += inside_g
        h += inside_h
        n += inside_n
        first_code = next_code
    return best


@kernel
def search_node(features, table, data, node, limits, to_beat, histograms, scratch, cuts):
    """Find the best cut of every feature that can be the node's best; return that one's place.

    features     (q,)                                            int64     IN     ascending
    table        codes, bins, n_bins, last_code_of_bin of ``Columns``      IN
    to_beat      (1,)                                            float64   INOUT  best score known;
                 threads share it, and an old value only prunes less
    histograms   (q, 256, 4)                                     int64     scratch
    cuts         score, code, missing_left, largest_bound (q,)             OUT
    """
    codes, bins, n_bins, last_codes = table
    score, code, missing_left, bound = cuts
    for q, f in enumerate(features):
        column = (bins[f], codes[f], n_bins[f], last_codes[f])
        cut, bound[q] = search_feature(column, data, node, limits, histograms[q], scratch)
        score[q], code[q], missing_left[q] = cut
        to_beat[0] = max(to_beat[0], score[q])
    while True:
        q = np.argmax(bound)
        if bound[q] == -np.inf or bound[q] < to_beat[0]:
            return np.argmax(score)  # the first of equals: the lowest feature
        f = features[q]
        column = (bins[f], codes[f], n_bins[f], last_codes[f])
        cut = (score[q], code[q], missing_left[q])
        score[q], code[q], missing_left[q] = refine_feature(
            column, data, node, limits, to_beat[0], histograms[q], scratch, cut
        )
        to_beat[0] = max(to_beat[0], score[q])
        bound[q] = -np.inf


@kernel
def search_nodes(features, table, data, start, stop, sums, limits, to_beat, found):
    """Search every open node; see ``search_node``.

    data          of all rows, those of a node beside each other
    start, stop   (nodes,)     int64     IN      node j owns the rows start[j]:stop[j]
    sums          (nodes, 3)   int64     IN      of g, h and |g|
    to_beat       (nodes,)     float64   INOUT
    found         score float64, feature int64, code int64, missing_left bool (nodes,)   OUT
    """
    rows, gradient, hessian = data
    score, feature, code, missing_left = found
    most_rows = 0
    for j in range(len(start)):
        most_rows = max(most_rows, stop[j] - start[j])
    q = len(features)
    histograms = np.empty((q, 256, 4), dtype=np.int64)
    scratch = (
        np.empty(256),
        np.empty(256, dtype=np.bool_),
        np.empty(most_rows, dtype=np.int64),
        np.empty(256, dtype=np.int64),
    )
    cuts = np.empty(q), np.empty(q, dtype=np.int64), np.empty(q, dtype=np.bool_), np.empty(q)
    for j in range(len(start)):
        own = slice(start[j], stop[j])
        node = (sums[j, 0], sums[j, 1], stop[j] - start[j])
        its_data = (rows[own], gradient[own], hessian[own])
        best = search_node(
            features, table, its_data, node, limits, to_beat[j : j + 1], histograms, scratch, cuts
        )
        score[j], feature[j] = cuts[0][best], features[best]
        code[j], missing_left[j] = cuts[1][best], cuts[2][best]
