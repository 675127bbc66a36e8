"""Numbers as people spell them: "5,850", "$100,000", "45%", "(12)".

A text is a plain number, or a number with signs: commas between thousands, a currency or per cent
sign, the brackets of a loss. Numbers with signs must have the same sign everywhere in a column, and
must not begin with 0 as codes do. A minus may be that of a keyboard or of a typesetter.

Estimators cannot know that text is meant as numbers: they take words for categories, and warn if
these spell quantities. `read_numbers` makes numbers of them. The command reads tables by the
same rules (``attributions.command.rules.columns``).
"""

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from gbt.tables.names import place_of
from gbt.tables.table import Table

MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "nat", "?"}
CLOTHES = re.compile(
    r"(?P<minus>-?)(?P<open>\(?)(?P<before>[$€£¥]?) ?(?P<sign>[+-]?)"
    r"(?P<digits>(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d*)?|\.\d+)"
    r" ?(?P<after>[%$€£¥]?)(?P<close>\)?)"
)
MINUS = "\N{MINUS SIGN}"  # as typesetters write it
SPELLED = ("text", "category")  # kinds of columns that may hold words


def read_numbers(X: Any, columns: Iterable[str | int] | None = None) -> Any:
    """Return a table with numbers in the place of columns of text that spells numbers.

    Give the tables of later predictions the same: in a pipeline,
    ``make_pipeline(FunctionTransformer(read_numbers), GBTRegressor())`` does.

    Parameters
    ----------
    X : frame, table of pyarrow, array, or list of rows
    columns : names or indices of columns, optional
        Those to read, where a text that is no number is an error. By default all columns of text
        in which every text is one; codes such as "07030" become numbers, too, unless they are left
        out here.

    Returns
    -------
    A table of the same kind, nan where there was nothing, such as "" or "n/a".
    """
    table = Table(X)
    names = table.names or tuple(f"x{k}" for k in range(table.n_columns))
    asked = None if columns is None else [place_of("columns", k, names) for k in columns]
    numbers = {}
    for k, (kind, _) in table.not_numbers.items():
        if kind not in SPELLED or (asked is not None and k not in asked):
            continue
        distinct, place = table.values(k)
        texts = [str(value).strip() for value in distinct]
        found = numbers_of(texts)
        wrong = [text for text, number in zip(texts, found, strict=True) if is_stray(text, number)]
        if not wrong:
            numbers[k] = np.append(found, np.nan)[place]
        elif asked is not None:
            raise ValueError(
                f"Column {names[k]!r} holds {wrong[0]!r}, which is no number, or has another sign"
                " than the others. Missing values are empty, 'n/a', 'null' or '?'."
            )
    return table.with_columns(numbers).given if numbers else table.given


def numbers_of(texts: Sequence[str]) -> np.ndarray:
    """Return the numbers that the texts of a column spell, in the way that can read more of them.

    A text that is no number, or missing, is nan.
    """
    plain = np.array([plain_number(text) for text in texts], dtype=np.float64)
    between_signs = undressed(texts)
    more = (~np.isnan(between_signs)).sum() > (~np.isnan(plain)).sum()
    return between_signs if more else plain


def spells_number(text: str) -> bool:
    """Say whether a text, taken alone, can be read as a finite number."""
    return isfinite(plain_number(text)) or bool(CLOTHES.fullmatch(with_typed_minus(text)))


def is_stray(text: str, number: float) -> bool:
    """Say whether a text is neither blank nor a finite number."""
    return not (is_blank(text) or isfinite(number))


def is_blank(text: str) -> bool:
    """Say whether a text stands for a missing value: one of those that pandas knows, or "?"."""
    return text.casefold() in MISSING or text == "None"


def plain_number(text: str) -> float:
    """Return the number of a text of digits with a decimal point; nan for anything else."""
    try:
        return np.nan if "_" in text else float(with_typed_minus(text))  # to Python, 1_2 is twelve
    except ValueError:
        return np.nan


def with_typed_minus(text: str) -> str:
    """Return a text whose typographic minus signs are those of a keyboard."""
    return text.replace(MINUS, "-")


def undressed(texts: Sequence[str]) -> np.ndarray:
    """Return what texts say between signs, nan for others; or only nan where signs differ.

    0.45 beside 45% would be a riddle, and so would dollars beside pounds.
    """
    numbers, signs = np.full(len(texts), np.nan), set()
    for k, text in enumerate(texts):
        found = CLOTHES.fullmatch(with_typed_minus(text))
        if found and bool(found["open"]) == bool(found["close"]):
            size = float(found["digits"].replace(",", ""))
            is_loss = bool(found["minus"]) != (found["sign"] == "-") or bool(found["open"])
            numbers[k] = -size if is_loss else size
            signs.add(found["before"] or found["after"])
    is_one = len(signs - {""}) < 2 and not ("%" in signs and "" in signs)
    return numbers if is_one else np.full(len(texts), np.nan)
