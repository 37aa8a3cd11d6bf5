"""The main process's end of the zygotes: one process per role, started when first needed.

Without a zygote (not on Linux, or just killed) `launch` starts a new interpreter instead, which
only takes longer.
"""

import logging
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
from tutor.sandbox.limits import FORK_SECONDS, ZYGOTE_IMPORT_SECONDS
from tutor.sandbox.zygote import ForkRequest

_logger = logging.getLogger(__name__)


class NoZygote(Exception):
    """No zygote is ready to fork."""


class Zygotes:
    """The zygotes of this process. All methods may be called from any thread.

    **Arguments:** `root`: the directory that holds this package; `environ`: a zygote's
    environment; `quick`: whether a zygote imports what only some lessons use when one of them is
    to be forked, so that it is up sooner.
    """

    def __init__(self, root: str, environ: dict[str, str], *, quick: bool = False) -> None:
        self._root = root
        self._environ = environ
        self._imports = "few" if quick else "all"
        self._lock = threading.Lock()
        self._zygotes: dict[str, _Zygote] = {}
        self._closed = False

    def start(self, role: str) -> None:
        """Start the zygote of a role unless it is running, without waiting for it."""
        if sys.platform != "linux":
            return
        with self._lock:
            zygote = self._zygotes.get(role)
            if self._closed or (zygote is not None and zygote.alive):
                return
            if zygote is not None:
                zygote.close()
            with suppress(OSError):
                self._zygotes[role] = _Zygote(role, self._root, self._environ, self._imports)

    def pid(self, role: str) -> int | None:
        """Return the process ID of a role's zygote; None if it is not running."""
        with self._lock:
            zygote = self._zygotes.get(role)
            return zygote.pid if zygote is not None and zygote.alive else None

    def fork(self, role: str, request: ForkRequest, pipes: tuple[int, int]) -> Forked:
        """Fork a worker.

        **Arguments:** `pipes`: the worker's ends of the pipes for requests and replies; the
        caller closes them.

        Raises:
            NoZygote: no zygote is running, or it could not fork.
            OSError: `close` was called.
        """
        with self._lock:
            zygote = self._zygotes.get(role)
        if self._closed:
            raise OSError("jaxtutor is shutting down")
        if zygote is None:
            raise NoZygote
        try:
            return zygote.fork(request, pipes)
        except (OSError, subprocess.TimeoutExpired) as error:
            if self._closed:
                raise OSError("jaxtutor is shutting down") from None
            _logger.info("pid %d: zygote cannot fork: %s", zygote.pid, type(error).__name__)
            raise NoZygote from error

    @property
    def started(self) -> bool:
        """Whether any zygote has been started."""
        return bool(self._zygotes)

    def stop(self) -> None:
        """Kill the zygotes to free their memory; their workers end with them."""
        with self._lock:
            zygotes = [*self._zygotes.values()]
            self._zygotes.clear()
        for zygote in zygotes:
            zygote.close()

    def close(self) -> None:
        """Stop, and start no zygote again."""
        self._closed = True
        self.stop()


class _Zygote:
    """One zygote. Only one thread at a time uses the socket."""

    def __init__(self, role: str, root: str, environ: dict[str, str], imports: str) -> None:
        self._lock = threading.Lock()
        self._up = False
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
                command(root, "tutor.sandbox.zygote", role, str(theirs.fileno()), imports),
                stdin=subprocess.DEVNULL,
                # Pipes like a worker's: libraries remember which kind of file these are. Nobody
                # reads them, but imports print little, and a zygote prints nothing afterwards.
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
        _logger.info("pid %d: zygote started for %s sandboxes", self.pid, role)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, request: ForkRequest, worker_pipes: tuple[int, int]) -> Forked:
        """Fork a worker. A zygote that is still importing is waited for: a new interpreter would
        take longer.

        Raises:
            OSError: the zygote is gone, or could not fork.
            subprocess.TimeoutExpired: the zygote does not answer.
        """
        pipes: list[tuple[int, int]] = []
        try:
            pipes = [os.pipe() for _ in range(3)]
            (status, report), (stdout, out), (stderr, err) = pipes
            with self._lock:
                self._wait_until_up()
                message = msgspec.json.encode(request)
                socket.send_fds(self._socket, [message], [*worker_pipes, out, err, report])
        except OSError:
            for pair in pipes:
                for descriptor in pair:
                    os.close(descriptor)
            raise
        for descriptor in (out, err, report):
            os.close(descriptor)
        child = Forked(status, stdout, stderr)
        try:
            child.wait_until_forked(FORK_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            child.close()
            raise
        return child

    def _wait_until_up(self) -> None:
        if self._up:
            return
        ready = select.poll()
        ready.register(self._socket, select.POLLIN)
        if not ready.poll(ZYGOTE_IMPORT_SECONDS * 1e3):
            raise TimeoutError
        if self._socket.recv(16) != b"up":
            raise ConnectionResetError("the zygote has ended")
        self._up = True

    def close(self) -> None:
        code = self._process.poll()
        self._process.kill()
        self._process.communicate()
        how = "stopped" if code is None else f"had ended with code {code}"
        _logger.info("pid %d: zygote %s", self.pid, how)
        with self._lock:
            self._socket.close()
