"""Pictures of pages: the same file from the same numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Text stays text, and its list of fonts short.
TEXT = {"svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans", "Arial"]}


@contextmanager
def picture(path: Path, *shape: int, style: dict | None = None, **options: Any) -> Iterator[Any]:
    """Yield a figure and its axes, of some rows and columns, and write the file."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": path.stem, **(style or {})}):
        figure, axes = pyplot.subplots(*shape, **{"layout": "constrained", **options})
        yield figure, axes
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)
