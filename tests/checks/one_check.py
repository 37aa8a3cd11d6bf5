"""A lesson with one check, for tests of what it says of an answer."""

from tutor.check import Check
from tutor.engine.session import Session
from tutor.inputs.draws import parse
from tutor.lesson import Lesson, Limits
from tutor.pool.forks import Forks
from tutor.report import CheckResult


def result_of(
    check: Check, code: str, inputs: dict[str, str], forks: Forks, harness: str | None = None
) -> CheckResult:
    """Return what a check says of an answer.

    **Arguments:** `inputs`: how to draw them; `harness`: the lesson's own functions.
    """
    lesson = Lesson(
        id="one", title="One check", track="checks", minutes=1, brief="-", torch="import torch",
        jax_harness=harness, starter=code, hints=("-",), checks=(check,),
        inputs={name: parse(draw) for name, draw in inputs.items()}, limits=Limits(seconds=60),
    )  # fmt: skip
    with Session(lesson, code, sandboxes=forks) as session:
        (result,) = session.check().checks
    return result
