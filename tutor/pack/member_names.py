"""Validating file names in built packs.

Names must be portable: a plain name on one system can be a path on another, and some file systems
ignore case or normalise accents.
"""

import unicodedata
from collections.abc import Iterable

MAX_PARTS = 4
"""`solutions/<track>/<lesson>/<style>.py`"""

MAX_BYTES = 200

_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)
"""Names that Windows gives to devices, whatever the ending of the file."""


def fault_of(name: str) -> str | None:
    """Return why a name is not allowed in a pack, or None if it is."""
    parts = name.split("/")
    if not name.isprintable():
        return "the name contains an unprintable character"
    if name.startswith("/"):
        return "the name must be relative to the pack, not absolute"
    if "\\" in name or ":" in name:
        return "the name must not contain a backslash or colon"
    if ".." in parts:
        return "points outside the pack (..)"
    if name.endswith("/"):
        return "a directory; only files are allowed"
    if any(part != part.strip(" .") or not part for part in parts):
        return "no part of the name may be empty, or begin or end with a dot or space"
    if any(one in '<>"|?*' for one in name):
        return 'the name must not contain any of <>"|?*'
    if device := next((p for p in parts if p.partition(".")[0].lower() in _DEVICES), ""):
        return f"{device!r} is the name of a device on Windows"
    if len(parts) > MAX_PARTS or len(name.encode()) > MAX_BYTES:
        return f"the name must have at most {MAX_PARTS} parts and {MAX_BYTES} bytes"
    return None


def clash_in(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first name that conflicts with an earlier one, and why."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        above = ["/".join(key.split("/")[:count]) for count in range(1, key.count("/") + 1)]
        if key in files:
            return name, f"duplicate of {files[key]}"
        taken = [files[folder] for folder in above if folder in files]
        if taken or key in folders:
            return (
                name,
                f"a file and a directory with one name; see {(taken or [folders[key]])[0]}",
            )
        files[key] = name
        folders.update(dict.fromkeys(above, name))
    return None
