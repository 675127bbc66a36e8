r"""Cox's loss: which rows have the event, out of those that had not had it yet (Cox 1972).

The raw prediction f is the logarithm of a row's hazard relative to that of others; when events come
at all is left open, so that adding a constant to all f changes nothing. At an event time t those at
risk are the rows whose time is not earlier. With weights w::

    S(t)    =  sum of w e^f over the rows at risk at t
    loss    =  log S(t_i) - f_i                      of a row whose event comes at t_i; else 0
    L(t)    =  sum of w / S over events up to t      the hazard that has accumulated by then

    gradient of row i   =  e^f_i L(t_i) - [it has the event]
    hessian             =  e^f_i L(t_i)

which is the number of events that was to be expected of the row, less the number that came. Equal
times are Breslow's: each event of time t has all rows at risk at t as its competitors. Summed over
all rows, weighted gradients are 0, and so the best constant is 0.

The hessian is the second derivative at a given hazard L, as if the row were one of many. The true
one, e^f L - w e^2f (sum of w / S^2), also counts what the row itself does to S. It differs where
few are at risk, is smaller, and makes a repeated row and a row of weight 2 unlike; XGBoost has it
(``is_newton``), for weights of 1.

The loss of a row depends on other rows, so they have to be all there. `Cox.prepared` sorts them
once into `RiskSets`, which stand in the place of targets. After that a gradient costs one
exponential a row, one sum by event time and two running sums over event times.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gbt.losses.loss import Loss, Pair
from gbt.losses.survival.concordance import concordance
from gbt.losses.survival.times import as_times, bounds_of, check_times

# Hazards e^600 times smaller than the largest count as that: e^-600 and its reciprocal are float64.
MOST_SPREAD = 600.0


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Rows by how many of the T event times they have lived to see, up to their own time.

    Those at risk at event time j, counted from 1, have seen j of them or more.
    """

    event: np.ndarray  # (n,) float64, whether the row had it, 1 or 0
    weight: np.ndarray  # (n,) float64
    seen: np.ndarray  # (n,) int
    n_times: int  # T

    @classmethod
    def of(cls, y: np.ndarray, weight: Any = 1.0) -> "RiskSets":
        """Sort times and events, (n, 2); events of weight 0 are none."""
        time, event = y.T
        each = np.array(np.broadcast_to(weight, time.shape), dtype=np.float64)
        times = np.unique(time[(event > 0) & (each > 0)])
        seen = np.searchsorted(times, time, side="right")
        return cls(event.copy(), each, seen, len(times))

    def __len__(self) -> int:
        return len(self.event)

    def at_risk(self, x: np.ndarray) -> np.ndarray:
        """Add up weighted numbers over the rows at risk at each event time, (T,)."""
        by_seen = np.bincount(self.seen, self.weight * x, self.n_times + 1)
        return np.cumsum(by_seen[::-1])[::-1][1:]

    def so_far(self, x: np.ndarray) -> np.ndarray:
        """Add up numbers of event times, (T,), up to the time of each row, (n,)."""
        return np.append(0.0, np.cumsum(x))[self.seen]

    def at_own_time(self, x: np.ndarray) -> np.ndarray:
        """Return the number of each row's own event time; of censored rows it means nothing."""
        return np.append(0.0, x)[self.seen]

    @cached_property
    def deaths(self) -> np.ndarray:
        """The weight of the events at each event time."""
        return np.bincount(self.seen, self.weight * self.event, self.n_times + 1)[1:]


@dataclass(frozen=True)
class Cox(Loss):
    """The negative logarithm of Cox's partial likelihood; the raw prediction is a log hazard ratio.

    With ``is_newton`` the hessian is the second derivative, as in models of other libraries.
    """

    is_newton: bool = False

    name = "cox"
    metric = "Cox loss"
    name_of_score = "concordance"
    is_by_row = False
    has_pairs = True
    takes_one_set = True

    def as_pairs(self, y: Any) -> np.ndarray:
        return as_times(y)

    def check_target(self, y: np.ndarray) -> None:
        check_times(y)

    def prepared(self, y: np.ndarray, weight: Any, n_jobs: int | None = 1) -> RiskSets:
        return RiskSets.of(y, weight)

    def value(self, y: Any, raw_prediction: np.ndarray) -> np.ndarray:
        """Return log S - f of rows that have the event, 0 of others."""
        rows = _rows(y)
        relative = _relative(raw_prediction)
        log_sum = rows.at_own_time(np.log(rows.at_risk(np.exp(relative))))
        return rows.event * (log_sum - relative)

    def derivatives(self, y: Any, raw_prediction: np.ndarray) -> Pair:
        rows = _rows(y)
        relative = _relative(raw_prediction)
        hazard = np.exp(relative)
        at_risk = rows.at_risk(hazard)
        expected = hazard * rows.so_far(rows.deaths / at_risk)
        if not self.is_newton:
            return expected - rows.event, expected
        with np.errstate(divide="ignore"):  # nobody who weighs anything may die at a time
            of_times = np.logaddexp.accumulate(np.log(rows.deaths) - 2 * np.log(at_risk))
        so_far = np.append(-np.inf, of_times)[rows.seen]
        own = rows.weight * np.exp(2 * relative + so_far)  # squares alone would underflow
        return expected - rows.event, expected - own

    def exposure(self, y: RiskSets, gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray:
        """Return the events to be expected of rows, from the gradients there, (T, n)."""
        return gradient + y.event

    def through_others(
        self, y: RiskSets, raw_prediction: np.ndarray, slope: np.ndarray
    ) -> np.ndarray:
        r"""Return what one more row like row l does to the gradients of the others.

        That is the derivative of V = sum of w_j a_j g_j by the weight of row l, less a_l g_l, for
        given slopes a. Row l enters g_j through S at the event times up to both, and through L if
        it has the event. With A(t) the mean of a over those at risk at t, weighted by w e^f, ::

            [l has the event] A(t_l)  -  e^f_l  sum over events i up to t_l of  w_i A(t_i) / S(t_i)

        Added to a_l g_l it is the score residual of a covariate a (Lin and Wei 1989), the integral
        of a_l - A(t) over the row's martingale. Weighted by w_l these terms add up to 0.
        """
        hazard = np.exp(_relative(raw_prediction))
        at_risk = y.at_risk(hazard)
        mean = y.at_risk(slope * hazard) / at_risk
        return y.event * y.at_own_time(mean) - hazard * y.so_far(mean * y.deaths / at_risk)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        """Return 0: all constants have the same loss."""
        return 0.0

    def least(self, y: Any) -> np.ndarray:
        """Return the loss of rows if those with the event were at infinitely higher risk."""
        rows = _rows(y)
        return rows.event * rows.at_own_time(np.log(rows.deaths))

    def score(self, y: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> float:
        return concordance(bounds_of(y), prediction, weight)


def _rows(y: Any) -> RiskSets:
    """Return prepared targets; others become risk sets of rows that weigh the same."""
    return y if isinstance(y, RiskSets) else RiskSets.of(y)


def _relative(raw_prediction: np.ndarray) -> np.ndarray:
    """Return log hazards relative to the largest, not further below it than `MOST_SPREAD`."""
    return np.maximum(raw_prediction - raw_prediction.max(initial=-np.inf), -MOST_SPREAD)
