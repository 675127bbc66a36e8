"""Lines that say what a table holds, what became of its cells, and which columns are left out."""

from collections.abc import Collection, Iterator, Sequence

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


def how_cells_were_read(
    table: TableFile, target: Column, features: Sequence[Column]
) -> Iterator[str]:
    """Say how cells became features."""
    if table.is_latin_1_assumed:
        yield "The file is not UTF-8, so Latin-1 was assumed: letters beyond ASCII may be wrong."
    if table.comments:
        yield (
            f"Lines before the names of columns that begin with # are comments"
            f" ({len(table.comments)}, such as {elided(table.comments[0])!r})."
        )
    if with_commas := [elided(column.name) for column in features if column.has_decimal_commas]:
        yield f"Decimal commas were read in: {', '.join(with_commas)}."
    if dressed := [c for c in (*features, target) if c.dressed]:
        shown = ", ".join(f"{elided(c.name)} (such as {elided(c.dressed)!r})" for c in dressed)
        yield f"Numbers were read between their signs and commas in: {shown}."
    for column in features:
        if column.n_strays:
            yield (
                f"{elided(column.name)}: cells that are no finite numbers count as missing"
                f" ({column.n_strays:,}, such as {elided(column.stray)!r})."
            )
    if words := sorted((c for c in features if c.kind == "words"), key=lambda c: -c.n_distinct):
        counts = [f"{elided(column.name)} ({column.n_distinct:,})" for column in words]
        yield (
            f"Words are categories in {len(words)} of {len(features)} features, with so many"
            f" different words: {first_of(counts, N_COUNTED)}."
        )
    if dates := [elided(column.name) for column in features if column.kind == "dates"]:
        yield f"Dates became seconds since 1970: {', '.join(dates)}."


def what_is_left_out(
    dropped: Collection[str], groups: str | None, reasons: dict[str, str]
) -> Iterator[str]:
    """Say which columns became no features."""
    if dropped:
        yield f"Left out, as asked for: {', '.join(map(elided, dropped))}."
    if groups in reasons:
        yield f"{elided(str(groups))} says which rows belong together, so it is no feature."
    if others := [f"{elided(name)} ({why})" for name, why in reasons.items() if name != groups]:
        yield (
            f"Left out: {'; '.join(others)}. --keep NAME takes a column in. (The rule: {LEFT_OUT}.)"
        )
