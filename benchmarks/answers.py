"""What is handed in: of every lesson its solution, other right answers, its starter, mistakes."""

from typing import Literal

from msgspec import Struct

from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.report import Verdict

TRAINING = "pmap-train-mlp"
"""The lesson that trains on four devices. Its checks take seconds wherever they run, so it is
told apart."""

OWN_OPERATIONS = ("arrays-at-updates", "vmap-basics")
"""Lessons whose checks have JAX do what the solution itself does, and nothing more: neither a
gradient nor a compilation beside it."""

Kind = Literal["solution", "variant", "starter", "mistake", "malformed"]
"""`variant`: right, in another style than the solution."""


class Answer(Struct, frozen=True):
    """One submission, and the verdicts of which it deserves one."""

    lesson: Lesson
    name: str
    kind: Kind
    code: str
    deserves: tuple[Verdict, ...]

    @property
    def label(self) -> str:
        return f"{self.lesson.id}/{self.name}"


def right(pack: Pack, lesson: Lesson) -> list[Answer]:
    """The solution first, then the same written differently."""
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
    """Not written yet, and says so itself."""
    return Answer(lesson, "starter", "starter", lesson.starter, ("error",))


def mistaken(pack: Pack, lesson: Lesson) -> list[Answer]:
    """The wrong answers that people really give."""
    solution = pack.solution(lesson.id)
    assert solution is not None
    return [
        Answer(lesson, mistake.name, "mistake", mistake.applied_to(solution), ("fail", "error"))
        for mistake in lesson.mistakes
    ]


def handed_in(pack: Pack, lesson: Lesson) -> tuple[list[Answer], list[Answer]]:
    """What a class hands in: right answers, and others."""
    wrong = [*mistaken(pack, lesson), starter(lesson)]
    for name, code in {"empty": "", "half": lesson.starter.rstrip()[:-1] + "(\n"}.items():
        wrong.append(Answer(lesson, name, "malformed", code, ("fail", "error")))
    return right(pack, lesson), wrong
