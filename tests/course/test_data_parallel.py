"""What only the lesson on data-parallel training promises."""

import pytest
from msgspec.structs import replace

from tests.conftest import course
from tutor.checks.value import Value
from tutor.engine.session import Session
from tutor.inputs.draws import parse
from tutor.pool.forks import Forks

PACK = course()
LESSON = PACK.lesson("pmap-train-mlp")
ANSWERS = {
    "solution": PACK.solution(LESSON.id) or "",
    **{path.stem: path.read_text("utf-8") for path in PACK.variants(LESSON.id)},
}


@pytest.mark.proof
@pytest.mark.parametrize("name", ANSWERS)
def test_what_training_returns_can_be_trained_again(name: str, forks: Forks):
    """No check asks for it, since `leaf[0]` is how everybody writes it; our own answers do it."""
    twice = Value(
        name="training again",
        value='train(train(params, batch["x"], batch["y"], 1), batch["x"], batch["y"], 1)',
        inputs={"batch": parse("digits(129)")},
        tol=0.0002,
        cases=1,
    )
    lesson = replace(LESSON, checks=(twice,), timed="")
    with Session(lesson, ANSWERS[name], sandboxes=forks) as session:
        report = session.check()
    assert report.passed, report


@pytest.mark.proof
def test_it_trains_on_four_devices(forks: Forks):
    trained = replace(LESSON, checks=(replace(LESSON.checks[-1], after=()),), timed="")
    with Session(trained, ANSWERS["solution"], sandboxes=forks) as session:
        report = session.check()
    assert report.passed, report
    assert report.devices == "4 simulated CPU devices"
    assert float(report.checks[-1].notes[0].split()[1]) >= 0.94
