"""Documents with something else in one place: readers refuse them, or make a model of them."""

import copy

GONE = object()


def paths_in(value, way=()):
    """Yield the path to every key and every element of a document."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*way, key)
        if isinstance(item, dict | list):
            yield from paths_in(item, (*way, key))


def put(document, way, value):
    """Return a copy of a document with something else under a path of keys, or without that key."""
    document = copy.deepcopy(document)
    *before, last = way
    place = document
    for key in before:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return document
