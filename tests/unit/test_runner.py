"""One run at a time, always of the newest code."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from tests.stopwatch import GUARD, until
from tutor.engine.background import (
    CheckFinished,
    RaceFinished,
    ReferenceNeeded,
    RunEvent,
    RunFinished,
    Runner,
    RunStopped,
)
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.pool.priming import give
from tutor.report import Report
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Cancelled, Sandbox

DOUBLE = "def double(x):\n    return 2 * x\n"
ENDLESS = "while True: pass\n"


class Ear:
    """Hears, and lets tests wait for what they want to hear."""

    def __init__(self) -> None:
        self.news: list[RunEvent] = []
        self._change = threading.Condition()

    def __call__(self, news: RunEvent) -> None:
        with self._change:
            self.news.append(news)
            self._change.notify_all()

    def until(self, kind: type[RunEvent], number: int) -> RunEvent:
        def found() -> RunEvent | None:
            return next((n for n in self.news if type(n) is kind and n.number == number), None)

        with self._change:
            news = self._change.wait_for(found, GUARD)
        assert news is not None, self.news
        return news

    def numbers(self, kind: type[RunEvent]) -> list[int]:
        return [news.number for news in self.news if type(news) is kind]


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture
def runner(forks: Forks) -> Iterator[Runner]:
    runner = Runner(forks)
    yield runner
    runner.close()


def test_a_pass_is_told_before_it_is_timed(runner: Runner, lesson: Lesson):
    ear = Ear()
    number = runner.run(lesson, DOUBLE, ear)
    timed = ear.until(RaceFinished, number)
    assert isinstance(timed, RaceFinished)
    assert timed.report.timings.race is not None
    kinds = [type(news) for news in ear.news if type(news) is not ReferenceNeeded]
    assert kinds == [CheckFinished, CheckFinished, RunFinished, RaceFinished]
    judged = ear.until(RunFinished, number)
    assert isinstance(judged, RunFinished)
    assert judged.report.passed
    assert judged.report.timings.race is None


def test_of_a_burst_only_the_last_is_run(
    runner: Runner, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    begun: list[str] = []
    check = Session.check

    def counted(self: Session, *arguments: object, **named: object) -> object:
        begun.append(self.code)
        return check(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "check", counted)
    ear = Ear()
    codes = [ENDLESS, *(f"# {number}\n{ENDLESS}" for number in range(20)), DOUBLE]
    numbers = [runner.run(lesson, code, ear) for code in codes]
    assert numbers == sorted(set(numbers))
    judged = ear.until(RunFinished, numbers[-1])
    assert isinstance(judged, RunFinished)
    assert judged.report.passed
    assert ear.numbers(RunFinished) == [numbers[-1]]
    assert begun[-1] == DOUBLE
    # The first may have begun, and those that came in the moment before it was stopped.
    assert len(begun) <= 4


def test_the_same_again_is_the_same_run(runner: Runner, lesson: Lesson):
    ear = Ear()
    first = runner.run(lesson, DOUBLE, ear)
    assert runner.run(lesson, DOUBLE, ear) == first
    ear.until(RaceFinished, first)
    second = runner.run(lesson, DOUBLE, ear)  # a verdict may be asked for again
    assert second != first
    ear.until(RunFinished, second)


def test_stopped_and_started_again(runner: Runner, lesson: Lesson):
    ear = Ear()
    first = runner.run(lesson, ENDLESS, ear)
    runner.stop(first)
    second = runner.run(lesson, ENDLESS, ear)
    assert second != first
    runner.stop()
    third = runner.run(lesson, DOUBLE, ear)
    ear.until(RunFinished, third)
    assert ear.numbers(RunFinished) == [third]


def test_stopping_is_told(runner: Runner, lesson: Lesson):
    ear = Ear()
    first = runner.run(lesson, ENDLESS, ear)
    runner.stop()
    ear.until(RunStopped, first)
    runner.stop()  # nothing is going on
    runner.stop(first)


def test_stopping_an_old_run_leaves_the_new_one(runner: Runner, lesson: Lesson):
    ear = Ear()
    first = runner.run(lesson, ENDLESS, ear)
    second = runner.run(lesson, DOUBLE, ear)
    runner.stop(first)
    ear.until(RunFinished, second)


def test_our_own_failure_is_told_as_ours_and_the_next_run_goes_on(
    runner: Runner, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    def boom(*arguments: object, **named: object) -> None:
        raise RuntimeError("on purpose")

    ear = Ear()
    with monkeypatch.context() as patch:
        patch.setattr(Session, "check", boom)
        number = runner.run(lesson, DOUBLE, ear)
        judged = ear.until(RunFinished, number)
    assert isinstance(judged, RunFinished)
    assert judged.report.verdict == "internal"
    assert judged.report.fault is not None
    assert "RuntimeError: on purpose" in judged.report.fault.message
    ear.until(RunFinished, runner.run(lesson, DOUBLE, ear))


def test_closing_in_the_middle_leaves_nothing(forks: Forks, lesson: Lesson):
    from tests.sandbox.processes import children

    runner = Runner(forks)
    ear = Ear()
    runner.run(lesson, ENDLESS, ear)
    runner.close()
    assert not children()


def test_the_result_of_a_run_ahead_is_reported_at_once(runner: Runner, lesson: Lesson):
    ahead = _run_ahead(runner, lesson, DOUBLE)
    ear = Ear()
    number = runner.run(lesson, DOUBLE, ear)
    kinds = [type(news) for news in ear.news if type(news) is not ReferenceNeeded]
    assert kinds == [CheckFinished, CheckFinished, RunFinished]
    assert ear.numbers(RunFinished) == [number]
    timed = ear.until(RaceFinished, number)
    assert isinstance(timed, RaceFinished)
    assert timed.report.timings.race is not None
    # The same as for a run that was asked for.
    again = Ear()
    second = runner.run(lesson, DOUBLE, again)
    assert second != number
    judged = again.until(RunFinished, second)
    assert isinstance(judged, RunFinished)
    assert [check.status for check in judged.report.checks] == [
        check.status for check in ahead.checks
    ]


def test_a_run_ahead_can_be_joined(runner: Runner, lesson: Lesson):
    assert runner.run_ahead(lesson, ENDLESS)
    ear = Ear()
    number = runner.run(lesson, ENDLESS, ear)
    assert runner.run(lesson, ENDLESS, ear) == number
    runner.stop(number)
    ear.until(RunStopped, number)


def test_other_code_replaces_a_run_ahead(runner: Runner, lesson: Lesson):
    assert runner.run_ahead(lesson, ENDLESS)
    assert runner.run_ahead(lesson, f"# edited\n{ENDLESS}")
    ear = Ear()
    number = runner.run(lesson, DOUBLE, ear)
    judged = ear.until(RunFinished, number)
    assert isinstance(judged, RunFinished)
    assert judged.report.passed


def test_a_run_ahead_of_an_edited_lesson_is_run_again(runner: Runner, lesson: Lesson):
    _run_ahead(runner, lesson, DOUBLE)
    edited = replace(lesson, title="Edited by its author")
    ear = Ear()
    number = runner.run(edited, DOUBLE, ear)
    assert not ear.numbers(RunFinished)
    ear.until(RunFinished, number)


def test_a_run_ahead_can_be_forgotten(runner: Runner, lesson: Lesson):
    _run_ahead(runner, lesson, DOUBLE)
    runner.forget_ahead()
    ear = Ear()
    runner.run(lesson, DOUBLE, ear)
    assert not ear.numbers(RunFinished)
    runner.stop()
    until(lambda: runner.run_ahead(lesson, ENDLESS), "the end of the run that was asked for")
    runner.forget_ahead()
    until(lambda: runner._current is None and runner._next is None)


def test_a_run_ahead_never_stops_one_that_was_asked_for(runner: Runner, lesson: Lesson):
    ear = Ear()
    number = runner.run(lesson, ENDLESS, ear)
    assert not runner.run_ahead(lesson, DOUBLE)
    runner.stop(number)
    ear.until(RunStopped, number)


def test_what_failed_through_no_fault_of_the_code_is_run_again(
    runner: Runner, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    def broken(*arguments: object, **named: object) -> object:
        raise OSError("no more processes")

    with monkeypatch.context() as patched:
        patched.setattr(Session, "check", broken)
        assert runner.run_ahead(lesson, DOUBLE)
        until(lambda: runner._current is None and runner._next is None)
    ear = Ear()
    judged = ear.until(RunFinished, runner.run(lesson, DOUBLE, ear))
    assert isinstance(judged, RunFinished)
    assert judged.report.passed


def test_a_stop_after_the_verdict_leaves_what_was_compiled_to_be_kept(
    lesson: Lesson, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    taken: list[Sandbox] = []
    take = Forks.take

    def noted(self: Forks, *arguments: Any) -> Sandbox:
        taken.append(take(self, *arguments))
        return taken[-1]

    answers: list[bool] = []

    def on_report(*_: object) -> None:
        for thread in threading.enumerate():
            if thread.name == "cancel":
                thread.join()
        try:
            give(taken[-1], {}, Allowance(GUARD))
        except Cancelled:
            answers.append(False)
        else:
            answers.append(True)

    monkeypatch.setattr(Forks, "take", noted)
    runner = Runner(forks, on_report)
    ear = Ear()

    def stop_at_once(event: RunEvent) -> None:
        if isinstance(event, RunFinished):
            runner.stop(event.number)
        ear(event)

    number = runner.run(lesson, DOUBLE, stop_at_once)
    ear.until(RunFinished, number)
    until(lambda: runner._current is None)
    assert answers == [True]
    assert not taken[-1].alive
    assert not ear.numbers(RaceFinished)
    runner.close()


def _run_ahead(runner: Runner, lesson: Lesson, code: str) -> Report:
    assert runner.run_ahead(lesson, code)
    until(lambda: runner._ahead is not None)
    assert runner._ahead is not None
    last = runner._ahead.events[-1]
    assert isinstance(last, RunFinished)
    return last.report
