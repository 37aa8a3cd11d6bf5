"""Right answers in styles that nobody has tuned to, each with a one-line edit.

They were written from the briefs alone, without the checks, and no sandbox is ever primed with
them: what they take is what learners meet. There is one for each of fifteen lessons, from all
tracks. `python -m benchmarks.held_out [LESSON ...]` checks that they pass, before and after the
edit.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.answers import Answer
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.pool.forks import Forks

FOLDER = Path(__file__).parent / "held_out"


class Edit(Struct, frozen=True, forbid_unknown_fields=True):
    """Replaces a line of an answer by another, after which the answer is still right."""

    line: str
    to: str


class HeldOut(Struct, frozen=True, forbid_unknown_fields=True):
    """A right answer, and its edit."""

    name: str
    code: str
    edit: Edit

    @property
    def edited(self) -> str:
        """The code after the edit.

        Raises:
            ValueError: the line does not occur exactly once.
        """
        lines = self.code.splitlines()
        if lines.count(self.edit.line) != 1:
            raise ValueError(f"{self.name}: not one line {self.edit.line!r}")
        edited = [self.edit.to if line == self.edit.line else line for line in lines]
        return "\n".join(edited) + "\n"


def names() -> list[str]:
    """Return the ids of the lessons that have such an answer."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def held_out(lesson: str) -> HeldOut:
    """Return the answer to a lesson.

    Raises:
        FileNotFoundError: it has none.
    """
    return msgspec.yaml.decode((FOLDER / f"{lesson}.yaml").read_bytes(), type=HeldOut)


def answers(lesson: Lesson) -> list[Answer]:
    """Return a lesson's answer before its edit, as the submissions that must pass."""
    answer = held_out(lesson.id)
    return [Answer(lesson, answer.name, "variant", answer.code, ("pass",))]


def check(pack: Pack, lessons: Iterable[str]) -> int:
    """Check the answers of some lessons, and print those that do not pass.

    **Returns:** how many do not pass.
    """
    wrong = 0
    with Forks() as forks:
        for name in lessons:
            lesson, answer = pack.lesson(name), held_out(name)
            for how, code in {"": answer.code, " edited": answer.edited}.items():
                with Session(lesson, code, sandboxes=forks) as session:
                    report = session.check()
                if report.verdict == "pass":
                    continue
                wrong += 1
                first = next((c for c in report.checks if c.status != "pass"), None)
                why = report.fault.message if report.fault else first and first.message
                title = first.name if first else "import"
                print(f"{name}/{answer.name}{how}: {report.verdict}: {title}: {why}", flush=True)
    return wrong


if __name__ == "__main__":
    raise SystemExit(1 if check(load_pack(), sys.argv[1:] or names()) else 0)
