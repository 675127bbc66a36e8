"""Lines that say what a table holds, what became of its cells, and which columns are left out."""

from collections.abc import Collection, Sequence

from attributions.command.rules.columns import Column
from attributions.command.rules.identifiers import LEFT_OUT
from attributions.command.rules.target import Target
from attributions.command.table.file import BatchFile, TableFile
from attributions.names import elided, first_of

N_COUNTED = 8  # columns of words that are named


def what_is_there(table: TableFile | BatchFile, target: Target, n_columns: int) -> list[str]:
    """Return lines that say what the file holds, and what is predicted."""
    size = f"{len(target.y):,} rows, {n_columns} columns"
    return [f"{table.path.name}: {size} (read as {table.read_as}).", target.description]


def what_became_of(
    table: TableFile,
    target: Column,
    features: Sequence[Column],
    reasons: dict[str, str],
    dropped: Collection[str],
    groups: str | None,
) -> list[str]:
    """Return lines that say how cells became features, and which columns became none."""
    unsure = "The file is not UTF-8, so Latin-1 was assumed: letters beyond ASCII may be wrong."
    lines = [unsure] * table.is_latin_1_assumed
    if table.comments:
        lines.append(
            f"Lines before the names of columns that begin with # are comments"
            f" ({len(table.comments)}, such as {elided(table.comments[0])!r})."
        )
    with_commas = [elided(column.name) for column in features if column.has_decimal_commas]
    if with_commas:
        lines.append(f"Decimal commas were read in: {', '.join(with_commas)}.")
    dressed = [c for c in (*features, target) if c.dressed]
    if dressed:
        shown = ", ".join(f"{elided(c.name)} (such as {elided(c.dressed)!r})" for c in dressed)
        lines.append(f"Numbers were read between their signs and commas in: {shown}.")
    lines += [
        f"{elided(column.name)}: cells that are no finite numbers count as missing"
        f" ({column.n_strays:,}, such as {elided(column.stray)!r})."
        for column in features
        if column.n_strays
    ]
    words = sorted(
        (column for column in features if column.kind == "words"), key=lambda c: -c.n_distinct
    )
    if words:
        counts = [f"{elided(column.name)} ({column.n_distinct:,})" for column in words]
        lines.append(
            f"Words are categories in {len(words)} of {len(features)} features, with so many"
            f" different words: {first_of(counts, N_COUNTED)}."
        )
    dates = [elided(column.name) for column in features if column.kind == "dates"]
    if dates:
        lines.append(f"Dates became seconds since 1970: {', '.join(dates)}.")
    if dropped:
        lines.append(f"Left out, as asked for: {', '.join(map(elided, dropped))}.")
    if groups in reasons:
        lines.append(f"{elided(str(groups))} says which rows belong together, so it is no feature.")
    reasons = {name: why for name, why in reasons.items() if name != groups}
    if reasons:
        left_out = "; ".join(f"{elided(name)} ({reason})" for name, reason in reasons.items())
        lines.append(
            f"Left out: {left_out}. --keep NAME takes a column in. (The rule: {LEFT_OUT}.)"
        )
    return lines
