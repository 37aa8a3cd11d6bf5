"""The targets of attacks: files, sockets, a process and a terminal outside the sandbox."""

import contextlib
import os
import pty
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SECRET = "a sentence that nobody in a sandbox may ever read"


@contextlib.contextmanager
def aims(folder: Path, home: Path) -> Iterator[dict[str, str]]:
    """Yield the targets by name; `@NAME@` in a submission stands for one. Assert afterwards that
    the attack changed none."""
    secret = written(folder / "secret.txt")
    other = written(home / "workspace" / "mini" / "tall.py")
    key = written(home / ".ssh" / "id_ed25519")
    before = state(secret.parent), state(other.parent), state(key.parent)
    # Not in a temporary directory with a long name: a socket's address has 107 bytes.
    short = Path(tempfile.mkdtemp(prefix="jt-", dir="/tmp"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, short)
        abstract = f"jaxtutor-{os.getpid()}"
        doors = {
            family: stack.enter_context(socket.socket(*family))
            for family in (
                (socket.AF_INET, socket.SOCK_STREAM),
                (socket.AF_INET, socket.SOCK_DGRAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
                (socket.AF_UNIX, socket.SOCK_DGRAM),
            )
        }
        tcp, udp, named, datagrams = doors.values()
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        named.bind(f"\0{abstract}")
        datagrams.bind(str(short / "datagrams"))
        for door in doors.values():
            door.setblocking(False)
        tcp.listen()
        named.listen()
        sibling = stack.enter_context(subprocess.Popen(["sleep", "36000"]))
        stack.callback(sibling.kill)
        ours, theirs = pty.openpty()
        stack.callback(os.close, ours)
        stack.callback(os.close, theirs)
        yield {
            "SECRET": str(secret),
            "OTHER": str(other),
            "KEY": str(key),
            "HOME": str(home),
            "OUTSIDE": str(folder / "outside"),
            "PARENT": str(os.getpid()),
            "SIBLING": str(sibling.pid),
            "TCP": str(tcp.getsockname()[1]),
            "UDP": str(udp.getsockname()[1]),
            "ABSTRACT": abstract,
            "DATAGRAMS": str(short / "datagrams"),
            "TERMINAL": os.ttyname(theirs),
            "REPO": str(Path(__file__).resolve().parents[2]),
        }
        assert (state(secret.parent), state(other.parent), state(key.parent)) == before
        assert sibling.poll() is None
        for door in (tcp, named):
            with pytest.raises(BlockingIOError):  # no connection
                door.accept()
        for door in (udp, datagrams):
            with pytest.raises(BlockingIOError):
                door.recv(1)
        os.set_blocking(theirs, False)
        with pytest.raises(BlockingIOError):  # no input
            os.read(theirs, 1)


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    return path


def state(folder: Path) -> dict[str, object]:
    """Return everything about the files in a directory that an attack could change."""
    found: dict[str, object] = {}
    for path in sorted(folder.iterdir()):
        about = path.lstat()
        found[path.name] = about.st_mode, about.st_uid, about.st_gid
        if path.is_file():  # the test itself changes the contents
            more = os.listxattr(path) if hasattr(os, "listxattr") else []
            found[path.name] = about[:7], about.st_mtime_ns, path.read_text(), more
    return found
