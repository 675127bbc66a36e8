"""A thread_team: every task is done once, no phase begins too early, and nobody is waited for."""

import threading

import numpy as np
import pytest
from numba import config

from gbt.kernels.platform import thread_team
from gbt.kernels.platform.atomics import add, give_way, load, replace, store
from gbt.kernels.platform.compiling import kernel
from tests.asserts import assert_same
from tests.compiled import FromPython

team = FromPython(thread_team)
pytestmark = pytest.mark.skipif(
    config.DISABLE_JIT, reason="the steps that threads share exist compiled only"
)


@kernel
def do_task(queue, task, times, numbers):
    """Count the task of this phase, and write down what the phase before it left, plus one."""
    phase = load(queue, thread_team.KIND)
    most = numbers.shape[1]
    add(times, phase * most + task, 1)
    number = 1
    for other in range(most):
        number += numbers[phase - 1, other] if phase > 0 else 0
    numbers[phase, task] = number % 1_000_003
    thread_team.report_done(queue)


@kernel
def lead(queue, first, n_tasks, times, numbers):
    """Lead through the phases from the first on; return how often one ended with tasks undone."""
    n_early = 0
    for phase in range(first, len(n_tasks)):
        thread_team.offer_tasks(queue, phase, n_tasks[phase])
        task = thread_team.next_task(queue, n_tasks[phase])
        while task >= 0:
            do_task(queue, task, times, numbers)
            task = thread_team.next_task(queue, n_tasks[phase])
        for task in range(n_tasks[phase]):
            n_early += numbers[phase, task] == 0
    return n_early


@kernel
def help_out(queue, times, numbers):
    """Do tasks until none are offered for some time; return how many."""
    n_done = 0
    task = thread_team.next_task(queue, thread_team.ANY_PHASE)
    while task >= 0:
        do_task(queue, task, times, numbers)
        n_done += 1
        task = thread_team.next_task(queue, thread_team.ANY_PHASE)
    return n_done


@kernel
def claim_all(queue):
    """Return the tasks of the phase in the order in which they are handed out."""
    tasks = [thread_team.claim(queue)]
    while tasks[-1] >= 0:
        tasks.append(thread_team.claim(queue))
    return tasks[:-1]


@kernel
def ticket_of(queue):
    return load(queue, thread_team.TICKET)


@kernel
def use_ticket(queue, ticket):
    return replace(queue, thread_team.TICKET, ticket, ticket - 1)


@kernel
def wait_for_the_end(queue, n_tasks, flags):
    """Wait as the leader does; return whether the last task was done by then."""
    store(flags, 0, 1)
    task = thread_team.next_task(queue, n_tasks)
    return task, load(flags, 1)


@kernel
def do_the_last_task(queue, flags, n_turns):
    """Take some time over a task, and report it."""
    while load(flags, 0) == 0:
        give_way()
    for _ in range(n_turns):
        give_way()
    store(flags, 1, 1)
    thread_team.report_done(queue)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile what helpers run, or the leader would be done before they have begun."""
    help_out(new_board(), *memory([1]))


def new_board():
    return thread_team.task_queue(3)


def memory(n_tasks):
    shape = len(n_tasks), max(n_tasks)
    return np.zeros(shape[0] * shape[1], dtype=np.int64), np.zeros(shape, dtype=np.int64)


def expected(n_tasks):
    """Return how often every task is to be done, and the numbers that it writes."""
    times = np.zeros((len(n_tasks), max(n_tasks)), dtype=int)
    numbers = np.zeros_like(times)
    for phase, n in enumerate(n_tasks):
        times[phase, :n] = 1
        numbers[phase, :n] = (1 + (numbers[phase - 1].sum() if phase else 0)) % 1_000_003
    return times, numbers


def assert_all_done_once(n_tasks, times, numbers):
    expected_times, expected_numbers = expected(n_tasks)
    assert_same(times.reshape(expected_times.shape), expected_times)
    assert_same(numbers, expected_numbers)


def start(work, *arguments):
    """Start a thread, and return it and a list that what it returns will be put into."""
    results = []
    thread = threading.Thread(target=lambda: results.append(work(*arguments)))
    thread.start()
    return thread, results


def many_phases():
    rng = np.random.default_rng(0)
    return rng.choice([0, 1, 2, 3, 40], size=5000)


@pytest.mark.parametrize("n_helpers", [0, 1, 2])
def test_every_task_is_done_once_and_no_phase_begins_too_early(n_helpers):
    n_tasks, queue = many_phases(), new_board()
    times, numbers = memory(n_tasks)
    helpers = [start(help_out, queue, times, numbers) for _ in range(n_helpers)]
    n_early = lead(queue, 0, n_tasks, times, numbers)
    for thread, _ in helpers:
        thread.join()
    assert n_early == 0
    assert_all_done_once(n_tasks, times, numbers)
    assert sum(results[0] for _, results in helpers) <= n_tasks.sum()


def test_a_helper_that_comes_in_the_middle_is_no_trouble():
    """Nor is one that comes when all is finished, and finds nothing to do."""
    n_tasks, queue = many_phases(), new_board()
    times, numbers = memory(n_tasks)
    lead(queue, 0, n_tasks[:2500], times, numbers)
    thread, _ = start(help_out, queue, times, numbers)
    lead(queue, 2500, n_tasks, times, numbers)
    thread.join()
    assert help_out(queue, times, numbers) == 0
    assert_all_done_once(n_tasks, times, numbers)


def test_the_leader_waits_for_a_task_that_was_claimed():
    for n_turns in (0, 1, 1000, 10_000):
        queue, flags = new_board(), np.zeros(2, dtype=np.int64)
        team.offer_tasks(queue, 0, 1)
        assert list(claim_all(queue)) == [0]
        thread, results = start(wait_for_the_end, queue, 1, flags)
        do_the_last_task(queue, flags, n_turns)
        thread.join()
        assert results == [(-1, 1)]


def test_helpers_do_work():
    """The leader opens a phase and does nothing: the tasks are done all the same."""
    n_tasks, queue = np.array([5]), new_board()
    times, numbers = memory(n_tasks)
    team.offer_tasks(queue, 0, 5)
    helpers = [start(help_out, queue, times, numbers) for _ in range(2)]
    while queue[thread_team.DONE] < 5:
        pass
    for thread, _ in helpers:
        thread.join()
    assert sum(results[0] for _, results in helpers) == 5
    assert_all_done_once(n_tasks, times, numbers)


def test_a_ticket_of_an_earlier_phase_is_worth_nothing():
    """Although as many tasks are left now as were left then."""
    queue = new_board()
    team.offer_tasks(queue, 0, 2)
    old = ticket_of(queue)
    claim_all(queue)
    team.offer_tasks(queue, 1, 2)
    assert not use_ticket(queue, old)
    assert use_ticket(queue, ticket_of(queue))
    assert list(claim_all(queue)) == [0]
