"""`pack lint`: problems, with which the pack cannot be used, and remarks on what could be better.

Problems come from the loader. Remarks come from the rules (`tutor.authoring.lint_rules`) and from
the values that PyTorch gives (`tutor.authoring.expected`).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from tutor.authoring.expected import remarks_on_expected
from tutor.authoring.lint_rules import remarks_on, remarks_on_texts
from tutor.authoring.page import Page, Remark
from tutor.authoring.proofs import read_proofs, state
from tutor.expressions import BadPython, defined_names
from tutor.manifest import Pack, solution_folders
from tutor.marked_regions import has_regions
from tutor.pack import built_in, open_pack
from tutor.pack.contents import unpackable
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.pack_reader import PackReader, file_of
from tutor.pack.problems import BadPack, BadSource, Problem
from tutor.pack.yaml_nodes import parse
from tutor.requirements import unmet
from tutor.sandbox.process import Sandbox
from tutor.storage import paths


class LintResult(Struct, frozen=True):
    """The problems and remarks of a pack, sorted by position. `lessons` counts those read,
    `skipped` has those that need something which is not installed here, and what."""

    problems: tuple[Problem, ...] = ()
    remarks: tuple[Remark, ...] = ()
    lessons: int = 0
    skipped: dict[str, str] = {}

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)


def lint(root: Path, begin: Callable[[], Sandbox] | None = None) -> LintResult:
    """Return the problems and remarks of a whole pack.

    **Arguments:** `begin`: starts a sandbox for the pack's PyTorch; without it nothing is run.
    """
    folder = Folder(root)
    reader = PackReader(folder)
    try:
        pack = reader.survey()
    except BadPack as error:
        return LintResult(error.problems)
    problems = [*reader.problems, *unpackable(pack)]
    remarks: list[Remark] = [*_taken_id(folder, pack)]
    schema = _schema(root)
    try:
        proofs = read_proofs(root)
    except BadSource as error:
        found = error.problem
        code = "unreadable-proofs"
        remarks.append(Remark(found.file, 1, 1, code, found.message, found.remedy))
        proofs = {}
    for lesson in pack.lessons.values():
        file = file_of(lesson.track, lesson.id)
        text = folder.read(file).decode("utf-8-sig")
        problems += _problems_in_answers(pack, lesson.track, lesson.id)
        try:
            solution = pack.solution(lesson.id)
            marked = has_regions(pack.written_solution(lesson.id) or "")
        except (OSError, UnicodeDecodeError):
            continue  # a problem in its own file
        proof = state(pack, lesson.id, proofs) if proofs else None
        node = reader.nodes[lesson.id]
        page = Page(lesson, node, text, solution, root, schema, proof, marked)
        remarks += remarks_on(page, folder.shown(file))
        if begin is not None:
            memory = paths.cache() / "references"
            for one in remarks_on_expected(lesson, memory, begin, failures=True):
                place = page.at(*one.path)
                at = folder.shown(file), place.line, place.column
                remarks.append(Remark(*at, one.code, one.message, one.remedy))
    all_read = len(reader.nodes) == sum(len(track.lessons) for track in pack.manifest.tracks)
    remarks += remarks_on_texts(folder, reader.texts, all_read=all_read)
    missing = {name: unmet(lesson.requires) for name, lesson in pack.lessons.items()}
    return LintResult(
        tuple(sorted(set(problems))),
        tuple(sorted(remarks)),
        len(pack.lessons),
        {name: words for name, words in missing.items() if words},
    )


def _problems_in_answers(pack: Pack, track: str, lesson_id: str) -> Iterator[Problem]:
    """Yield what keeps the solution and the variants of a lesson from being imported, without
    running them."""
    for path in _answers(pack.root, track, lesson_id):
        folder, name = Folder(path.parent), path.name
        try:
            data = folder.read(name)
            defined_names(data.decode("utf-8-sig"))
        except BadSource as error:
            yield error.problem
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            what = f"not UTF-8: byte {data[error.start]:#04x}"
            yield folder.problem(name, what, line, remedy="save the file as UTF-8")
        except BadPython as error:
            what = f"invalid Python: {error}"
            yield folder.problem(name, what, error.line, error.column, "correct it")


def _answers(root: Path, track: str, lesson_id: str) -> Iterator[Path]:
    folders = [base / track for base in solution_folders(root)]
    written = (base / f"{lesson_id}.py" for base in folders)
    yield from [path for path in written if path.is_file()][:1]
    for base in folders:
        yield from sorted((base / lesson_id).glob("*.py"))


def _taken_id(folder: Folder, pack: Pack) -> Iterator[Remark]:
    """Yield a remark on a pack that has the id of the course, with which it cannot be installed."""
    course = built_in()
    if pack.root.resolve() != course.resolve() and pack.id == open_pack(course).id:
        node = parse(folder.read(MANIFEST), MANIFEST)[0].get("id")
        line, column = (node.line, node.column) if node is not None else (1, 1)
        message = f"the id {pack.id!r} is that of the course, so the pack cannot be installed"
        remedy = "choose another id"
        yield Remark(folder.shown(MANIFEST), line, column, "taken-id", message, remedy)


def _schema(root: Path) -> bool | None:
    """Return whether the pack's schema is that of this version; None if it has none."""
    from tutor.authoring.new import SCHEMA
    from tutor.pack.schema import texts

    path = root / SCHEMA / "lesson.json"
    return path.read_bytes() == texts()["lesson.json"] if path.is_file() else None
