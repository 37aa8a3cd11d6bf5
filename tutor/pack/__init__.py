"""Reading a pack from disk.

Packs are not trusted: nothing in them is executed, and all problems are reported with file, line
and column. `open_pack` reads the manifest only, and each lesson on first access, so large packs
open as fast as small ones; `load_pack` reads and validates everything.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tutor.lesson import Lesson
from tutor.manifest import Manifest, Pack
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.pack_cache import recall, remember
from tutor.pack.problems import BadPack, BadSource, Problem

__all__ = ["BadPack", "Problem", "built_in", "load_pack", "open_pack"]


def built_in() -> Path:
    """Return the directory of the course that ships with jaxtutor."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "course" / "lessons"
    return packaged if packaged.is_dir() else package.parent / "lessons"


def open_pack(root: Path | str | None = None) -> Pack:
    """Open a pack; lessons are read on first access.

    **Arguments:** `root`: its directory, or the id of an installed pack as text; by default the
    built-in course.

    Raises:
        BadPack: its manifest has problems. Problems of a lesson are raised on first access.
    """
    folder = _folder(root)
    manifest = _manifest(folder)
    return Pack(folder.root, manifest, _Lessons(folder, manifest))


def load_pack(root: Path | str | None = None) -> Pack:
    """Read and validate a whole pack: every lesson, their `needs`, and unlisted files.

    **Arguments:** `root`: see `open_pack`.

    Raises:
        BadPack: it has problems; all are listed.
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
        message, remedy = "no such directory", "create a pack: jaxtutor pack new DIR"
        if path.is_file():
            message = "not a directory"
            remedy = f"to install a pack from a file: jaxtutor pack install {path}"
        elif isinstance(root, str):
            message = "no such directory, and no installed pack has this id"
            remedy = "list installed packs: jaxtutor pack list"
        raise BadPack([Problem(str(folder.root), 1, 1, message, remedy)])
    return folder


class _KeptManifest(Struct, frozen=True):
    """A valid manifest, and the bytes that it was read from."""

    source: bytes
    manifest: Manifest


def _manifest(folder: Folder) -> Manifest:
    """Return the manifest, from the cache if its bytes are unchanged: parsing the YAML of 5,000
    lessons takes longer than everything else at startup."""
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
    """Lessons by id, in order, each read on first access."""

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
