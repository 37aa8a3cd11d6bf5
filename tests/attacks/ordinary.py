"""Run a command as an ordinary user: `python ordinary.py UID PATH… -- COMMAND…`.

Started as root. The command needs each PATH. If the user cannot enter a directory above one (an
interpreter in root's home), an empty directory is mounted over it and PATH is bound into that, in a
mount namespace of this process and its children.
"""

import ctypes
import os
import sys
from pathlib import Path

_NEWNS, _BIND, _PRIVATE, _RECURSIVE = 0x20000, 1 << 12, 1 << 18, 1 << 14
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    user, *rest = arguments
    split = rest.index("--")
    make_reachable([Path(path) for path in rest[:split]])
    os.setgroups([])
    os.setresgid(int(user), int(user), int(user))
    os.setresuid(int(user), int(user), int(user))
    command = rest[split + 1 :]
    os.execv(command[0], command)


def make_reachable(paths: list[Path]) -> None:
    closed = {path: folder for path in paths if (folder := first_closed(path)) is not None}
    if not closed:
        return
    done(_LIBC.unshare(_NEWNS))
    mount("none", "/", None, _PRIVATE | _RECURSIVE, None)
    # Opened before they are covered, but in the new namespace: another's cannot be bound.
    descriptors = {path: os.open(path, os.O_PATH) for path in closed}
    for folder in set(closed.values()):
        mount("none", str(folder), "tmpfs", 0, "mode=755")
    for path, descriptor in descriptors.items():
        path.mkdir(parents=True, exist_ok=True)
        mount(f"/proc/self/fd/{descriptor}", str(path), None, _BIND | _RECURSIVE, None)
        os.close(descriptor)


def first_closed(path: Path) -> Path | None:
    """Return the outermost directory on the way to `path` that others may not enter."""
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & 0o001:
            return folder
    return None


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    texts = [text if text is None else os.fsencode(text) for text in (source, target, kind)]
    done(_LIBC.mount(*texts, ctypes.c_ulong(flags), options and options.encode()))


def done(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main(sys.argv[1:])
