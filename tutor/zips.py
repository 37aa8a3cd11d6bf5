"""Reading members of a stranger's zip: what to refuse, and how much to read."""

import stat
import struct
import zipfile
import zlib

MAX_RATIO = 200
"""Bytes made of one; text of lessons has 10. Not looked at in files of less than `SMALL`."""

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
    ValueError,
    struct.error,
)
"""What zipfile raises about bytes that it cannot make sense of."""


def danger_in(member: zipfile.ZipInfo, at_most: int) -> str | None:
    """Why a member of a stranger's zip should not be unpacked: what it says of itself.

    **Arguments:** `at_most`: bytes that are read of it.
    """
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link; put the file itself there"
    if kind not in (0, stat.S_IFREG) or member.external_attr & 0x10:
        return "not a regular file"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted; nobody here has the password"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "compressed in a way that jaxtutor does not use"
    if member.file_size > at_most:
        return f"{member.file_size:,} bytes; at most {at_most:,} are read"
    if member.file_size > max(MAX_RATIO * member.compress_size, SMALL):
        return f"{member.file_size:,} bytes made of {member.compress_size:,}"
    return None


def content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, at_most: int) -> bytes:
    """What a member holds; one byte more than `at_most` where it is more than that.

    Raises:
        DAMAGE: it cannot be unpacked, or is not what its checksum says.
    """
    with archive.open(member) as file:
        # To the end, where zipfile compares its checksum; never more than the size it told.
        return file.read(at_most + 1)
