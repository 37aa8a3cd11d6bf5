"""`pack new` and `pack add`: make a pack, or add a lesson to one.

Both copy templates from `new-pack` and `new-lesson`, which pass every test. Existing files are
never overwritten.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tutor.authoring.manifest import with_lesson, yaml_string
from tutor.lesson import Id
from tutor.manifest import solution_folders
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.member_names import fault_of
from tutor.pack.pack_reader import PackReader
from tutor.pack.problems import BadSource
from tutor.storage.files import write_atomically
from tutor.suggestions import choice

_HERE = Path(__file__).parent
_PACK = _HERE / "new-pack"
_LESSON = _HERE / "new-lesson"
SCHEMA = "schema"
"""The directory of a pack with the schemas for editors."""


class CannotMake(Exception):
    """Nothing was written; the message says why, and what to do instead."""


def new_pack(root: Path) -> list[Path]:
    """Write a pack of one lesson into a new or empty directory.

    **Returns:** the files that were written.

    Raises:
        CannotMake: the directory is not empty, or its name gives no id.
        OSError: it could not be written.
    """
    if root.is_dir() and any(root.iterdir()):
        raise CannotMake(f"{root} is not empty; choose a new path")
    if os.path.lexists(root) and not root.is_dir():
        raise CannotMake(f"{root} is not a directory; choose a new path")
    name = root.absolute().name
    pack_id = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not pack_id:
        raise CannotMake(f"{name!r} gives no pack id; choose a name like my-pack")
    _require_id(pack_id, "pack")
    title = yaml_string(_title(pack_id))
    named = {"id: my-pack": f"id: {yaml_string(pack_id)}", "title: My pack": f"title: {title}"}
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
    """Write a lesson template, its solution, and its line in `pack.yaml`. A lesson that is listed
    but has no file gets its file.

    **Arguments:** `track`: by default the last one; `new`: add that track at the end.

    **Returns:** the files that were written.

    Raises:
        CannotMake: the lesson exists, or the track does not.
        BadPack: the manifest has problems.
        OSError: it could not be written; nothing has changed.
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
        raise CannotMake(f"{lesson} is already in track {home}; omit --track")
    else:
        track = track or manifest.tracks[-1].id
        if new:
            _require_id(track, "track")
        if track not in tracks and not new:
            hint = choice(track, tracks, "")
            raise CannotMake(f"there is no track {track!r}; {hint}; or add it with --new-track")
        if track in tracks and new:
            raise CannotMake(f"there is already a track {track!r}; use --track")
        text = with_lesson(source, manifest, track, lesson, _title(track))
        if text is None:
            raise CannotMake(
                f"{folder.shown(MANIFEST)} has a layout that cannot be edited automatically; add "
                f"{lesson} to the lessons of track {track} by hand, then run this again"
            )
    solutions = next((f for f in solution_folders(root) if f.is_dir()), solution_folders(root)[-1])
    files = dict(_lesson_files(root, solutions, track, lesson))
    if taken := next((path for path in files if os.path.lexists(path)), None):
        raise CannotMake(f"{taken} exists; choose another name, or move the file")
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
    """Write the schemas that lessons refer to, if the pack has none.

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
    text = text.replace("lesson-id", yaml_string(lesson)).replace("track-id", yaml_string(track))
    yield root / track / f"{lesson}.yaml", text.encode()
    yield solutions / track / f"{lesson}.py", (_LESSON / "solution.py").read_bytes()


def _require_id(name: str, kind: str) -> None:
    try:
        msgspec.convert(name, Id)
    except msgspec.ValidationError:
        raise CannotMake(
            f"a {kind} id must be lower-case words and digits joined by hyphens, like vmap-basics, "
            f"and at most 64 characters; got {name!r}"
        ) from None
    if fault := fault_of(name):
        raise CannotMake(f"{fault}; choose another {kind} id")


def _title(name: str) -> str:
    return name.replace("-", " ").capitalize()
