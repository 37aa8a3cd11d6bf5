"""Where foreign code was when it had to be stopped: the stacks of its Python threads.

The worker has `faulthandler` write them when it gets a signal, which works while C code runs or
waits. What they say is evidence for a message and nothing else: the code can change or prevent it.
"""

import faulthandler
import os
import re
import select
import signal
import time
from typing import Literal

from msgspec import Struct

from tutor.plain_text import inert
from tutor.report import Frame
from tutor.sandbox.watchdog import active, usage

SIGNAL = getattr(signal, "SIGUSR1", None)
"""What the worker answers with its stacks; none on Windows."""

WAIT_SECONDS = 0.5
"""How long to wait for stacks, or for more of them; nothing marks their end."""

ENOUGH_SECONDS = 0.2
"""Processor time in which a worker would have written them."""

MOST_SECONDS = 5.0
"""How long to wait for a worker that gets no processor time."""

MAX_BYTES = 256 << 10
MAX_FRAMES = 20

Doing = Literal["", "compiling", "program"]
"""What JAX was doing for the code: compiling, or running (or waiting for) a compiled program."""

_THREAD = re.compile(r"(Current thread|Thread) 0x[0-9a-f]+ .*\(most recent call first\):")
_FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_OTHER = ("  ...", "  <no Python frame>", "  Garbage-collecting", "...")

_COMPILING = ("/jax/_src/compiler.py", "/jax/_src/interpreters/mlir.py")
_PROGRAMS = {
    "/jax/_src/interpreters/pxla.py": ("__call__",),
    "/jax/_src/api.py": ("try_to_block", "block_until_ready"),
    "/jax/_src/array.py": ("_value", "block_until_ready"),
}
"""Functions of JAX that stand on top while a program runs, by file."""


class Stopped(Struct, frozen=True):
    """Where code was stopped: its own frames, the innermost last, and what JAX was doing there."""

    frames: tuple[Frame, ...] = ()
    doing: Doing = ""


def listen() -> None:
    """Write the stacks to standard error whenever the signal comes; called in the worker."""
    if SIGNAL is not None:
        faulthandler.register(SIGNAL, file=2, all_threads=True, chain=False)


def read(descriptor: int, pid: int) -> bytes:
    """Read what a worker writes after it was sent the signal: within half a second, unless the
    machine is too busy for it to do anything.

    **Arguments:** `descriptor`: our end of its standard error, which does not block.
    """
    found = bytearray()
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    began = last = time.monotonic()
    before = usage(pid).processor
    while len(found) < MAX_BYTES and (now := time.monotonic()) < began + MOST_SECONDS:
        if ready.poll(20):
            data = os.read(descriptor, MAX_BYTES)
            if not data:
                break
            found += data
            last, before = time.monotonic(), usage(pid).processor
        elif before is None:
            if now >= last + WAIT_SECONDS:
                break
        elif not active(pid) or (usage(pid).processor or 0.0) >= before + ENOUGH_SECONDS:
            break
    return bytes(found)


def split(text: bytes) -> tuple[list[list[str]], bytes]:
    """Tell stacks from what the code has printed itself.

    **Returns:** the stacks' lines, thread by thread; and the rest.
    """
    threads: list[list[str]] = []
    rest = []
    for line in text.splitlines(keepends=True):
        read = line.decode("utf-8", "replace").rstrip("\n")
        if _THREAD.fullmatch(read):
            threads.append([])
        elif threads and (_FRAME.fullmatch(read) or read.startswith(_OTHER)):
            threads[-1].append(read)
        elif not threads or read:  # an empty line stands between two threads
            rest.append(line)
    return threads, b"".join(rest)


def stopped(threads: list[list[str]], filename: str, source: str) -> Stopped:
    """Find the foreign code in stacks.

    **Arguments:** `filename`, `source`: of its module.
    """
    stacks = [[match.groups() for line in lines if (match := _FRAME.fullmatch(line))]
              for lines in threads]  # fmt: skip
    # The thread that answers requests; else one that runs the code, say in a callback.
    chosen = next((stack for stack in stacks if any(_serves(*frame) for frame in stack)), None)
    theirs = next((stack for stack in stacks if any(f[0] == filename for f in stack)), None)
    if chosen is None or not any(frame[0] == filename for frame in chosen):
        chosen = theirs or chosen or []
    lines = source.splitlines()
    frames = [
        Frame(int(line), inert(function)[:200], _line(lines, int(line)))
        for file, line, function in reversed(chosen)
        if file == filename
    ]
    return Stopped(tuple(frames[-MAX_FRAMES:]), _doing(chosen, filename))


def _serves(file: str, line: str, function: str) -> bool:
    return function == "serve" and file.endswith("/sandbox/worker.py")


def _doing(stack: list[tuple[str, ...]], filename: str) -> Doing:
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
