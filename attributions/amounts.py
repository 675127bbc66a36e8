"""How an amount is written for people: in full, but for the very large and the very small."""

import math

MINUS = "\N{MINUS SIGN}"  # as on the axes of pictures


def amount(number: float, digits: int = 6) -> str:
    """Return a number with so many digits, or all before its point; commas part thousands."""
    if number == 0 or not math.isfinite(number):
        return f"{number + 0.0:g}"
    size = math.floor(math.log10(abs(number)))
    if not -5 <= size < 15:
        return f"{number:.{digits - 1}e}"
    text = f"{number:,.{max(digits - 1 - size, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def on_picture(number: float, digits: int) -> str:
    """Return an amount with the minus sign that the axes of pictures have."""
    return amount(number, digits).replace("-", MINUS)
