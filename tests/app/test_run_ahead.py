"""Code is checked while the learner pauses; nothing of it shows until they ask."""

import pytest

from tests.app.conftest import Driver, Start
from tests.sandbox.test_zygote import DOUBLE
from tutor.engine.background import RunFinished, Runner
from tutor.learner.settings import Settings
from tutor.manifest import Pack
from tutor.ui import run_ahead

WRONG = "def double(x):\n    return 3 * x\n"


async def opened(driver: Driver) -> None:
    await driver.open()
    await driver.until(
        lambda: (p := driver.app.desk.pool) is not None and p.ready(driver.lesson.lesson, 0),
        "a sandbox that waits",
    )


def verdict(driver: Driver) -> str | None:
    """Return the verdict of the run ahead, if there is one."""
    job = driver.app.desk.runner._ahead
    if job is None:
        return None
    last = job.events[-1]
    assert isinstance(last, RunFinished)
    return last.report.verdict


async def test_a_pause_runs_the_code_and_shows_nothing(start: Start, patient: Pack):
    async with start(pack=patient, warm=True) as driver:
        await opened(driver)
        before = driver.results.border_title
        await driver.write(WRONG)
        shown = driver.text
        await driver.until(lambda: verdict(driver) == "fail", "a run ahead")
        await driver.pilot.pause()
        assert driver.text == shown
        assert driver.results.report is None
        assert driver.results.border_title == before
        desk = driver.app.desk
        assert not desk.progress.attempts(desk.pack.id, "double")
        assert not desk.progress.history.attempts(desk.pack.id, "double")


async def test_who_asks_then_gets_it_and_it_counts_once(start: Start, patient: Pack):
    async with start(pack=patient, warm=True) as driver:
        await opened(driver)
        await driver.write(DOUBLE)
        await driver.until(lambda: verdict(driver) == "pass", "a run ahead")
        await driver.press("run")
        assert driver.app.desk.runner._ahead is None  # what is shown is what was known
        await driver.until(lambda: driver.results.report is not None, "a report")
        assert driver.results.report is not None
        assert driver.results.report.passed
        desk = driver.app.desk
        assert desk.progress.attempts(desk.pack.id, "double") == 1
        await driver.until(
            lambda: (
                driver.results.report is not None and driver.results.report.timings.race is not None
            ),
            "the race",
        )


async def test_what_was_edited_since_is_run_anew(start: Start, patient: Pack):
    async with start(pack=patient, warm=True) as driver:
        await opened(driver)
        await driver.write(WRONG)
        await driver.until(lambda: verdict(driver) == "fail", "a run ahead")
        await driver.write(DOUBLE)
        await driver.check()
        assert driver.results.report is not None
        assert driver.results.report.passed


async def running_ahead(driver: Driver) -> Runner:
    """Open a lesson, and type code that runs ahead without end."""
    await opened(driver)
    await driver.write("while True: pass\n")
    runner = driver.app.desk.runner
    assert runner is not None
    await driver.until(lambda: runner._current is not None, "a run ahead")
    return runner


async def test_typing_on_stops_what_runs_ahead(start: Start, patient: Pack):
    async with start(pack=patient, warm=True) as driver:
        runner = await running_ahead(driver)
        await driver.write("def double(x:\n")
        await driver.until(lambda: runner._current is None, "its end")


async def test_an_unfinished_line_and_the_starter_are_not_run(
    start: Start, patient: Pack, monkeypatch: pytest.MonkeyPatch
):
    async with start(pack=patient, warm=True) as driver:
        await opened(driver)
        asked: list[str] = []
        runner = driver.app.desk.runner
        monkeypatch.setattr(runner, "run_ahead", lambda lesson, code: asked.append(code) or True)
        await driver.write("def double(x:\n")
        driver.lesson._ahead._run()
        await driver.write(driver.lesson.lesson.starter)
        driver.lesson._ahead._run()
        assert not asked
        await driver.write(DOUBLE)
        driver.lesson._ahead._run()
        driver.lesson._ahead._run()  # known by now
        assert asked == [DOUBLE]


async def test_leaving_the_lesson_stops_it(start: Start, patient: Pack):
    async with start(pack=patient, warm=True) as driver:
        runner = await running_ahead(driver)
        await driver.press("course")
        await driver.until(lambda: runner._current is None, "its end")


def test_the_learner_can_switch_it_off_and_on():
    settings = Settings()
    assert run_ahead.wanted(settings)
    assert not run_ahead.switch(settings)
    assert not run_ahead.wanted(settings)
    assert run_ahead.switch(settings)
    assert run_ahead.wanted(settings)
