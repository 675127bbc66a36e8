"""Hypothesis profiles, chosen by the environment variable HYPOTHESIS_PROFILE.

There is no deadline anywhere: the first example compiles kernels and takes seconds. ``plain`` is
for kernels that are not compiled, where every example takes that long.
"""

import os

from hypothesis import settings

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.register_profile("plain", max_examples=5, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
