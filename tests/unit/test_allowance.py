"""Which time counts against the limits: never that of other processes."""

import random
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tutor.sandbox.allowance import (
    MAX_GAP_SECONDS,
    SAMPLE_SECONDS,
    Allowance,
    Overrun,
)
from tutor.sandbox.limits import MAX_IDLE_SECONDS, WALL_FACTOR
from tutor.sandbox.watchdog import NOTHING, Usage

TICK = 0.05
LIMIT = 20.0


class Machine:
    """A clock, and a process that computes as the test sets."""

    def __init__(self, seed: int = 0) -> None:
        self.now = 100.0
        self.processor = 3.0  # used before the first request
        self.cores_idle = 50.0
        self.active = True
        self.measured = True
        self.random = random.Random(seed)

    def allowance(self, seconds: float = LIMIT, idle: float | None = None) -> Allowance:
        return Allowance(
            seconds, idle=idle, clock=lambda: self.now, draw=self.random.random,
            cores=lambda: self.cores_idle,
        )  # fmt: skip

    def used(self) -> Usage:
        return Usage(100, 50, self.processor if self.measured else None)

    def passes(self, seconds: float, share: float = 0.0, free: float = 0.0) -> None:
        """Let time pass, of which the process gets a share, with some cores idle."""
        self.now += seconds
        self.processor += seconds * share
        self.cores_idle += seconds * free

    def look(self, allowance: Allowance) -> Overrun | None:
        return allowance.look(self.used(), lambda: self.active)


def until_over(
    machine: Machine, allowance: Allowance, step: Callable[[], None], most: float
) -> tuple[Overrun | None, float]:
    """Let time pass until a limit is reached; return the limit and the time."""
    began = machine.now
    allowance.begin(machine.used())
    while machine.now < began + most:
        step()
        if (over := machine.look(allowance)) is not None:
            return over, machine.now - began
    return None, machine.now - began


def test_computing_is_stopped_at_the_limit_on_processor_time():
    machine = Machine()
    allowance = machine.allowance()
    over, seconds = until_over(machine, allowance, lambda: machine.passes(TICK, 1.0), 1000)
    assert over == "computed"
    assert seconds == pytest.approx(LIMIT, abs=2 * TICK)
    assert allowance.spent == pytest.approx(LIMIT, abs=2 * TICK)


@given(
    needed=st.floats(0.1, 0.99),
    shares=st.lists(st.floats(0.11, 1.0), min_size=1, max_size=40),
    seed=st.integers(0, 1000),
)
@example(needed=0.99, shares=[0.11], seed=0)
def test_a_right_answer_passes_with_any_share_of_the_machine(
    needed: float, shares: list[float], seed: int
):
    """It needs less than the limit, and always has a runnable thread."""
    machine = Machine(seed)
    allowance = machine.allowance()
    finished = machine.processor + needed * LIMIT
    allowance.begin(machine.used())
    at = 0
    while machine.processor < finished:
        machine.passes(TICK, shares[at % len(shares)])
        at += 1
        assert machine.look(allowance) is None
    assert allowance.idle == 0


@given(cores=st.floats(1.0, 64.0))
def test_many_threads_get_as_much_wall_clock_time_as_one(cores: float):
    machine = Machine()
    allowance = machine.allowance()
    over, seconds = until_over(machine, allowance, lambda: machine.passes(TICK, cores), 1000)
    assert (over, seconds) == ("computed", pytest.approx(LIMIT, abs=2 * TICK))


@given(limit=st.floats(2.0, 600.0), seed=st.integers(0, 1000))
def test_waiting_is_stopped_at_the_idle_limit(limit: float, seed: int):
    machine = Machine(seed)
    machine.active = False
    allowance = machine.allowance(limit)
    over, seconds = until_over(machine, allowance, lambda: machine.passes(TICK), 10_000)
    assert over == "waited"
    patience = min(limit, MAX_IDLE_SECONDS)
    assert patience <= seconds + TICK
    assert seconds < patience + 3 * SAMPLE_SECONDS


def test_the_idle_limit_can_be_set():
    machine = Machine()
    machine.active = False
    allowance = machine.allowance(60.0, idle=60.0)
    over, seconds = until_over(machine, allowance, lambda: machine.passes(TICK), 1000)
    assert over == "waited" and seconds > 59


@given(share=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
@example(share=0.5, seed=1)
def test_alternating_sleep_and_work_gains_at_most_both_limits(share: float, seed: int):
    """On an idle machine all time is spent computing or waiting."""
    machine = Machine(seed)
    allowance = machine.allowance()

    def step() -> None:
        machine.passes(TICK, share, free=1.0 - share)
        machine.active = machine.random.random() < share

    over, seconds = until_over(machine, allowance, step, WALL_FACTOR * LIMIT)
    assert over in ("computed", "waited")
    # Both limits together, and the random error of sampling.
    assert seconds < 1.5 * 2 * LIMIT


@pytest.mark.parametrize(("free", "expected"), [(0.0, "starved"), (0.1, "starved"),
                                                (0.6, "lingered"), (7.0, "lingered")])  # fmt: skip
def test_starved_means_that_no_core_was_idle(free: float, expected: Overrun):
    """Whatever the samples show: with an idle core, no process kept the code from one."""
    machine = Machine()
    allowance = machine.allowance()
    step = lambda: machine.passes(TICK, 0.01, free)  # noqa: E731
    over, seconds = until_over(machine, allowance, step, 10_000)
    assert over == expected
    assert seconds == pytest.approx(WALL_FACTOR * LIMIT, abs=2 * TICK)


def test_the_machine_is_blamed_if_idle_cores_are_unknown():
    machine = Machine()
    allowance = Allowance(LIMIT, clock=lambda: machine.now, cores=lambda: None)
    over, _ = until_over(machine, allowance, lambda: machine.passes(TICK, 0.01), 10_000)
    assert over == "starved"


def test_the_wall_clock_limit_is_at_least_a_minute_more():
    assert Allowance(1.0).wall_seconds == 61.0
    assert Allowance(60.0).wall_seconds == 600.0
    assert Allowance(1.0, wall=5.0).wall_seconds == 5.0


def test_time_between_requests_does_not_count():
    """This process judges meanwhile, or waits for PyTorch, possibly longer than all limits."""
    machine = Machine()
    allowance = machine.allowance(2.0)
    for _ in range(100):
        allowance.begin(machine.used())
        machine.active = True
        machine.passes(TICK / 10, 1.0)
        assert machine.look(allowance) is None
        machine.active = False
        machine.passes(1000.0, 0.0, free=2.0)
    assert allowance.wall == pytest.approx(100 * TICK / 10)
    assert allowance.idle == 0


def test_processor_time_between_requests_counts():
    """A background thread spends from the same allowance."""
    machine = Machine()
    allowance = machine.allowance(2.0)
    allowance.begin(machine.used())
    machine.passes(TICK, 1.0)
    machine.look(allowance)
    machine.passes(10.0, 1.0)
    over, seconds = until_over(machine, allowance, lambda: machine.passes(TICK, 1.0), 100)
    assert over == "computed" and seconds < 2.0


def test_gaps_between_looks_count_at_most_a_second():
    """This process was suspended, by Ctrl-Z say, and continues an hour later."""
    machine = Machine()
    allowance = machine.allowance()
    allowance.begin(machine.used())
    machine.active = False
    machine.passes(3600.0, 0.0, free=2.0)
    assert machine.look(allowance) is None
    assert allowance.wall == MAX_GAP_SECONDS
    assert allowance.idle == MAX_GAP_SECONDS


def test_a_fast_answer_needs_no_sample():
    machine = Machine()
    allowance = machine.allowance()
    asked: list[int] = []
    for _ in range(100):
        allowance.begin(machine.used())
        machine.passes(0.001, 1.0)
        allowance.look(machine.used(), lambda: bool(asked.append(1)))
    assert not asked


def test_steady_computing_needs_no_look_at_threads():
    machine = Machine()
    allowance = machine.allowance()
    allowance.begin(machine.used())
    asked: list[int] = []
    for _ in range(200):
        machine.passes(TICK, 1.0)
        allowance.look(machine.used(), lambda: bool(asked.append(1)))
    assert not asked


def test_samples_are_at_random_times():
    """The time to the next sample is secret and varies."""
    machine = Machine()
    allowance = machine.allowance()
    allowance.begin(machine.used())
    distances: set[float] = set()
    for _ in range(50):
        distances.add(round(allowance.patience, 6))
        machine.passes(allowance.patience + 1e-9, 0.2)
        machine.look(allowance)
    assert len(distances) == 50
    assert all(0 < one < 2 * SAMPLE_SECONDS for one in distances)


def test_usage_never_decreases_when_a_process_ends():
    machine = Machine()
    allowance = machine.allowance()
    allowance.begin(machine.used())
    machine.passes(5.0, 1.0)
    machine.look(allowance)
    allowance.look(NOTHING, lambda: False)
    assert allowance.spent == pytest.approx(5.0)


def test_wall_clock_time_counts_if_processor_time_is_unknown():
    machine = Machine()
    machine.measured = False
    allowance = machine.allowance()
    over, seconds = until_over(machine, allowance, lambda: machine.passes(TICK, 0.5), 1000)
    assert over == "clock"
    assert seconds == pytest.approx(LIMIT, abs=2 * TICK)
    assert allowance.spent == allowance.wall
