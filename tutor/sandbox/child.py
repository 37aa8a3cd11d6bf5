"""A worker's process as the main process sees it, however it came to be.

`Spawned` was started afresh; `Forked` comes from a zygote, whose child it is, so that only the
zygote can wait for it: it says how the worker ended through a pipe of the worker's own.
"""

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO, Protocol

import msgspec
from msgspec import Struct

LOST = -signal.SIGKILL
"""The exit code that is told of a worker whose zygote has gone, and the worker with it."""


class Born(Struct, frozen=True, tag="born"):
    """A zygote says that the worker exists."""

    pid: int


class ForkFailed(Struct, frozen=True, tag="unborn"):
    """A zygote could not fork."""

    why: str


class Ended(Struct, frozen=True, tag="ended"):
    """A zygote says how the worker ended; `code` as in `subprocess`."""

    code: int


News = Born | ForkFailed | Ended
_NEWS: msgspec.json.Decoder[News] = msgspec.json.Decoder(News)


class Child(Protocol):
    """What `tutor.sandbox.process` needs of a process. `stdout` and `stderr` are descriptors of
    our ends of its pipes; `lost` whether it ended because its zygote did."""

    pid: int
    stdout: int
    stderr: int
    lost: bool

    def poll(self) -> int | None:
        """Its exit code, or None while it lives; negative: the signal that ended it."""

    def wait(self, timeout: float | None = None) -> int:
        """Raises: subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Kill it and whatever it has started. Its id stays taken until `close`."""

    def send(self, number: int) -> None:
        """Send it a signal, if it lives."""

    def close(self) -> None:
        """Let go of it, once it has ended."""


class Spawned:
    """A child of ours."""

    lost = False

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._streams: tuple[IO[bytes], IO[bytes]] = (process.stdout, process.stderr)
        self.pid = process.pid
        self.stdout, self.stderr = (stream.fileno() for stream in self._streams)

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int:
        return self._process.wait(timeout)

    def kill(self) -> None:
        # The worker leads its own session, so its group is its id, and the id stays taken
        # until the process has been waited for.
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


class Forked:
    """A child of a zygote's. `status` is our end of the pipe on which the zygote tells of it; the
    zygote waits for the worker, and so frees its id, only when that has been closed."""

    def __init__(self, status: int, stdout: int, stderr: int) -> None:
        self.stdout, self.stderr = stdout, stderr
        self.pid = 0
        self.lost = False
        self._status = status
        self._text = b""
        self._code: int | None = None
        self._closed = False

    def born(self, timeout: float) -> None:
        """Wait until it exists.

        Raises:
            OSError: it does not come to exist.
        """
        news = self._next(timeout)
        if not isinstance(news, Born):
            raise OSError(news.why if isinstance(news, ForkFailed) else "the zygote is gone")
        self.pid = news.pid

    def poll(self) -> int | None:
        if self._code is None:
            with suppress(subprocess.TimeoutExpired):
                self.wait(0)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            news = self._next(timeout)
            self.lost = not isinstance(news, Ended)
            self._code = news.code if isinstance(news, Ended) else LOST
        return self._code

    def kill(self) -> None:
        if self._code is None and self.pid and not self._closed:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def send(self, number: int) -> None:
        if self._code is None and self.pid and not self._closed:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            for descriptor in (self._status, self.stdout, self.stderr):
                os.close(descriptor)

    def _next(self, timeout: float | None) -> News | None:
        """What the zygote says next, or None if it is gone."""
        end = None if timeout is None else time.monotonic() + timeout
        ready = select.poll()
        ready.register(self._status, select.POLLIN)
        while b"\n" not in self._text:
            left = None if end is None else max(0.0, end - time.monotonic()) * 1e3
            if not ready.poll(left):
                raise subprocess.TimeoutExpired("a sandbox", timeout or 0.0)
            data = os.read(self._status, 1 << 12)
            if not data:
                return None
            self._text += data
        line, _, self._text = self._text.partition(b"\n")
        return _NEWS.decode(line)
