"""A worker's process, started as a new interpreter (`Spawned`) or forked from a zygote (`Forked`).

Only the zygote can wait for a forked worker, which is its child. It reports the exit code through
one pipe per worker.
"""

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO

import msgspec
from msgspec import Struct

LOST = -signal.SIGKILL
"""The exit code reported for a worker that died with its zygote."""


class WorkerStarted(Struct, frozen=True, tag="born"):
    """A zygote reports that the worker exists."""

    pid: int


class ForkFailed(Struct, frozen=True, tag="unborn"):
    """A zygote reports that it could not fork."""

    why: str


class Ended(Struct, frozen=True, tag="ended"):
    """A zygote reports how the worker ended; `code` as in `subprocess`."""

    code: int


WorkerStatus = WorkerStarted | ForkFailed | Ended
_STATUS: msgspec.json.Decoder[WorkerStatus] = msgspec.json.Decoder(WorkerStatus)


class Spawned:
    """A child of this process. `stdout` and `stderr` are our ends of its pipes; `lost` says whether
    it died with its zygote."""

    lost = False

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._streams: tuple[IO[bytes], IO[bytes]] = (process.stdout, process.stderr)
        self.pid = process.pid
        self.stdout, self.stderr = (stream.fileno() for stream in self._streams)

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs. A negative code is a signal."""
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for it to end; return its exit code. Raises: subprocess.TimeoutExpired."""
        return self._process.wait(timeout)

    def kill(self) -> None:
        """Kill its process group. Its process ID stays taken until `close`."""
        # The worker leads its own session, so its group has its ID, which stays taken until the
        # process has been waited for.
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def send(self, number: int) -> None:
        """Send it a signal if it is running."""
        self._process.send_signal(number)

    def close(self) -> None:
        """Release its descriptors and its process ID, once it has ended."""
        for stream in self._streams:
            stream.close()


class Forked:
    """A child of a zygote. The zygote reports its status through the pipe `status`, and waits for
    it, which frees its process ID, only when our end of that pipe is closed."""

    def __init__(self, status: int, stdout: int, stderr: int) -> None:
        self.stdout, self.stderr = stdout, stderr
        self.pid = 0
        self.lost = False
        self._status = status
        self._text = b""
        self._code: int | None = None
        self._closed = False

    def wait_until_forked(self, timeout: float) -> None:
        """Wait until the zygote has forked it.

        Raises:
            OSError: the zygote could not fork, or is gone.
            subprocess.TimeoutExpired: the zygote does not answer.
        """
        status = self._next(timeout)
        if not isinstance(status, WorkerStarted):
            raise OSError(status.why if isinstance(status, ForkFailed) else "the zygote is gone")
        self.pid = status.pid

    def poll(self) -> int | None:
        if self._code is None:
            with suppress(subprocess.TimeoutExpired):
                self.wait(0)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            status = self._next(timeout)
            self.lost = not isinstance(status, Ended)
            self._code = status.code if isinstance(status, Ended) else LOST
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

    def _next(self, timeout: float | None) -> WorkerStatus | None:
        """Return the zygote's next report; None if the zygote is gone."""
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
        return _STATUS.decode(line)


Child = Spawned | Forked
