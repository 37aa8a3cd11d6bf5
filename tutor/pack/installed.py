"""Packs on this machine: installed ones, those distributed with pip, and the course.

    packs/mini/1/pack.yaml      the previous version
    packs/mini/2/pack.yaml      the version in use: the highest number

An installed pack is a copy, complete and validated before one rename gives it its number. So
concurrent installs all succeed, a running app keeps reading the version it opened, and an
interrupted install changes nothing. The previous version is kept. Learners' files and progress are
stored elsewhere.
"""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct, structs

from tutor.manifest import Pack
from tutor.pack import BadPack, built_in, load_pack, open_pack
from tutor.pack.archive import INVENTORY, BadArchive, Files, Inventory
from tutor.pack.contents import solved
from tutor.pack.folder import Folder
from tutor.pack.member_names import fault_of
from tutor.plugins import GROUP, Distributed, distributed
from tutor.storage import paths

KEPT = 2
"""The version in use, and the previous one."""

ATTEMPTS = 100
"""Of taking the next number while other processes install or remove the same pack."""

_INCOMING, _REMOVED = ".incoming-", ".removed-"
_ABANDONED = 3600.0
"""Seconds after which a temporary directory is left over from a killed process."""


class Refused(Exception):
    """A valid pack that cannot be installed or removed here."""


class Installed(Struct, frozen=True):
    """The result of `install`. `solutions`: number of lessons with a solution; `before`: the
    directory of the previous version."""

    pack: Pack
    solutions: int
    before: Path | None


class KnownPack(Struct, frozen=True):
    """A pack that `--pack` accepts. `source`: where it came from, in words. `distribution`: its
    name in pip, if distributed with pip. `problem`: why there is no `root`."""

    id: str
    root: Path | None
    source: str
    distribution: str = ""
    problem: str = ""


def folder() -> Path:
    """Return the directory of installed packs."""
    return paths.data() / "packs"


def find(name: str) -> Path | None:
    """Return the directory of the pack with this id: an installed one, the course, or one
    distributed with pip."""
    if "/" in name or fault_of(name) is not None:
        return None
    if numbers := _numbers(folder() / name):
        return folder() / name / str(numbers[-1])
    if name == open_pack().id:
        return built_in()
    folders = (one.folder for one in distributed() if one.name == name)
    return next((found for found in folders if found is not None), None)


def known() -> list[KnownPack]:
    """Return all packs; if two have the same id, `find` finds the first."""
    found = [KnownPack(open_pack().id, built_in(), "the course")]
    for path in sorted(folder().glob("[!.]*")):
        if numbers := _numbers(path):
            root = path / str(numbers[-1])
            found.append(KnownPack(path.name, root, f"from {_source(root)}"))
    return found + [from_pip(one) for one in distributed()]


def from_pip(one: Distributed) -> KnownPack:
    """Describe a pack distributed with pip."""
    source = f"{one.distribution} {one.version} (pip)"
    problem = (
        f"its entry point in {GROUP} must be package:directory with a pack.yaml, got {one.value!r}"
    )
    problem = "" if one.folder is not None else problem
    return KnownPack(one.name, one.folder, source, one.distribution, problem)


def install(inventory: Inventory, files: Files, shown_as: str, source: str) -> Installed:
    """Put a pack where `find` finds it.

    **Arguments:** `shown_as`: its directory in messages; `source`: where it came from, for `known`.

    Raises:
        BadPack: it has problems.
        BadArchive: the inventory belongs to another pack.
        Refused: it has the id of the course.
        OSError: it could not be written; nothing has changed.
    """
    folder().mkdir(parents=True, exist_ok=True)
    _sweep()
    with _incoming() as incoming:
        for name, data in files.items():
            path = incoming / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (incoming / INVENTORY).write_bytes(structs.replace(inventory, source=source).to_json())
        pack = _validated(incoming, shown_as)
        if pack.id != inventory.id:
            message = f"its id {inventory.id!r} must be that of pack.yaml, {pack.id!r}"
            raise BadArchive(shown_as, message, INVENTORY)
        if pack.id == open_pack().id:
            raise Refused(f"the id {pack.id!r} is taken by the course; change it in pack.yaml")
        if hasattr(os, "sync"):
            os.sync()  # fsync of thousands of files one by one takes a minute
        solutions = solved(pack)
        base = folder() / pack.id
        number = _put(incoming, base)
    _prune(base)
    before = [old for old in _numbers(base) if old < number]
    # Not reopened: another process may have removed it by now.
    pack = Pack(base / str(number), pack.manifest, pack.lessons)
    return Installed(pack, solutions, base / str(before[-1]) if before else None)


def remove(pack_id: str) -> None:
    """Remove an installed pack and its previous version.

    Raises:
        Refused: no installed pack has this id.
        OSError: it could not be removed.
    """
    base = folder() / pack_id
    if "/" in pack_id or fault_of(pack_id) is not None or not _numbers(base):
        raise Refused(f"no pack {pack_id!r} is installed")
    try:
        _discard(base)
    except FileNotFoundError:
        raise Refused(f"the pack {pack_id!r} has just been removed") from None


# --- folders ---------------------------------------------------------------------------------


def _numbers(base: Path) -> list[int]:
    """Return the numbers of a pack's copies, ascending."""
    try:
        names = [entry.name for entry in os.scandir(base)]
    except OSError:
        return []
    return sorted(int(name) for name in names if name.isascii() and name.isdigit())


def _source(root: Path) -> str:
    """Return where an installed pack came from, or an empty string if unknown."""
    import msgspec

    try:
        return msgspec.json.decode((root / INVENTORY).read_bytes(), type=Inventory).source
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def _validated(incoming: Path, shown_as: str) -> Pack:
    try:
        return load_pack(incoming)
    except BadPack as error:
        here = Folder(incoming).shown(".")
        raise BadPack(
            structs.replace(problem, file=problem.file.replace(here, shown_as, 1))
            for problem in error.problems
        ) from None


@contextmanager
def _incoming() -> Iterator[Path]:
    """Create a directory next to the installed packs, and remove it unless it was renamed."""
    made = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=folder()))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _put(incoming: Path, base: Path) -> int:
    """Rename a complete directory to the next number."""
    for attempt in range(ATTEMPTS):
        try:
            base.mkdir(exist_ok=True)
            number = max(_numbers(base), default=0) + 1
            incoming.rename(base / str(number))
        except OSError as error:
            # Another process has taken the number, or is removing the pack.
            busy = error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)
            if not busy or attempt == ATTEMPTS - 1:
                raise
        else:
            return number
    raise AssertionError("the last attempt returns or raises")


def _prune(base: Path) -> None:
    for number in _numbers(base)[:-KEPT]:
        with suppress(OSError):  # done by another process, or left for next time
            _discard(base / str(number))


def _discard(path: Path) -> None:
    """Remove a directory atomically, as seen by other processes."""
    removed = Path(tempfile.mkdtemp(prefix=_REMOVED, dir=folder()))
    try:
        path.rename(removed / path.name)
    finally:
        shutil.rmtree(removed, ignore_errors=True)
        # Another process may have added a file during the rename.
        shutil.rmtree(removed, ignore_errors=True)


def _sweep() -> None:
    """Remove directories left by killed processes."""
    for path in [*folder().glob(f"{_INCOMING}*"), *folder().glob(f"{_REMOVED}*")]:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
