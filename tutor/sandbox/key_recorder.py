"""Records which keys JAX consumes, and on which lines of the submission.

The random primitives are replaced once, before a submission is imported, so that nothing tells a
recorded call from another. Keys inside `jit` are not seen: a recorded call runs with
`jax.disable_jit`, so that every random primitive executes with concrete keys.
"""

import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax.random import key, key_data, split

from tutor.sandbox import jax_internals
from tutor.sandbox.conventions import KEY_USES, KEY_WORDS
from tutor.tree import Leaf

SECONDS = 8.0
"""Processor time for a recorded call: without `jit` some code takes thousands of times as long."""

CHILD = len(KEY_USES)
"""Kind of a row for a key that was made by a use of another one."""

MAX_ROWS = 100_000
"""Keys that are recorded of one call; the last one to be added may bring more."""

_JAX_RANDOM = re.compile(r"jax/_src/random(\.py|/\w+\.py)$")


class Record:
    """The keys that one call consumed, in rows: kind (a place in `KEY_USES`, or `CHILD`), line (0
    if unknown), number of the call of a `jax.random` function, a number, and the key's data. The
    number is the one that was folded in, and for a child that of the row of its parent."""

    def __init__(self, filename: str) -> None:
        self.elsewhere = 0
        """The number of keys that were consumed other than through `jax.random`."""
        self._filename = filename
        self._rows: list[list[int]] = []
        self._calls: list[Any] = []  # frames of jax.random functions, alive so that no id recurs

    @property
    def full(self) -> bool:
        """Whether more keys were consumed than are recorded."""
        return len(self._rows) >= MAX_ROWS

    def leaf(self) -> Leaf:
        """Return the rows: int64 (n, 4 + `KEY_WORDS`), keys filled up with -1."""
        width = 4 + KEY_WORDS
        rows = [row + [-1] * (width - len(row)) for row in self._rows]
        return Leaf(np.array(rows, np.int64).reshape(-1, width), "array")

    def consume(self, name: str, keys: Any, folded: Any) -> range:
        """Add the keys that a primitive consumes; return their rows."""
        line, frame = _caller(sys._getframe(2), self._filename)
        call = next((i for i, known in enumerate(self._calls) if known is frame), None)
        if call is None or frame is None:  # a key consumed other than through jax.random
            call = len(self._calls)
            self._calls.append(frame)
            self.elsewhere += frame is None
        rows = _rows_of(keys)
        data = [0] * len(rows)
        if name == "random_fold_in":
            numbers = np.asarray(folded)
            count = max(len(rows), numbers.size)
            rows = np.broadcast_to(rows, (count, rows.shape[-1]))
            data = np.broadcast_to(numbers.ravel(), (count,)).tolist()
        kind = KEY_USES.index("random_bits" if name == "random_gamma" else name)
        before = len(self._rows)
        if not self.full:
            self._rows += [
                [kind, line, call, datum, *row]
                for row, datum in zip(rows.tolist(), data, strict=True)
            ]
        return range(before, len(self._rows))

    def made(self, children: Any, parents: range) -> None:
        """Add the keys that were made of others, as many of each."""
        rows = _rows_of(children).tolist() if parents else []
        each = len(rows) // max(len(parents), 1)
        for number, row in enumerate(rows):
            parent = parents[number // each]
            self._rows.append([CHILD, *self._rows[parent][1:3], parent, *row])


class KeyRecorder:
    """Records the keys of some calls."""

    def __init__(self) -> None:
        self._record: Record | None = None
        self._installed = self._install()

    @contextmanager
    def recording(self, filename: str) -> Iterator[Record]:
        """Record the keys that are consumed in this block, and end it if it takes too long."""
        self._record = record = Record(filename)
        try:
            with _time_limit(SECONDS), jax.disable_jit():
                yield record
        finally:
            self._record = None

    @cached_property
    def works(self) -> bool:
        """Whether this release of JAX shows which keys are consumed, and by what call."""
        return self._installed and self._sees()

    def _install(self) -> bool:
        primitives = jax_internals.random_primitives()
        for name, primitive in (primitives or {}).items():
            primitive.impl = self._recorded(name, primitive.impl)
        return primitives is not None

    def _recorded(self, name: str, original: Any) -> Any:
        def recorded(keys: Any, *rest: Any, **parameters: Any) -> Any:
            record = self._record
            if record is None:
                return original(keys, *rest, **parameters)
            used = record.consume(name, keys, rest[0] if rest else 0)
            # Gamma loops for each of its numbers: too slow without jit.
            with jax.disable_jit(name != "random_gamma"):
                result = original(keys, *rest, **parameters)
            if name in ("random_split", "random_fold_in"):
                record.made(result, used)
            return result

        return recorded

    def _sees(self) -> bool:
        with self.recording("") as record:
            split(key(0, impl="threefry2x32"))
        used = record.leaf().values[:, 0] == KEY_USES.index("random_split")
        if used.sum() == 1 and not record.elsewhere:
            return True
        jax_internals.fallbacks.add("random_primitives")
        return False


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise an exception in code that computes for longer, repeatedly in case it is caught."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds / 10)
    try:
        with warnings.catch_warnings():
            # Interrupted code may warn, such as JAX writing its cache.
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _rows_of(keys: Any) -> Any:
    """Return the raw data of an array of keys, one row per key."""
    rows = np.asarray(key_data(keys))
    return rows.reshape(-1, rows.shape[-1])


def _caller(frame: Any, filename: str) -> tuple[int, Any]:
    """Return the submission's line that led to `frame`, and the frame of the `jax.random` function
    that the line called."""
    outermost = None
    while frame is not None and frame.f_code.co_filename != filename:
        if _JAX_RANDOM.search(frame.f_code.co_filename):
            outermost = frame
        frame = frame.f_back
    return (frame.f_lineno if frame is not None else 0), outermost
