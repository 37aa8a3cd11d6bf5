"""Locate stopped untrusted code by the stacks of its Python threads.

On a signal `faulthandler` writes the stacks, even while C code runs or waits. They serve only for a
message: the code can fake or prevent them.
"""

import faulthandler
import os
import re
import select
import signal
import time
from typing import Literal

from msgspec import Struct

from tutor.foreign.plain_text import inert
from tutor.foreign.source_lines import source_lines
from tutor.report import Frame
from tutor.sandbox.limits import STACKS_SECONDS
from tutor.sandbox.watchdog import active, usage

SIGNAL = getattr(signal, "SIGUSR1", None)
"""Makes the worker write its stacks; None on Windows."""

WAIT_SECONDS = 0.5
"""Timeout for (more) stacks: nothing marks their end."""

ENOUGH_SECONDS = 0.2
"""Processor time within which a worker writes its stacks."""

MAX_BYTES = 256 << 10
MAX_FRAMES = 20

Activity = Literal["", "compiling", "program"]
"""JAX's activity: compiling, or running (or waiting for) a compiled program."""

_THREAD = re.compile(r"(Current thread|Thread) 0x[0-9a-f]+ .*\(most recent call first\):")
_FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_OTHER = ("  ...", "  <no Python frame>", "  Garbage-collecting", "...")

_COMPILING = ("/jax/_src/compiler.py", "/jax/_src/interpreters/mlir.py")
_PROGRAMS = {
    "/jax/_src/interpreters/pxla.py": ("__call__",),
    "/jax/_src/api.py": ("try_to_block", "block_until_ready"),
    "/jax/_src/array.py": ("_value", "block_until_ready"),
}
"""JAX functions on top of the stack while a program runs, by file."""


class Position(Struct, frozen=True):
    """The point at which code was stopped: its own frames, innermost last, and JAX's activity.
    `waits`: it slept there while other threads computed what an earlier line may have started."""

    frames: tuple[Frame, ...] = ()
    activity: Activity = ""
    waits: bool = False


def listen() -> None:
    """Have this worker write its stacks to standard error on `SIGNAL`."""
    if SIGNAL is not None:
        faulthandler.register(SIGNAL, file=2, all_threads=True, chain=False)


def read(descriptor: int, pid: int) -> bytes:
    """Read the stacks from a worker that was sent `SIGNAL`: within half a second unless the machine
    is busy.

    **Arguments:** `descriptor`: our end of its standard error, non-blocking.
    """
    text = bytearray()
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    began = last = time.monotonic()
    before = usage(pid).processor
    while len(text) < MAX_BYTES and (now := time.monotonic()) < began + STACKS_SECONDS:
        if ready.poll(20):
            data = os.read(descriptor, MAX_BYTES)
            if not data:
                break
            text += data
            last, before = time.monotonic(), usage(pid).processor
        elif before is None:
            if now >= last + WAIT_SECONDS:
                break
        elif not active(pid) or (usage(pid).processor or 0.0) >= before + ENOUGH_SECONDS:
            break
    return bytes(text)


def split(text: bytes) -> tuple[list[list[str]], bytes]:
    """Separate stacks from the code's own output.

    **Returns:** the lines of each thread's stack, and the rest.
    """
    threads: list[list[str]] = []
    rest = []
    for line in text.splitlines(keepends=True):
        read = line.decode("utf-8", "replace").rstrip("\n")
        if _THREAD.fullmatch(read):
            threads.append([])
        elif threads and (_FRAME.fullmatch(read) or read.startswith(_OTHER)):
            threads[-1].append(read)
        elif not threads or read:  # an empty line separates two threads
            rest.append(line)
    return threads, b"".join(rest)


def position(
    threads: list[list[str]], filename: str, source: str, *, waits: bool = False
) -> Position:
    """Return where the code of a module was.

    **Arguments:** `filename`, `source`: the module's; `waits`: see `Position`.
    """
    stacks = [[match.groups() for line in lines if (match := _FRAME.fullmatch(line))]
              for lines in threads]  # fmt: skip
    # Prefer the thread that answers requests to one that runs the code in a callback, say.
    chosen = next((stack for stack in stacks if any(_serves(*frame) for frame in stack)), None)
    theirs = next((stack for stack in stacks if any(f[0] == filename for f in stack)), None)
    if chosen is None or not any(frame[0] == filename for frame in chosen):
        chosen = theirs or chosen or []
    lines = source_lines(source)
    frames = [
        Frame(int(line), inert(function)[:200], _line(lines, int(line)))
        for file, line, function in reversed(chosen)
        if file == filename
    ]
    return Position(tuple(frames[-MAX_FRAMES:]), _activity(chosen, filename), waits)


def _serves(file: str, line: str, function: str) -> bool:
    return function == "drive" and file.endswith("/sandbox/calls.py")


def _activity(stack: list[tuple[str, ...]], filename: str) -> Activity:
    above: list[tuple[str, ...]] = []
    for frame in stack:
        if frame[0] == filename:
            break
        above.append(frame)
    if any(file.endswith(_COMPILING) for file, _, _ in above):
        return "compiling"
    if above:
        file, _, function = above[0]
        for end, functions in _PROGRAMS.items():
            if file.endswith(end) and function in functions:
                return "program"
    return ""


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].strip()[:200] if 0 < number <= len(lines) else ""
