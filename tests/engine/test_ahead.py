"""What the pack's own programs give is computed once, where no learner's code has been."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import Written
from tutor.engine.ahead import AheadAnswers
from tutor.engine.plan import configuration_of, sandbox_for
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.report import Report
from tutor.sandbox.process import Sandbox
from tutor.sandbox.protocol import Observe
from tutor.sandbox.wire import encode

PREDICT: dict[str, Any] = {
    "name": "answer",
    "predict": "How much is it?",
    "program": "import jax.numpy as jnp\n\nx = jnp.arange(6)\n",
    "of": "x.sum()",
    "gives": "value",
    "because": "It is 15.",
}
RIGHT = "answer = 15\n\n\ndef double(x):\n    return 2 * x\n"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that are run, by check."""
    found: list[str] = []
    ask = Sandbox.ask

    def noted(self: Sandbox, request: Any, *others: Any) -> Any:
        if isinstance(request, Observe) and request.inside.endswith("predict"):
            found.append(request.case)
        return ask(self, request, *others)

    monkeypatch.setattr(Sandbox, "ask", noted)
    return found


@pytest.fixture
def lesson(written: Written) -> Lesson:
    return lesson_with(written, PREDICT)


def lesson_with(written: Written, check: dict[str, Any]) -> Lesson:
    starter = "def double(x):\n    raise NotImplementedError\n"
    return written(starter=starter, checks=[check, {"value": "double(x)"}])


def run(lesson: Lesson, forks: Forks, folder: Path, code: str = RIGHT) -> Report:
    with Session(lesson, code, sandboxes=forks, reference_cache=folder) as session:
        return session.check()


def test_a_program_runs_once(lesson: Lesson, forks: Forks, tmp_path: Path, asked: list[str]):
    assert run(lesson, forks, tmp_path).passed
    wrong = run(lesson, forks, tmp_path, RIGHT.replace("15", "14"))
    assert [check.status for check in wrong.checks] == ["fail", "pass"]
    assert "you answered 14; it is 15" in wrong.checks[0].message
    assert asked == ["answer"]


def test_another_program_is_run(written: Written, forks: Forks, tmp_path: Path, asked: list[str]):
    assert run(lesson_with(written, PREDICT), forks, tmp_path).passed
    other = lesson_with(written, PREDICT | {"of": "x.sum() + 1"})
    assert not run(other, forks, tmp_path).passed
    assert run(other, forks, tmp_path, RIGHT.replace("15", "16")).passed
    assert asked == ["answer", "answer"]


def test_a_broken_program_is_not_remembered(
    written: Written, forks: Forks, tmp_path: Path, asked: list[str]
):
    lesson = lesson_with(written, PREDICT | {"of": "x.no_such_thing()"})
    for _ in range(2):
        report = run(lesson, forks, tmp_path)
        assert report.checks[0].status == "internal"
    assert asked == ["answer", "answer"]
    assert not [*tmp_path.glob("*.ahead")]


@pytest.mark.parametrize("damage", [b"", b"damaged", bytes(100)])
def test_a_damaged_answer_is_computed_again(
    lesson: Lesson, forks: Forks, tmp_path: Path, asked: list[str], damage: bytes
):
    assert run(lesson, forks, tmp_path).passed
    (file,) = tmp_path.glob("*.ahead")
    file.write_bytes(damage)
    assert run(lesson, forks, tmp_path).passed
    assert asked == ["answer", "answer"]


def test_an_answer_that_cannot_be_judged_is_not_used(
    written: Written, forks: Forks, tmp_path: Path
):
    choices = {"It is 15.": "x.sum() == 15", "It is less.": "x.sum() < 15"}
    check = PREDICT | {"gives": "choice", "choices": choices}
    del check["of"]
    lesson = lesson_with(written, check)
    (asks, _), spec = lesson.checks, sandbox_for(lesson, configuration_of(lesson))
    answers = AheadAnswers(lesson, tmp_path)
    answers._cache.save(answers._name(asks, spec), encode({}, {"true": []}))
    assert answers.load(asks, spec) is None
    assert run(lesson, forks, tmp_path, RIGHT.replace("15", "'a'")).passed
    assert answers.load(asks, spec) is not None


def test_what_a_learner_could_have_changed_is_not_remembered(
    lesson: Lesson, forks: Forks, tmp_path: Path
):
    """Kept programs may be forged; an answer that they gave must not reach another run."""
    answers, configuration = AheadAnswers(lesson, tmp_path), configuration_of(lesson)
    for pure in (False, True):
        with forks.start(lesson, configuration) as sandbox:
            sandbox.pure = pure
            answers.ask_all(sandbox, configuration)
        assert bool([*tmp_path.glob("*.ahead")]) == pure
