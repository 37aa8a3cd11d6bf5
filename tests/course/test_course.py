"""Every lesson of the course: what is right passes, what is wrong is caught and named.

Real sandboxes, real PyTorch, real JAX. An ordinary run takes a few of the seeds for every answer,
others for each; `make seeds` takes all of them for all.
"""

from pathlib import Path

import pytest

from tutor.engine import Session, run
from tutor.forks import Forks
from tutor.lesson import Lesson, Mistake, solution_folders
from tutor.pack import load_pack
from tutor.report import CheckResult, Report
from tutor.warm import Pool

SEEDS = 20
PACK = load_pack()
LESSONS = list(PACK.lessons.values())


def folder(lesson: Lesson) -> Path:
    """Where the solutions of a lesson's track are."""
    return next(f for f in solution_folders(PACK.root) if f.is_dir()) / lesson.track


def others(lesson: Lesson) -> list[Path]:
    """Right answers in other styles."""
    return sorted((folder(lesson) / lesson.id).glob("*.py"))


MISTAKES = [
    pytest.param(lesson, mistake, number, id=f"{lesson.id}-{mistake.name}")
    for lesson in LESSONS
    for number, mistake in enumerate(lesson.mistakes)
]
RIGHT = [
    pytest.param(lesson, path, number, id=f"{lesson.id}-{path.stem}")
    for lesson in LESSONS
    for number, path in enumerate([folder(lesson) / f"{lesson.id}.py", *others(lesson)])
]


def seeds(number: int, config: pytest.Config, least: int = 1) -> list[int]:
    """Which seeds to check answer `number` under."""
    count: int = max(least, config.getoption("seeds"))
    return [(number * count + k) % SEEDS for k in range(min(count, SEEDS))]


def problems(report: Report) -> str:
    """What did not pass, for the message of a failed test."""
    lines = [f"{r.status} {r.name}: {r.message}" for r in report.checks if r.status != "pass"]
    fault = f"{report.fault.code}: {report.fault.message}" if report.fault else ""
    return "\n".join([f"{report.lesson}, seed {report.seed}: {report.verdict} {fault}", *lines])


@pytest.fixture(autouse=True)
def learned(request: pytest.FixtureRequest, forks: Forks) -> None:
    lesson = getattr(request.node, "callspec", None) and request.getfixturevalue("lesson")
    if lesson and (solution := PACK.solution(lesson.id)):
        forks.learn(lesson, solution)


@pytest.mark.parametrize(("lesson", "path", "number"), RIGHT)
def test_a_right_answer_passes_under_every_seed(
    lesson: Lesson, path: Path, number: int, pytestconfig: pytest.Config, forks: Forks
):
    with Session(lesson, path.read_text(encoding="utf-8"), sandboxes=forks) as session:
        for seed in seeds(number, pytestconfig):
            report = session.check(seed)
            assert report.passed, problems(report)
            assert not report.stderr, report.stderr


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_how_well_xla_optimises_decides_nothing(
    lesson: Lesson, pytestconfig: pytest.Config, forks: Forks
):
    usual = not any(check.optimised for check in lesson.checks)
    paths = [folder(lesson) / f"{lesson.id}.py", *others(lesson)]
    count = pytestconfig.getoption("seeds")  # of answers here
    for number, path in enumerate(paths[:count]):
        code = path.read_text(encoding="utf-8")
        with Session(lesson, code, quick=not usual, sandboxes=forks) as session:
            report = session.check(10 + number)
            assert report.passed, problems(report)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_the_starter_does_not_pass_and_says_what_to_write(lesson: Lesson):
    report = run(lesson, lesson.starter)
    assert report.verdict == "error", problems(report)
    first = next(r for r in report.checks if r.status != "pass")
    assert first.fault is not None
    assert first.fault.code == "not-written"


@pytest.mark.parametrize(("lesson", "mistake", "number"), MISTAKES)
def test_a_mistake_is_caught_where_and_in_the_words_promised(
    lesson: Lesson, mistake: Mistake, number: int, pytestconfig: pytest.Config, forks: Forks
):
    solution = PACK.solution(lesson.id)
    assert solution is not None
    with Session(lesson, mistake.applied_to(solution), sandboxes=forks) as session:
        # Two at least: what is promised may hold for one draw of sizes and noise only.
        for seed in seeds(number, pytestconfig, least=2):
            report = session.check(seed)
            assert report.verdict in ("fail", "error"), problems(report)
            told = caught(report, mistake)
            for words in mistake.promised:
                assert words in told, f"{words!r} is not in:\n{told}\n{problems(report)}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_sandbox_that_was_waiting_judges_the_same(lesson: Lesson):
    """What was run in it before decides nothing."""
    solution = PACK.solution(lesson.id)
    assert solution is not None
    right = [path.read_text(encoding="utf-8") for path in others(lesson)[-1:]]
    mistake = lesson.mistakes[-1]
    with Pool() as pool:

        def judged(code: str) -> Report:
            pool.expect([(lesson, solution)])
            assert pool.ready(lesson, 120)
            with Session(lesson, code, sandboxes=pool) as session:
                return session.check()

        for code in right:
            assert (report := judged(code)).passed, problems(report)
            assert not report.stderr, report.stderr
        report = judged(mistake.applied_to(solution))
        assert report.verdict in ("fail", "error"), problems(report)
        told = caught(report, mistake)
        assert all(words in told for words in mistake.promised), told


def caught(report: Report, mistake: Mistake) -> str:
    """What the learner is told by the first check that does not pass, which must be the one that
    the mistake names."""
    if mistake.fails == "load":
        assert report.fault is not None, problems(report)
        return f"{report.fault.message}\n{report.fault.detail}"
    assert report.fault is None, problems(report)
    first = next(r for r in report.checks if r.status in ("fail", "error"))
    assert mistake.fails in (first.name, first.kind), problems(report)
    return words_of(first)


def words_of(result: CheckResult) -> str:
    detail = result.fault.detail if result.fault is not None else ""
    return f"{result.message}\n{detail}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_lesson_is_complete(lesson: Lesson):
    assert len(lesson.hints) == 3
    assert len(lesson.mistakes) >= 5
    assert len(others(lesson)) >= 3
    assert lesson.sources
    assert "### Write" in lesson.brief
    assert {check.kind for check in lesson.checks} & {"value", "train_step"}


def test_the_data_parallel_lesson_trains_on_four_devices_in_time():
    lesson = PACK.lesson("pmap-train-mlp")
    solution = PACK.solution(lesson.id)
    assert solution is not None
    report = run(lesson, solution)
    assert report.passed, problems(report)
    assert report.devices == "4 simulated CPU devices"
    accuracy = report.checks[-1].notes[0]
    assert float(accuracy.split()[1]) >= 0.94
    assert report.timings.total < 60
