"""The parts of the first call's time, from events by hand."""

import pytest

from benchmarks.speed import first_call_profile
from benchmarks.speed.first_call_profile import own_seconds, parts_of


def test_time_inside_others_is_their_own():
    """a from 0 to 10 holds b from 1 to 4, which holds c from 2 to 3, and c from 6 to 8."""
    events = [
        (0, True, "a"), (1, True, "b"), (2, True, "c"), (3, False, "c"), (4, False, "b"),
        (6, True, "c"), (8, False, "c"), (10, False, "a"),
    ]  # fmt: skip
    assert own_seconds(events) == {"a": 5, "b": 2, "c": 3}


def found(llvm=4.0):
    return {
        "all": 20.0,
        "imports": 1.0,
        "numba:run_pass": {
            "native_lowering": 7.0, "nopython_type_inference": 3.0, "inline_inlinables": 2.0,
            "others": 1.5, "and_others": 0.5,
        },
        "numba:llvm_lock": {"LLVM": llvm},
        "numba:compile": {"f": 10.0, "g": 4.0},
        "numba:compile #": 2,
    }  # fmt: skip


def test_parts_add_up():
    assert list(parts_of(found()).values()) == [4.0, 3.0, 3.0, 2.0, 2.0, 1.0, 5.0]


@pytest.mark.parametrize(("llvm", "holds"), [(4.0, True), (10.0, False)])
def test_what_is_printed(llvm, holds, monkeypatch, capsys):
    monkeypatch.setattr(first_call_profile, "recorded_elsewhere", lambda: found(llvm))
    assert first_call_profile.main() == 0
    printed = capsys.readouterr().out
    assert "| all | 20.0 |" in printed
    assert "2 functions are compiled" in printed
    assert "`f` 10.0, `g` 4.0." in printed
    assert f"{20 - llvm:.1f}. **{holds}**" in printed


def test_the_program_of_the_fresh_process(monkeypatch, capsys):
    monkeypatch.setattr(first_call_profile, "record", lambda started, imported: imported >= started)
    exec(first_call_profile.PROGRAM, {})
    assert capsys.readouterr().out.endswith("\ntrue\n")


def test_numba_tells_what_is_counted():
    """Its events and passes have the names that are asked for: a function compiled here."""
    from numba import njit
    from numba.core import event

    @njit
    def doubled(x):
        return x + x

    with (
        event.install_recorder("numba:run_pass") as passes,
        event.install_recorder("numba:llvm_lock") as llvm,
        event.install_recorder("numba:compile") as compiled,
    ):
        doubled(1)
    names = {e.data["name"].split(" [")[0] for _, e in passes.buffer}
    assert set(first_call_profile.PASSES) <= names
    assert len(llvm.buffer) > 0
    assert compiled.buffer[0][1].data["dispatcher"].py_func.__name__ == "doubled"
