"""A pack on disk, validated, as a `Pack`.

A pack is not trusted before this has read it: nothing in it is run, and whatever is wrong is
reported as a list of problems, each with file, line and column.
"""

import graphlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tutor import __version__
from tutor.lesson import FORMAT, Lesson, Manifest, Pack
from tutor.pack.lesson import LessonReader
from tutor.pack.source import BadSource, Node, Problem, Scalar, Sequence
from tutor.pack.source import Mapping as MappingNode
from tutor.pack.source import read as read_yaml
from tutor.pack.structs import StructReader, nearest

MANIFEST = "pack.yaml"


class BadPack(Exception):
    """A pack with problems; `problems` lists all that were found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


def built_in() -> Path:
    """The folder of the course that ships with jaxtutor."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "course" / "lessons"
    return packaged if packaged.is_dir() else package.parent / "lessons"


def load_pack(root: Path | str | None = None) -> Pack:
    """Read and validate a pack.

    **Arguments:** `root`: its folder; by default that of the built-in course.

    Raises:
        BadPack: it has problems.
    """
    return _PackReader(Path(root) if root is not None else built_in()).read()


class _PackReader:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.places: dict[str, tuple[str, MappingNode]] = {}

    def read(self) -> Pack:
        manifest, node = self._manifest()
        lessons: dict[str, Lesson] = {}
        tracks: set[str] = set()
        for number, track in enumerate(manifest.tracks):
            if track.id in tracks:
                second = _at(node, "tracks", number, "id")
                self._complain(MANIFEST, second, f"a second track {track.id!r}")
            tracks.add(track.id)
            listed = _at(node, "tracks", number, "lessons")
            for place, lesson_id in enumerate(track.lessons):
                item = _at(listed, place) if listed is not None else None
                lesson = self._lesson(track.id, lesson_id, item)
                if lesson is not None:
                    lessons[lesson_id] = lesson
        self._unlisted(manifest)
        self._needs(lessons, {i for track in manifest.tracks for i in track.lessons})
        if self.problems:
            raise BadPack(self.problems)
        return Pack(self.root, manifest, lessons)

    # --- pack.yaml -------------------------------------------------------------------------

    def _manifest(self) -> tuple[Manifest, MappingNode]:
        if not self.root.is_dir():
            raise BadPack([Problem(str(self.root), 1, 1, "no such folder; expected a pack")])
        node = self._node(MANIFEST)
        if node is None:
            raise BadPack(self.problems)
        self._refuse_newer(node)
        reader = StructReader(self._shown(MANIFEST))
        manifest = reader.struct(Manifest, node)
        self.problems += reader.problems
        if manifest is None:
            raise BadPack(self.problems)
        return manifest, node

    def _refuse_newer(self, node: MappingNode) -> None:
        """Before anything else: a newer format may hold anything."""
        found, requires = node.get("format"), node.get("requires")
        version = requires.value if isinstance(requires, Scalar) else None
        if isinstance(found, Scalar) and isinstance(found.value, int) and found.value > FORMAT:
            place, what = found, f"pack format {found.value}"
        elif isinstance(requires, Scalar) and _newer(str(version), __version__):
            place, what = requires, "this pack"
        else:
            return
        wanted = f"jaxtutor {version} or newer" if version else "a newer jaxtutor"
        message = (
            f"{what} needs {wanted}; this is jaxtutor {__version__}, which reads format "
            f"{FORMAT}. Run: pip install --upgrade jaxtutor"
        )
        raise BadPack([Problem(self._shown(MANIFEST), place.line, place.column, message)])

    def _unlisted(self, manifest: Manifest) -> None:
        listed = {f"{t.id}/{lesson}.yaml" for t in manifest.tracks for lesson in t.lessons}
        for path in sorted(self.root.glob("*/*.yaml")):
            file = path.relative_to(self.root).as_posix()
            if file not in listed:
                self._complain(file, None, f"this lesson is not listed in {MANIFEST}")

    # --- lessons ---------------------------------------------------------------------------

    def _lesson(self, track: str, lesson_id: str, item: Node | None) -> Lesson | None:
        file = f"{track}/{lesson_id}.yaml"
        if lesson_id in self.places:
            other = self.places[lesson_id][0]
            self._complain(MANIFEST, item, f"a second lesson {lesson_id!r}; there is {other}")
            return None
        if not (self.root / file).exists():
            self._complain(MANIFEST, item, f"lesson {lesson_id!r}: there is no file {file}")
            return None
        node = self._node(file)
        if node is None:
            return None
        self.places[lesson_id] = (file, node)
        reader = LessonReader(self._shown(file))
        lesson = reader.lesson(node, track, lesson_id)
        self.problems += reader.problems
        return lesson

    def _needs(self, lessons: Mapping[str, Lesson], known: set[str]) -> None:
        graph = {}
        for lesson in lessons.values():
            file, node = self.places[lesson.id]
            for number, need in enumerate(lesson.needs):
                if need not in known:
                    item = _at(node, "needs", number)
                    self._complain(
                        file, item, f"needs {need!r}: no such lesson{nearest(need, known)}"
                    )
            graph[lesson.id] = [need for need in lesson.needs if need in lessons]
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            cycle: list[str] = error.args[1]
            file, node = self.places[cycle[0]]
            circle = " needs ".join(reversed(cycle))
            self._complain(file, node.get("needs"), f"needs form a circle: {circle}")

    # --- files -----------------------------------------------------------------------------

    def _node(self, file: str) -> MappingNode | None:
        path = self.root / file
        # realpath, for resolve() raises where links form a circle.
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.root)):
            self._complain(file, None, "a link that leads out of the pack")
            return None
        try:
            node, problems = read_yaml(path, self._shown(file))
        except BadSource as error:
            self.problems.append(error.problem)
            return None
        self.problems += problems
        return node

    def _shown(self, file: str) -> str:
        """A file as messages name it: from here if it lies below, else in full."""
        path = self.root / file
        try:
            return str(path.absolute().relative_to(Path.cwd()))
        except (ValueError, OSError):
            return str(path)

    def _complain(self, file: str, node: Node | None, message: str) -> None:
        line, column = (node.line, node.column) if node is not None else (1, 1)
        self.problems.append(Problem(self._shown(file), line, column, message))


def _at(node: Node, *path: str | int) -> Node | None:
    """The node at a path of keys and numbers."""
    current: Node | None = node
    for step in path:
        if isinstance(current, MappingNode) and isinstance(step, str):
            current = current.get(step)
        elif isinstance(current, Sequence) and isinstance(step, int):
            current = current.items[step] if step < len(current.items) else None
        else:
            return None
    return current


def _newer(version: str, than: str) -> bool:
    try:
        return tuple(map(int, version.split("."))) > tuple(map(int, than.split(".")))
    except ValueError:
        return False  # what is no version is a problem of its own
