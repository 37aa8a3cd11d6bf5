"""Packs on this machine: those installed, those that came with pip, and the course.

    packs/mini/1/pack.yaml      what was installed before
    packs/mini/2/pack.yaml      what is used: the highest number

An installed pack is a copy that is complete and valid before it gets its name, by one rename. So of
two that install at once both succeed, an app that is open goes on reading what it has opened, and
whatever is interrupted has changed nothing. The one before is kept. Learners' files and progress
are elsewhere, and nothing here touches them.
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

from tutor import paths
from tutor.manifest import Pack
from tutor.pack import BadPack, built_in, load_pack, open_pack
from tutor.pack.archive import INVENTORY, BadArchive, Files, Inventory
from tutor.pack.contents import solved
from tutor.pack.folder import Folder
from tutor.pack.member_names import fault_of
from tutor.plugins import GROUP, Distributed, distributed

KEPT = 2
"""The one in use, and the one before."""

ATTEMPTS = 100
"""At the next number, while others install and remove the same pack."""

_INCOMING, _REMOVED = ".incoming-", ".removed-"
_ABANDONED = 3600.0
"""Seconds after which a folder that somebody was filling or emptying is nobody's."""


class Refused(Exception):
    """A pack that cannot be installed or removed here, though nothing is wrong with it."""


class Installed(Struct, frozen=True):
    """What `install` has done. `solutions`: how many lessons have one; `before`: the pack that
    was replaced, which is kept."""

    pack: Pack
    solutions: int
    before: Path | None


class KnownPack(Struct, frozen=True):
    """A pack that can be named. `source`: where it came from, in words. `distribution`: what pip
    calls it, where pip has brought it. `problem`: why there is no `root`."""

    id: str
    root: Path | None
    source: str
    distribution: str = ""
    problem: str = ""


def folder() -> Path:
    """Where installed packs are."""
    return paths.data() / "packs"


def find(name: str) -> Path | None:
    """The folder of the pack with this id: one that was installed, the course, or one that came
    with pip."""
    if "/" in name or fault_of(name) is not None:
        return None
    if numbers := _numbers(folder() / name):
        return folder() / name / str(numbers[-1])
    if name == open_pack().id:
        return built_in()
    folders = (one.folder for one in distributed() if one.name == name)
    return next((found for found in folders if found is not None), None)


def known() -> list[KnownPack]:
    """Every pack that there is; where two have one id, `find` finds the first."""
    found = [KnownPack(open_pack().id, built_in(), "the course")]
    for path in sorted(folder().glob("[!.]*")):
        if numbers := _numbers(path):
            root = path / str(numbers[-1])
            found.append(KnownPack(path.name, root, f"from {_source(root)}"))
    return found + [from_pip(one) for one in distributed()]


def from_pip(one: Distributed) -> KnownPack:
    """A pack that came with pip."""
    source = f"{one.distribution} {one.version} (pip)"
    problem = (
        f"its entry point in {GROUP} says {one.value!r}; expected package:folder, with a pack.yaml"
    )
    problem = "" if one.folder is not None else problem
    return KnownPack(one.name, one.folder, source, one.distribution, problem)


def install(inventory: Inventory, files: Files, shown_as: str, source: str) -> Installed:
    """Put a pack where `find` finds it.

    **Arguments:** `shown_as`: how messages name its folder; `source`: where it came from, kept for
    `known`.

    Raises:
        BadPack: it has problems.
        BadArchive: the inventory is that of another pack.
        Refused: it has the id of the course.
        OSError: it could not be written; all is as before.
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
            message = f"made for the pack {inventory.id!r}, but this is {pack.id!r}"
            raise BadArchive(shown_as, message, INVENTORY)
        if pack.id == open_pack().id:
            raise Refused(
                f"the id {pack.id!r} is that of the course; give the pack another in pack.yaml"
            )
        if hasattr(os, "sync"):
            os.sync()  # all of it at once; file by file takes a minute for thousands
        solutions = solved(pack)
        base = folder() / pack.id
        number = _put(incoming, base)
    _prune(base)
    before = [old for old in _numbers(base) if old < number]
    # Not opened anew: another may have removed it by now.
    pack = Pack(base / str(number), pack.manifest, pack.lessons)
    return Installed(pack, solutions, base / str(before[-1]) if before else None)


def remove(pack_id: str) -> None:
    """Remove an installed pack, and the one before it.

    Raises:
        Refused: there is none of this id.
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
    """Of the copies of a pack, rising."""
    try:
        names = [entry.name for entry in os.scandir(base)]
    except OSError:
        return []
    return sorted(int(name) for name in names if name.isascii() and name.isdigit())


def _source(root: Path) -> str:
    """Where an installed pack came from, as far as it is known."""
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
    """A folder beside the installed packs, gone afterwards unless it was given a name."""
    made = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=folder()))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _put(incoming: Path, base: Path) -> int:
    """Give a complete folder the next number."""
    for attempt in range(ATTEMPTS):
        try:
            base.mkdir(exist_ok=True)
            number = max(_numbers(base), default=0) + 1
            incoming.rename(base / str(number))
        except OSError as error:
            # Mostly another has just taken the number, or removes the pack.
            busy = error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)
            if not busy or attempt == ATTEMPTS - 1:
                raise
        else:
            return number
    raise AssertionError("the last attempt returns or raises")


def _prune(base: Path) -> None:
    for number in _numbers(base)[:-KEPT]:
        with suppress(OSError):  # another has done it, or it stays for now
            _discard(base / str(number))


def _discard(path: Path) -> None:
    """Remove a folder so that nobody sees a part of it."""
    removed = Path(tempfile.mkdtemp(prefix=_REMOVED, dir=folder()))
    try:
        path.rename(removed / path.name)
    finally:
        shutil.rmtree(removed, ignore_errors=True)
        # Into a folder on the move another may just have put something.
        shutil.rmtree(removed, ignore_errors=True)


def _sweep() -> None:
    """Remove what was left by processes that were killed."""
    for path in [*folder().glob(f"{_INCOMING}*"), *folder().glob(f"{_REMOVED}*")]:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
