"""Reading members of untrusted zips."""

import stat
import struct
import warnings
import zipfile
import zlib
from typing import IO

MAX_RATIO = 200
"""Compression ratio; text of lessons reaches 10. Not checked for files smaller than `SMALL`."""

SMALL = 64 << 10

_ENCRYPTED = 0x41

DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    IndexError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    UserWarning,
    ValueError,
    struct.error,
)
"""Exceptions that `content` and zipfile raise for damaged data."""


def danger_in(member: zipfile.ZipInfo, at_most: int, *, max_ratio: float = MAX_RATIO) -> str | None:
    """Return why a member must not be unpacked, judging by its metadata.

    **Arguments:** `at_most`: limit of its size, in bytes; `max_ratio`: of its compression.
    """
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a symbolic link; replace it with the file itself"
    if kind not in (0, stat.S_IFREG) or member.external_attr & 0x10:
        return "not a regular file"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted; build the zip without a password"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "unsupported compression method; use stored or deflated"
    if member.file_size > at_most:
        return f"must be at most {at_most:,} bytes, got {member.file_size:,}"
    if member.file_size > max(max_ratio * member.compress_size, SMALL):
        return f"compressed too well: {member.compress_size:,} bytes unpack to {member.file_size:,}"
    return None


def content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, at_most: int) -> bytes:
    """Return a member's contents, cut one byte after `at_most`. Raises: DAMAGE: it cannot be
    unpacked, or does not match its checksum."""
    with opened(archive, member) as file:
        # zipfile verifies the checksum at the end, and never reads more than the declared size.
        return file.read(at_most + 1)


def opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Open a member to be read. Raises: DAMAGE: it cannot be unpacked."""
    with warnings.catch_warnings():
        # From Python 3.13, zipfile only warns of some members that overlap.
        warnings.simplefilter("error", UserWarning)
        return archive.open(member)
