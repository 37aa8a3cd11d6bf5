"""Problems in a pack's solutions and variants, found without running them."""

from collections.abc import Iterator
from pathlib import Path

from tutor.expressions import BadPython, defined_names
from tutor.manifest import Pack, solution_folders
from tutor.pack.folder import Folder
from tutor.pack.problems import BadSource, Problem


def problems_in_answers(pack: Pack, track: str, lesson_id: str) -> Iterator[Problem]:
    """Yield what keeps the solution and the variants of a lesson from being imported."""
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
