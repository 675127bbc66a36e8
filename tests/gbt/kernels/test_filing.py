"""Machine code on disk is found by whoever has the same sources, and by nobody else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from gbt.kernels.platform import filing, shipping

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
ROOT = Path(__file__).parents[3]

INNER = """
from gbt.kernels.platform.compiling import internal

@internal
def share(x):
    return x / 2
"""
OUTER = """
from gbt.kernels.platform.compiling import kernel
from halving.inner import share

@kernel
def twice(x):
    return share(share(x))
"""
CALL = "from halving.outer import twice; print(twice(8.0), sum(twice.stats.cache_misses.values()))"


def package_in(folder):
    """Make a package of a kernel that calls another one."""
    package = folder / "here" / "halving"
    package.mkdir(parents=True)
    for name, source in (("__init__", ""), ("inner", INNER), ("outer", OUTER)):
        (package / f"{name}.py").write_text(source)
    return package


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Call the kernel of one such package, and return the folder where its code then is."""
    folder = tmp_path_factory.mktemp("compiled")
    assert called(package_in(folder), folder / "cache") == (2.0, 1)
    return folder / "cache"


@pytest.fixture
def package(tmp_path):
    return package_in(tmp_path)


@pytest.fixture
def cache(tmp_path, compiled):
    """Return a copy of the folder with code, for another copy of the same package."""
    return shutil.copytree(compiled, tmp_path / "cache")


def called(package, cache, program=CALL, **environment):
    """Call the kernel in a process of its own; return its value and how often it was compiled."""
    place = {"PYTHONPATH": f"{package.parent}:{ROOT}", "NUMBA_CACHE_DIR": str(cache)}
    run = subprocess.run(
        [sys.executable, "-B", "-c", program], env=os.environ | place | environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    value, n_compiled = run.stdout.split()
    return float(value), int(n_compiled)


def files(cache):
    return sorted((cache / "gbt").iterdir())


def test_an_edited_inner_kernel_is_compiled_anew_and_its_former_code_found_again(package, cache):
    (package / "inner.py").write_text(INNER.replace("x / 2", "x / 4"))
    assert called(package, cache) == (0.5, 1)
    (package / "inner.py").write_text(INNER)
    assert called(package, cache) == (2.0, 0)


def test_a_copy_elsewhere_finds_code_also_with_other_times(package, cache):
    os.utime(package / "outer.py", (0, 0))
    assert called(package, cache) == (2.0, 0)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:9], lambda data: data[:-1] + b"?"]
)
def test_a_damaged_file_is_compiled_anew_and_mended(package, cache, damage):
    (file,) = files(cache)
    file.write_bytes(damage(file.read_bytes()))
    assert called(package, cache) == (2.0, 1)
    assert called(package, cache) == (2.0, 0)


@pytest.mark.skipif(os.name == "nt", reason="folders have no such modes")
def test_a_folder_that_others_may_write_to_is_neither_read_nor_written(package, cache):
    before = files(cache)
    (cache / "gbt").chmod(0o777)
    assert called(package, cache) == (2.0, 1)
    assert files(cache) == before


@pytest.mark.skipif(os.name == "nt", reason="folders have no such modes")
def test_a_folder_that_others_may_replace_is_not_read(package, cache):
    cache.chmod(0o777)
    assert called(package, cache) == (2.0, 1)
    cache.chmod(0o1777)  # as /tmp: only owners rename
    assert called(package, cache) == (2.0, 0)


def test_a_relative_folder_is_not_read(package, tmp_path):
    """Whoever made the present folder may have put code there."""
    for n_compiled in (1, 1):
        assert called(package, os.path.relpath(tmp_path / "cache")) == (2.0, n_compiled)


def test_where_nothing_can_be_written_kernels_are_compiled(package, tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert called(package, tmp_path / "file") == (2.0, 1)


@pytest.mark.parametrize(
    "other", [{"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_OPT": "1"}, {"NUMBA_CPU_NAME": "generic"}]
)
def test_other_settings_have_other_code(package, cache, other):
    assert called(package, cache, **other) == (2.0, 1)
    assert called(package, cache, **other) == (2.0, 0)


def test_another_numba_has_other_code(package, cache):
    pretended = "import numba; numba.__version__ = '0.0'; " + CALL
    assert called(package, cache, pretended) == (2.0, 1)


def test_code_is_that_of_the_sources_that_were_imported(package, cache):
    """Not of those that lie there when a kernel is called, perhaps hours later."""
    edit = f"open({str(package / 'inner.py')!r}, 'w').write({INNER.replace('x / 2', 'x / 4')!r})"
    late = CALL.replace("; ", f"; {edit}; ", 1)
    assert called(package, cache, late) == (2.0, 0)
    assert called(package, cache) == (0.5, 1)


def test_a_full_folder_loses_what_was_used_least_recently(tmp_path, monkeypatch):
    monkeypatch.setattr(filing, "MOST_BYTES", 250)
    for at, name in enumerate("abc"):
        filing._write(tmp_path, name, b"." * (100 - filing.N_BYTES_OF_DIGEST))
        os.utime(tmp_path / name, (at, at))
    assert filing._read(tmp_path / "a") == b"." * 68  # which touches it
    filing._make_room.cache_clear()
    filing._make_room(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "c"}


def test_modules_may_import_each_other_and_sentences_may_look_like_imports(package, monkeypatch):
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(filing, "_packages", {"halving"})
    (package / "a.py").write_text(
        '"""\nfrom halving.nowhere import all\n"""\nimport halving.b as b, re'
    )
    (package / "b.py").write_text("def later():\n    from halving import a")
    before = filing.sources_of("halving.a")
    for cached in (filing.sources_of, filing._source, filing._imports):
        cached.cache_clear()
    (package / "b.py").write_text("def later():\n    from halving import a, b")
    assert filing.sources_of("halving.a") != before is not None


def test_shipped_code_is_for_processors_that_have_all_of_a_level(monkeypatch, tmp_path):
    host = "x86_64-linux", "skylake", "+avx2,+fma"
    monkeypatch.setattr(shipping, "SHIPPED", tmp_path)
    monkeypatch.setattr(shipping.platform, "machine", lambda: "x86_64")
    features = dict.fromkeys(shipping.V3, True)
    monkeypatch.setattr(shipping.binding, "get_host_cpu_features", lambda: features)
    assert shipping.level_of(host) == ("x86_64-linux", "x86-64-v3", "")
    features["avx2"] = False
    assert shipping.level_of(host) is None
    features["avx2"] = True
    monkeypatch.setattr(config, "CPU_NAME", "skylake", raising=False)
    assert shipping.level_of(host) is None
