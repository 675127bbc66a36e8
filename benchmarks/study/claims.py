"""What a paper says of its results, as statements that a program finds true or false.

Each comes with its margin, above 0 where it is true, and where replications can say so with the
standard error of that margin: both sides of a comparison are measured on the same data sets, so it
is that of the paired differences.
"""

from dataclasses import dataclass

from benchmarks.study.tables import markdown


@dataclass(frozen=True)
class Claim:
    """A statement about one case."""

    statement: str
    case: str
    margin: float  # above 0 where the statement holds
    error: float | None = None  # of the margin
    detail: str = ""  # what the margin is the difference of
    at_zero: bool = False  # whether a margin of exactly 0 will do: "at least", not "more than"

    @property
    def holds(self) -> bool:
        """Whether the statement is true here."""
        return bool(self.margin >= 0 if self.at_zero else self.margin > 0)


def table(claims: list[Claim]) -> str:
    """Return all claims with their margins."""
    rows = []
    for claim in claims:
        is_small = 0 < abs(claim.margin) < 1e-4
        margin = f"{claim.margin:.1e}" if is_small else f"{claim.margin:+.4f}"
        error = "" if claim.error is None else f"{claim.error:.4f}"
        holds = "true" if claim.holds else "**false**"
        rows.append([holds, claim.statement, claim.case, margin, error, claim.detail])
    return markdown(["", "claim", "case", "margin", "s.e.", "compared"], rows, 3)


def summary(claims: list[Claim], ways: tuple[str, ...] = ("",)) -> str:
    """Count a statement's cases, a column for each of the words that a statement may end with."""
    cells: dict[str, dict[str, list[Claim]]] = {}
    for claim in claims:
        way = next((way for way in ways if claim.statement.endswith(f", {way}")), ways[0])
        statement = claim.statement.removesuffix(f", {way}")
        cells.setdefault(statement, {}).setdefault(way, []).append(claim)
    heads = [f"true in (margins), {way}" if way else "true in (margins)" for way in ways]
    rows = [[name, *(counted(of.get(way)) for way in ways)] for name, of in cells.items()]
    return markdown(["claim", *heads], rows, 1)


def counted(claims: list[Claim] | None) -> str:
    """Say how many of some claims are true, and the least and the largest margin."""
    if not claims:
        return ""
    least, largest = min(c.margin for c in claims), max(c.margin for c in claims)
    return f"{sum(c.holds for c in claims)} of {len(claims)} ({least:.2g} to {largest:.2g})"
