"""Submitted files in a zip."""

import zipfile
from pathlib import Path
from typing import Self

from tutor.foreign.plain_text import one_line
from tutor.foreign.zips import DAMAGE, content, danger_in
from tutor.grading.submission_files import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    TOO_DEEP,
    Identity,
    Unreadable,
    Unusable,
    is_ignored,
    name_fault,
    too_many,
)

MAX_ARCHIVE = 4 << 30
MAX_DIRECTORY = 64 << 20
"""Bytes of a zip's central directory, which zipfile reads at once: about 500,000 files."""

_END_RECORD = b"PK\x05\x06"
_END_RECORD_BYTES = 22
_MAX_COMMENT = 1 << 16


class ZipFiles:
    """See `SubmissionFiles`."""

    zipped = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.problems: list[str] = []
        self.folders: set[str] = set()
        self.hard_linked: dict[str, Identity] = {}
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._archive: zipfile.ZipFile | None = None

    def __enter__(self) -> Self:
        try:
            _refuse_large(self.path)
            self._archive = zipfile.ZipFile(self.path)
        except DAMAGE as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            message = f"{self.path}: damaged, or not a zip: {one_line(why or str(error))}"
            raise Unusable(f"{message}; download it again") from None
        return self

    def __exit__(self, *exception: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def names(self) -> list[str]:
        """See `SubmissionFiles`."""
        assert self._archive is not None
        members = self._archive.infolist()
        if len(members) > MAX_FILES:
            raise too_many(self.path)
        for member in members:
            name = member.orig_filename.replace("\\", "/")  # as some Windows programs write it
            is_folder = name.endswith("/")
            name = name.rstrip("/")
            parts = name.split("/")
            if any(is_ignored(part) for part in parts if part != ".."):
                continue
            fault = name_fault(name) or (TOO_DEEP if len(parts) > MAX_DEPTH else None)
            if fault is None:
                depths = range(1, len(parts) + is_folder)
                self.folders.update("/".join(parts[:depth]) for depth in depths)
                if len(self.folders) > MAX_FILES:
                    raise too_many(self.path)
            if is_folder and fault is None:
                continue
            if fault := fault or danger_in(member, MAX_BYTES):
                self.problems.append(f"{name}: {fault}")
            elif name in self._members:
                self.problems.append(f"{name}: more than once in the zip; the first one is used")
            else:
                self._members[name] = member
        return sorted(self._members)

    def read(self, name: str) -> bytes:
        """See `SubmissionFiles`."""
        assert self._archive is not None
        try:
            data = content(self._archive, self._members[name], MAX_BYTES)
        except DAMAGE as error:
            raise Unreadable(f"{name}: damaged in the zip: {one_line(str(error))}") from None
        if len(data) > MAX_BYTES:
            raise Unreadable(f"{name}: more than {MAX_BYTES:,} bytes")
        return data


def _refuse_large(path: Path) -> None:
    """Raise `Unusable` before zipfile creates an object for each of a million entries."""
    size = path.stat().st_size
    if size > MAX_ARCHIVE:
        raise Unusable(f"{path}: larger than {MAX_ARCHIVE >> 30} GiB; grade it in parts")
    with path.open("rb") as file:
        file.seek(max(0, size - _MAX_COMMENT - _END_RECORD_BYTES))
        tail = file.read()
    if (start := tail.rfind(_END_RECORD)) < 0:
        raise zipfile.BadZipFile("no central directory")
    if int.from_bytes(tail[start + 12 : start + 16], "little") > MAX_DIRECTORY:
        raise too_many(path)
