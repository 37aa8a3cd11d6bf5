"""Every lesson of the course, in real sandboxes.

An ordinary run tries a sample (see `sample.py`): an eighth of the solutions, a sixteenth of the
starters and a hundredth of the other answers, under one seed. `make proofs` tries all. `make
course` proves lessons under twenty seeds, and here every proof must be current.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest
from msgspec.structs import replace

from tests.cases import all_cases, for_each
from tests.conftest import SHARED_CACHE, course
from tests.course.sample import RUNS, SOLUTION_RUNS, STARTER_RUNS, Sample, sample_of
from tests.stopwatch import GUARD
from tutor.authoring.examples import mismatches
from tutor.authoring.expected import remarks_on_expected
from tutor.authoring.lint import lint
from tutor.authoring.proofs import SEEDS, Proof, command, read_proofs, state
from tutor.authoring.trial import Trial, attempt, judged, learn, trials
from tutor.authoring.trial_output import outcome_text
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.pool.pool import Pool
from tutor.report import Report
from tutor.sandbox import launch

PACK = course()
LESSONS = list(PACK.lessons.values())

each_lesson = for_each("lesson", LESSONS, ids=lambda lesson: lesson.id)


def solution(lesson: Lesson) -> str:
    text = PACK.solution(lesson.id)
    assert text is not None
    return text


def all_trials(seed: int) -> Iterator[Trial]:
    """Yield all trials under one seed, and those of solutions under many as kind `solution`."""
    for lesson in LESSONS:
        found, _ = trials(PACK, lesson, (seed,), with_variants=True)  # the others lint names
        yield from (trial for trial in found if trial.kind not in ("solution", "starter"))
        yield Trial(lesson, "solution", "many seeds", solution(lesson), tuple(range(SEEDS)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    now = sample_of(metafunc.config)
    everything = metafunc.config.getoption("proofs")
    if "trial" in metafunc.fixturenames:
        items = list(all_trials(now.seed))
        chosen = items if everything else now.of(items, name_of, lambda trial: trial.kind)
        metafunc.parametrize("trial", chosen, ids=name_of)
    elif metafunc.function in SAMPLED:
        place, runs = metafunc.function.__name__, SAMPLED[metafunc.function]
        sampled = now.of(LESSONS, lambda lesson: f"{place} {lesson.id}", runs=runs)
        chosen_lessons = LESSONS if everything else sampled
        metafunc.parametrize("lesson", chosen_lessons, ids=lambda lesson: lesson.id)


def name_of(trial: Trial) -> str:
    return f"{trial.lesson.id}-{trial.kind}-{trial.name}"


def problems(report: Report) -> str:
    lines = [f"{r.status} {r.name}: {r.message}" for r in report.checks if r.status != "pass"]
    fault = f"{report.fault.code}: {report.fault.message}" if report.fault else ""
    return "\n".join([f"{report.lesson}, seed {report.seed}: {report.verdict} {fault}", *lines])


# --- every lesson, in every run --------------------------------------------------------------


DECIDING = {"value", "learns", "train_step", "distribution", "predict"}


@each_lesson
def test_a_lesson_is_complete(lesson: Lesson):
    assert len(lesson.hints) == 3
    assert len(lesson.mistakes) >= 5
    assert len(PACK.variants(lesson.id)) >= (2 if asks(lesson) else 4)
    assert lesson.sources
    assert re.search(r"^### (\d\.? )?(Write|Repair|Predict|Extend)", lesson.brief, re.MULTILINE)
    assert {check.kind for check in lesson.checks} & DECIDING


@pytest.mark.parametrize("track", {lesson.track: None for lesson in LESSONS})
def test_the_examples_give_what_the_text_shows(track: str, forks: Forks):
    with forks.reference() as sandbox, all_cases() as case:
        sandbox.ready()
        for lesson in LESSONS:
            if lesson.track == track:
                with case(lesson.id):
                    assert mismatches(lesson, sandbox) == []


def test_lint_has_nothing_to_say():
    found = lint(PACK.root)
    remarks = [one for one in found.remarks if one.code not in ("stale-proof", "unproven")]
    assert found.lessons and not (found.problems or remarks), [*found.problems, *remarks]


@cache
def proofs() -> dict[str, Proof]:
    return read_proofs(PACK.root)


@each_lesson
def test_the_proof_is_current(lesson: Lesson):
    found = state(PACK, lesson.id, proofs())
    assert found == "current", f"{found}; run: .venv/bin/{command(PACK.root, lesson.id)}"


# --- a sample, or everything -----------------------------------------------------------------


def test_the_solution_passes_and_warns_of_nothing(lesson: Lesson, chosen: Sample, forks: Forks):
    outcome = attempt(
        Trial(lesson, "solution", "solution", solution(lesson), (chosen.seed,)), forks
    )
    assert outcome.holds, outcome_text(outcome)


def test_the_starter_does_not_pass_and_says_what_to_write(
    lesson: Lesson, chosen: Sample, forks: Forks
):
    if lesson.starter_fails:  # it is code to be fixed
        outcome = attempt(
            Trial(lesson, "starter", "starter", lesson.starter, (chosen.seed,)), forks
        )
        assert outcome.holds, outcome_text(outcome)
        return
    with Session(lesson, lesson.starter, sandboxes=forks) as session:
        report = session.check(chosen.seed)
    if asks(lesson):
        assert report.verdict == "fail", problems(report)
        assert all("not answered" in check.message for check in report.checks)
        return
    assert report.verdict == "error", problems(report)
    first = next(r for r in report.checks if r.status != "pass" and r.kind != "predict")
    assert first.fault is not None
    assert first.fault.code == "not-written"


def asks(lesson: Lesson) -> bool:
    """Return whether a lesson consists of questions."""
    return all(check.kind == "predict" for check in lesson.checks)


def test_an_answer_is_judged_right(trial: Trial, pytestconfig: pytest.Config, forks: Forks):
    """Variants pass, mistakes are caught where and as promised, answers that do no work fail."""
    if pytestconfig.getoption("proofs"):  # for a few trials of a lesson it takes longer
        learn(forks, trial.lesson, solution(trial.lesson))
    outcome = attempt(trial, forks)
    assert outcome.holds, outcome_text(outcome)


def test_how_well_xla_optimises_decides_nothing(
    lesson: Lesson, chosen: Sample, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(launch, "QUICK_FLAGS", ())
    # Optimising takes longer than the limit is meant for.
    patient = replace(lesson, limits=replace(lesson.limits, seconds=3 * lesson.limits.seconds))
    with Session(patient, solution(lesson), sandboxes=forks) as session:
        report = session.check(chosen.seed)
    assert report.passed, problems(report)


def test_lint_has_nothing_to_say_about_what_pytorch_gives(lesson: Lesson, forks: Forks):
    remarks = remarks_on_expected(lesson, SHARED_CACHE / "references", forks.reference)
    assert [*remarks] == []


def test_a_sandbox_that_was_waiting_judges_the_same(lesson: Lesson, chosen: Sample):
    """A variant passes and a mistake fails, whatever was run in the sandbox before."""
    right = PACK.variants(lesson.id)[-1].read_text("utf-8")
    mistake = lesson.mistakes[-1]
    code = mistake.applied_to(solution(lesson))
    wrong = Trial(lesson, "mistake", mistake.name, code, (chosen.seed,), mistake)
    with Pool() as pool:

        def waited_for(code: str) -> Report:
            pool.expect([(lesson, [solution(lesson)])])
            assert pool.ready(lesson, GUARD)
            with Session(lesson, code, sandboxes=pool) as session:
                return session.check(chosen.seed)

        assert (report := waited_for(right)).passed, problems(report)
        assert not report.stderr, report.stderr
        assert judged(wrong, waited_for(code)) is None


SAMPLED = {
    test_the_solution_passes_and_warns_of_nothing: SOLUTION_RUNS,
    test_the_starter_does_not_pass_and_says_what_to_write: STARTER_RUNS,
    test_how_well_xla_optimises_decides_nothing: RUNS,
    test_lint_has_nothing_to_say_about_what_pytorch_gives: RUNS,
    test_a_sandbox_that_was_waiting_judges_the_same: RUNS,
}
"""In how many consecutive commits each lesson has its turn."""
