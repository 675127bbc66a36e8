"""Hypothesis profiles, chosen by the environment variable HYPOTHESIS_PROFILE.

There is no deadline anywhere: the first example compiles kernels and takes seconds. ``plain`` is
for runs that are about something else than examples: kernels that are not compiled, where every
example takes that long, and the set-up that README describes.

Tests marked ``nightly`` are run in the profile of that name only.
"""

import os

from hypothesis import settings

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.register_profile("plain", max_examples=5, deadline=None, derandomize=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
settings.load_profile(PROFILE)


def pytest_collection_modifyitems(config, items):
    """Leave out what is nightly, in sight: pytest counts these tests as deselected."""
    if PROFILE != "nightly":
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
