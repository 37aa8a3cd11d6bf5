"""Python source files as text."""

from pathlib import Path

MAX_BYTES = 1 << 20


class BadFile(Exception):
    """The file is not Python source text; the message names file, line and column."""


def read_source(path: Path) -> str:
    """Return the text of a Python file, line endings included, without a byte order mark.

    Raises:
        BadFile: too large, not UTF-8, or not a regular file.
        OSError: the file cannot be read.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # Reading a pipe or a device may never end.
        raise BadFile(f"{path}: not a regular file; to check what a command prints, give - instead")
    with path.open("rb") as file:
        return decode_source(file.read(MAX_BYTES + 1), str(path))


def decode_source(data: bytes, name: str) -> str:
    """Return the text of a Python file read as bytes. Raises: BadFile: too large, or not UTF-8."""
    if len(data) > MAX_BYTES:
        raise BadFile(f"{name}: larger than {MAX_BYTES >> 10} KiB; is this the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise BadFile(
            f"{name}:{line}:{column}: byte {data[error.start]:#04x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None
