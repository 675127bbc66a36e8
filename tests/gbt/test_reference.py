"""gbt.reference against pencil and paper, and against brute force over all partitions.

That sums are stored to the last bit `tests.gbt.training.test_growing` compares with the product.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.reference import boosting as reference
from gbt.reference.boosting import Node, boost, grow, to_fixed_point
from tests.asserts import EPS

NAN = float("nan")
LARGEST = float(np.finfo(np.float64).max)

both_searches = pytest.mark.parametrize("fixed_point", [False, True])


def stump(X, gradient, hessian=None, **parameters):
    """Grow at most one split, without penalty and learning rate unless given."""
    hessian = np.ones(len(X)) if hessian is None else hessian
    defaults = {"max_depth": 1, "reg_lambda": 0.0, "min_child_weight": 0.0, "learning_rate": 1.0}
    return grow(X, gradient, hessian, **{**defaults, **parameters})


def split_of(tree):
    return tree[0].feature, tree[0].threshold, tree[0].missing_left


IS_LEAF = (-1, 0.0, False)


# ------------------------------------------------------------------------------ pencil and paper


@both_searches
@pytest.mark.parametrize("swap", [False, True])
def test_example_1_of_sun_2022(swap, fixed_point):
    # Rows A (0, 0; 0), B (0, 1; 1), C (1, 0; -1). Both features gain 5/6, so the first is taken:
    # structure I of the paper, and structure II where the columns have changed places.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])[:, :: -1 if swap else 1]
    y = np.array([0.0, 1.0, -1.0])
    model = boost(
        X, y, n_estimators=1, base_score=0.0, max_depth=1, learning_rate=1.0, reg_lambda=1.0,
        fixed_point=fixed_point,
    )  # fmt: skip
    sign = -1.0 if swap else 1.0
    assert model.trees == [
        [
            Node(0, 0.5, 1, 2, True, 0.0, 3.0, 3, 1 / 3 + 1 / 2, 0.0),
            Node(sum_gradient=-sign, sum_hessian=2.0, n_samples=2, value=sign / 3),
            Node(sum_gradient=sign, sum_hessian=1.0, n_samples=1, value=-sign / 2),
        ]
    ]
    expected = [-1 / 3, 1 / 2, -1 / 3] if swap else [1 / 3, 1 / 3, -1 / 2]
    assert model.raw_predict(X).tolist() == expected


@both_searches
@pytest.mark.parametrize(
    ("gradient", "is_split"),
    [
        # lambda 0: gains 2 d^2, and 16 roundings of (sum|g|)^2 / H = 2 are 2^-47
        ([1 + 2**-23, 1 - 2**-23], True),
        ([1 + 2**-25, 1 - 2**-25], False),
        # rows in pairs, G_l = d, G_r = -d: gains d^2, and 16 roundings of 4^2 / 4 are 2^-46
        ([1, -1 + 2**-22, 1, -1 - 2**-22], True),
        ([1, -1 + 2**-24, 1, -1 - 2**-24], False),
    ],
)
def test_a_gain_that_may_be_rounding_is_none(gradient, is_split, fixed_point):
    X = np.repeat([0.0, 1.0], len(gradient) // 2)[:, None]
    tree = stump(X, gradient, fixed_point=fixed_point)
    assert split_of(tree) == ((0, 0.5, True) if is_split else IS_LEAF)


# -------------------------------------------------------------------------------- best-first order


def leaf_sizes(gradient, **parameters):
    """Return the row counts of the leaves, left to right, over x = 0, 1, 2, ..."""
    X = np.arange(float(len(gradient)))[:, None]
    tree = stump(X, np.array(gradient, dtype=float), **{"max_depth": None, **parameters})
    return [node.n_samples for node in tree if node.feature < 0]


@both_searches
@pytest.mark.parametrize(
    ("gradient", "max_leaves", "expected"),
    [
        ([10, 12, -50, -54], 2, [2, 2]),
        ([10, 12, -50, -54], 3, [2, 1, 1]),  # a pair a, b gains (a - b)^2 / 2: here 2 and 8
        ([10, 14, -50, -52], 3, [1, 1, 2]),
        ([10, 12, -50, -52], 3, [1, 1, 2]),  # 2 and 2: both opened at once, left first
        # 10 12 30 is split into 10 12 | 30 first. Then 10 12 and -50 -52 gain the same, and the
        # latter was opened before.
        ([10, 12, 30, -50, -52], 3, [2, 1, 2]),
        ([10, 12, 30, -50, -52], 4, [2, 1, 1, 1]),
        ([10, 12, 30, -50, -52], 5, [1, 1, 1, 1, 1]),
        ([10, 12, 30, -50, -52], 99, [1, 1, 1, 1, 1]),
    ],
)
def test_the_open_node_of_largest_gain_is_split_first(gradient, max_leaves, expected, fixed_point):
    assert leaf_sizes(gradient, max_leaves=max_leaves, fixed_point=fixed_point) == expected


# ---------------------------------------------------------------------------------------- weights


def test_rows_of_weight_0_leave_no_trace():
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(30, 2)), generator.normal(size=30)
    weight = generator.integers(0, 3, 30).astype(float)
    X[weight == 0], y[weight == 0] = 1e300, 1e300
    kept = weight > 0
    model = boost(X, y, n_estimators=3, sample_weight=weight, fixed_point=True)
    others = boost(X[kept], y[kept], n_estimators=3, sample_weight=weight[kept], fixed_point=True)
    assert model == others


# ------------------------------------------------------------------------------- the single steps


@given(st.lists(st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100), min_size=1))
def test_fixed_point_is_the_nearest_integer(x):
    integers, scale = to_fixed_point(np.array(x), np.ones(len(x)))
    exact = [Fraction(value) * Fraction(scale) for value in x]
    assert integers == [round(value) for value in exact]  # halves to even
    total = sum(map(abs, exact))
    assert total == 0 or 2**60 * (1 - EPS) <= total <= 2**61
    assert sum(map(abs, integers)) < 2**63


@pytest.mark.parametrize(
    ("weight", "is_whole"),
    [([3.0, 1.0], True), ([1.5, 1.5], False), ([511.0, 1.0], True), ([512.0, 1.0], False)],
)
def test_whole_weights_multiply_integers(weight, is_whole):
    x = [0.1, 0.3]
    integers, scale = to_fixed_point(np.array(x), np.array(weight))
    for integer, w, v in zip(integers, weight, x, strict=True):
        rounded = Fraction(v) if is_whole else Fraction(w * v)
        assert integer == (int(w) if is_whole else 1) * round(rounded * Fraction(scale))


def test_fixed_point_of_nothing():
    assert to_fixed_point(np.zeros(2), np.ones(2)) == ([0, 0], 1.0)


def test_sigmoid_does_not_overflow():
    assert reference.sigmoid(np.array([-1e9, -800.0, 800.0, 1e9])).tolist() == [0.0, 0.0, 1.0, 1.0]


# ------------------------------------------------------------- brute force over all partitions
#
# On small whole numbers every sum, every numerator and every denominator is exact in float64, so a
# score is the float nearest to a fraction, and fractions that differ have floats that differ: what
# the definition says in exact arithmetic must hold with ==, ties included.


def rules_of_node(X, rows):
    """Yield every rule x <= v, or below all values, with missing rows on either side."""
    for feature in range(X.shape[1]):
        values = sorted({X[i, feature] for i in rows if not math.isnan(X[i, feature])})
        for low, high in zip([-math.inf, *values], [*values, math.inf], strict=True):
            for missing_left in (True, False):

                def is_left(i, feature=feature, low=low, missing_left=missing_left):
                    x = X[i, feature]
                    return missing_left if math.isnan(x) else x <= low

                left = [i for i in rows if is_left(i)]
                right = [i for i in rows if not is_left(i)]
                yield feature, low, high, missing_left, left, right


def best_by_definition(X, gradient, hessian, rows, parameters):
    """Return feature, threshold, side of missing, left and right rows of the best rule, or None."""

    def total(x, some_rows):
        return sum((Fraction(x[i]) for i in some_rows), Fraction(0))

    def score(some_rows):
        weight = total(hessian, some_rows) + Fraction(parameters["reg_lambda"])
        return total(gradient, some_rows) ** 2 / weight

    def is_allowed(some_rows):
        weight = total(hessian, some_rows)
        is_heavy = weight > 0 and weight >= Fraction(parameters["min_child_weight"])
        return is_heavy and len(some_rows) >= parameters["min_samples_leaf"]

    ranked = []
    for feature, low, high, missing_left, left, right in rules_of_node(X, rows):
        if left and right and is_allowed(left) and is_allowed(right):
            present_left, present_right = (
                total(hessian, [i for i in side if not math.isnan(X[i, feature])])
                for side in (left, right)
            )
            joins_more = missing_left == (present_left >= present_right)
            threshold = LARGEST if high == math.inf else (low + high) / 2
            rank = score(left) + score(right), -feature, low, joins_more
            ranked.append((rank, (feature, threshold, missing_left, left, right)))
    if not ranked:
        return None
    rank, best = max(ranked, key=lambda pair: pair[0])
    weight = total(hessian, rows) + Fraction(parameters["reg_lambda"])
    rounding = 16 * Fraction(EPS) * total(np.abs(gradient), rows) ** 2 / weight
    least_gain = max(Fraction(parameters["min_split_gain"]), rounding)
    return best if rank[0] - score(rows) > least_gain else None


def check_tree(tree, X, gradient, hessian, parameters, *, rows=None, position=0, depth=0):
    """Fail unless every node is what the definition says; return how many nodes were seen."""
    rows = range(len(X)) if rows is None else rows
    node = tree[position]
    G, H = (sum((Fraction(x[i]) for i in rows), Fraction(0)) for x in (gradient, hessian))
    weight = H + Fraction(parameters["reg_lambda"])
    assert (node.sum_gradient, node.sum_hessian, node.n_samples) == (G, H, len(rows))
    # Halving is exact, so one division is all that is rounded.
    assert parameters["learning_rate"] == 0.5
    assert node.value == (float(-G / weight / 2) if weight else 0.0)

    max_depth = parameters["max_depth"]
    is_deep = max_depth is not None and depth >= max_depth
    best = None if is_deep else best_by_definition(X, gradient, hessian, rows, parameters)
    if best is None:
        assert (node.feature, node.threshold, node.missing_left) == IS_LEAF
        assert (node.left, node.right, node.gain) == (-1, -1, 0.0)
        return 1
    feature, threshold, missing_left, left, right = best
    assert (node.feature, node.threshold, node.missing_left) == (feature, threshold, missing_left)
    assert node.left == position + 1
    n_left, n_right = (
        check_tree(
            tree, X, gradient, hessian, parameters, rows=side, position=child, depth=depth + 1
        )
        for side, child in ((left, node.left), (right, node.right))
    )
    assert node.right == node.left + n_left
    scores = [
        Fraction(t.sum_gradient) ** 2
        / (Fraction(t.sum_hessian) + Fraction(parameters["reg_lambda"]))
        for t in (tree[node.left], tree[node.right], node)
    ]
    gain = scores[0] + scores[1] - scores[2]
    assert abs(Fraction(node.gain) - gain) <= 4 * Fraction(EPS) * sum(scores)
    return 1 + n_left + n_right


def small_problem(seed):
    """Return X, g, h and parameters of a few rows of whole numbers with many ties."""
    generator = np.random.default_rng(seed)
    shape = n, _ = generator.integers(1, 9), generator.integers(1, 4)
    X = generator.choice([0.0, 1.0, 2.0, 3.0, NAN], shape)
    gradient = generator.choice([[-1.0, 0.0, 0.0, 1.0], [-3.0, -2.0, 1.0, 4.0]][seed % 2], n)
    hessian = generator.choice([[1.0], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0]][seed % 3], n)
    if seed % 5 == 0:
        gradient[hessian == 0] = 0.0  # rows that weigh nothing can be missing on either side
    parameters = {
        "learning_rate": 0.5,
        "max_depth": [None, 1, 2][generator.integers(3)],
        "min_child_weight": float(generator.choice([0.0, 1.0, 1.5])),
        "min_samples_leaf": int(generator.integers(1, 3)),
        "reg_lambda": float(generator.choice([0.0, 0.5, 1.0, 4.0])),
        # The golden ratio is far from all fractions of small numbers: no gain is nearly equal.
        "min_split_gain": [0.0, 0.0, (math.sqrt(5) - 1) / 2][generator.integers(3)],
    }
    return X, gradient, hessian, parameters


def test_every_node_is_the_best_of_all_partitions():
    for seed in range(600):
        X, gradient, hessian, parameters = small_problem(seed)
        tree = grow(X, gradient, hessian, fixed_point=seed % 4 > 0, **parameters)
        assert check_tree(tree, X, gradient, hessian, parameters) == len(tree)
