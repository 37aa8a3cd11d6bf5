"""What a file of a pack that travels may be called.

The same names everywhere: what one system takes for a plain name leads elsewhere on another, and
two names are one where case or accents do not count.
"""

import unicodedata
from collections.abc import Iterable

MAX_PARTS = 4
"""`solutions/<track>/<lesson>/<style>.py`"""

MAX_BYTES = 200


def fault_of(name: str) -> str | None:
    """Why no file of a pack can be called this."""
    parts = name.split("/")
    if not name.isprintable():
        return "a character in the name that cannot be seen"
    if name.startswith("/"):
        return "an absolute name; names are relative to the pack"
    if "\\" in name or ":" in name:
        return "a backslash or colon in the name, which leads elsewhere on some systems"
    if ".." in parts:
        return "leads out of the pack (..)"
    if name.endswith("/"):
        return "a folder; only files are listed"
    if any(part != part.strip(" .") or not part for part in parts):
        return "a part of the name is empty, or begins or ends with a dot or space"
    if any(one in '<>"|?*' for one in name):
        return 'one of <>"|?* in the name, which not every system allows'
    if len(parts) > MAX_PARTS or len(name.encode()) > MAX_BYTES:
        return f"a name of more than {MAX_PARTS} parts or {MAX_BYTES} bytes"
    return None


def clash_in(names: Iterable[str]) -> tuple[str, str] | None:
    """The first name that cannot stand beside those before it, and why."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        above = ["/".join(key.split("/")[:count]) for count in range(1, key.count("/") + 1)]
        if key in files:
            return name, f"twice; there is {files[key]}"
        taken = [files[folder] for folder in above if folder in files]
        if taken or key in folders:
            return (
                name,
                f"a file and a folder have one name; there is {(taken or [folders[key]])[0]}",
            )
        files[key] = name
        folders.update(dict.fromkeys(above, name))
    return None
