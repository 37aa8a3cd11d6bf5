"""A pack that was written from the documentation alone: `raises`, `program` on a scan,
`distribution` of dropout masks, questions, code to be fixed, and data of its own."""

from functools import partial
from pathlib import Path

import pytest

from tests.conftest import MINI
from tests.course.sample import sample_of
from tutor.authoring.lint import lint
from tutor.authoring.proofs import read_proofs, state
from tutor.authoring.trial import attempt, trials
from tutor.check import Check
from tutor.engine.references import SPEC
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.sandbox.process import Sandbox

ROOT = MINI.parents[1] / "workshop" / "lessons"
PACK = load_pack(ROOT)
STRONG = 0.95


def test_lint_has_nothing_to_say() -> None:
    found = lint(ROOT)
    assert found.problems == ()
    assert found.remarks == ()


@pytest.mark.proof
def test_lint_has_nothing_to_say_about_what_pytorch_gives(home: Path) -> None:
    assert lint(ROOT, partial(Sandbox.start, SPEC)).remarks == ()


def test_the_pack_uses_what_it_is_there_for() -> None:
    lessons = PACK.lessons.values()
    checks: list[Check] = [check for lesson in lessons for check in lesson.checks]
    kinds = {check.kind for check in checks}
    assert {"raises", "program", "distribution", "predict", "learns"} <= kinds
    assert any(lesson.starter_fails for lesson in lessons)
    assert any(one.file for lesson in lessons for one in lesson.data.values())


@pytest.mark.parametrize("lesson", PACK.lessons)
def test_it_is_proved(lesson: str) -> None:
    proofs = read_proofs(ROOT)
    assert state(PACK, lesson, proofs) == "current"
    assert proofs[lesson].killed >= STRONG * proofs[lesson].mutants


def hold(lesson: str, kinds: set[str], forks: Forks) -> None:
    found, broken = trials(PACK, PACK.lesson(lesson), (0,), with_variants=True)
    assert not broken
    tried = [trial for trial in found if trial.kind in kinds]
    assert {trial.kind for trial in tried} == kinds
    for trial in tried:
        outcome = attempt(trial, forks)
        assert outcome.holds, outcome


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try the pack's answers in one of any four consecutive commits, as in the course."""
    if metafunc.function is test_the_solution_passes_and_the_starter_does_not:
        everything = metafunc.config.getoption("proofs")
        sampled = sample_of(metafunc.config).of(PACK.lessons, str, runs=4)
        metafunc.parametrize("lesson", list(PACK.lessons) if everything else sampled)


def test_the_solution_passes_and_the_starter_does_not(lesson: str, forks: Forks) -> None:
    hold(lesson, {"solution", "starter"}, forks)


@pytest.mark.proof
@pytest.mark.parametrize("lesson", PACK.lessons)
def test_every_answer_gets_its_result(lesson: str, forks: Forks) -> None:
    hold(lesson, {"variant", "mistake", "idle"}, forks)
