"""Two other ways to choose a split, in plain loops, from sets of a node's rows.

The third page. Each takes the place of `best_cut` of the second one (``gbt.reference.splits``), and
each is the twin of a policy in ``gbt.splitting``.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from gbt.reference.splits import (
    Cut,
    Parameters,
    best_allowed,
    goes_left,
    is_monotone,
    least_gain,
    open_columns,
    score_of_cut,
    score_of_node,
    step_within,
)


def cross_validated_cut(
    X: np.ndarray,
    sums: np.ndarray,
    folds: np.ndarray,
    parameters: Parameters,
    bins: np.ndarray | None = None,
) -> Cut | None:
    """Return the cut of the feature that does best on rows that did not choose its cut, or None.

    For each fold the best cut of a feature on the other rows is judged on the fold's rows, by the
    loss G v + H v^2 / 2 of its two sides, with the values v from the other rows. The feature of
    least loss is cut where all rows gain most, if 2 loss + min_split_gain <= -G^2 / (H + lambda)
    (Adler and Painsky 2022, section 3). ``folds`` are those of the rows; they have a line for each
    feature if features have folds of their own, as in the authors' program. With ``bins``, of the
    shape of X, values of one bin stay together, as in the fast search (``gbt.reference.sets``).
    """

    def loss_of(feature: int) -> float:
        loss, of_rows = 0.0, folds if folds.ndim == 1 else folds[feature]
        for fold in np.unique(of_rows):
            others, own = of_rows != fold, of_rows == fold
            cut = best_allowed(feature, X, sums, parameters, of=others, bins=bins)
            if cut is None:
                continue
            is_left = np.array([goes_left(x, cut) for x in X])
            of_sides = []
            for side in (is_left, ~is_left):
                v = step_within(sums[others & side].sum(axis=0), parameters)
                g, h = map(float, sums[own & side].sum(axis=0)[:2])
                of_sides.append(g * v + h * v * v / 2)
            loss += sum(of_sides)
        return loss

    cuts_of = {
        k: cut
        for k in open_columns(X, parameters)
        if (cut := best_allowed(k, X, sums, parameters, bins=bins)) is not None
    }
    losses = {k: loss_of(k) for k in cuts_of}
    if not losses:
        return None
    feature = min(losses, key=losses.__getitem__)
    own = score_of_node(sums.sum(axis=0), parameters)
    improvement = -2 * losses[feature] - own
    cut = cuts_of[feature]
    gains = score_of_cut(cut, parameters) - own > least_gain(sums, parameters)
    cut.gain = improvement
    return cut if improvement >= parameters.min_split_gain and gains else None


def unbiased_cuts(
    X: np.ndarray,
    sums: np.ndarray,
    parts: np.ndarray,
    parameters: Parameters,
    merged: bool = False,
    bins: np.ndarray | None = None,
) -> list[Cut]:
    """Return the cut that the first part of the rows chose of each feature, and what it is worth.

    The second part says by its score which feature is taken, and the last one by its gain whether
    that cut `is_made` (Zhang, Zhang and Li 2023, Algorithm 2). Parts are numbered 0, 1, 2; with
    ``merged`` the last two are one. Every part must have enough rows on either side, or there is no
    cut. ``bins`` are as above.
    """
    judges = (parts > 0, parts > 0) if merged else (parts == 1, parts == 2)
    all_parts = (parts == 0, *judges)

    def worth(cut: Cut, learned: np.ndarray, judge: np.ndarray) -> float:
        is_left = np.array([goes_left(x, cut) for x in X])
        terms = []
        for side in (is_left, ~is_left, np.ones(len(X), dtype=bool)):
            g = float(sums[side & learned, 0].sum())
            g_judge, h_judge = (float(sums[side & judge, c].sum()) for c in (0, 1))
            weight = h_judge + parameters.reg_lambda
            of_judge = np.array([g_judge, h_judge])
            if parameters.monotone:
                terms.append(-g * step_within(of_judge, parameters) if weight > 0 else 0.0)
            else:
                terms.append(g * g_judge / weight if weight > 0 else 0.0)
        return terms[0] + terms[1] - terms[2]

    def has_all_parts(cut: Cut) -> bool:
        is_left = np.array([goes_left(x, cut) for x in X])
        least = max(parameters.min_samples_leaf, 1)
        return all(
            (part & side).sum() >= least for part in all_parts for side in (is_left, ~is_left)
        )

    cuts, learned = [], parts == 0 if merged else parts < 2
    for k in open_columns(X, parameters):
        cut = best_allowed(k, X, sums, parameters, parts == 0, has_all_parts, bins)
        if cut is not None:
            cut.score = worth(cut, parts == 0, judges[0])
            cut.gain, cut.claim = worth(cut, learned, judges[1]), worth(cut, learned, learned)
            cuts.append(cut)
    return cuts


def best_judged(cuts: list[Cut], trust: dict[int, float]) -> Cut | None:
    """Return the cut of highest rank: its score, where nothing is known of its feature.

    Otherwise a twentieth of that, and the rest of its claim times the trust, see `HeldUp`.
    """

    def rank(cut: Cut) -> float:
        known = trust.get(cut.feature)
        return cut.score if known is None else 0.05 * cut.score + 0.95 * known * cut.claim

    return max(cuts, key=rank, default=None)


def is_made(
    cut: Cut,
    X: np.ndarray,
    sums: np.ndarray,
    parameters: Parameters,
    asks: bool = True,
    share: float = 0.0,
) -> bool:
    """Say whether a node is split by its candidate: if the last part confirms what it is worth.

    To that is added the ``share`` of what it claims that experience expects. Where nodes are not
    asked, see `HeldUp`, it is enough to claim something. Where features must be monotone, the steps
    of all rows have to be in order, and not those of the first part alone.
    """
    worth = cut.gain + share * max(cut.claim, 0.0)
    is_enough = worth >= parameters.min_split_gain if asks else cut.claim > 0
    return is_enough and is_monotone(of_all_rows(cut, X, sums), parameters)


UNASKED = 6


class HeldUp:
    """How far unbiased splits have held up: what they claimed, and what was confirmed of it.

    With u drawn from [0, 1), a tree is grown to the last depth of which more than the share u of
    what was claimed has been confirmed, u^2 in a tree of 500 rows or more, and no node of its first
    `UNASKED` depths is asked whether to split. All others are, and all if there is no such depth;
    then experience with their depth and with their feature has a say. The trust in a feature is
    that share of all its cuts, taken or not.
    """

    def __init__(self) -> None:
        # What was claimed and what was confirmed, by depth in parts of what a tree claims.
        self.depths: defaultdict[int, np.ndarray] = defaultdict(lambda: np.zeros(2))
        self.features: defaultdict[int, np.ndarray] = defaultdict(lambda: np.zeros(2))

    def depth_for(self, u: float, n_rows: int) -> int:
        """Return how deep a tree is grown of which not all nodes are asked; 0 for none."""
        share = u if n_rows < 500 else u * u
        held = (d + 1 for d, (claimed, own) in self.depths.items() if own > share * claimed)
        return max(held, default=0)

    def share(self, depth: int, feature: int) -> float:
        """Return the share of a claim that its depth and its feature expect to be confirmed."""
        known = [
            so_far[1] / so_far[0]
            for so_far in (self.depths[depth], self.features[feature])
            if so_far[0] > 0
        ]
        return float(sum(known))

    def trust(self) -> dict[int, float]:
        """Return the trust in each feature that has claimed anything."""
        return {
            k: float(np.clip(confirmed / claimed, 0, 1))
            for k, (claimed, confirmed) in self.features.items()
            if claimed > 0
        }

    def remember(self, nodes: list[tuple[int, Cut, list[Cut]]]) -> None:
        """Add the nodes of a tree: the depth, the best cut, made or not, and those of features.

        What cuts gain and claim is in the units of the loss, which are the same in all trees.
        """
        for so_far in (*self.depths.values(), *self.features.values()):
            so_far *= 0.98
        total = sum(max(best.claim, 0.0) for _, best, _ in nodes)
        for depth, best, cuts in nodes:
            if total > 0:
                self.depths[depth] += np.array([max(best.claim, 0.0), best.gain]) / total
            for cut in cuts:
                if cut.claim > 0:
                    self.features[cut.feature] += np.array([cut.claim, cut.gain])


def of_all_rows(cut: Cut, X: np.ndarray, sums: np.ndarray) -> Cut:
    """Return the same cut with the sums of all rows on its sides."""
    is_left = np.array([goes_left(x, cut) for x in X])
    return replace(cut, left=sums[is_left].sum(axis=0), right=sums[~is_left].sum(axis=0))
