"""The ledger: which keys an expression consumed, and on which lines.

The expression runs with `jax.disable_jit`, so that every random primitive executes with concrete
keys. The ledger records each key that is drawn from, split or folded, with the learner's line. It
covers what JAX's own checker misses: raw `PRNGKey`s, and `fold_in` of the same number twice. A key
may be split twice in the same way if every child is used once; if one is used twice, the message
names the splits.
"""

import functools
import re
import signal
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import jax
import numpy as np
from msgspec import Struct

from tutor.sandbox import jax_internals
from tutor.sandbox.environment import UserCodeError
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree

LEDGER_SECONDS = 8.0
"""Processor time for the ledger: without `jit` some code takes thousands of times as long."""

_JAX_RANDOM = re.compile(r"jax/_src/random(\.py|/\w+\.py)$")


class Use(Struct, frozen=True):
    """One use of one key. `line` is in the learner's code (0 if unknown); `call` numbers the calls
    of `jax.random` functions; `data` is the number that was folded in."""

    kind: Literal["random_bits", "random_split", "random_fold_in"]
    line: int
    call: int
    data: int | None = None


class Ledger:
    """The uses of each key, by its raw data, and the splits from which it came."""

    def __init__(self) -> None:
        self.elsewhere = 0
        """The number of keys that were consumed other than through `jax.random`."""
        self.uses: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)
        self.origins: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)


def keys_used(
    env: LearnerEnvironment, expression: str, inputs: dict[str, Tree]
) -> tuple[Ledger, bool]:
    """Run the expression and record which keys it consumes.

    **Returns:** the ledger, and whether it is complete: it is not if the expression cannot run
    without `jit`, or takes too long, or this release of JAX does not show what is needed.
    """
    if not _shown():
        return Ledger(), False
    values = env.inputs(inputs)
    with _recording(env.filename) as ledger, _time_limit(LEDGER_SECONDS), jax.disable_jit():
        try:
            env.evaluate(expression, values)
        except UserCodeError:
            return ledger, False
    return ledger, True


@functools.cache
def _shown() -> bool:
    """Return whether this release of JAX shows which keys are consumed, and by what call."""
    if jax_internals.random_primitives() is None:
        return False
    with _recording("") as ledger, jax.disable_jit():
        jax.random.split(jax.random.key(0, impl="threefry2x32"))
    if len(ledger.uses) == 1 and not ledger.elsewhere:
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


@contextmanager
def _recording(filename: str) -> Iterator[Ledger]:
    ledger = Ledger()
    calls: list[Any] = []  # frames of jax.random functions, kept alive so that no id recurs
    primitives = jax_internals.random_primitives()
    assert primitives is not None
    original = {name: primitive.impl for name, primitive in primitives.items()}

    def recorder(name: Any) -> Any:
        def recorded(keys: Any, *rest: Any, **parameters: Any) -> Any:
            line, frame = _caller(sys._getframe(1), filename)
            call = next((i for i, known in enumerate(calls) if known is frame), None)
            if call is None or frame is None:  # a key consumed other than through jax.random
                call = len(calls)
                calls.append(frame)
                ledger.elsewhere += frame is None
            rows = _rows_of(keys)
            data: list[int | None] = [None] * len(rows)
            if name == "random_fold_in":
                folded = np.asarray(rest[0])
                count = max(len(rows), folded.size)
                rows = np.broadcast_to(rows, (count, rows.shape[-1]))
                data = np.broadcast_to(folded.ravel(), (count,)).tolist()
            kind: Any = "random_bits" if name == "random_gamma" else name
            for row, datum in zip(rows.tolist(), data, strict=True):
                ledger.uses[tuple(row)].append(Use(kind, line, call, datum))
            # Gamma loops for each of its numbers: too slow without jit.
            with jax.disable_jit(name != "random_gamma"):
                result = original[name](keys, *rest, **parameters)
            if name == "random_split":
                for row in _rows_of(result).tolist():
                    ledger.origins[tuple(row)].append(Use(name, line, call))
            return result

        return recorded

    try:
        for name, primitive in primitives.items():
            primitive.impl = recorder(name)
        yield ledger
    finally:
        for name, primitive in primitives.items():
            primitive.impl = original[name]


def _rows_of(keys: Any) -> Any:
    """Return the raw data of an array of keys, one row per key."""
    rows = np.asarray(jax.random.key_data(keys))
    return rows.reshape(-1, rows.shape[-1])


def _caller(frame: Any, filename: str) -> tuple[int, Any]:
    """Return the learner's line that led to `frame`, and the frame of the `jax.random` function
    that the line called."""
    outermost = None
    while frame is not None and frame.f_code.co_filename != filename:
        if _JAX_RANDOM.search(frame.f_code.co_filename):
            outermost = frame
        frame = frame.f_back
    return (frame.f_lineno if frame is not None else 0), outermost


def reused(ledger: Ledger) -> list[str]:
    """Describe the keys that were consumed twice.

    Several draws inside one call of a `jax.random` function are right: `poisson` draws repeatedly.
    """
    messages = []
    for key, uses in ledger.uses.items():
        drawn = [use for use in uses if use.kind == "random_bits"]
        splits = ledger.origins.get(key, [])
        if len({use.call for use in uses}) > 1 and len({use.call for use in splits}) > 1:
            # The uses are right: the key exists twice because its parent was split twice.
            messages.append(f"{_split_twice(splits)}: the children are the same each time")
            continue
        if len({use.call for use in drawn}) > 1:
            messages.append(_drawn_twice(drawn))
        for kind, verb in (("random_split", "splits"), ("random_fold_in", "folds a number into")):
            other = [use for use in uses if use.kind == kind]
            if drawn and other and other[0].call != drawn[0].call:
                messages.append(
                    f"line {drawn[0].line} draws from the key that line {other[0].line} {verb}: "
                    "draw from its children only"
                )
        folded: dict[int, list[Use]] = defaultdict(list)
        for use in uses:
            if use.kind == "random_fold_in" and use.data is not None:
                folded[use.data].append(use)
        for data, repeated in folded.items():
            if len(repeated) > 1:
                messages.append(f"fold_in of {data} into the same key twice ({_lines(repeated)})")
    return list(dict.fromkeys(messages))[:5]


def _split_twice(uses: list[Use]) -> str:
    if len({use.line for use in uses}) == 1:
        return f"{_lines(uses)} splits the same key {len(uses)} times"
    return f"{_lines(uses)} split the same key"


def _drawn_twice(uses: list[Use]) -> str:
    if len({use.line for use in uses}) == 1:
        return f"{_lines(uses)} draws {len(uses)} times from the same key"
    return f"{_lines(uses)} draw from the same key"


def _lines(uses: list[Use]) -> str:
    numbers = sorted({use.line for use in uses})
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def drawn_in_both(one: Ledger, other: Ledger) -> list[str]:
    """Return the lines that drew from the same key in both runs."""
    uses = [use for key in one.uses.keys() & other.uses.keys() for use in one.uses[key]]
    drawn = sorted({use.line for use in uses if use.kind == "random_bits"})
    return [f"line {line}" for line in drawn if line][:5]
