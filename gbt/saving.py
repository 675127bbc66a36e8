"""Our own model files: JSON that is exact to the last bit, and is written as a whole or not at all.

A file is one object::

    format     "gbt"
    version    2, 3 with categories               of this layout, not of the library
    kind       "Ensemble", "GBTRegressor" or "GBTClassifier"
    ensemble   every field of `Ensemble`, node arrays as flat lists
    estimator  for the two estimators: parameters, what ``fit`` learned beside the trees, and how
               rows were sampled

Floats are written as Python writes them, with the fewest digits that give the same float64 back, so
the round trip is exact. A model holds neither nan nor infinities. Files of version 1 did not say
which statistics a model has, and had zeros where one was not known.

This module writes what a model says of itself and imports no model, so that models can save
themselves; ``gbt.loading`` reads it and imports all of them.
"""

import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from gbt.own_loss import as_loss, describe_loss

try:
    import fcntl
except ImportError:  # Windows has no such locks; there, what a killed save left behind stays
    fcntl = None  # type: ignore[assignment]

FORMAT = "gbt"
VERSION, VERSION_WITHOUT_CATEGORIES = 3, 2
KINDS = ("Ensemble", "GBTRegressor", "GBTClassifier")
# Parameters that were added after the first files. They are written where they differ from their
# default, so that a file without them, old or new, means the default.
ADDED_LATER = (
    "eval_metric", "callbacks", "warm_start", "class_weight", "categorical_smoothing", "loss",
    "monotone_constraints",
)  # fmt: skip
LABEL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
)  # fmt: skip


def save(kind: str, parts: dict[str, Any], path: str | os.PathLike) -> None:
    """Write what a model says of itself to a file that `gbt.load` reads.

    Parameters
    ----------
    kind : str
        Name of the model's class.
    parts : dict
        "ensemble", and for an estimator "estimator".
    path : str or path-like
        An existing file keeps its permissions and is replaced once the new one is complete; a
        symbolic link stays one, and the file that it leads to is replaced.
    """
    if kind not in KINDS:
        raise ValueError(
            "Only an Ensemble, a GBTRegressor and a GBTClassifier can be saved; got a"
            f" {kind}. Save the trees alone: model.ensemble_.save(path)."
        )
    has_categories = "categories" in parts["ensemble"]
    version = VERSION if has_categories else VERSION_WITHOUT_CATEGORIES
    document = {"format": FORMAT, "version": version, "kind": kind, **parts}
    write_whole(json.dumps(document, allow_nan=False), path)


def write_whole(text: str, path: str | os.PathLike) -> None:
    """Write a file that is there as a whole or not at all; see ``save`` about ``path``."""
    target = _check_target(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    _remove_abandoned(target)
    unfinished, descriptor = _create_beside(target, mode)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            if mode is not None:
                os.chmod(unfinished, mode)  # the umask may have taken permissions away
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # Windows renames no open file; elsewhere this would end the lock
            os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def describe_estimator(model: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a fitted estimator is beside its trees, as JSON has it."""
    defaults = type(model)().get_params(deep=False)
    description = {
        "parameters": {
            name: _plain(name, value)
            for name, value in parameters.items()
            if name not in ADDED_LATER or _or_none(value) != _or_none(defaults[name])
        },
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "evals_result": _finite(model.evals_result_),
        "sampling": {**vars(model._sampling), "left_out": model._sampling.left_out.tolist()},
    }
    if model.split_scores_ is not None:
        description["split_scores"] = model.split_scores_.tolist()
    if hasattr(model, "classes_"):
        description["classes"] = _describe_labels(model.classes_)
    return description


def _or_none(value: Any) -> Any:
    """Return a parameter's value, None in place of one that is false or empty."""
    return (value.tolist() if isinstance(value, np.ndarray) else value) or None


def _describe_labels(classes: np.ndarray) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind == "object" and not all(isinstance(label, str) for label in classes):
        kind = f"object of {type(classes[0]).__name__}"
    if kind not in ("str", "object", *LABEL_DTYPES):
        raise ValueError(f"Labels of dtype {kind} cannot be saved; numbers, booleans, strings can.")
    return {"dtype": kind, "values": classes.tolist()}


def _plain(name: str, value: Any) -> Any:
    """Return the value of a parameter as JSON has it, a dict as pairs: its keys may be numbers."""
    if name == "loss" and not isinstance(value, str | None):
        return describe_loss(as_loss(value))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Mapping):
        return [[_plain(name, key), _plain(name, number)] for key, number in value.items()]
    if name in ("categorical_features", "monotone_constraints") and not isinstance(
        value, str | None
    ):
        return np.asarray(value).tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name}={value!r} cannot be saved: a file holds numbers and names, no objects. Save the"
        " trees with model.ensemble_.save(path), or give the parameter a plain value with"
        f" set_params({name}=...), which leaves the trees as they are."
    )


def _finite(evals_result: dict[str, list[float]]) -> dict[str, list[float]]:
    for name, losses in evals_result.items():
        if not np.isfinite(losses).all():
            raise ValueError(f"evals_result_[{name!r}] is not finite everywhere: cannot be saved.")
    return evals_result


def _check_target(path: str | os.PathLike) -> Path:
    """Return the file to write, links followed; say what is wrong with a place that cannot be."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(
            f"There is no folder {str(folder)!r} to save {target.name!r} in; make it first."
        )
    if not folder.is_dir():
        raise NotADirectoryError(f"{str(folder)!r} is not a folder to save {target.name!r} in.")
    if target.is_dir():
        raise IsADirectoryError(
            f"{os.fspath(path)!r} is a folder; add the name of a file to save the model in."
        )
    if target.exists() and not target.is_file():
        raise OSError(f"{os.fspath(path)!r} is not a file that can be replaced by another.")
    return target


def _unfinished_name(target: Path, ending: str) -> str:
    """Return a name for a file that is to become another; it is cut, as names may be too long."""
    return f".{target.name[:40]}.{ending}.unfinished"


def _create_beside(target: Path, mode: int | None) -> tuple[Path, int]:
    """Create a file in the folder of another, on the same file system, and hold its lock."""
    while True:
        unfinished = target.with_name(_unfinished_name(target, secrets.token_hex(8)))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(unfinished, flags, 0o666 if mode is None else mode & 0o600)
        is_ours = True
        try:
            _lock(descriptor)
        except BlockingIOError:
            is_ours = False
        except OSError:
            pass  # a file system without locks: there nobody removes unfinished files
        if is_ours and unfinished.exists():
            return unfinished, descriptor
        os.close(descriptor)  # another save removed it before it was locked: begin again


def _remove_abandoned(target: Path) -> None:
    """Remove what saves to the same file left behind when they were killed.

    Whoever writes holds a lock, which the system lets go of when it dies.
    """
    if fcntl is None:
        return
    length = len(_unfinished_name(target, secrets.token_hex(8)))
    start, end = _unfinished_name(target, "/").split("/")
    for name in os.listdir(target.parent):
        if name.startswith(start) and name.endswith(end) and len(name) == length:
            with suppress(OSError):  # another process is writing it, or removes it, too
                descriptor = os.open(target.parent / name, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    _lock(descriptor)
                    os.unlink(target.parent / name)
                finally:
                    os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Take the lock of an open file; OSError if somebody has it or there are no locks."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
