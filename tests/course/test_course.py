"""Every lesson of the course: what is right passes, what is wrong is caught and named.

Real sandboxes, real PyTorch, real JAX. An ordinary run takes one seed for every answer, another for
each, of a mistake only the check that must catch it, and a lesson or two for what should be the
same in all. `make seeds` takes every seed, every check and every lesson.
"""

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from msgspec.structs import replace

from tests.conftest import SHARED_CACHE
from tutor.authoring.trial import Trial, attempt, judged, learn
from tutor.authoring.trial_output import told
from tutor.checks.value import Value
from tutor.engine.session import Session
from tutor.inputs.draws import parse
from tutor.lesson import Lesson, Mistake
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.pool.pool import Pool
from tutor.report import Report

SEEDS = 20
PACK = load_pack()
LESSONS = list(PACK.lessons.values())


def solution(lesson: Lesson) -> str:
    """The course's own answer."""
    text = PACK.solution(lesson.id)
    assert text is not None
    return text


def answers(lesson: Lesson) -> list[tuple[str, str]]:
    """Right answers by name: the solution, and those in other styles."""
    paths = PACK.variants(lesson.id)
    return [("solution", solution(lesson)), *((p.stem, p.read_text("utf-8")) for p in paths)]


MISTAKES = [
    pytest.param(lesson, mistake, number, id=f"{lesson.id}-{mistake.name}")
    for lesson in LESSONS
    for number, mistake in enumerate(lesson.mistakes)
]
RIGHT = [
    pytest.param(lesson, code, number, id=f"{lesson.id}-{name}")
    for lesson in LESSONS
    for number, (name, code) in enumerate(answers(lesson))
]


SAMPLE = ("vmap-basics", "jit-whole-step")
"""Of these an ordinary run tries what does not depend on the lesson. They are quick."""


def seeds(number: int, config: pytest.Config) -> tuple[int, ...]:
    """Which seeds to check answer `number` under."""
    count: int = config.getoption("seeds")
    return tuple((number * count + k) % SEEDS for k in range(min(count, SEEDS)))


def problems(report: Report) -> str:
    """What did not pass, for the message of a failed test."""
    lines = [f"{r.status} {r.name}: {r.message}" for r in report.checks if r.status != "pass"]
    fault = f"{report.fault.code}: {report.fault.message}" if report.fault else ""
    return "\n".join([f"{report.lesson}, seed {report.seed}: {report.verdict} {fault}", *lines])


@pytest.fixture(autouse=True)
def learned(request: pytest.FixtureRequest, forks: Forks) -> None:
    lesson = getattr(request.node, "callspec", None) and request.getfixturevalue("lesson")
    if lesson:
        forks.learn(lesson, solution(lesson))


@pytest.mark.parametrize(("lesson", "code", "number"), RIGHT)
def test_a_right_answer_passes_under_every_seed_and_warns_of_nothing(
    lesson: Lesson, code: str, number: int, pytestconfig: pytest.Config, forks: Forks
):
    trial = Trial(lesson, "variant", "this one", code, seeds(number, pytestconfig))
    outcome = attempt(trial, forks)
    assert outcome.holds, told(outcome)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function in (
        test_how_well_xla_optimises_decides_nothing,
        test_a_sandbox_that_was_waiting_judges_the_same,
    ):
        every = metafunc.config.getoption("seeds") > 1
        chosen = [lesson for lesson in LESSONS if every or lesson.id in SAMPLE]
        metafunc.parametrize("lesson", chosen, ids=lambda lesson: lesson.id)


def test_how_well_xla_optimises_decides_nothing(
    lesson: Lesson, pytestconfig: pytest.Config, forks: Forks
):
    usual = not any(check.optimised for check in lesson.checks)
    count = pytestconfig.getoption("seeds")  # of answers here
    for number, (_, code) in enumerate(answers(lesson)[:count]):
        with Session(lesson, code, quick=not usual, sandboxes=forks) as session:
            report = session.check(10 + number)
            assert report.passed, problems(report)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_the_starter_does_not_pass_and_says_what_to_write(lesson: Lesson, forks: Forks):
    with Session(lesson, lesson.starter, sandboxes=forks) as session:
        report = session.check()
    assert report.verdict == "error", problems(report)
    first = next(r for r in report.checks if r.status != "pass")
    assert first.fault is not None
    assert first.fault.code == "not-written"


@pytest.fixture(scope="module")
def taught() -> Iterator[Callable[[Lesson], Forks]]:
    """Sandboxes that need not compile what a lesson's solution does, as graders' and authors'."""
    with Forks(SHARED_CACHE) as sandboxes:

        @cache
        def of(lesson_id: str) -> Forks:
            learn(sandboxes, PACK.lesson(lesson_id), solution(PACK.lesson(lesson_id)))
            return sandboxes

        yield lambda lesson: of(lesson.id)


@pytest.mark.parametrize(("lesson", "mistake", "number"), MISTAKES)
def test_a_mistake_is_caught_where_and_in_the_words_promised(
    lesson: Lesson,
    mistake: Mistake,
    number: int,
    pytestconfig: pytest.Config,
    taught: Callable[[Lesson], Forks],
):
    trial = tried(lesson, mistake, seeds(number, pytestconfig))
    if len(trial.seeds) == 1:
        # Whether it is the first to fail costs all that come before.
        trial = replace(trial, lesson=only(lesson, mistake.fails))
    outcome = attempt(trial, taught(lesson))
    assert outcome.holds, told(outcome)


def test_a_sandbox_that_was_waiting_judges_the_same(lesson: Lesson):
    """What was run in it before decides nothing."""
    right = [code for _, code in answers(lesson)[-1:]]
    wrong = tried(lesson, lesson.mistakes[-1], (0,))
    with Pool() as pool:

        def waited_for(code: str) -> Report:
            pool.expect([(lesson, PACK.sample_submissions(lesson.id))])
            assert pool.ready(lesson, 120)
            with Session(lesson, code, sandboxes=pool) as session:
                return session.check()

        for code in right:
            assert (report := waited_for(code)).passed, problems(report)
            assert not report.stderr, report.stderr
        assert judged(wrong, waited_for(wrong.code)) is None


def only(lesson: Lesson, check: str) -> Lesson:
    """The lesson with no check but those of this name or kind; all of them if there is none."""
    chosen = [replace(one, after=()) for one in lesson.checks if check in (one.title, one.kind)]
    return replace(lesson, checks=tuple(chosen) or lesson.checks, timed="")


def tried(lesson: Lesson, mistake: Mistake, under: tuple[int, ...]) -> Trial:
    code = mistake.applied_to(solution(lesson))
    return Trial(lesson, "mistake", mistake.name, code, under, mistake)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_lesson_is_complete(lesson: Lesson):
    assert len(lesson.hints) == 3
    assert len(lesson.mistakes) >= 5
    assert len(PACK.variants(lesson.id)) >= 5
    assert lesson.sources
    assert "### Write" in lesson.brief
    assert {check.kind for check in lesson.checks} & {"value", "train_step", "distribution"}


@pytest.mark.parametrize(
    ("lesson", "code"),
    [
        pytest.param(lesson, code, id=name)
        for lesson in LESSONS
        if lesson.devices > 1
        for name, code in answers(lesson)
    ],
)
def test_what_data_parallel_training_returns_can_be_trained_again(
    lesson: Lesson, code: str, forks: Forks
):
    """No check asks for it, for `leaf[0]` is how everybody writes it; but our own answers do it."""
    twice = Value(
        name="training again",
        value='train(train(params, batch["x"], batch["y"], 1), batch["x"], batch["y"], 1)',
        inputs={"batch": parse("digits(129)")},
        tol=0.0002,
        cases=1,
    )
    with Session(replace(lesson, checks=(twice,), timed=""), code, sandboxes=forks) as session:
        report = session.check()
    assert report.passed, problems(report)


def test_the_data_parallel_lesson_trains_on_four_devices(forks: Forks):
    lesson = PACK.lesson("pmap-train-mlp")
    trained = only(lesson, lesson.checks[-1].title)
    with Session(trained, solution(lesson), sandboxes=forks) as session:
        report = session.check()
    assert report.passed, problems(report)
    assert report.devices == "4 simulated CPU devices"
    assert float(report.checks[-1].notes[0].split()[1]) >= 0.94
