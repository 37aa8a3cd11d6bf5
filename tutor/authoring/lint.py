"""`pack lint`: everything that is wrong with a pack, and what could be better.

Problems are those that the loader finds: with one of them the pack cannot be used. Remarks are
matters of style (`tutor.authoring.lint_rules`), or of what the PyTorch gives
(`tutor.authoring.expected`); nobody need follow them.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from tutor import paths
from tutor.authoring.expected import remarks_on_expected
from tutor.authoring.lint_rules import remarks_on
from tutor.authoring.page import Page
from tutor.pack.folder import Folder
from tutor.pack.pack_reader import PackReader, file_of
from tutor.pack.problems import BadPack, Problem
from tutor.sandbox.process import Sandbox


class Remark(Struct, frozen=True, order=True):
    """Something that could be better, at a place. `code` is stable and meant for programs."""

    file: str
    line: int
    column: int
    code: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.code}: {self.message}; {self.remedy}"


class Findings(Struct, frozen=True):
    """All that there is to say about a pack, sorted by place. `lessons` counts what was read."""

    problems: tuple[Problem, ...] = ()
    remarks: tuple[Remark, ...] = ()
    lessons: int = 0

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)


def lint(root: Path, begin: Callable[[], Sandbox] | None = None) -> Findings:
    """Look at a whole pack.

    **Arguments:** `begin`: starts a sandbox for the pack's PyTorch; without it nothing is run.
    """
    folder = Folder(root)
    reader = PackReader(folder)
    try:
        pack = reader.survey()
    except BadPack as error:
        return Findings(error.problems)
    problems = [*reader.problems]
    remarks: list[Remark] = []
    schema = _schema(root)
    for lesson in pack.lessons.values():
        file = file_of(lesson.track, lesson.id)
        text = folder.read(file).decode("utf-8-sig")
        try:
            solution = pack.solution(lesson.id)
        except (OSError, UnicodeDecodeError) as error:
            message = f"the solution of {lesson.id} cannot be read: {error}"
            problems.append(folder.problem(file, message, remedy="save it as UTF-8"))
            continue
        page = Page(lesson, reader.nodes[lesson.id], text, solution, root, schema)
        remarks += [
            Remark(folder.shown(file), *found.place, found.code, found.message, found.remedy)
            for found in remarks_on(page)
        ]
        if begin is not None:
            memory = paths.cache() / "references"
            for expected in remarks_on_expected(lesson, memory, begin):
                node = page.at(*expected.place)
                remarks.append(
                    Remark(
                        folder.shown(file), node.line, node.column,
                        expected.code, expected.message, expected.remedy,
                    )
                )  # fmt: skip
    return Findings(tuple(sorted(problems)), tuple(sorted(remarks)), len(pack.lessons))


def _schema(root: Path) -> bool | None:
    """Whether the schema that a pack carries is that of this version; None if it has none."""
    from tutor.authoring.new import SCHEMA
    from tutor.pack.schema import texts

    path = root / SCHEMA / "lesson.json"
    return path.read_bytes() == texts()["lesson.json"] if path.is_file() else None
