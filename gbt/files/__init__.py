"""Our own model files: JSON that is exact to the last bit, and is never trusted when it is read.

``saving`` says what a file holds. ``documents`` reads one value by value and refuses what is not as
it should be, by its place in the document; ``whole_files`` makes sure that a file is there as a
whole or not at all.
"""

from gbt.files.documents import InvalidModelError

__all__ = ["InvalidModelError"]
