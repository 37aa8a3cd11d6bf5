"""What can be wrong with a pack, and how it is told."""

from collections.abc import Iterable

from msgspec import Struct


class Problem(Struct, frozen=True, order=True):
    """Something wrong in a file. Lines and columns count from 1.

    `message` says what is wrong, `remedy` what to write or do instead.
    """

    file: str
    line: int
    column: int
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.file}:{self.line}:{self.column}: {self.message}{remedy}"


class BadSource(Exception):
    """A file that cannot be read at all."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class BadPack(Exception):
    """A pack, or a lesson of it, with problems; `problems` lists all that were found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def text(self) -> str:
        """All of it, in words for whoever wanted to use the pack."""
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        return f"the pack cannot be used ({count} {noun}):\n{self}"
