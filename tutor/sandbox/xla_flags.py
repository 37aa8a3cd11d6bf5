"""The flags in `XLA_FLAGS` that the installed jaxlib knows.

XLA ends a process that has an unknown one, and releases add and remove flags. jaxlib is asked once
per version, in a process that may end; the answer is kept on disk.
"""

import logging
import re
import subprocess
import sys
import threading
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

import msgspec

from tutor.storage import paths
from tutor.storage.cache import DiskCache

SECONDS = 60.0
"""Timeout for asking, which takes less than half a second on an idle machine."""

MAX_FILES = 20

_logger = logging.getLogger(__name__)
_lock = threading.Lock()
_answers: dict[tuple[str, ...], frozenset[str]] = {}

_START_BACKEND = "from jaxlib import xla_client; xla_client.make_cpu_client()"
_UNKNOWN = re.compile(r"Unknown flags? in XLA_FLAGS:((?: --[\w.]+(?:=\S*)?)+)")


def known(flags: Iterable[str]) -> list[str]:
    """Return those flags, each as `--name=value`, whose names jaxlib knows.

    If jaxlib cannot be asked, none is known: a program without flags is slower, but runs.
    """
    asked = list(flags)
    names = tuple(sorted({_name(flag) for flag in asked}))
    with _lock:
        if names not in _answers:
            _answers[names] = _unknown(names, asked)
    return [flag for flag in asked if _name(flag) not in _answers[names]]


def _unknown(names: tuple[str, ...], flags: list[str]) -> frozenset[str]:
    """Return the unknown names, from the disk if they were asked for before."""
    try:
        release = version("jaxlib")
    except PackageNotFoundError:
        return frozenset()  # no sandbox can start; `doctor` says what to install
    cache = DiskCache(paths.cache() / "xla-flags", ".json", max_files=MAX_FILES)
    entry = f"{release}-{sha256(' '.join(names).encode()).hexdigest()[:16]}"
    if (found := cache.load(entry)) is not None:
        try:
            return frozenset(msgspec.json.decode(found, type=list[str]))
        except (msgspec.DecodeError, UnicodeDecodeError):
            cache.discard(entry)
    unknown = _ask(flags)
    if unknown is None:
        return frozenset(names)
    cache.save(entry, msgspec.json.encode(sorted(unknown)))
    return unknown


def _ask(flags: list[str]) -> frozenset[str] | None:
    """Return the names that end a process; None if it ends for another reason."""
    unknown: set[str] = set()
    while True:
        left = [flag for flag in flags if _name(flag) not in unknown]
        try:
            done = subprocess.run(  # noqa: S603 - our own interpreter, no shell
                [sys.executable, "-P", "-c", _START_BACKEND],
                env={"XLA_FLAGS": " ".join(left), "JAX_PLATFORMS": "cpu", "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            _logger.warning("cannot ask jaxlib for its flags: %s", error)
            return None
        if done.returncode == 0:
            return frozenset(unknown)
        more = {_name(flag) for text in _UNKNOWN.findall(done.stderr) for flag in text.split()}
        if not more - unknown:
            _logger.warning("jaxlib did not start: %s", done.stderr[-500:])
            return None
        _logger.info("jaxlib does not know %s", ", ".join(sorted(more)))
        unknown |= more


def _name(flag: str) -> str:
    return flag.partition("=")[0]
