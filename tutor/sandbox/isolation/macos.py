"""The layers of macOS: the system's sandbox and POSIX limits.

Never run on macOS: unit tests check only the profile.

`sandbox-exec -p` calls `sandbox_init`; calling it here needs no other program. Apple has deprecated
it but ships it in every release.
"""

import ctypes
from pathlib import Path

from tutor.report import Protection
from tutor.sandbox.isolation import Policy, posix

_SYSTEM = ("/usr/lib", "/usr/share", "/System", "/Library/Apple", "/private/var/db/timezone")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def apply(policy: Policy) -> list[Protection]:
    protections = posix.apply(policy)
    try:
        _enter(profile(policy))
    except OSError as error:
        return [*protections, *(Protection(name, False, str(error)) for name in _COVERED)]
    return [*protections, *(Protection(name, True, "by the system's sandbox") for name in _COVERED)]


_COVERED = ("files", "network", "processes")


def profile(policy: Policy) -> str:
    """Return the rules in the sandbox's language. The last rule that matches decides."""
    packages = map(Path, policy.packages.values())
    libraries = {str(path.resolve()) for path in [*posix.libraries(), *packages]}
    own = str(Path(policy.folder).resolve())
    hidden = [str(path.resolve()) for path in posix.hidden_paths(policy)]
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            "(allow sysctl-read)",
            "(allow file-read-metadata)",
            "(allow signal (target self))",
            f"(allow file-read* {_paths('subpath', sorted({*libraries, *_SYSTEM}))})",
            *([f"(deny file-read* {_paths('subpath', hidden)})"] if hidden else []),
            f"(allow file-read* file-write* {_paths('subpath', [own])})",
            f"(allow file-read* file-write-data {_paths('literal', _DEVICES)})",
        ]
    )


def _paths(kind: str, paths: list[str] | tuple[str, ...]) -> str:
    return " ".join(f"({kind} {_quoted(path)})" for path in paths)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _enter(rules: str) -> None:
    library = ctypes.CDLL("/usr/lib/libSystem.dylib")
    message = ctypes.c_char_p()
    if library.sandbox_init(rules.encode(), ctypes.c_uint64(0), ctypes.byref(message)) != 0:
        raise OSError((message.value or b"sandbox_init failed").decode(errors="replace"))
