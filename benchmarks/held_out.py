"""Right answers in styles that nobody has tuned to, each with a one-line edit.

They were written from the briefs alone, without the checks, and no sandbox is ever primed with
them: what they take is what learners meet. `python -m benchmarks.held_out [LESSON ...]` checks that
all of them pass, before and after the edit.
"""

import ast
import sys
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

    @property
    def edited_again(self) -> str:
        """The edited code with a statement more, in the function that the edit is in: all of its
        checks have to run again. In the first function, if the edit is in none.

        Raises:
            ValueError: see `edited`.
        """
        code = self.edited
        number = 1 + self.code.splitlines().index(self.edit.line)
        lines = code.splitlines()
        functions = [one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.FunctionDef)]
        around = [one for one in functions if one.lineno <= number <= (one.end_lineno or 0)]
        for function in (around or functions)[:1]:
            first = function.body[0]
            marks = first.decorator_list if isinstance(first, ast.FunctionDef) else []
            number = min([first.lineno, *(mark.lineno for mark in marks)])
            if number > function.lineno:  # not `def f(x): return x`
                lines.insert(number - 1, f"{' ' * first.col_offset}added = None")
        return "\n".join(lines) + "\n"


def held_out(lesson: Lesson) -> list[HeldOut]:
    """Return a lesson's answers; none if it has no file."""
    path = FOLDER / f"{lesson.id}.yaml"
    if not path.exists():
        return []
    return msgspec.yaml.decode(path.read_bytes(), type=list[HeldOut])


def answers(lesson: Lesson) -> list[Answer]:
    """Return a lesson's answers before their edits, as submissions that must pass."""
    return [Answer(lesson, one.name, "variant", one.code, ("pass",)) for one in held_out(lesson)]


def check(pack: Pack, names: list[str]) -> int:
    """Check the answers of some lessons, and print those that do not pass.

    **Returns:** how many do not pass.
    """
    wrong = 0
    with Forks() as forks:
        for name in names:
            lesson = pack.lesson(name)
            for one in held_out(lesson):
                edits = ("", one.code), (" edited", one.edited), (" edited again", one.edited_again)
                for how, code in edits:
                    with Session(lesson, code, sandboxes=forks) as session:
                        report = session.check()
                    if report.verdict == "pass":
                        continue
                    wrong += 1
                    first = next((c for c in report.checks if c.status != "pass"), None)
                    why = report.fault.message if report.fault else first and first.message
                    title = first.name if first else "import"
                    print(f"{name}/{one.name}{how}: {report.verdict}: {title}: {why}", flush=True)
    return wrong


if __name__ == "__main__":
    pack = load_pack()
    raise SystemExit(1 if check(pack, sys.argv[1:] or [*pack.lessons]) else 0)
