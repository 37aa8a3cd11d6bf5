"""One run at a time, always of the newest code."""

import threading
from collections.abc import Iterator

import pytest

from tests.stopwatch import GUARD
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
    def boom(*arguments: object) -> None:
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
