"""Neither results that are known from an earlier run, nor a second sandbox, change a verdict.

Each lesson's solution is run, and then edits of it: wrong ones (mutants), the lesson's mistakes,
and right ones (variants). Every edit is checked twice: as the app does after the solution, and
whole, in one sandbox. An ordinary run tries one lesson and four of its edits; `make proofs` tries
all lessons and six edits of each.
"""

from hashlib import sha256

import pytest

from tests.conftest import course
from tests.course.sample import Sample, sample_of
from tests.engine.spare import WithSpare
from tutor.authoring.mutate import mutants
from tutor.check import Check
from tutor.engine.sandboxes import Sandboxes
from tutor.engine.session import Session
from tutor.engine.unchanged import PassedChecks, Remembered, nothing
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.report import CheckResult, Report

PACK = course()
LESSONS = [one for one in PACK.lessons.values() if PACK.solution(one.id) is not None]
RUNS = 62
"""In how many consecutive commits each lesson has its turn."""
EDITS, PROOF_EDITS = 4, 6


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    now = sample_of(metafunc.config)
    everything = metafunc.config.getoption("proofs")
    chosen = LESSONS if everything else now.of(LESSONS, lambda lesson: lesson.id, runs=RUNS)
    metafunc.parametrize("lesson", chosen, ids=lambda lesson: lesson.id)


def edits(lesson: Lesson, code: str, chosen: Sample, number: int) -> dict[str, str]:
    """Return edits of a solution by name: a half of them mutants, the others with a verdict that
    the pack knows."""
    wrong = {f"mutant {one.name}": one.code for one in mutants(code)}
    known = {f"mistake {one.name}": one.applied_to(code) for one in lesson.mistakes}
    known |= {f"variant {path.stem}": path.read_text("utf-8") for path in PACK.variants(lesson.id)}

    def some(all_of_them: dict[str, str]) -> dict[str, str]:
        order = {name: sha256(f"{chosen.commit} {name}".encode()).digest() for name in all_of_them}
        return {name: all_of_them[name] for name in sorted(order, key=order.get)[: number // 2]}

    return some(wrong) | some(known)


def check(
    lesson: Lesson, code: str, seed: int, sandboxes: Sandboxes, remembered: Remembered = nothing
) -> Report:
    with Session(lesson, code, sandboxes=sandboxes) as session:
        return session.check(seed, remembered=remembered)


def statuses(report: Report) -> list[str]:
    fault = [f"fault: {report.fault.code}"] if report.fault is not None else []
    return [*fault, *(f"{one.name}: {one.status}" for one in report.checks)]


def test_an_edit_has_the_verdict_of_a_whole_run(
    lesson: Lesson, chosen: Sample, forks: Forks, pytestconfig: pytest.Config
):
    passed = PassedChecks()
    solution = PACK.solution(lesson.id)
    assert solution is not None
    report = check(lesson, solution, chosen.seed, WithSpare(forks))
    assert report.passed, statuses(report)
    passed.add(lesson, solution, chosen.seed, report)
    number = PROOF_EDITS if pytestconfig.getoption("proofs") else EDITS
    for name, code in edits(lesson, solution, chosen, number).items():
        known: list[str] = []
        remember = passed.of(lesson, code, chosen.seed)

        def remembered(
            one: Check, remember: Remembered = remember, known: list[str] = known
        ) -> CheckResult | None:
            found = remember(one)
            known += [one.title] if found is not None else []
            return found

        short = check(lesson, code, chosen.seed, WithSpare(forks), remembered)
        whole = check(lesson, code, chosen.seed, forks)
        assert statuses(short) == statuses(whole), f"{name}: known were {known}"
