"""Messages about code that was stopped say what is known, and do not guess."""

import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from tutor.report import INTERNAL, Fault, Frame
from tutor.sandbox.allowance import Allowance, Overrun
from tutor.sandbox.faults import OVERTIME, SENTENCES, overran, used_up
from tutor.sandbox.stacks import Position
from tutor.sandbox.watchdog import asleep, usage

WHILE = "import jax\n\ndef f(x):\n    return jax.lax.while_loop(test, step, x)\n"
HERE = Position((Frame(4, "f", "return jax.lax.while_loop(test, step, x)"),), "program")


def spent(**seconds: float) -> Allowance:
    allowance = Allowance(20.0)
    for name, value in seconds.items():
        setattr(allowance, name, value)
    return allowance


def of(overrun: Overrun, position: Position = HERE, source: str = "", **more: object) -> Fault:
    allowance = spent(processor=20.04, idle=20.1, wall=203.0, compiling=14.2)
    return overran(overrun, allowance, "`f(x)`", position, source=source, **more)  # type: ignore[arg-type]


def test_the_time_used_and_where_is_reported():
    fault = of("computed", Position((Frame(9, "train", "while True:"),)))
    assert fault.code == "timeout"
    assert fault.message == (
        "used 20 s of processor time in `f(x)` and was stopped at line 9: `while True:` "
        "(limit 20 s for all checks together); before that, compiling took 14.2 s"
    )
    assert (fault.line, fault.frames[-1].function, fault.running) == (9, "train", "`f(x)`")


@pytest.mark.parametrize("overrun", ["computed", "waited", "lingered", "clock"])
def test_no_loop_is_blamed_without_evidence(overrun: Overrun):
    """The code has a while_loop, but Python was running, or the position is unknown."""
    for position in (Position(), Position(HERE.frames), Position(HERE.frames, "compiling")):
        assert "?" not in of(overrun, position, WHILE).message
    assert "?" not in of(overrun, HERE, "def f(x):\n    return g(x)\n").message


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        (WHILE, "Does the condition of the lax.while_loop ever become false?"),
        ("lax.fori_loop(0, n, step, x)", "How many steps does the lax.fori_loop take?"),
        ("jax.lax.scan(step, x, xs)", "How many steps does the lax.scan take?"),
        ("my_scan(step, x, scanned)", ""),
    ],
)
def test_an_endless_program_gets_a_question_about_its_loop(code: str, asks: str):
    message = of("computed", HERE, code).message
    assert "while a compiled program ran, called at line 4" in message
    assert message.endswith(asks or "compiling took 14.2 s")


def test_a_line_that_waits_for_a_result_is_not_blamed_for_its_cost():
    """JAX dispatches asynchronously: the line after the one that computes is where code waits."""
    message = of("computed", replace(HERE, waits=True), "jax.lax.scan(f, x, xs)").message
    assert "was stopped while it waited for a result at line 4: `return jax.lax" in message
    assert "an earlier line may have started this. How many steps" in message


def test_a_process_is_asleep_if_its_first_thread_waits():
    busy = "import threading, time\nwhile True: pass"
    waits = "import threading\ndef run():\n while True: pass\n"
    waits += "one = threading.Thread(target=run, daemon=True); one.start(); one.join()"
    for code, expected in ((busy, False), (waits, True)):
        with subprocess.Popen([sys.executable, "-c", code]) as process:
            try:
                while (usage(process.pid).processor or 0.0) < 0.3:
                    time.sleep(0.02)
                assert asleep(process.pid) is expected
            finally:
                process.kill()


def test_waiting_is_reported_with_its_line():
    fault = of("waited", Position((Frame(3, "f", "time.sleep(99)"),)))
    assert fault.code == "waited"
    assert fault.message == (
        "waited for 20.1 s without computing in `f(x)` and was stopped at line 3: "
        "`time.sleep(99)` (limit 20 s for all checks together)"
    )
    unknown = of("waited", Position())
    assert unknown.message.endswith(
        "Look for a sleep, an input(), a lock, or a thread that does not end"
    )


def test_a_stuck_collective_is_reported_if_xla_reports_it():
    assert of("waited", HERE, devices=2).message.endswith(
        "Does every device reach the same collectives (psum, pmean)?"
    )
    fault = of("waited", HERE, stderr="E1122 rendezvous.cc:116] may be stuck", devices=2)
    assert fault.code == "rendezvous"
    assert of("computed", HERE, stderr="rendezvous.cc", devices=2).code == "timeout"


def test_a_busy_accelerator_is_not_called_a_wait():
    message = of("waited", accelerators=True).message
    assert message.startswith("left the processor idle for 20.1 s")
    assert "sleep" not in message


def test_a_busy_machine_is_reported_with_numbers():
    fault = overran("starved", spent(processor=3.14, wall=200.4), "`f(x)`", HERE, source=WHILE)
    assert fault.code == "busy-machine"
    assert fault.message == (
        "this machine is too busy: the code got 3.1 s of processor time in 200 s in `f(x)`; "
        "run it again when less is running"
    )
    assert not fault.frames


def test_without_processor_time_only_wall_clock_time_is_reported():
    assert of("clock", Position()).message.startswith("took 203 s in `f(x)` and was stopped")


def test_overtime_holds_every_code_of_an_overrun():
    overruns: tuple[Overrun, ...] = ("computed", "waited", "starved", "lingered", "clock")
    codes = {of(overrun).code for overrun in overruns} | {used_up(1200, "").code}
    assert codes <= OVERTIME <= SENTENCES.keys()
    assert codes & INTERNAL == {"busy-machine"}


def test_compile_time_never_exceeds_the_time_spent():
    """The worker reports the time, and may lie."""
    message = overran("computed", spent(processor=20.0, compiling=1e6), "", Position()).message
    assert message.endswith("compiling took 20.0 s")
    quick = overran("computed", spent(processor=20.0, compiling=0.5), "", Position()).message
    assert "compiling" not in quick
