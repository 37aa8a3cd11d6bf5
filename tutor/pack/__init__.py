"""A pack on disk as a `Pack`.

A pack is not trusted: nothing in it is run, and whatever is wrong is reported as a list of
problems, each with file, line and column. `open_pack` reads the manifest alone, and each lesson
when it is asked for, so that a large pack starts as fast as a small one; `load_pack` reads and
validates everything.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tutor.lesson import Lesson
from tutor.manifest import Manifest, Pack
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.memory import recall, remember
from tutor.pack.problems import BadPack, BadSource, Problem

__all__ = ["BadPack", "Problem", "built_in", "load_pack", "open_pack"]


def built_in() -> Path:
    """The folder of the course that ships with jaxtutor."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "course" / "lessons"
    return packaged if packaged.is_dir() else package.parent / "lessons"


def open_pack(root: Path | str | None = None) -> Pack:
    """Open a pack; its lessons are read when they are asked for.

    **Arguments:** `root`: its folder or, if that is text, the id of an installed pack; by default
    the built-in course.

    Raises:
        BadPack: its manifest has problems. A lesson's problems are raised when it is asked for.
    """
    folder = _folder(root)
    manifest = _manifest(folder)
    return Pack(folder.root, manifest, _Lessons(folder, manifest))


def load_pack(root: Path | str | None = None) -> Pack:
    """Read and validate a whole pack: every lesson, how they stand on each other, stray files.

    **Arguments:** `root`: see `open_pack`.

    Raises:
        BadPack: it has problems; all of them are listed.
    """
    from tutor.pack.pack_reader import PackReader

    return PackReader(_folder(root)).whole()


def _folder(root: Path | str | None) -> Folder:
    path = Path(root) if root is not None else built_in()
    if isinstance(root, str) and not (path / MANIFEST).is_file():
        from tutor.pack.installed import find

        path = find(root) or path
    folder = Folder(path)
    if not folder.root.is_dir():
        message, remedy = "no such folder; expected a pack", "make one: jaxtutor pack new DIR"
        if path.is_file():
            remedy = f"install a file that holds one: jaxtutor pack install {path}"
        elif isinstance(root, str):
            message = "no such folder, and no pack of this id is installed"
            remedy = "see those that are: jaxtutor pack list"
        raise BadPack([Problem(str(folder.root), 1, 1, message, remedy)])
    return folder


class _KeptManifest(Struct, frozen=True):
    """A manifest without problems, and the bytes that it was read from."""

    source: bytes
    manifest: Manifest


def _manifest(folder: Folder) -> Manifest:
    """The manifest, from memory where it is the same to the byte: YAML of 5,000 lessons takes
    longer to read than all else that there is to do."""
    try:
        source = folder.read(MANIFEST)
    except BadSource as error:
        raise BadPack([error.problem]) from None
    kept = recall(folder.root, "manifest", _KeptManifest)
    if kept is not None and kept.source == source:
        return kept.manifest
    from tutor.pack.pack_reader import PackReader

    manifest = PackReader(folder, source).manifest()
    remember(folder.root, "manifest", _KeptManifest(source, manifest))
    return manifest


class _Lessons(Mapping[str, Lesson]):
    """Lessons by id, in order, each read the first time it is asked for."""

    def __init__(self, folder: Folder, manifest: Manifest) -> None:
        self._folder = folder
        self._tracks = {lesson: track.id for track in manifest.tracks for lesson in track.lessons}
        self._read: dict[str, Lesson] = {}

    def __getitem__(self, lesson_id: str) -> Lesson:
        if lesson_id not in self._read:
            track = self._tracks[lesson_id]
            from tutor.pack.pack_reader import PackReader

            self._read[lesson_id] = PackReader(self._folder).lesson(track, lesson_id, self._tracks)
        return self._read[lesson_id]

    def __contains__(self, lesson_id: object) -> bool:
        return lesson_id in self._tracks

    def __iter__(self) -> Iterator[str]:
        return iter(self._tracks)

    def __len__(self) -> int:
        return len(self._tracks)
