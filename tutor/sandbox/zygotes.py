"""Zygotes, as the main process sees them: one for each role, started when first needed.

Where none can be had (another system than Linux, or it has just been killed) a worker is started
afresh instead: slower by the import of its libraries, and otherwise the same.
"""

import os
import select
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import msgspec

from tutor.sandbox.child import Forked
from tutor.sandbox.command import command
from tutor.sandbox.isolation import Policy
from tutor.sandbox.zygote import Birth

BIRTH_SECONDS = 60.0
IMPORT_SECONDS = 300.0
"""Patience with a zygote: far more than it needs on a busy machine. Without it a worker imports the
libraries itself, which takes longer still."""


class NoZygote(Exception):
    """There is none to fork from, at least not now."""


class Zygotes:
    """The zygotes of this process. All methods may be called from any thread.

    **Arguments:** `roots`: the folder that holds this package; `environ`: a zygote's environment.
    """

    def __init__(self, root: str, environ: dict[str, str]) -> None:
        self._root = root
        self._environ = environ
        self._lock = threading.Lock()
        self._zygotes: dict[str, _Zygote] = {}
        self._closed = False

    def start(self, role: str) -> None:
        """Have one for this role come up, if there is none; does not wait for it."""
        if sys.platform != "linux":
            return
        with self._lock:
            zygote = self._zygotes.get(role)
            if self._closed or (zygote is not None and zygote.alive):
                return
            if zygote is not None:
                zygote.close()
            with suppress(OSError):
                self._zygotes[role] = _Zygote(role, self._root, self._environ)

    def pid(self, role: str) -> int | None:
        """Of the zygote, if it lives."""
        with self._lock:
            zygote = self._zygotes.get(role)
            return zygote.pid if zygote is not None and zygote.alive else None

    def fork(
        self, role: str, policy: Policy, environ: dict[str, str], theirs: tuple[int, int]
    ) -> Forked:
        """A new worker. `theirs`: its ends of the pipes for requests and replies, still to be
        closed here.

        Raises:
            NoZygote: none is up, or it could not fork.
            OSError: this nursery has been closed.
        """
        with self._lock:
            zygote = self._zygotes.get(role)
        if self._closed:
            raise OSError("jaxtutor is about to end")
        if zygote is None:
            raise NoZygote
        try:
            return zygote.fork(Birth(policy, environ), theirs)
        except (OSError, subprocess.TimeoutExpired) as error:
            if self._closed:
                raise OSError("jaxtutor is about to end") from None
            raise NoZygote from error

    @property
    def started(self) -> bool:
        """Whether there are any."""
        return bool(self._zygotes)

    def stop(self) -> None:
        """Give the memory back; workers that were forked end too."""
        with self._lock:
            zygotes = [*self._zygotes.values()]
            self._zygotes.clear()
        for zygote in zygotes:
            zygote.close()

    def close(self) -> None:
        """`stop` for good."""
        self._closed = True
        self.stop()


class _Zygote:
    """One process. The socket is used by one thread at a time."""

    def __init__(self, role: str, root: str, environ: dict[str, str]) -> None:
        self._lock = threading.Lock()
        self._up = False
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
                command(root, "tutor.sandbox.zygote", role, str(theirs.fileno())),
                stdin=subprocess.DEVNULL,
                # Pipes, like a worker's own: what kind of file these are is remembered. Libraries
                # say little while they are imported, and then nothing is written any more.
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd="/",
                env=environ,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )  # fmt: skip
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._socket = ours
        self.pid = self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, birth: Birth, theirs: tuple[int, int]) -> Forked:
        """Waits for a zygote that is still importing: that is never longer than a worker of its
        own would import.

        Raises:
            OSError: it is gone, or could not fork.
            subprocess.TimeoutExpired: it does not answer.
        """
        pipes: list[tuple[int, int]] = []
        try:
            pipes = [os.pipe() for _ in range(3)]
            (status, told), (stdout, out), (stderr, err) = pipes
            with self._lock:
                self._wait_until_up()
                message = msgspec.json.encode(birth)
                socket.send_fds(self._socket, [message], [*theirs, out, err, told])
        except OSError:
            for pair in pipes:
                for descriptor in pair:
                    os.close(descriptor)
            raise
        for descriptor in (out, err, told):
            os.close(descriptor)
        child = Forked(status, stdout, stderr)
        try:
            child.born(BIRTH_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            child.close()
            raise
        return child

    def _wait_until_up(self) -> None:
        if self._up:
            return
        ready = select.poll()
        ready.register(self._socket, select.POLLIN)
        if not ready.poll(IMPORT_SECONDS * 1e3):
            raise TimeoutError
        if self._socket.recv(16) != b"up":
            raise ConnectionResetError("the zygote has ended")
        self._up = True

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        with self._lock:
            self._socket.close()
