"""Wheels with machine code: ``GBT_COMPILED=1 python -m build --wheel``.

`pyproject.toml` says all else. With the variable set, the kernels that ``python -m
attributions.warmup`` compiles are compiled while the wheel is built, for the level of processors of
`gbt.kernels.platform.shipping`, and lie in ``gbt/compiled``. Such a wheel is for one version of
Python and one platform, and its code for the versions of Numba and NumPy it was built with; with
others kernels are compiled as from the wheel without code.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

COMPILED = os.environ.get("GBT_COMPILED", "") not in ("", "0")
LEVEL = "x86-64-v3" if platform.machine() in ("x86_64", "AMD64") else "generic"
PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]


class BuildWithMachineCode(build_py):
    """Copies the packages, and compiles the kernels of the copy."""

    def run(self):
        """Build the packages, then warm them up with an empty cache of their own."""
        super().run()
        if not COMPILED:
            return
        with tempfile.TemporaryDirectory() as cache:
            built = Path(self.build_lib).resolve()
            settings = {
                "NUMBA_CPU_NAME": LEVEL,
                "NUMBA_CPU_FEATURES": "",
                "NUMBA_CACHE_DIR": cache,
                "PYTHONPATH": os.pathsep.join([str(built), *sys.path]),
            }
            subprocess.run(
                [sys.executable, "-m", "attributions.warmup"],
                check=True, cwd=built, env=os.environ | settings,
            )  # fmt: skip
            shutil.copytree(Path(cache) / "gbt", built / "gbt" / "compiled", dirs_exist_ok=True)


class WheelOfOnePlatform(bdist_wheel):
    """A wheel that says for which Python and platform its machine code is."""

    def get_tag(self):
        """Return the tag of a pure wheel, or one of this Python and platform."""
        if not COMPILED:
            return super().get_tag()
        self.root_is_pure = False
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        return python, "none", self.plat_name.replace("-", "_").replace(".", "_")


setup(
    cmdclass={"build_py": BuildWithMachineCode, "bdist_wheel": WheelOfOnePlatform},
    setup_requires=PROJECT["dependencies"] if COMPILED else [],
)
