"""A crew: every task is done once, no phase begins too early, and nobody is waited for."""

import threading

import numpy as np
import pytest
from numba import config

from gbt.kernels import crew
from gbt.kernels.atomics import add, give_way, load, replace, store
from gbt.kernels.compiling import kernel
from tests.asserts import assert_same

pytestmark = pytest.mark.skipif(
    config.DISABLE_JIT, reason="the steps that threads share exist compiled only"
)


@kernel
def do_task(board, task, times, numbers):
    """Count the task of this phase, and write down what the phase before it left, plus one."""
    phase = load(board, crew.KIND)
    most = numbers.shape[1]
    add(times, phase * most + task, 1)
    number = 1
    for other in range(most):
        number += numbers[phase - 1, other] if phase > 0 else 0
    numbers[phase, task] = number % 1_000_003
    crew.report_done(board)


@kernel
def lead(board, first, n_tasks, times, numbers):
    """Lead through the phases from the first on; return how often one ended with tasks undone."""
    n_early = 0
    for phase in range(first, len(n_tasks)):
        crew.open_phase(board, phase, n_tasks[phase])
        task = crew.next_task(board, n_tasks[phase])
        while task >= 0:
            do_task(board, task, times, numbers)
            task = crew.next_task(board, n_tasks[phase])
        for task in range(n_tasks[phase]):
            n_early += numbers[phase, task] == 0
    return n_early


@kernel
def help_out(board, times, numbers):
    """Do tasks until none are offered for some time; return how many."""
    n_done = 0
    task = crew.next_offer(board)
    while task >= 0:
        do_task(board, task, times, numbers)
        n_done += 1
        task = crew.next_offer(board)
    return n_done


@kernel
def claim_all(board):
    """Return the tasks of the phase in the order in which they are handed out."""
    tasks = [crew.claim(board)]
    while tasks[-1] >= 0:
        tasks.append(crew.claim(board))
    return tasks[:-1]


@kernel
def open_phase(board, kind, n_tasks):
    crew.open_phase(board, kind, n_tasks)


@kernel
def begin(board):
    crew.begin(board)


@kernel
def end(board):
    crew.end(board)


@kernel
def ticket_of(board):
    return load(board, crew.TICKET)


@kernel
def use_ticket(board, ticket):
    return replace(board, crew.TICKET, ticket, ticket - 1)


@kernel
def store_and_add(array):
    store(array, 1, 40)
    return add(array, 1, 2), load(array, 1)


@kernel
def wait_for_the_end(board, n_tasks, flags):
    """Wait as the leader does; return whether the last task was done by then."""
    store(flags, 0, 1)
    task = crew.next_task(board, n_tasks)
    return task, load(flags, 1)


@kernel
def do_the_last_task(board, flags, n_turns):
    """Take some time over a task, and report it."""
    while load(flags, 0) == 0:
        give_way()
    for _ in range(n_turns):
        give_way()
    store(flags, 1, 1)
    crew.report_done(board)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile what helpers run, or the leader would be done before they have begun."""
    help_out(new_board(), *memory([1]))


def new_board():
    return crew.board_for(3)


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
    n_tasks, board = many_phases(), new_board()
    times, numbers = memory(n_tasks)
    helpers = [start(help_out, board, times, numbers) for _ in range(n_helpers)]
    n_early = lead(board, 0, n_tasks, times, numbers)
    for thread, _ in helpers:
        thread.join()
    assert n_early == 0
    assert_all_done_once(n_tasks, times, numbers)
    assert sum(results[0] for _, results in helpers) <= n_tasks.sum()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_leader_without_helpers_waits_for_none(n_threads):
    """Whether it knows that it is alone or not."""
    n_tasks, board = np.array([3, 0, 1]), crew.board_for(n_threads)
    times, numbers = memory(n_tasks)
    assert lead(board, 0, n_tasks, times, numbers) == 0
    assert_all_done_once(n_tasks, times, numbers)


def test_a_helper_that_comes_in_the_middle_is_no_trouble():
    """Nor is one that comes when all is finished, and finds nothing to do."""
    n_tasks, board = many_phases(), new_board()
    times, numbers = memory(n_tasks)
    lead(board, 0, n_tasks[:2500], times, numbers)
    thread, _ = start(help_out, board, times, numbers)
    lead(board, 2500, n_tasks, times, numbers)
    thread.join()
    assert help_out(board, times, numbers) == 0
    assert_all_done_once(n_tasks, times, numbers)


def test_the_leader_waits_for_a_task_that_was_claimed():
    for n_turns in (0, 1, 1000, 10_000):
        board, flags = new_board(), np.zeros(2, dtype=np.int64)
        open_phase(board, 0, 1)
        assert list(claim_all(board)) == [0]
        thread, results = start(wait_for_the_end, board, 1, flags)
        do_the_last_task(board, flags, n_turns)
        thread.join()
        assert results == [(-1, 1)]


def test_helpers_do_work():
    """The leader opens a phase and does nothing: the tasks are done all the same."""
    n_tasks, board = np.array([5]), new_board()
    times, numbers = memory(n_tasks)
    open_phase(board, 0, 5)
    helpers = [start(help_out, board, times, numbers) for _ in range(2)]
    while board[crew.DONE] < 5:
        pass
    for thread, _ in helpers:
        thread.join()
    assert sum(results[0] for _, results in helpers) == 5
    assert_all_done_once(n_tasks, times, numbers)


def test_a_helper_goes_home_from_an_empty_board():
    assert help_out(new_board(), *memory([2])) == 0


def test_a_helper_stays_as_long_as_somebody_leads():
    """Several times as long as it looks at a board that nobody leads."""
    board, (times, numbers) = new_board(), memory([1])
    begin(board)
    thread, results = start(help_out, board, times, numbers)
    for _ in range(5):
        help_out(new_board(), times, numbers)
    open_phase(board, 0, 1)
    while board[crew.DONE] < 1 and thread.is_alive():
        pass
    end(board)
    thread.join()
    assert results == [1]


def test_tasks_are_handed_out_from_the_last_to_the_first():
    board = new_board()
    for n_tasks in (4, 0, 2):
        open_phase(board, 0, n_tasks)
        assert list(claim_all(board)) == list(range(n_tasks))[::-1]


def test_a_ticket_of_an_earlier_phase_is_worth_nothing():
    """Although as many tasks are left now as were left then."""
    board = new_board()
    open_phase(board, 0, 2)
    old = ticket_of(board)
    claim_all(board)
    open_phase(board, 1, 2)
    assert not use_ticket(board, old)
    assert use_ticket(board, ticket_of(board))
    assert list(claim_all(board)) == [0]


def test_entries_of_the_board_do_not_share_a_cache_line():
    places = [crew.TICKET, crew.DONE, crew.KIND, crew.LEADING, crew.ALONE, crew.BOARD_LENGTH]
    assert (np.diff(places) >= 8).all()


def test_single_steps_by_hand():
    array = np.array([1, 2, 3])
    assert store_and_add(array) == (40, 42)
    assert_same(array, [1, 42, 3])
    assert not use_ticket(array, 7)
    assert use_ticket(array, array[crew.TICKET])
    assert_same(array, [0, 42, 3])
