"""Problems of packs, and the exceptions that carry them."""

from collections.abc import Iterable

from msgspec import Struct


class Problem(Struct, frozen=True, order=True):
    """An error in a file. Lines and columns count from 1; `remedy` says how to fix it."""

    file: str
    line: int
    column: int
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.file}:{self.line}:{self.column}: {self.message}{remedy}"


class BadSource(Exception):
    """A file that cannot be read or parsed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class BadPack(Exception):
    """A pack or lesson with problems; `problems` lists all of them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def text(self) -> str:
        """All problems, below a line that says that the pack cannot be used."""
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        return f"the pack cannot be used ({count} {noun}):\n{self}"
