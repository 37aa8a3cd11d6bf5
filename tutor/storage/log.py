"""The log: one file with what a bug report needs; with `--verbose` on standard error as well.

It holds versions, commands, lesson ids, verdicts, fault codes, limits, times and process ids. It
never holds code, output, inputs, expected values, names of submissions or the text of an exception,
which may quote any of these. Sandboxed processes write no log.
"""

import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tutor import __version__
from tutor.storage import paths

MAX_BYTES = 1 << 20
"""Size at which the file is renamed to `jaxtutor.log.1`, of which there is one."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_logger = logging.getLogger("tutor")
_began = 0.0


def log_file() -> Path:
    return paths.logs() / "jaxtutor.log"


def _older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def open_log(
    command: str, options: Sequence[str], lessons: Collection[str], *, verbose: bool = False
) -> None:
    """Start logging, unless it has started.

    **Arguments:** `command`, `options`: names only; `lessons`: ids given on the command line.
    """
    global _began
    if _logger.handlers:
        return
    formatter = _Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    for handler in (_File(log_file()), *([_StandardError()] if verbose else [])):
        handler.setFormatter(formatter)
        _logger.addHandler(handler)
    _logger.setLevel(logging.DEBUG)
    _began = time.monotonic()
    python = ".".join(map(str, sys.version_info[:3]))
    given = " ".join([command, *options, *filter(_ID.fullmatch, lessons)])
    _logger.info("jaxtutor %s, Python %s, %s: %s", __version__, python, sys.platform, given)


def close_log(code: int) -> None:
    """Log the command's exit code, and stop logging."""
    _logger.info("exit code %d after %.1f s", code, time.monotonic() - _began)
    _logger.handlers.clear()
    _logger.setLevel(logging.NOTSET)


def read_tail(lines: int) -> str:
    """Return the last lines of the log."""
    text = ""
    for path in (log_file(), _older(log_file())):
        try:
            text = path.read_text(encoding="utf-8", errors="replace") + text
        except OSError:
            continue
        if text.count("\n") >= lines:
            break
    return "\n".join(text.splitlines()[-lines:])


class _Handler(logging.Handler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Ignore it: a log that cannot be written must not disturb what it is about."""


class _File(_Handler):
    """Appends to a file, opening it for each line. So several processes can share it, and rotate
    it under each other; `RotatingFileHandler` would go on writing to the renamed file, and rotate
    that."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record).encode("utf-8", "replace") + b"\n"
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                if self._path.stat().st_size >= MAX_BYTES:
                    self._path.replace(_older(self._path))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(line)
        except Exception:  # noqa: BLE001 - see `handleError`
            self.handleError(record)


class _StandardError(_Handler):
    """Prints to what `sys.stderr` is at the moment: the app replaces it while it owns the
    terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:  # noqa: BLE001 - see `handleError`
            self.handleError(record)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return paths.shorten_home(super().format(record))

    def formatException(self, info: Any) -> str:  # noqa: N802
        """Return the traceback without the exceptions' text."""
        parts = []
        error = info[1]
        while error is not None:
            number = f" (errno {error.errno})" if isinstance(error, OSError) else ""
            lines = traceback.format_tb(error.__traceback__)
            parts.append(f"{''.join(lines)}{type(error).__name__}{number}")
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nwhile handling\n".join(parts)
