"""`pack new` and `pack add`: a pack to begin with, and one more lesson.

Both start from files that are kept beside this module and are themselves a pack that passes
everything. Nothing that exists is ever overwritten.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tutor.authoring.manifest import listed, written
from tutor.files import write_atomically
from tutor.lesson import Id
from tutor.manifest import solution_folders
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.pack_reader import PackReader
from tutor.pack.problems import BadSource
from tutor.suggestions import choice

_HERE = Path(__file__).parent
_PACK = _HERE / "new-pack"
_LESSON = _HERE / "new-lesson"
SCHEMA = "schema"
"""The folder of a pack in which editors find the format."""


class CannotMake(Exception):
    """Nothing was made; the message says why, and what to do instead."""


def new_pack(root: Path) -> list[Path]:
    """Write a pack of one lesson into a folder that is empty or does not exist yet.

    **Returns:** the files that were written.

    Raises:
        CannotMake: there is something in the folder, or no id can be made of its name.
        OSError: it could not be written.
    """
    if root.is_dir() and any(root.iterdir()):
        raise CannotMake(f"{root} is not empty; name a folder that does not exist yet")
    if os.path.lexists(root) and not root.is_dir():
        raise CannotMake(f"{root} is no folder; name one that does not exist yet")
    name = root.absolute().name
    pack_id = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not pack_id:
        raise CannotMake(f"no id can be made of {name!r}; name the folder like my-pack")
    title = written(_title(pack_id))
    named = {"id: my-pack": f"id: {written(pack_id)}", "title: My pack": f"title: {title}"}
    files = {
        path.relative_to(_PACK): path.read_text(encoding="utf-8")
        for path in sorted(_PACK.rglob("*"))
        if path.suffix in (".yaml", ".py")
    }
    for old, new in named.items():
        files[Path(MANIFEST)] = files[Path(MANIFEST)].replace(old, new)
    for path, text in files.items():
        write_atomically(root / path, text.encode())
    return [*(root / path for path in files), *write_schema(root)]


def add_lesson(root: Path, lesson: str, track: str | None = None, new: bool = False) -> list[Path]:
    """Write a lesson to change, its solution, and its line in `pack.yaml`.

    A lesson that is listed already, but has no file, gets its file.

    **Arguments:** `track`: by default the last one; `new`: make that track, at the end.

    **Returns:** the files that were written.

    Raises:
        CannotMake: there is such a lesson, or no such track.
        BadPack: the manifest has problems.
        OSError: it could not be written; then nothing was.
    """
    _require_id(lesson, "lesson")
    folder = Folder(root)
    try:
        source = folder.read(MANIFEST)
    except BadSource as error:
        raise CannotMake(str(error)) from None
    manifest = PackReader(folder, source).manifest()
    tracks = {one.id: one for one in manifest.tracks}
    home = next((one.id for one in manifest.tracks if lesson in one.lessons), None)
    if home is not None and track in (None, home):
        track, text = home, None
    elif home is not None:
        raise CannotMake(f"{lesson} is a lesson of track {home} already; leave --track out")
    else:
        track = track or manifest.tracks[-1].id
        if new:
            _require_id(track, "track")
        if track not in tracks and not new:
            hint = choice(track, tracks, "")
            raise CannotMake(f"no track is called {track!r}; {hint}; or make it: --new-track")
        if track in tracks and new:
            raise CannotMake(f"there is a track {track!r} already; leave --new-track out")
        text = listed(source, manifest, track, lesson, _title(track))
        if text is None:
            raise CannotMake(
                f"{folder.shown(MANIFEST)} is written in a way that cannot be added to; add "
                f"{lesson} to the lessons of track {track} by hand, then run this again"
            )
    solutions = next((f for f in solution_folders(root) if f.is_dir()), solution_folders(root)[-1])
    files = dict(_lesson_files(root, solutions, track, lesson))
    if taken := next((path for path in files if os.path.lexists(path)), None):
        raise CannotMake(f"there is {taken} already; choose another name, or move it away")
    made: list[Path] = []
    try:
        for path, content in files.items():
            write_atomically(path, content)
            made.append(path)
        if text is not None:
            write_atomically(root / MANIFEST, text)
            made.append(root / MANIFEST)
    except OSError:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    return [*made, *write_schema(root)]


def write_schema(root: Path) -> list[Path]:
    """Give a pack the schema that its lessons name, if it has none.

    **Returns:** the files that were written.
    """
    from tutor.pack.schema import texts

    missing = {root / SCHEMA / name: text for name, text in texts().items()}
    if any(map(os.path.lexists, missing)):
        return []
    for path, text in missing.items():
        write_atomically(path, text)
    return [*missing]


def _lesson_files(
    root: Path, solutions: Path, track: str, lesson: str
) -> Iterator[tuple[Path, bytes]]:
    text = (_LESSON / "lesson.yaml").read_text(encoding="utf-8")
    text = text.replace("lesson-id", written(lesson)).replace("track-id", written(track))
    yield root / track / f"{lesson}.yaml", text.encode()
    yield solutions / track / f"{lesson}.py", (_LESSON / "solution.py").read_bytes()


def _require_id(name: str, what: str) -> None:
    try:
        msgspec.convert(name, Id)
    except msgspec.ValidationError:
        wanted = "at most 64 lower-case letters and digits, words joined by hyphens"
        raise CannotMake(f"{name!r} cannot be the id of a {what}; {wanted}: vmap-basics") from None


def _title(name: str) -> str:
    return name.replace("-", " ").capitalize()
