"""The text in which LightGBM saves a booster: a head, an object for each tree, the parameters.

Lines are ``name=value``; arrays are numbers with blanks between them. An array of all trees is read
with a few NumPy calls, not one a tree, since texts have a million numbers. The text is never
trusted: anything unexpected is an `InvalidModelError` that names it.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from gbt.files.documents import InvalidModelError, parse_json

LEVELS_OF_FRAMES = "\npandas_categorical:"


class Text(NamedTuple):
    """The parts of a booster's text."""

    head: dict[str, str]
    trees: list[dict[str, str]]
    parameters: dict[str, str]
    levels: list[list[Any]]  # of each categorical column, if it was trained on a frame

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.head["feature_names"].split(" "))

    def parameter(self, name: str, default: float) -> float:
        """Return a parameter of the training that is a number, a default if the text lacks it."""
        found = self.parameters.get(name, "")
        return as_number(found, name) if found else default

    @property
    def starts_from_mean(self) -> bool:
        """Whether training began with the mean of the targets."""
        return self.parameter("boost_from_average", 1.0) == 1.0

    @property
    def is_sampled(self) -> bool:
        """Whether a tree may have seen some rows only."""
        if "goss" in (self.parameters.get("boosting"), self.parameters.get("data_sample_strategy")):
            return True
        names = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
        fraction = min(self.parameter(name, 1.0) for name in names)
        return fraction < 1 and self.parameter("bagging_freq", 0.0) > 0


def split(text: str) -> Text:
    """Cut the text of a booster into its head, its trees and its parameters."""
    head, *trees = text.split("\nTree=")
    if not head.startswith("tree\n"):
        raise InvalidModelError("This is not the text of a LightGBM model: it begins otherwise.")
    tail = ""
    if trees:
        trees[-1], _, tail = trees[-1].partition("\nend of trees")
    keys = dict(line.split("=", 1) for line in head.split("\n") if "=" in line)
    keys |= {"average_output": ""} if "\naverage_output\n" in head else {}
    for key in ("num_class", "num_tree_per_iteration", "max_feature_idx", "feature_names"):
        if key not in keys:
            raise InvalidModelError(f"The text of the LightGBM model has no {key}.")
    return Text(
        keys,
        [dict(line.split("=", 1) for line in tree.split("\n") if "=" in line) for tree in trees],
        dict(re.findall(r"^\[(\w+): (.*)\]$", tail or head, flags=re.MULTILINE)),
        _levels(tail or head),
    )


def _levels(tail: str) -> list[list[Any]]:
    """Return the levels that the end of the text has as JSON."""
    _, found, line = tail.rpartition(LEVELS_OF_FRAMES)
    try:
        levels = parse_json(line) if found else None
    except InvalidModelError as error:
        raise InvalidModelError(
            f"What the LightGBM model says of pandas_categorical {error}."
        ) from error
    levels = [] if levels is None else levels
    if not (isinstance(levels, list) and all(isinstance(column, list) for column in levels)):
        raise InvalidModelError("The LightGBM model's pandas_categorical is not a list of lists.")
    return levels


def lengths(text: Text, name: str) -> np.ndarray:
    """Return how many numbers the array of a name has in each tree."""
    lines = [tree.get(name, "").strip() for tree in text.trees]
    return np.array([line.count(" ") + 1 if line else 0 for line in lines], dtype=np.int64)


def numbers(
    text: Text, name: str, n_of_tree: np.ndarray, dtype: type, may_be_absent: bool = False
) -> np.ndarray:
    """Return the numbers of one array of all trees, trees end to end.

    A tree must have ``n_of_tree`` of them; where it has one, this ``may_be_absent``, which is a 0.
    """
    found = lengths(text, name)
    is_absent = may_be_absent & (found == 0) & (n_of_tree == 1)
    if (wrong := (found != n_of_tree) & ~is_absent).any():
        m = int(np.argmax(wrong))
        raise InvalidModelError(
            f"Tree {m} of the LightGBM model has not {n_of_tree[m]} numbers {name}."
        )
    both = zip(text.trees, is_absent.tolist(), strict=True)
    lines = ["0" if no else tree.get(name, "").strip() for tree, no in both]
    kind = "whole numbers" if dtype is np.int64 else "numbers"
    try:
        array: np.ndarray = np.fromstring(" ".join(filter(None, lines)), dtype, sep=" ")
        if len(array) != n_of_tree.sum():
            raise ValueError
    except (ValueError, DeprecationWarning):  # what NumPy raises for text that is no number
        raise InvalidModelError(f"{name} of the LightGBM model are not {kind}.") from None
    return array


def as_number(text: str, name: str) -> float:
    """Return a text as a number."""
    try:
        return float(text)
    except ValueError:
        raise InvalidModelError(f"The LightGBM model's {name} is {text[:40]!r}.") from None
