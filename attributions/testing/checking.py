"""A check: an identity that must hold for every model and rows that are drawn.

Hypothesis draws cases, and makes the first one that fails as small as it can. The error begins with
the name of the check and the identity, goes on with the numbers that differ, and ends with the tree
and the rows. The loaded Hypothesis profile sets how many cases are drawn. There is no deadline,
because the first call may compile for seconds.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gbt.model.ensemble import Ensemble

Models = st.SearchStrategy[Ensemble] | None
# Takes the function that is checked and, optionally, a strategy of models to draw from; raises
# AssertionError on the smallest case that was found to fail.
Check = Callable[..., None]


def check_on(
    draw: Callable[[Models], st.SearchStrategy],
) -> Callable[[Callable[[Callable, Any], None]], Check]:
    """Make a check of a function that asserts an identity of one case.

    The first line of that function's docstring is the identity, in words. A case has ``as_text``:
    all that is needed to see what fails.
    """

    def as_check(identity: Callable[[Callable, Any], None]) -> Check:
        title = f"{identity.__name__}: {(identity.__doc__ or '').splitlines()[0]}"

        def check(function: Callable, models: Models = None) -> None:
            # No database: it would replay failures of other functions.
            # No time limits: a busy machine draws slowly, which says nothing about the function.
            @settings(
                deadline=None,
                database=None,
                report_multiple_bugs=False,
                suppress_health_check=[HealthCheck.too_slow],
            )
            @given(draw(models))
            def holds(case: Any) -> None:
                try:
                    identity(function, case)
                except AssertionError as error:
                    raise AssertionError(f"{title}\n{error}\n{case.as_text()}") from None
                except Exception as error:
                    error.add_note(f"in {title}\n{case.as_text()}")
                    raise

            holds()

        check.__name__, check.__doc__ = identity.__name__, identity.__doc__
        check.__module__, check.__qualname__ = identity.__module__, identity.__name__
        return check

    return as_check


def run_all(
    checks: Sequence[Check], leave_out: Collection[Check], function: Callable, models: Models
) -> None:
    """Run the checks in order, except those that are left out."""
    for check in leave_out:
        if check not in checks:
            raise ValueError(
                f"leave_out holds {check!r}; it takes some of these functions:"
                f" {', '.join(known.__name__ for known in checks)}."
            )
    for check in checks:
        if check not in leave_out:
            check(function, models)
