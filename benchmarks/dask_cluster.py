"""A Dask scheduler and its workers, in separate processes on this machine."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import psutil

REPOSITORY = Path(__file__).resolve().parent.parent


class DaskCluster:
    """A scheduler, without workers at first. Use as a context manager.

    **Arguments:** `folder`: for the scheduler file; `environ`: additional environment variables;
    `protocol`: `tcp://` or, if configured, `tls://`.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str], protocol: str = "tcp://") -> None:
        self._file = folder / "scheduler.json"
        self._file.unlink(missing_ok=True)
        self._environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environ}
        self._started: list[subprocess.Popen[bytes]] = []
        self._protocol = protocol
        self.scheduler = self._start("scheduler", "--port", "0")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self._started:
            if process.poll() is None:
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.communicate()

    @property
    def address(self) -> str:
        # The file is not written atomically: for a moment it is empty.
        until(lambda: self._file.exists() and self._file.read_bytes().rstrip().endswith(b"}"))
        address: str = json.loads(self._file.read_bytes())["address"]
        return address

    def workers(self, number: int, *arguments: str) -> subprocess.Popen[bytes]:
        """Start workers with one thread each, and a nanny that restarts them unless `arguments`
        include `--no-nanny`. Their log is the process's `stderr`."""
        return self._start(
            "worker", "--nworkers", str(number), "--nthreads", "1", "--memory-limit", "0",
            *arguments,
        )  # fmt: skip

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", what, "--scheduler-file", str(self._file),
             "--host", "127.0.0.1", "--protocol", self._protocol, "--no-dashboard", *arguments],
            env=self._environ,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if what == "worker" else subprocess.DEVNULL,
        )  # fmt: skip
        self._started.append(process)
        return process


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until the condition is true.

    Raises:
        TimeoutError: it was not within `seconds`.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)
