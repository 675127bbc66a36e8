"""Which loss gradient sums are of: what trees reveal about the loss that they were grown on.

A model may name one loss and have been trained with another (an objective of the user's own), or
have started from other predictions than it says (``base_margin``). Neither is stored, but both
leave traces. With G, H of a root, b the base score and s the leaves' values:

* Half the squared error has h = 1 for every row, so the roots of all trees weigh the same, and a
  step of s moves every gradient by s. If no rows were sampled,
  ``G(next root) = G(root) + sum over the leaves of s H``, exactly.
* The logistic loss begins with h = p (1 - p) for every row and g in {p, p - 1}, p the probability
  that belongs to b. So H / p (1 - p) is the weight of a node's rows, a whole number without
  weights, and G lies between ``(p - 1)`` and ``p`` times that.
* Softmax has probabilities that add up to 1, so the gradients of all classes add up to 0, in every
  round, if no rows were sampled.
* A base score that the library computed itself is the mean of the targets, so the first root has
  the G that belongs to it: 0, if training starts from the mean.

If a trace contradicts the model, G is not that of the loss that the model names. If there are no
traces, it may be.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gbt.formats.imported import LibraryNodes
from gbt.formats.nodes import EPS_32
from gbt.losses.loss import Loss
from gbt.losses.squared_and_logistic import HalfLogistic

SAMPLED = "rows were sampled, or the loss is another"


class Start(NamedTuple):
    """How a training began."""

    base_score: Any  # the raw prediction before the first tree, for every output
    is_estimated: bool  # whether the library computed it from the targets
    is_default: bool = False  # whether it should have been and was not, as with a user's objective
    means: tuple[float, ...] = ()  # if computed: the mean of the targets, by each formula in use
    may_be_sampled: bool = False  # whether trees may have seen some of the rows only


def hides_gradients(penalties: Mapping[str, float], constraints: str) -> str | None:
    """Return the parameter under which a value is not -eta G / (H + lambda), None without one."""
    for name, penalty in penalties.items():
        if penalty != 0:
            return f"{name}={penalty:g}"
    is_monotone = not {*constraints}.isdisjoint("123456789")
    return f"monotone_constraints={constraints}" if is_monotone else None


def doubts_of(
    nodes: LibraryNodes, G: np.ndarray, loss: Loss, start: Start
) -> tuple[str | None, str | None]:
    """Return how the sums contradict the loss or the start, and why they may be another loss's.

    Either is None where nothing says so. No trace of losses other than these three is known.
    """
    contradiction = doubt = None
    if len(nodes.tree.tree_offset) == 1:
        return None, None
    if loss.name == "half_squared_error":
        contradiction, doubt = _of_squared_error(nodes, G, start)
    elif loss.name == "softmax":
        contradiction, doubt = _of_softmax(nodes, G, loss.n_outputs, start)
    elif isinstance(loss, HalfLogistic):
        contradiction, doubt = _of_logistic(nodes, G, loss, start)
    return contradiction, None if start.is_estimated else doubt


def _of_logistic(
    nodes: LibraryNodes, G: np.ndarray, loss: Loss, start: Start
) -> tuple[str | None, str | None]:
    p, first = float(loss.inverse_link(np.array(start.base_score))), nodes.tree.tree_offset[1]
    G, weight = G[:first], nodes.sum_hessian[:first] / (p * (1 - p))
    slack = 64 * EPS_32 * weight.max()
    is_count = (np.abs(weight - np.round(weight)) <= slack).all()
    doubt = None if is_count else "the rows were weighted, or the loss is another"
    if ((p - 1) * weight - slack > G).any() or (p * weight + slack < G).any():
        return "a sum of gradients is larger than the logistic loss allows at the base score", doubt
    at_start = [abs(G[0] - weight[0] * (p - mean)) <= slack for mean in start.means]
    return _against_start(any(at_start), G[0], start), doubt


def _of_softmax(
    nodes: LibraryNodes, G: np.ndarray, n_outputs: int, start: Start
) -> tuple[str | None, str | None]:
    if start.may_be_sampled:
        return None, SAMPLED
    of_trees = G[nodes.tree.tree_offset[:-1]], _of_leaves(nodes, np.abs(G))
    total, size = (part.reshape(-1, n_outputs).sum(axis=1) for part in of_trees)
    if (np.abs(total) <= 256 * EPS_32 * size).all():
        return None, None
    return "the gradients of the classes do not add up to 0 in every round, as softmax's do", None


def _of_squared_error(
    nodes: LibraryNodes, G: np.ndarray, start: Start
) -> tuple[str | None, str | None]:
    roots = nodes.tree.tree_offset[:-1]
    steps = _of_leaves(nodes, nodes.value * nodes.sum_hessian)
    size, G, H = _of_leaves(nodes, np.abs(G)), G[roots], nodes.sum_hessian[roots]
    size = size + H * abs(start.base_score)
    weigh_the_same = np.ptp(H) <= 64 * EPS_32 * H.max()
    doubt = None if weigh_the_same else SAMPLED
    if not weigh_the_same and not start.may_be_sampled:
        return "the trees weigh differently, which half the squared error forbids", doubt
    if weigh_the_same and len(roots) > 1:
        off = np.abs(G[1:] - G[:-1] - steps[:-1])
        if (off > 256 * EPS_32 * (size[:-1] + size[1:])).any():
            return "the sums of a tree do not follow from the tree before it", doubt
        if start.is_default:  # an objective of a user's own that has the derivatives of this loss
            return None, doubt
    is_zero = abs(G[0]) <= 64 * EPS_32 * size[0]
    return _against_start(is_zero, G[0], start), doubt


def _of_leaves(nodes: LibraryNodes, numbers: np.ndarray) -> np.ndarray:
    """Return the sums over the leaves of every tree."""
    return np.add.reduceat(np.where(nodes.tree.is_leaf, numbers, 0.0), nodes.tree.tree_offset[:-1])


def _against_start(is_at_start: bool, first: float, start: Start) -> str | None:
    """Compare the first root's G with the one that belongs to the base score."""
    if is_at_start:
        return None
    if start.is_default:
        return (
            "the base score was to be estimated and never was, so no objective of the library's"
            " own has been used"
        )
    if start.is_estimated and not start.may_be_sampled:
        return f"the base score is the mean of the targets, but the gradients add up to {first:.6g}"
    return None
