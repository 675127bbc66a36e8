"""Which tests run, and on how many drawn examples.

``python -m pytest`` runs the core set: every promise is checked, each in its cheapest way. Tests
marked ``slow`` hold the same promises on more cases; ``python -m pytest --runslow`` runs them too.
Tests marked ``nightly`` are run in the Hypothesis profile of that name only. What is left out is
counted as deselected, and the last lines say how to run it.

Where no files are named, the tests run in two processes (pytest-xdist; ``-n 0`` keeps them in one).
What both need compiled is compiled before they start, see ``tests.first_calls``.

Hypothesis profiles are chosen by the environment variable HYPOTHESIS_PROFILE. The default,
``plain``, tries few examples, the same ones every time; ``dev`` and ``ci`` look further. There is
no deadline anywhere: the first example compiles kernels and takes seconds.
"""

import os
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from gbt.kernels.platform.compiling import IS_COMPILING
from tests.asserts import peer
from tests.first_calls import compile_in_two_processes

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.register_profile("plain", max_examples=5, deadline=None, derandomize=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "plain")
settings.load_profile(PROFILE)

LEFT_OUT = pytest.StashKey[int]()
DESELECTED = pytest.StashKey[int]()


def pytest_addoption(parser):
    """Add the option by which slow tests run."""
    parser.addoption("--runslow", action="store_true", help="run the tests marked slow, too")


def pytest_xdist_auto_num_workers(config):
    """Run all tests in two processes, and those of files or folders that are named in one."""
    return 2 if config.args_source == pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_xdist_setupnodes():
    """Compile before the two processes start, so that they do not both compile the same.

    Threads of OpenMP, which peers and scikit-learn's histograms use, spin while they wait for each
    other. Where processes share cores they spin in place of those they wait for: three fits of 300
    rows have taken 45 seconds, and 0.2 with threads that sleep.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if IS_COMPILING:
        compile_in_two_processes()


def pytest_collection_modifyitems(config, items):
    """Leave out what is slow or nightly, in sight: pytest counts these tests as deselected."""
    left_out = set()
    if PROFILE != "nightly":
        left_out.add("nightly")
    if not config.getoption("--runslow"):
        left_out.add("slow")
    kept, deselected = [], []
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        (deselected if marks & left_out else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=deselected)
    config.stash[LEFT_OUT] = sum(item.get_closest_marker("slow") is not None for item in deselected)
    config.stash[DESELECTED] = len(deselected)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Begin NumPy's own stream anew: a fit without ``random_state`` draws its seed from that."""
    np.random.seed(0)  # noqa: NPY002  the stream itself is wanted


def pytest_sessionfinish(session):
    """Let a process that runs tests tell the one that prints, which has not collected any."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = [
            config.stash.get(key, 0) for key in (LEFT_OUT, DESELECTED)
        ]


def pytest_testnodedown(node):
    """Count once what was left out, as each process has left out the same."""
    stash, told = node.config.stash, getattr(node, "workeroutput", {}).get("left_out")
    if told and LEFT_OUT not in stash:
        stash[LEFT_OUT], n_deselected = told
        node.config.hook.pytest_deselected(items=[SimpleNamespace()] * n_deselected)


def pytest_terminal_summary(terminalreporter, config):
    """Say that there is more to run."""
    count = config.stash.get(LEFT_OUT, 0)
    if count and not config.getoption("--runslow"):
        terminalreporter.write_line(f"{count} slow tests were left out: --runslow runs them too")


@pytest.fixture(scope="module")
def worker_processes():
    """Return a client of Dask whose cluster is two worker processes of one thread each."""
    distributed = peer("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
