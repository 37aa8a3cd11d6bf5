"""`jaxtutor`, run as a learner runs it, or in this process where only what it says matters."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from tests.conftest import MINI
from tests.stopwatch import GUARD
from tutor.cli import main
from tutor.storage import cache

Done = subprocess.CompletedProcess[bytes]


def jaxtutor(
    *arguments: str, code: str | bytes = "", pack: Path | None = MINI, **environment: str
) -> Done:
    """Run the command in a process.

    **Arguments:** `code`: its standard input; `pack`: what commands about lessons use, None for the
    course.
    """
    return subprocess.run(
        [sys.executable, "-m", "tutor", *_completed(arguments, pack)],
        input=code.encode() if isinstance(code, str) else code,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=GUARD,
        check=False,
    )


def called(*arguments: str, code: str = "", pack: Path | None = MINI) -> Done:
    """Run the command in this process, which need not start Python; nor JAX, in a test that uses
    the fixture `forked`."""
    command = _completed(arguments, pack)
    stdin = io.TextIOWrapper(io.BytesIO(code.encode()), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    cache.notices.clear()
    with (
        mock.patch("sys.stdin", stdin),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            status = main(command)
        except SystemExit as exit_:  # of argparse
            status = int(exit_.code or 0)
    said = []
    for stream in (out, err):
        stream.flush()
        said.append(stream.buffer.getvalue())  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(command, status, *said)


def _completed(arguments: tuple[str, ...], pack: Path | None) -> list[str]:
    named = pack is not None and arguments and arguments[0] not in ("doctor", "--version", "--help")
    return [*arguments, "--pack", str(pack)] if named else [*arguments]
