"""Shipping: a package may come with the machine code of its kernels.

Who sets ``GBT_COMPILED=1`` when a wheel is built gets the code of all that
``python -m attributions.warmup`` compiles, for any processor of a level that nearly all machines
reach. It lies in ``gbt/compiled`` under the names that `gbt.kernels.platform.filing` gives it, so
it is used where sources, versions and settings are those it was built with, and not missed
elsewhere.
"""

import platform
from pathlib import Path

from llvmlite import binding
from numba import config

SHIPPED = Path(__file__).parents[2] / "compiled"

V3 = ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
# By machine: the name of a level, as LLVM calls it, and what a processor of it must have.
LEVELS = {
    "x86_64": ("x86-64-v3", V3), "AMD64": ("x86-64-v3", V3),
    "aarch64": ("generic", ()), "arm64": ("generic", ()),
}  # fmt: skip


def level_of(processor):
    """Return what stands for this processor in names of shipped code, None if there is none.

    ``processor`` is Numba's triple: system, name, features. Who asks for the code of a processor by
    name gets that.
    """
    if config.CPU_NAME or config.CPU_FEATURES or not SHIPPED.is_dir():
        return None
    level, needed = LEVELS.get(platform.machine(), (None, ()))
    has = binding.get_host_cpu_features()
    return (processor[0], level, "") if level and all(has.get(name) for name in needed) else None
