"""Answers to the lessons: solutions, variants, starters and mistakes."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.report import Verdict

TRAINING = "pmap-train-mlp"
"""The lesson that trains on four devices. Its checks take seconds in any case, so it is reported
separately."""

KNOWN = ("arrays-at-updates", "vmap-basics", "jit-whole-step", "linen-mlp", TRAINING)
"""Lessons whose own solutions are measured, from the cheapest checks to the dearest."""

CLASS = (*KNOWN, "grad-basics", "random-keys")
"""Lessons that are graded."""

OWN_OPERATIONS = ("arrays-at-updates", "vmap-basics")
"""Lessons whose checks run only the solution's own operations: no extra gradient or compilation."""

Kind = Literal["solution", "variant", "starter", "mistake", "malformed"]
"""`variant`: a right answer in another style than the solution."""


class Answer(Struct, frozen=True):
    """A submission, and the verdicts that are correct for it."""

    lesson: Lesson
    name: str
    kind: Kind
    code: str
    accepted: tuple[Verdict, ...]

    @property
    def label(self) -> str:
        return f"{self.lesson.id}/{self.name}"


def right(pack: Pack, lesson: Lesson) -> list[Answer]:
    """Return the solution and the variants."""
    solution = pack.solution(lesson.id)
    assert solution is not None
    return [
        Answer(lesson, lesson.id, "solution", solution, ("pass",)),
        *(
            Answer(lesson, path.stem, "variant", path.read_text(encoding="utf-8"), ("pass",))
            for path in pack.variants(lesson.id)
        ),
    ]


def starter(lesson: Lesson) -> Answer:
    """Return the starter, which raises an error until it is completed."""
    return Answer(lesson, "starter", "starter", lesson.starter, ("error",))


def mistakes(pack: Pack, lesson: Lesson) -> list[Answer]:
    """Return the lesson's known mistakes."""
    solution = pack.solution(lesson.id)
    assert solution is not None
    return [
        Answer(lesson, mistake.name, "mistake", mistake.applied_to(solution), ("fail", "error"))
        for mistake in lesson.mistakes
    ]


def right_and_wrong(
    pack: Pack, lesson: Lesson, others: Callable[[Lesson], list[Answer]] | None = None
) -> tuple[list[Answer], list[Answer]]:
    """Return right answers, and others, as in a class.

    **Arguments:** `others`: right answers to return besides the solution, instead of the variants.
    """
    wrong = [*mistakes(pack, lesson), starter(lesson)]
    for name, code in {"empty": "", "half": lesson.starter.rstrip()[:-1] + "(\n"}.items():
        wrong.append(Answer(lesson, name, "malformed", code, ("fail", "error")))
    known = right(pack, lesson)
    return (known if others is None else [known[0], *others(lesson)]), wrong
