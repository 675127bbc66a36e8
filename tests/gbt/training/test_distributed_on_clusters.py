"""Members on a cluster of Dask: the model of one process, whatever happens to the workers."""

import asyncio
import os
import signal
from threading import Thread

import numpy as np
import pytest

from gbt import GBTClassifier, GBTRegressor
from gbt.estimators.defaults import POOLED
from gbt.training.distributed import cluster as clusters
from gbt.training.distributed.team import LostMemberError
from tests.asserts import assert_same_model, peer
from tests.gbt.training.test_distributed import words
from tests.gbt.training.test_same_model import cut
from tests.greedy import GreedyRegressor


def table(n=400, p=3, seed=0):
    """Return numbers with ties and missing values, targets, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random((n, p)) < 0.1] = np.nan
    return X, np.nan_to_num(X[:, 0]) + rng.normal(size=n), rng.random(n)


def left_behind(client):
    """Return what the client keeps on the cluster, once its thread has done what it is told."""
    client.sync(asyncio.sleep, 0)
    return client.futures


def lose_one_at(question, client, monkeypatch):
    """Close a worker when the first question begins like this; return what is lost, once it is."""
    right, lost = clusters.Cluster.ask, []

    def ask(self, questions):
        beginnings = [asked[: len(question)] for own in questions for asked in own]
        if not lost and question in beginnings:
            lost.append(client.cluster.workers[0])
            client.sync(lost[0].close)
        return right(self, questions)

    monkeypatch.setattr(clusters.Cluster, "ask", ask)
    return lost


def assert_same_as_in_memory(client, model, X, edges, y, weight=None, *, happen=None, **asked):
    """Fit a table in memory, and cut on a cluster, where nothing is kept, and so no actors.

    ``happen`` is called after every round of the latter.
    """
    asked = {"n_estimators": 5, "splitter": "greedy", "random_state": 0, "callbacks": []} | asked
    in_memory = model(**asked).fit(X, y, weight)
    asked["callbacks"] = [*asked["callbacks"], happen or (lambda told: None)]
    assert_same_model(in_memory, model(**asked).fit(cut(X, edges), y, weight))
    assert not left_behind(client)


@pytest.fixture
def cluster():
    """Two workers of one thread in this process."""
    distributed = peer("distributed")
    with distributed.Client(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as client:
        yield client


def test_words_on_a_cluster(cluster):
    frame, y, weight = words()
    table = peer("dask.dataframe").from_pandas(frame, npartitions=5)
    asked = {"n_estimators": 5, "splitter": "greedy"}
    in_memory = GBTRegressor(**asked).fit(frame, y, weight)
    assert_same_model(in_memory, GBTRegressor(**asked).fit(table, y, weight))
    assert not left_behind(cluster)


def slow_down(told):
    told.learning_rate = 0.5 / (told.number + 1)


@pytest.mark.parametrize("event", ["nothing", "lost", "added", "added, then lost"])
def test_workers_that_come_and_go_change_nothing_but_the_time(cluster, event):
    """The step stays what a callback made it, also when all that was begun is begun anew."""
    X, y, weight = table()

    def happen(told):
        if told.number == 1 and "added" in event:
            cluster.cluster.scale(3)
            cluster.wait_for_workers(3)
        if told.number == 3 and "lost" in event:
            cluster.sync(cluster.cluster.workers[0].close)

    assert_same_as_in_memory(
        cluster, GBTClassifier, X, [50, 50, 99, 220], (y > 0).astype(int), weight, n_estimators=6,
        subsample=0.7, callbacks=[slow_down], happen=happen,
    )  # fmt: skip
    n_left = 2 + ("added" in event) - ("lost" in event)
    assert len(cluster.scheduler_info(n_workers=-1)["workers"]) == n_left


@pytest.mark.parametrize(
    ("question", "asked"),
    {
        "while rows are taken over": (("describe",), {}),
        "while rows that are held out come here": (("rows",), {"early_stopping_rounds": 3}),
        # Of the three trees of a round the first has grown, and what it has told is forgotten.
        "in a round": (("start_tree", (1, 4)), {"n_estimators": 9, "splitter": POOLED}),
        "after the last tree": (("hash_rows",), {}),
    }.values(),
)
def test_a_worker_that_is_lost_costs_nothing_but_time(cluster, monkeypatch, question, asked):
    X, y, weight = table()
    lost = lose_one_at(question, cluster, monkeypatch)
    y = np.digitize(y, [-0.5, 0.5])
    assert_same_as_in_memory(cluster, GBTClassifier, X, [99, 220], y, weight, **asked)
    assert lost


@pytest.mark.parametrize("is_lost", [True, False])
def test_when_members_are_made_a_worker_is_lost_or_handles_come_late(cluster, monkeypatch, is_lost):
    """The leader does not have the handles yet by which it asks.

    They come late from a worker busy with another fit, and are fetched anew after every look at
    who is there.
    """
    monkeypatch.setattr(clusters, "SECONDS_BETWEEN_LOOKS", 0.01)
    client, asked_for = peer("distributed").Client, []
    right = client._gather_remote

    async def otherwise(*asked):
        if is_lost and not asked_for:
            await cluster.cluster.workers[0].close()
        asked_for.append(asked)
        await asyncio.sleep(0.0 if is_lost else 10 * clusters.SECONDS_BETWEEN_LOOKS)
        return await right(*asked)

    monkeypatch.setattr(client, "_gather_remote", otherwise)
    X, y, _ = table()
    assert_same_as_in_memory(cluster, GBTRegressor, X, [99, 220], y)
    assert asked_for


def test_a_cluster_that_loses_workers_again_and_again_says_so(cluster, monkeypatch):
    X, y, _ = table(100)

    def ask(self, questions):
        raise LostMemberError("A worker was lost: killed.")

    monkeypatch.setattr(clusters.Cluster, "ask", ask)
    with pytest.raises(LostMemberError, match=r"3 times in a row.*killed\..*more memory"):
        GreedyRegressor().fit(cut(X, [50]), y)
    assert not left_behind(cluster)


def test_two_fits_at_once(cluster):
    fitted = {}

    def fit(seed):
        X, y, _ = table(seed=seed)
        fitted[seed] = GreedyRegressor(n_estimators=5).fit(cut(X, [99]), y)

    threads = [Thread(target=fit, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, shared in fitted.items():
        X, y, _ = table(seed=seed)
        assert_same_model(GreedyRegressor(n_estimators=5).fit(X, y), shared)
    assert len(fitted) == 2
    assert not left_behind(cluster)


def test_an_interrupt_leaves_nothing_behind(cluster):
    def interrupt(told):
        raise KeyboardInterrupt

    X, y, _ = table(100)
    model = GreedyRegressor(callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(cut(X, [50]), y)
    assert not hasattr(model, "ensemble_")
    assert not left_behind(cluster)


def test_machines_that_compute_otherwise_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(clusters.Actor, "machine", lambda self: ("Python 2.7", "numpy 1.0"))
    X, y, _ = table(100)
    with pytest.raises(ValueError, match=r"differ.*numpy 1\.0.*numpy.*Use the same versions"):
        GreedyRegressor().fit(cut(X, [50]), y)
    assert not left_behind(cluster)


def test_what_machines_compare():
    *versions, functions = clusters.machine()
    assert [name.split()[0] for name in versions] == ["Python", "numpy", "scipy", "numba"]
    assert functions.startswith("functions ")


def test_an_error_of_a_chunk_is_raised_here_and_leaves_nothing_behind(cluster):
    X, y, _ = table(100)
    X[70, 1] = np.inf
    with pytest.raises(ValueError, match="In one of the chunks: X holds inf in row 20, column 1"):
        GreedyRegressor().fit(cut(X, [50]), y)
    assert not left_behind(cluster)


# Worker processes -------------------------------------------------------------------------------


CUTS = {
    "1": [],
    "2": [333],
    "7, one of them empty": [10, 200, 200, 350, 351, 800],
    "40": list(range(25, 1000, 25)),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("edges", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("of", ["numbers", "two classes", "words"])
def test_processes_grow_the_same_model(worker_processes, edges, of):
    X, y, weight = table(1000)
    model, target = GBTRegressor, y
    if of != "numbers":
        model, n_classes = GBTClassifier, 2 if of == "two classes" else 3
        target = np.argsort(np.argsort(y)) * n_classes // len(y)
    if of == "words":
        target = np.array(["a little", "some", "much"])[target]
    assert_same_as_in_memory(worker_processes, model, X, edges, target, weight)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_processes_that_are_killed_change_nothing_but_the_time(worker_processes):
    """In one round a process is killed while the others wait for it."""
    X, y, _ = table(1000)

    def kill_one(told):
        if told.number == 2:
            killed = min(worker_processes.run(os.getpid).values())
            os.kill(killed, signal.SIGKILL)

    assert_same_as_in_memory(
        worker_processes, GBTRegressor, X, [99, 500, 700], y, n_estimators=8, happen=kill_one
    )
