"""Random draws of a fit: its seed, the rows and columns of each tree, the rows held out.

A tree draws from streams of its own, seeded by the fit's seed and the tree's number. So no tree
depends on the draws of others, and the rows that a tree has seen can be drawn again afterwards.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from gbt.losses.ranking.queries import Queries
from gbt.splitting.policy import Limits

RandomState = int | np.random.RandomState | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class Sampling:
    """Which rows of the table given to ``fit`` each tree has seen.

    ``left_out`` are the rows that no tree has seen, ascending: those of weight 0 and those held out
    for early stopping.
    """

    seed: int
    subsample: float
    n_rows: int
    left_out: np.ndarray

    @property
    def n_seen(self) -> int:
        """How many rows every tree has seen."""
        return sample_size(self.n_rows - len(self.left_out), self.subsample)

    def refuse_to_become(self, other: "Sampling") -> None:
        """Raise ValueError if trees sampled by ``other`` cannot follow trees sampled by this."""
        for name in ("n_rows", "subsample"):
            before, now = getattr(self, name), getattr(other, name)
            if before != now:
                what = name if name == "subsample" else "number of rows"
                raise ValueError(
                    f"warm_start adds trees to a model whose {what} must stay {before}; got {now}."
                )
        if not np.array_equal(self.left_out, other.left_out):
            raise ValueError(
                "warm_start adds trees grown on the same rows; got others of weight 0, or held out"
                " for early stopping. Set warm_start=False to begin anew."
            )

    def rows(self, m: int) -> np.ndarray:
        """Return the rows of tree ``m``, ascending."""
        seen = np.delete(np.arange(self.n_rows), self.left_out)
        return sampled_rows(self.seed, m, seen, self.subsample)


class Draws:
    """The rows and columns that each tree may see, a fraction of them.

    ``are_of_all`` is true if all nodes see all rows and columns; limits may draw these, too.
    """

    def __init__(
        self,
        seed: int,
        n_rows: int,
        n_columns: int,
        subsample: float,
        colsample: float,
        limits: Limits,
    ):
        self.seed, self.n_rows = seed, n_rows
        self.subsample, self._colsample = subsample, colsample
        shares = ((n_rows, subsample), (n_columns, colsample))
        self.are_of_all = all(sample_size(n, share) == n for n, share in shares)
        self.are_of_all &= not limits.draws_columns
        self._rows = np.arange(n_rows if subsample < 1.0 else 0, dtype=np.int32)
        self._columns = np.arange(n_columns)

    def rows(self, m: int) -> np.ndarray | None:
        """Return the rows that tree ``m`` sees, ascending; None if it sees all."""
        if self.subsample == 1.0:
            return None
        return sampled_rows(self.seed, m, self._rows, self.subsample)

    def columns(self, m: int) -> np.ndarray:
        """Return the columns that tree ``m`` may split on, ascending.

        With ``colsample`` 1 it is the same array each time, so that growth can skip what depends on
        it.
        """
        return sampled_features(self.seed, m, self._columns, self._colsample)


def seed_of(random_state: RandomState) -> int:
    """Draw the seed of a fit, an integer that scikit-learn's own functions accept too."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    return int(check_random_state(random_state).randint(2**32, dtype=np.uint32))


def sampled_rows(seed: int, m: int, rows: np.ndarray, subsample: float) -> np.ndarray:
    """Return the rows that tree ``m`` sees, ascending: at least one, drawn without replacement."""
    return _sample(seed, m, 0, rows, subsample)


def sampled_features(seed: int, m: int, features: np.ndarray, colsample: float) -> np.ndarray:
    """Return the columns that tree ``m`` may split on, ascending, at least one."""
    return _sample(seed, m, 1, features, colsample)


def _sample(seed: int, m: int, stream: int, numbers: np.ndarray, fraction: float) -> np.ndarray:
    if fraction == 1.0:
        return numbers
    generator = np.random.default_rng([seed, m, stream])
    size = sample_size(len(numbers), fraction)
    return np.sort(generator.choice(numbers, size=size, replace=False))


def sample_size(n: int, fraction: float) -> int:
    """Return how many of ``n`` rows or columns a tree sees."""
    return max(1, round(fraction * n))


def hold_out(
    target: np.ndarray,
    share: float,
    seed: int,
    is_stratified: bool,
    queries: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions to train on and to hold out for early stopping, both ascending.

    With ``queries``, (n,), whole queries are held out.
    """
    try:
        kept, held_out = train_test_split(
            np.arange(len(target)) if queries is None else np.unique(queries),
            test_size=share,
            stratify=target if is_stratified else None,
            random_state=seed,
        )
    except ValueError as error:
        raise ValueError(
            f"early_stopping_rounds without an eval_set holds out validation_fraction={share} of"
            f" {len(target)} rows, which is impossible: {error} Pass an eval_set or change"
            " validation_fraction."
        ) from error
    if is_stratified and len(np.unique(target[kept])) < len(np.unique(target)):
        raise ValueError(
            f"validation_fraction={share} holds out all rows of a class, and none is left to train"
            " on. Lower it, or pass an eval_set."
        )
    if queries is not None:
        kept, held_out = (np.flatnonzero(np.isin(queries, own)) for own in (kept, held_out))
        for part, use in ((kept, "to train on"), (held_out, "to be held out")):
            if not Queries.of(target[part]).has_order.any():
                raise ValueError(
                    f"validation_fraction={share} leaves no query with rows of different grades"
                    f" {use}. Pass an eval_set with eval_groups, change validation_fraction, or"
                    " give more queries."
                )
    return np.sort(kept), np.sort(held_out)
