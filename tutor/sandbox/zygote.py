"""The program of a zygote: it has imported a role's libraries and forks workers that need not.

It never starts a backend of JAX's or a thread, for a fork takes neither along; it runs no foreign
code, and nothing of a lesson is ever in it. It ends when the main process closes its socket, or
ends; its workers end with it.

The conversation, on a socket that keeps messages apart: `b"up"` once the libraries are there;
then from the main process one `Birth` after the other, each with five descriptors (`requests`,
`replies`, standard output, standard error, and the pipe on which this process tells of the
worker: `tutor.sandbox.child`).
"""

import fcntl
import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from typing import NoReturn

import msgspec
from msgspec import Struct

from tutor.sandbox import isolation, packages
from tutor.sandbox.child import Born, Ended, ForkFailed
from tutor.sandbox.isolation.posix import die_with_parent

REQUESTS, REPLIES = 3, 4
"""Where a forked worker finds its two pipes."""

DESCRIPTORS = 5
MAX_MESSAGE = 1 << 16


class Birth(Struct, frozen=True):
    """The worker that is wanted. `environ` is its whole environment."""

    policy: isolation.Policy
    environ: dict[str, str]


def main(role: str, control: str) -> NoReturn:
    """**Arguments:** `control`: the number of the socket's descriptor."""
    from tutor.sandbox.worker import libraries

    libraries(role)
    # What is there now stays: the collector need not look at it, and so not write to its pages,
    # which all workers share with this process.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(control)) as channel:
        channel.send(b"up")
        _Nursery(role, channel).serve()
    os._exit(0)


class _Nursery:
    """The workers that this process has forked and not yet waited for."""

    def __init__(self, role: str, channel: socket.socket) -> None:
        self._role = role
        self._channel = channel
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        # By the descriptor that tells that a worker has ended, and by its pipe for news.
        self._living: dict[int, tuple[int, int]] = {}
        self._watched: dict[int, int] = {}

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
                elif descriptor in self._living:
                    self._ended(descriptor)
                elif descriptor in self._watched:
                    self._forget(descriptor)

    def _fork(self, message: bytes, descriptors: list[int]) -> None:
        *worker_ends, status = descriptors
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            _tell(status, ForkFailed(f"fork: {error.strerror}"))
            os.close(status)
        else:
            if pid == 0:
                _live(self._role, message, descriptors, zygote)
            ended = os.pidfd_open(pid)
            self._living[ended] = pid, status
            self._watched[status] = pid
            self._poll.register(ended, select.POLLIN)
            self._poll.register(status, 0)  # only whether its other end was closed
        for descriptor in worker_ends:
            os.close(descriptor)

    def _ended(self, descriptor: int) -> None:
        """Tell how, but do not wait for it yet: its id must not pass to another process while
        somebody may still want to kill it."""
        pid, status = self._living.pop(descriptor)
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert result is not None
        code = result.si_status if result.si_code == os.CLD_EXITED else -result.si_status
        _tell(status, Ended(code))
        self._poll.unregister(descriptor)
        os.close(descriptor)

    def _forget(self, status: int) -> None:
        """Nobody listens any more: whatever is left of the worker goes."""
        pid = self._watched.pop(status)
        with suppress(ProcessLookupError):  # it may have died before it led a group
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        for descriptor, living in [*self._living.items()]:
            if living == (pid, status):
                del self._living[descriptor]
                self._poll.unregister(descriptor)
                os.close(descriptor)
        os.waitpid(pid, 0)
        self._poll.unregister(status)
        os.close(status)


def _tell(status: int, news: Born | ForkFailed | Ended) -> None:
    try:
        os.write(status, msgspec.json.encode(news) + b"\n")
    except OSError:
        pass  # nobody listens; its closed end is seen to in its turn


def _live(role: str, message: bytes, descriptors: list[int], zygote: int) -> NoReturn:
    """What a worker does instead of returning into its zygote's affairs."""
    code = 70
    try:
        # Before anything else: a zygote that has ended by now would not be missed later.
        die_with_parent(zygote)
        birth = msgspec.json.decode(message, type=Birth)
        os.setsid()
        # Only now, for whoever is told kills the group.
        _tell(descriptors[-1], Born(os.getpid()))
        # Out of the way first: any of them may stand where another must go.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in descriptors[:-1]]
        for descriptor, place in zip(high, (REQUESTS, REPLIES, 1, 2), strict=True):
            os.dup2(descriptor, place)
        os.chdir(birth.policy.folder)
        os.environ.clear()
        os.environ.update(birth.environ)
        protections = isolation.apply(birth.policy)
        packages.admit(birth.policy.packages)
        import numpy as np

        np.random.seed()
        from tutor.sandbox.worker import work

        work(role, REQUESTS, REPLIES, protections)
        code = 0
    except BaseException as error:  # noqa: BLE001 - told as a worker that was started afresh would
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
