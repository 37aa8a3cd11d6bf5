"""The hostile submissions in `submissions`: each in a file, or an entry in the table of its row.

A file begins with two comments:

    # L4: sys.exit(0) when called          the row it belongs to, and what it tries
    # says: your code ended the process    words that the learner must be shown (a | b: either)

A table (`O2.yaml`) holds attacks of one row by name. An entry has what it `tries`, what the learner
must be shown (`says`, where it differs from the table's), and one or more of these, in this order:

    setup: …             statements before `double`
    reads: /etc/passwd   open that file and read a byte
    do: …                statements in `double(x)`
    number: [300, 262]   defines CALL: the number of a system call on x86-64 and on aarch64
    libc: mount(…)       call that C function; raise OSError if it returns a negative number
    syscall: 0x200, 0    make the system call CALL with these arguments; raise OSError likewise
    answer: …            the end of `double(x)`, instead of `return 2 * x`

An entry's code may use everything in PROVIDED, and `channel`, without importing or defining it.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

PROVIDED = """\
import _sitebuiltins
import array
import asyncio
import concurrent.futures
import ctypes
import fcntl
import gc
import mmap
import multiprocessing
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest
import urllib.request
from pathlib import Path
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tutor
from tutor.sandbox.protocol import Answer
from tutor.sandbox.protocol import Broken
from tutor.sandbox.protocol import Loaded
from tutor.sandbox.protocol import Ready
from tutor.sandbox.wire import MAGIC
from tutor.sandbox.wire import MAX_BODY
from tutor.sandbox.wire import PREFIX
from tutor.sandbox.wire import encode
from tutor.tree import Leaf
libc = ctypes.CDLL(None, use_errno=True)
""".splitlines()
CHANNEL = """\
gc.unfreeze()
(channel,) = (thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")
"""
"""The worker's connection to the main process, found from within a call."""
RAISE = "    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n"


@dataclass(frozen=True)
class Submission:
    name: str
    tries: str
    says: Sequence[str]
    code: str


def aimed_at(targets: Mapping[str, str], code: str) -> str:
    """Return `code` with every `@NAME@` replaced by that target."""
    return re.sub("@([A-Z]+)@", lambda match: targets[match[1]], code)


def from_file(path: Path) -> Submission:
    code = path.read_text(encoding="utf-8")
    (tries,) = re.findall(rf"\A# {path.stem.split('-')[0]}: (.+)", code)
    says = re.findall(r"^# says: (.+)$", code, re.MULTILINE)
    assert says, path
    return Submission(path.stem, tries, says, code)


def from_table(path: Path) -> list[Submission]:
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # either leaves all values as text
    table = yaml.load(path.read_text(encoding="utf-8"), loader)
    found = []
    for name, entry in table["attacks"].items():
        tries, says = entry.pop("tries"), entry.pop("says", table["says"])
        found.append(Submission(f"{path.stem}-{name}", tries, [says], rendered(**entry)))
    return found


def rendered(
    setup: str = "",
    reads: str = "",
    do: str = "",
    libc: str = "",
    number: Sequence[str] = (),
    syscall: str = "",
    answer: str = "return 2 * x",
) -> str:
    """Return the module that an entry of a table stands for."""
    body = f"{do.rstrip()}\n"
    if reads:
        body = f'with open("{reads}", "rb") as file:\n    assert file.read(1)\n'
    if number:
        x86, arm = number
        setup += f'CALL = {{"x86_64": {x86}, "aarch64": {arm}}}[os.uname().machine]\n'
    if libc:
        body += f"if libc.{libc} < 0:\n{RAISE}"
    if syscall:
        body += f"result = libc.syscall(CALL, {syscall})\nif result < 0:\n{RAISE}"
    body += answer
    if "channel" in used(body):
        body = CHANNEL + body
    code = f"{setup}\n\ndef double(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    names = used(code)
    if "libc" in names:
        names.add("ctypes")
    provided = [line for line in PROVIDED if defined(line) in names]
    return "\n".join([*provided, "", code])


def defined(line: str) -> str:
    """Return the name that a line of PROVIDED defines."""
    return line.split(" = ")[0].split()[-1].split(".")[0]


def used(code: str) -> set[str]:
    """Return the names that `code` uses and does not define itself."""
    function = "def f():\n" + "".join(f"    {line}\n" for line in code.splitlines())
    tree = ast.walk(ast.parse(re.sub("@([A-Z]+)@", r"\1", function)))
    names = [node for node in tree if isinstance(node, ast.Name)]
    return {one.id for one in names} - {
        one.id for one in names if not isinstance(one.ctx, ast.Load)
    }


def load() -> dict[str, Submission]:
    folder = Path(__file__).parent / "submissions"
    found = [from_file(path) for path in folder.glob("*.py")]
    for path in folder.glob("*.yaml"):
        found += from_table(path)
    by_name = {one.name: one for one in sorted(found, key=lambda one: one.name)}
    assert len(by_name) == len(found), "two submissions of one name"
    return by_name


SUBMISSIONS = load()
"""All of them by name."""
