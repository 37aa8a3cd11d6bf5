"""Writing a pack to one file, a zip with an inventory, and reading untrusted ones.

    mini.zip
      manifest.json            inventory with a checksum of every file
      pack.yaml
      basics/double.yaml
      solutions/basics/double.py

Archives are reproducible (given the same zlib): they hold no times or owners, and files are sorted.
Reading one writes nothing to disk. Anything that `write_archive` would not write, such as a link or
a path outside the pack, is refused.
"""

import io
import stat
import zipfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tutor import __version__
from tutor.foreign.plain_text import one_line
from tutor.foreign.zips import DAMAGE, content, danger_in
from tutor.lesson import Id
from tutor.pack.folder import MAX_BYTES
from tutor.pack.member_names import clash_in, fault_of

FORMAT = 1
"""The archive format; `tutor.manifest.FORMAT` is that of packs."""

INVENTORY = "manifest.json"
MAX_ARCHIVE = 64 << 20
MAX_FILES = 20_000
"""About 5,000 lessons with their solutions."""

MAX_TOTAL = 256 << 20
"""Bytes of all files together; each may have `MAX_BYTES`."""

MAX_DIRECTORY = 8 << 20
"""Bytes of the zip's central directory, which is read as a whole, and of the inventory."""

NAME_SHOWN = 120
"""Characters of a member's name in messages."""

_END = b"PK\x05\x06"
_END_BYTES = 22
_LARGE_END = b"PK\x06\x07"
_LARGE_END_BYTES = 20

Purpose: TypeAlias = Literal["everything", "learners", "grading"]
Files: TypeAlias = dict[str, bytes]
"""Contents of a pack's files by POSIX path relative to its root."""


class Inventory(Struct, frozen=True, kw_only=True):
    """`manifest.json`. `files` holds the SHA-256 of all other files; `source` is where an installed
    pack came from."""

    format: Annotated[int, Meta(ge=1)] = FORMAT
    jaxtutor: str = __version__
    id: Id
    title: str
    version: str = ""
    purpose: Purpose = "everything"
    left_out: tuple[str, ...] = ()
    files: dict[str, Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]]
    source: str = ""

    def to_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic")) + b"\n"


class BadArchive(Exception):
    """A file that is not a pack built by jaxtutor; the message names it and the member."""

    def __init__(self, archive: str, message: str, member: str | None = None) -> None:
        parts = [
            one_line(archive),
            *([one_line(member[:NAME_SHOWN])] if member is not None else []),
        ]
        super().__init__(": ".join([*parts, message]))


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return SHA-256 checksums for `Inventory.files`."""
    return {name: sha256(data).hexdigest() for name, data in sorted(files.items())}


# --- writing ---------------------------------------------------------------------------------


def write_archive(inventory: Inventory, files: Mapping[str, bytes]) -> bytes:
    """Return the bytes of the zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in [(INVENTORY, inventory.to_json()), *sorted(files.items())]:
            info = zipfile.ZipInfo(name)  # dated 1980
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


# --- reading ---------------------------------------------------------------------------------


def read_archive(path: Path) -> tuple[Inventory, Files]:
    """Return an archive's inventory and files, verified against their checksums.

    Raises:
        BadArchive: it is damaged, or not written by jaxtutor.
        OSError: it cannot be read.
    """
    name = path.name
    if not stat.S_ISREG(path.stat().st_mode):
        raise BadArchive(name, "not a regular file")
    with path.open("rb") as file:
        data = file.read(MAX_ARCHIVE + 1)
    return unpack(data, name)


def unpack(data: bytes, shown_as: str) -> tuple[Inventory, Files]:
    """Read an archive from its bytes; `shown_as` is its name in messages.

    Raises:
        BadArchive: it is damaged, or not written by jaxtutor.
    """
    _refuse_large(data, shown_as)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _Reader(archive, shown_as).read()
    except DAMAGE as error:
        raise BadArchive(shown_as, f"damaged, or not a zip: {one_line(str(error))}") from None


def _refuse_large(data: bytes, shown_as: str) -> None:
    """Check sizes before zipfile creates an object for each of possibly a million entries."""
    if len(data) > MAX_ARCHIVE:
        raise BadArchive(shown_as, f"must be at most {MAX_ARCHIVE >> 20} MiB")
    end = data[-_END_BYTES:]
    if not data.startswith(b"PK\x03\x04") or not end.startswith(_END) or end[20:] != b"\0\0":
        raise BadArchive(shown_as, "truncated, or not a zip built by jaxtutor")
    entries = int.from_bytes(end[10:12], "little")
    directory = int.from_bytes(end[12:16], "little")
    before = data[-_END_BYTES - _LARGE_END_BYTES : -_END_BYTES]
    if before.startswith(_LARGE_END) or directory > MAX_DIRECTORY or entries > MAX_FILES:
        raise BadArchive(shown_as, f"must have at most {MAX_FILES:,} files")


class _Reader:
    """Validates the metadata of all members before unpacking the first."""

    def __init__(self, archive: zipfile.ZipFile, shown_as: str) -> None:
        self._archive = archive
        self._shown_as = shown_as
        self._members = archive.infolist()

    def read(self) -> tuple[Inventory, Files]:
        if len(self._members) > MAX_FILES:  # the zip's own count can be false
            raise self._bad(f"must have at most {MAX_FILES:,} files")
        for member in self._members:
            self._refuse_strange(member)
        names = [member.orig_filename for member in self._members]
        if clash := clash_in(names):
            raise self._bad(clash[1], clash[0])
        members = dict(zip(names, self._members, strict=True))
        if sum(member.file_size for member in self._members) > MAX_TOTAL:
            raise self._bad(f"must unpack to at most {MAX_TOTAL >> 20} MiB")
        if INVENTORY not in members:
            raise self._bad(f"not a pack built by jaxtutor: {INVENTORY} is missing")
        inventory = self._inventory(self._content(members.pop(INVENTORY), MAX_DIRECTORY))
        self._compare(inventory, members)
        return inventory, self._contents(inventory, members)

    def _refuse_strange(self, member: zipfile.ZipInfo) -> None:
        name = member.orig_filename
        if fault := fault_of(name):
            raise self._bad(fault, name)
        if member.extra:
            raise self._bad("unexpected zip metadata, such as an owner or a link", name)
        if fault := danger_in(member, MAX_BYTES if name != INVENTORY else MAX_DIRECTORY):
            raise self._bad(fault, name)

    def _content(self, member: zipfile.ZipInfo, at_most: int) -> bytes:
        data = content(self._archive, member, at_most)
        if len(data) > at_most:
            raise self._bad(f"must be at most {at_most:,} bytes", member.orig_filename)
        return data

    def _inventory(self, data: bytes) -> Inventory:
        try:
            found = msgspec.json.decode(data, type=_Format).format
            if found > FORMAT:
                message = (
                    f"format {found} needs a newer jaxtutor; this is jaxtutor {__version__}, which "
                    f"reads format {FORMAT}. Run: pip install --upgrade jaxtutor"
                )
                raise self._bad(message, INVENTORY)
            return msgspec.json.decode(data, type=Inventory)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._bad(one_line(str(error)), INVENTORY) from None

    def _compare(self, inventory: Inventory, members: Iterable[str]) -> None:
        listed, found = inventory.files.keys(), set(members)
        if extra := sorted(found - listed):
            raise self._bad(f"not listed in {INVENTORY}", extra[0])
        if missing := sorted(listed - found):
            raise self._bad(f"listed in {INVENTORY} but missing", missing[0])

    def _contents(self, inventory: Inventory, members: Mapping[str, zipfile.ZipInfo]) -> Files:
        files: Files = {}
        total = 0
        for name, member in members.items():
            data = files[name] = self._content(member, MAX_BYTES)
            if (total := total + len(data)) > MAX_TOTAL:
                raise self._bad(f"must unpack to at most {MAX_TOTAL >> 20} MiB in total", name)
            if sha256(data).hexdigest() != inventory.files[name]:
                raise self._bad(f"checksum does not match {INVENTORY}", name)
        return files

    def _bad(self, message: str, member: str | None = None) -> BadArchive:
        return BadArchive(self._shown_as, message, member)


class _Format(Struct):
    format: Annotated[int, Meta(ge=1)]
