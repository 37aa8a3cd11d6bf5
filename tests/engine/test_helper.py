"""A second sandbox runs some of the checks, and nothing of the result shows it."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import Written
from tests.engine.spare import WithSpare
from tests.stopwatch import until
from tutor.engine.sandboxes import Cancel
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.report import CheckResult, Report
from tutor.sandbox.process import Cancelled, Sandbox
from tutor.sandbox.protocol import Observe

NAMES = ("one", "two", "three", "four")
CODE = "import jax.numpy as jnp\n\n" + "\n\n".join(
    f"def {name}(x):\n    return {number} * x" for number, name in enumerate(NAMES, start=1)
)
CHECKS = [
    {"name": "first", "value": "one(x)"},
    {"name": "second", "value": "two(x)"},
    {"name": "third", "value": "three(x)"},
    {"name": "fourth", "value": "four(x)"},
    {"name": "fifth", "value": "four(x) + one(x)", "after": "second"},
]
SLOW = "\n    while x.sum() != x.sum() + 1:\n        pass\n    return"


@pytest.fixture
def lesson(written: Written) -> Lesson:
    torch = CODE.replace("import jax.numpy as jnp", "import torch")
    starter = "\n\n".join(f"def {name}(x): ..." for name in NAMES)
    return written(torch=torch, starter=starter, checks=CHECKS, limits={"seconds": 2})


def run(lesson: Lesson, code: str, sandboxes: WithSpare | Forks) -> tuple[Report, list[str]]:
    told: list[CheckResult] = []
    with Session(lesson, code, sandboxes=sandboxes) as session:
        report = session.check(on_result=told.append)
    assert told == [*report.checks]
    return report, [f"{check.name}: {check.status}, {check.message}" for check in report.checks]


@pytest.mark.parametrize(
    "code",
    [
        CODE,
        CODE.replace("2 *", "3 *"),
        CODE.replace("4 *", "3 *"),
        CODE.replace("return 3 *", "raise ValueError\n    return 3 *"),
        CODE.replace("def three", "def other"),
        CODE.replace("return 4", "import os, signal\n    os.kill(os.getpid(), 9)\n    return 4"),
        CODE.replace("return 4 *", "return 1 // 0 *"),
    ],
)
def test_the_results_are_those_of_one_sandbox_in_the_same_order(
    lesson: Lesson, code: str, forks: Forks
):
    sandboxes = WithSpare(forks)
    assert run(lesson, code, sandboxes)[1] == run(lesson, code, forks)[1]
    assert not sandboxes.open


def test_the_second_sandbox_does_a_part(
    lesson: Lesson, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []

    def watched(sandbox: Sandbox) -> None:
        ask = sandbox.ask

        def noted(request: Any, *others: Any) -> Any:
            reply = ask(request, *others)
            if isinstance(request, Observe):
                asked.append(request.case)
            return reply

        monkeypatch.setattr(sandbox, "ask", noted)

    def wait(result: CheckResult) -> None:
        until(lambda: len(asked) > 2, "the helper's turn")

    with Session(lesson, CODE, sandboxes=WithSpare(forks, watched)) as session:
        assert session.check(on_result=wait).passed
    assert asked[:3] == ["fourth#0", "fourth#1", "fourth#2"]  # from the last that may run


@pytest.mark.parametrize(
    "code",
    [
        f"print('hello')\n{CODE}",
        CODE.replace("return 3", "print(x)\n    return 3"),
        f"import time\n{CODE}",
        f"seen = []\n{CODE.replace('return', 'seen.append(x); return')}",
        f"{CODE}\n\ndef change():\n    global one\n    one = two\n",
    ],
)
def test_code_whose_checks_may_depend_on_each_other_gets_one_sandbox(
    lesson: Lesson, code: str, forks: Forks
):
    sandboxes = WithSpare(forks)
    assert run(lesson, code, sandboxes)[0].passed
    assert not sandboxes.spares


def broken(sandbox: Sandbox) -> None:
    """Our own failure, in the helper's thread."""

    def ask(*arguments: object) -> None:
        raise RuntimeError("on purpose")

    sandbox.ask = ask  # type: ignore[assignment,method-assign]


@pytest.mark.parametrize("spoil", [Sandbox.kill, broken])
def test_a_spare_sandbox_that_fails_costs_nothing_but_time(
    lesson: Lesson, forks: Forks, spoil: Callable[[Sandbox], None]
):
    sandboxes = WithSpare(forks, spoil)
    assert run(lesson, CODE, sandboxes)[0].passed
    assert sandboxes.spares and not sandboxes.open


def test_an_endless_loop_of_either_ends_the_run_as_with_one_sandbox(lesson: Lesson, forks: Forks):
    for endless in ("return 4", "return 2"):
        code = CODE.replace(endless, f"{SLOW} {endless[-1]}")
        report = run(lesson, code, WithSpare(forks))[0]
        statuses = {check.name: check.status for check in report.checks}
        first = "fourth" if endless == "return 4" else "second"
        names = [check["name"] for check in CHECKS]
        assert statuses[first] == "error"
        assert all(statuses[name] == "pass" for name in names[: names.index(first)])
        assert all(statuses[name] == "skipped" for name in names[names.index(first) + 1 :])


def test_what_the_second_still_does_at_the_end_is_stopped(lesson: Lesson, forks: Forks):
    """The first has failed meanwhile, and its failure is the result."""
    endless = CODE.replace("return 4", f"{SLOW} 4")
    ends = "import os, signal\n    os.kill(os.getpid(), 9)\n    return 1"
    sandboxes = WithSpare(forks)
    report, _ = run(lesson, endless.replace("return 1", ends), sandboxes)
    assert [check.status for check in report.checks] == ["error", *4 * ["skipped"]]
    assert not sandboxes.open


def test_stopping_stops_both(lesson: Lesson, forks: Forks):
    sandboxes, cancel = WithSpare(forks), Cancel()
    code = CODE.replace("return", f"{SLOW}")
    ended = threading.Event()

    def check() -> None:
        with (
            Session(lesson, code, cancel=cancel, sandboxes=sandboxes) as session,
            pytest.raises(Cancelled),
        ):
            session.check()
        ended.set()

    threading.Thread(target=check).start()
    until(lambda: bool(sandboxes.spares), "the second sandbox")
    cancel.cancel()
    until(ended.is_set, "the end of the run")
    assert not sandboxes.open
    assert not any(thread.name == "helper" for thread in threading.enumerate())
