"""The zygote: a process that imports a role's libraries once and forks workers.

It never starts a JAX backend or a thread, because neither survives a fork. It runs no submission
and holds nothing of a lesson. It exits when the main process closes its socket or ends, and its
workers end with it.

Over a SOCK_SEQPACKET socket it sends `b"up"` once the libraries are imported. Then the main process
sends `ForkRequest`s, each with five descriptors: the worker's `requests`, `replies`, standard
output and standard error, and the pipe for the worker's status (`tutor.sandbox.child`).
"""

import fcntl
import gc
import os
import select
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from typing import NoReturn

import msgspec
from msgspec import Struct

from tutor.sandbox import isolation, packages
from tutor.sandbox.child import Ended, ForkFailed, WorkerStarted, WorkerStatus
from tutor.sandbox.isolation.posix import die_with_parent

REQUESTS, REPLIES = 3, 4
"""Descriptors of a forked worker's two pipes."""

DESCRIPTORS = 5
MAX_MESSAGE = 1 << 16


class ForkRequest(Struct, frozen=True):
    """The worker to fork. `environ` is its whole environment; `uses`: libraries to import first, of
    `tutor.sandbox.worker.LESSONS_USE`."""

    policy: isolation.Policy
    environ: dict[str, str]
    uses: tuple[str, ...] = ()


def main(role: str, control: str, imports: str) -> NoReturn:
    """Run a zygote.

    **Arguments:** `control`: the socket's descriptor; `imports`: `all`, or `few` for a zygote that
    imports what only some lessons use when a request asks for it.
    """
    from tutor.sandbox.worker import libraries

    libraries(role, all_of_them=imports == "all")
    # Keep the collector from writing to the pages that workers share with this process.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(control)) as channel:
        channel.send(b"up")
        _Workers(role, channel).serve()
    os._exit(0)


class _Workers:
    """The workers that this process has forked and not yet waited for."""

    def __init__(self, role: str, channel: socket.socket) -> None:
        self._role = role
        self._channel = channel
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        self._running: dict[int, tuple[int, int]] = {}  # pidfd to process ID and status pipe
        self._unreaped: dict[int, int] = {}  # status pipe to process ID

    def serve(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._channel.fileno():
                    message, descriptors, *_ = socket.recv_fds(
                        self._channel, MAX_MESSAGE, DESCRIPTORS
                    )
                    if not message:
                        return
                    self._fork(message, descriptors)
                elif descriptor in self._running:
                    self._report_end(descriptor)
                elif descriptor in self._unreaped:
                    self._reap(descriptor)

    def _fork(self, message: bytes, descriptors: list[int]) -> None:
        from tutor.sandbox.worker import use

        *worker_ends, status = descriptors
        zygote = os.getpid()
        request = msgspec.json.decode(message, type=ForkRequest)
        use(request.uses)
        try:
            pid = os.fork()
        except OSError as error:
            _report(status, ForkFailed(f"fork: {error.strerror}"))
            os.close(status)
        else:
            if pid == 0:
                _run_worker(self._role, request, descriptors, zygote)
            ended = os.pidfd_open(pid)
            self._running[ended] = pid, status
            self._unreaped[status] = pid
            self._poll.register(ended, select.POLLIN)
            self._poll.register(status, 0)  # reports only that the other end was closed
        for descriptor in worker_ends:
            os.close(descriptor)

    def _report_end(self, descriptor: int) -> None:
        """Report the exit code without reaping the worker: its process ID must stay taken while
        the main process may still kill it."""
        pid, status = self._running.pop(descriptor)
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert result is not None
        code = result.si_status if result.si_code == os.CLD_EXITED else -result.si_status
        _report(status, Ended(code))
        self._poll.unregister(descriptor)
        os.close(descriptor)

    def _reap(self, status: int) -> None:
        """Kill what is left of a worker whose status pipe the main process has closed."""
        pid = self._unreaped.pop(status)
        with suppress(ProcessLookupError):  # it died before it led a group
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        for descriptor, worker in [*self._running.items()]:
            if worker == (pid, status):
                del self._running[descriptor]
                self._poll.unregister(descriptor)
                os.close(descriptor)
        os.waitpid(pid, 0)
        self._poll.unregister(status)
        os.close(status)


def _report(status: int, message: WorkerStatus) -> None:
    try:
        os.write(status, msgspec.json.encode(message) + b"\n")
    except OSError:
        pass  # the main process closed its end; `serve` reaps the worker


def _run_worker(role: str, request: ForkRequest, descriptors: list[int], zygote: int) -> NoReturn:
    """Turn this forked process into a worker, and exit."""
    code = 70
    try:
        # First: the end of a zygote that is already gone would not be noticed later.
        die_with_parent(zygote)
        os.setsid()
        # Only now: the main process kills the whole group.
        _report(descriptors[-1], WorkerStarted(os.getpid()))
        # Move them up first, so that no `dup2` overwrites one that is still needed.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in descriptors[:-1]]
        for descriptor, target in zip(high, (REQUESTS, REPLIES, 1, 2), strict=True):
            os.dup2(descriptor, target)
        os.chdir(request.policy.folder)
        os.environ.clear()
        os.environ.update(request.environ)
        tempfile.tempdir = None  # a library may have asked for it when it was imported
        protections = isolation.apply(request.policy)
        packages.admit(request.policy.packages)
        import numpy as np

        np.random.seed()
        from tutor.sandbox.calls import drive
        from tutor.sandbox.worker import work

        drive(work(role, REQUESTS, REPLIES, protections))
        code = 0
    except BaseException as error:  # noqa: BLE001 - as a new interpreter would print it
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
