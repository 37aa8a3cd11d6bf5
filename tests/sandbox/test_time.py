"""Limits on time, with real processes: what counts, the messages, and no second attempt."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.stopwatch import until
from tutor.authoring.trial import Trial, attempt
from tutor.engine.plan import Configuration
from tutor.engine.sandboxes import Cancel
from tutor.engine.session import Session
from tutor.engine.submission import LoadedSandbox
from tutor.grading.executors import Job, run_job
from tutor.lesson import Lesson, Limits
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import Fault, Report
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Cancelled, Sandbox
from tutor.sandbox.watchdog import active, idle_seconds, usage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measured on Linux only")

DOUBLE = "def double(x):\n    return 2 * x\n"
ENDLESS = "def double(x):\n    while True: pass\n"
SLEEPS = "import time\n\ndef double(x):\n    time.sleep(1e6)\n"


class Counted:
    """Sandboxes, with a count of those requested."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self.taken: list[Configuration] = []

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        self.taken.append(place)
        return self._forks.take(lesson, place)

    def release(self, sandbox: Sandbox) -> None:
        self._forks.release(sandbox)

    def reference(self) -> Sandbox:
        return self._forks.reference()


@pytest.fixture
def sandboxes(forks: Forks) -> Counted:
    return Counted(forks)


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return within(mini.lesson("double"), 1.0)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without an idle core."""
    monkeypatch.setattr(
        LoadedSandbox, "allowance", lambda bench: Allowance(20.0, wall=0.3, cores=lambda: 0.0)
    )


def within(lesson: Lesson, seconds: float) -> Lesson:
    return replace(lesson, limits=replace(lesson.limits, seconds=seconds))


def checked(sandboxes: Counted, lesson: Lesson, code: str) -> Report:
    with Session(lesson, code, sandboxes=sandboxes) as session:
        return session.check()


def fault_of(report: Report) -> Fault:
    fault = report.fault or report.checks[0].fault
    assert fault is not None, report
    return fault


# --- messages -----------------------------------------------------------------------------------


def test_alternating_work_and_sleep_is_stopped(sandboxes: Counted, lesson: Lesson):
    code = """
import time
def double(x):
    while True:
        end = time.perf_counter() + 0.01
        while time.perf_counter() < end: pass
        time.sleep(0.01)
"""
    report = checked(sandboxes, lesson, code)
    assert report.verdict == "error"
    assert fault_of(report).code in ("timeout", "waited")


def test_deadlocked_threads_are_stopped_as_waiting(sandboxes: Counted, lesson: Lesson):
    code = """
import threading
def double(x):
    thread = threading.Thread(target=threading.Event().wait)
    thread.start()
    thread.join()
"""
    fault = fault_of(checked(sandboxes, lesson, code))
    assert fault.code == "waited"
    assert "without computing in `double(x)`" in fault.message
    assert "at line 6: `thread.join()` (limit 1 s for all checks together)" in fault.message


TRACES = "@jax.jit\ndef double(x):\n    while True: x = x + 1\n"
RUNS = "def double(x):\n    return jax.lax.fori_loop(0, 2**30, lambda i, c: c + i, x)\n"
COMPILES = """
@jax.jit
def double(x):
    known = jnp.ones((3000, 3000))  # so XLA computes the rest while it compiles, for minutes
    return x + jax.lax.reduce_window(known, 0.0, jax.lax.add, (30, 30), (1, 1), "SAME").sum()
"""


@pytest.mark.parametrize(
    ("code", "doing"),
    [
        (TRACES, "and was stopped at line 4: `while True"),
        (COMPILES, "and was stopped while JAX was compiling"),
        (RUNS, "while a compiled program ran, called at line 3: `return jax.lax.fori_loop"),
    ],
    ids=["tracing", "compiling", "running"],
)
def test_the_activity_of_jax_is_named(sandboxes: Counted, lesson: Lesson, code: str, doing: str):
    fault = fault_of(checked(sandboxes, lesson, f"import jax, jax.numpy as jnp\n{code}"))
    assert fault.code == "timeout"
    assert doing in fault.message, fault
    assert ("How many steps does the lax.fori_loop take?" in fault.message) == ("fori" in code)
    assert "while_loop" not in fault.message


def test_compile_time_is_reported(sandboxes: Counted, lesson: Lesson):
    code = """
import jax, jax.numpy as jnp
calls = []
@jax.jit
def much(x):
    for n in range(150): x = jnp.sin(x) @ jnp.ones((4, 4)) + n
    return x
def double(x):
    much(x)
    calls.append(x)
    while len(calls) > 2: pass
    return 2 * x
"""
    fault = checked(sandboxes, within(lesson, 3.0), code).checks[0].fault
    assert fault is not None and fault.code == "timeout"
    assert "at line 11" in fault.message
    assert "before that, compiling took" in fault.message


@pytest.mark.parametrize("action", ["SIG_IGN", "SIG_DFL"])
def test_code_that_hides_its_stacks_is_stopped_too(sandboxes: Counted, lesson: Lesson, action: str):
    code = f"import signal\nsignal.signal(signal.SIGUSR1, signal.{action})\n{ENDLESS}"
    fault = fault_of(checked(sandboxes, lesson, code))
    assert fault.code == "timeout"
    assert "and was stopped (limit 1 s" in fault.message


def test_stacks_are_not_shown_as_output(sandboxes: Counted, lesson: Lesson):
    code = f"import sys\nprint('mine', file=sys.stderr)\n{ENDLESS}"
    report = checked(sandboxes, lesson, code)
    assert "at line 4: `while True: pass`" in fault_of(report).message
    assert report.stderr == "mine\n"


def test_cancelling_during_a_stop_cancels(
    sandboxes: Counted, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    from tutor.sandbox import stacks

    cancel = Cancel()
    read = stacks.read

    def late(descriptor: int, pid: int) -> bytes:
        cancel.cancel()
        return read(descriptor, pid)

    monkeypatch.setattr(stacks, "read", late)
    with (
        Session(lesson, ENDLESS, cancel=cancel, sandboxes=sandboxes) as session,
        pytest.raises(Cancelled),
    ):
        session.check()


# --- which time counts --------------------------------------------------------------------------


def test_the_report_shows_the_processor_time(sandboxes: Counted, lesson: Lesson):
    code = f"""
import time
begun = time.process_time()
while time.process_time() < begun + 0.5: pass
time.sleep(0.3)
{DOUBLE}"""
    report = checked(sandboxes, within(lesson, 5.0), code)
    assert report.passed
    assert 0.45 < report.timings.processor < 0.75
    assert report.timings.load > 0.75
    assert Report.from_json(report.to_json()) == report


def test_each_run_of_a_session_has_the_whole_limit(sandboxes: Counted, lesson: Lesson):
    code = """
import time
def double(x):
    end = time.process_time() + 0.06
    while time.process_time() < end: pass
    return 2 * x
"""
    calls = sum(check.case_count for check in lesson.checks)
    with Session(within(lesson, 0.06 * calls * 2), code, sandboxes=sandboxes) as session:
        reports = [session.check(seed) for seed in range(3)]
    assert all(report.passed for report in reports)
    assert sum(report.timings.processor for report in reports) > 0.06 * calls * 2


# --- no second attempt --------------------------------------------------------------------------


@pytest.fixture
def places(lesson: Lesson) -> Lesson:
    """The lesson with its second check on two devices."""
    first, second = lesson.checks
    return replace(lesson, checks=(first, replace(second, devices=2)))


@pytest.mark.parametrize("code", [ENDLESS, SLEEPS], ids=["computes", "waits"])
def test_a_timeout_is_not_repeated_in_another_sandbox(
    sandboxes: Counted, places: Lesson, code: str
):
    report = checked(sandboxes, places, code)
    first, second = report.checks
    assert (first.status, second.status) == ("error", "skipped")
    assert second.message == f"not run: {first.message}"
    assert len(sandboxes.taken) == 1


def test_other_failures_are_repeated_in_another_sandbox(sandboxes: Counted, places: Lesson):
    code = "import jax, os\nif jax.device_count() == 1: os._exit(3)\n" + DOUBLE
    on_one, on_two = replace(places.checks[0], devices=1), places.checks[1]
    places = replace(places, devices=2, checks=(on_one, on_two))
    first, second = checked(sandboxes, places, code).checks
    assert (first.status, second.status) == ("error", "pass")


@pytest.mark.parametrize("code", [ENDLESS, SLEEPS], ids=["computes", "waits"])
def test_graders_pay_for_a_timeout_once(sandboxes: Counted, lesson: Lesson, code: str):
    """Not again under another seed, or with more time."""
    (report,) = run_job(Job("double", code, (1, 2, 3)), lesson, sandboxes)
    assert report.verdict == "error"
    assert len(sandboxes.taken) == 1


def test_authors_pay_for_a_timeout_once(sandboxes: Counted, lesson: Lesson):
    outcome = attempt(Trial(lesson, "solution", "solution", ENDLESS, (0, 1, 2)), sandboxes)
    assert (outcome.timed_out, outcome.ours) == (True, False)
    assert len(sandboxes.taken) == 1
    assert outcome.seconds == pytest.approx(1.0, abs=0.5)


# --- a machine that is too busy -----------------------------------------------------------------


@pytest.mark.usefixtures("busy")
def test_a_busy_machine_is_not_the_learners_fault(sandboxes: Counted, places: Lesson):
    report = checked(sandboxes, places, ENDLESS)
    first, second = report.checks
    assert report.verdict == "internal"
    assert first.fault is not None and first.fault.code == "busy-machine"
    assert first.message.startswith("this machine is too busy: the code got 0.")
    assert "run it again when less is running" in first.message
    assert second.status == "skipped"
    assert len(sandboxes.taken) == 1


@pytest.mark.usefixtures("busy")
def test_a_run_on_a_busy_machine_is_retried_once(sandboxes: Counted, lesson: Lesson):
    (report,) = run_job(Job("double", ENDLESS, (1, 2, 3)), lesson, sandboxes)
    assert report.verdict == "internal"
    assert len(sandboxes.taken) == 2
    outcome = attempt(Trial(lesson, "solution", "solution", ENDLESS, (0, 1, 2)), sandboxes)
    assert (outcome.ours, outcome.starved, outcome.timed_out) == (True, True, False)
    assert outcome.problem.endswith("less is running, or with --jobs 1")
    assert len(sandboxes.taken) == 4


def test_a_machine_with_an_idle_core_is_not_busy(
    sandboxes: Counted, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    """However the code spreads its work over time and threads."""
    cores = iter([0.0, 1e6])
    monkeypatch.setattr(
        LoadedSandbox,
        "allowance",
        lambda bench: Allowance(20.0, wall=0.3, cores=lambda: next(cores)),
    )
    report = checked(sandboxes, lesson, ENDLESS)
    assert report.verdict == "error"
    assert fault_of(report).code == "waited"
    # It was not given the time that a busy machine would need; being stopped takes a moment.
    assert "took 0." in fault_of(report).message
    assert "limit 0.3 s" in fault_of(report).message


# --- U10: many at once --------------------------------------------------------------------------


@pytest.fixture
def two_cores() -> Iterator[None]:
    """Limit this process and its children to two cores, so that any machine is crowded."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:2])
    yield
    os.sched_setaffinity(0, every)


@pytest.mark.usefixtures("two_cores")
def test_right_answers_pass_on_a_crowded_machine(mini: Pack, tmp_path: Path):
    """Each needs half of its limit and gets a third of a core."""
    lesson = replace(mini.lesson("double"), limits=Limits(seconds=3, memory_mb=1024))
    right = f"""
import time
begun = time.process_time()
while time.process_time() < begun + 1.5: pass
{DOUBLE}"""
    codes = [ENDLESS, *[right] * 6]
    reports: dict[int, Report] = {}

    def run(number: int) -> None:
        with Session(lesson, codes[number], sandboxes=forks) as session:
            reports[number] = session.check()

    with Forks(tmp_path) as forks:
        threads = [threading.Thread(target=run, args=(number,)) for number in range(len(codes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    endless, *others = (reports[number] for number in range(len(codes)))
    assert [report.verdict for report in others] == ["pass"] * 6, others
    assert fault_of(endless).code == "timeout"
    # Otherwise the machine was not crowded, and a wall-clock limit would pass as well.
    assert max(report.timings.load for report in others) > lesson.limits.seconds


# --- measuring ----------------------------------------------------------------------------------


def test_computing_is_detected_from_outside(sandboxes: Counted, lesson: Lesson):
    """A worker that waits for a request is idle, one that runs is not; all threads count."""
    code = "import threading\ndef work():\n    while True: pass\n"
    with Session(within(lesson, 20.0), DOUBLE, sandboxes=sandboxes) as session:
        session.check()
        assert session.main_sandbox is not None
        pid = session.main_sandbox.sandbox.pid
        until(lambda: not any(active(pid) for _ in range(20)), "its rest")
        quiet = usage(pid).processor
        assert quiet is not None and quiet > 0
    code += "threading.Thread(target=work, daemon=True).start()\n"
    with Session(within(lesson, 20.0), code + DOUBLE, sandboxes=sandboxes) as session:
        session.check()
        assert session.main_sandbox is not None
        pid = session.main_sandbox.sandbox.pid
        assert all(active(pid) for _ in range(20))
    assert not active(pid)  # it has ended


def test_idle_time_only_grows():
    seen = [idle_seconds() for _ in range(5)]
    assert None not in seen
    assert seen == sorted(seen)  # type: ignore[type-var]


def test_only_cores_in_the_affinity_mask_count(monkeypatch: pytest.MonkeyPatch):
    every = idle_seconds()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    one = idle_seconds()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set())
    assert idle_seconds() == 0
    assert every is not None and one is not None
    assert 0 < one < every or os.cpu_count() == 1
