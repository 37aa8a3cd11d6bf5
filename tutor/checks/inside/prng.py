"""What an expression draws from a key, and which keys it consumed.

The ledger runs the expression with `jax.disable_jit`, so that every random primitive executes
with concrete keys, and writes down each key that is drawn from, split or folded, with the line
of the learner's code that did it. It sees what JAX's own checker is blind to: raw
`PRNGKey`s, and `fold_in` of the same number twice.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from tutor.sandbox.environment import ForeignError
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment

_LIBRARY = re.compile(r"jax/_src/random(\.py|/\w+\.py)$")


class Use(Struct, frozen=True):
    """One consumption of one key. `line` is in the learner's code (0: not known); `call` tells
    apart the calls of `jax.random` functions that led here; `data` is what was folded in."""

    kind: Literal["random_bits", "random_split", "random_fold_in"]
    line: int
    call: int
    data: int | None = None


Ledger = dict[tuple[int, ...], list[Use]]


def observe(env: "LearnerEnvironment", args: dict[str, Any], rounds: Any) -> Tree:
    expression, name = args["expression"], args["key"]
    other_key = {name: rounds[1][name]}

    def result(tree: dict[str, Tree]) -> Tree:
        return env.encode(env.evaluate(expression, env.inputs(tree)), expression)

    observation: dict[str, Tree] = {
        "first": result(rounds[0]),
        "again": result(rounds[0]),
        "other": result({**rounds[0], **other_key}),
        "checker": _checker(env, expression, rounds[0]),
    }
    reuses: list[Tree] = [*reused(keys_used(env, expression, rounds[0]))]
    observation["reuse"] = reuses
    return observation


def _checker(env: "LearnerEnvironment", expression: str, inputs: dict[str, Tree]) -> str:
    """The complaint of `jax.debug_key_reuse`, or nothing. It sees typed keys only."""
    import jax

    values = env.inputs(inputs)
    try:
        with jax.debug_key_reuse(True):
            env.evaluate(expression, values)
    except ForeignError as error:
        if isinstance(error.cause, jax.errors.KeyReuseError):
            return str(error.cause).partition("\n")[0]
    return ""


def keys_used(env: "LearnerEnvironment", expression: str, inputs: dict[str, Tree]) -> Ledger:
    """Run the expression with the ledger open. What cannot run without `jit` leaves what was
    written so far: the ledger is evidence, never the only check."""
    import jax

    values = env.inputs(inputs)
    with _open(env.filename) as ledger, jax.disable_jit():
        try:
            env.evaluate(expression, values)
        except ForeignError:
            pass
    return ledger


@contextmanager
def _open(filename: str) -> Iterator[Ledger]:
    import jax
    import numpy as np

    ledger: Ledger = defaultdict(list)
    calls: list[Any] = []  # frames of jax.random functions; kept, so that none is mistaken
    primitives = _primitives()
    original = {name: primitive.impl for name, primitive in primitives.items()}

    def recorder(name: Any) -> Any:
        def recorded(keys: Any, *rest: Any, **parameters: Any) -> Any:
            line, frame = _whence(sys._getframe(1), filename)
            call = next((i for i, seen in enumerate(calls) if seen is frame), None)
            if call is None or frame is None:  # a key consumed other than through jax.random
                call = len(calls)
                calls.append(frame)
            rows = np.asarray(jax.random.key_data(keys))
            rows = rows.reshape(-1, rows.shape[-1])
            data: list[int | None] = [None] * len(rows)
            if name == "random_fold_in":
                folded = np.asarray(rest[0])
                count = max(len(rows), folded.size)
                rows = np.broadcast_to(rows, (count, rows.shape[-1]))
                data = np.broadcast_to(folded.ravel(), (count,)).tolist()
            for row, datum in zip(rows.tolist(), data, strict=True):
                ledger[tuple(row)].append(Use(name, line, call, datum))
            return original[name](keys, *rest, **parameters)

        return recorded

    try:
        for name, primitive in primitives.items():
            primitive.impl = recorder(name)
        yield ledger
    finally:
        for name, primitive in primitives.items():
            primitive.impl = original[name]


def _primitives() -> dict[str, Any]:
    """The three primitives that consume keys, found by tracing rather than by private import."""
    import jax

    def use_all(key: Any) -> Any:
        return jax.random.bits(key), jax.random.split(key), jax.random.fold_in(key, 1)

    found: dict[str, Any] = {}

    def walk(jaxpr: Any) -> None:
        for equation in jaxpr.eqns:
            found[equation.primitive.name] = equation.primitive
            for parameter in equation.params.values():
                inner = getattr(parameter, "jaxpr", parameter)
                if hasattr(inner, "eqns"):
                    walk(inner)

    walk(jax.make_jaxpr(use_all)(jax.random.key(0)).jaxpr)
    names = ("random_bits", "random_split", "random_fold_in")
    return {name: found[name] for name in names}


def _whence(frame: Any, filename: str) -> tuple[int, Any]:
    """The learner's line that led to `frame`, and the frame of the `jax.random` function that
    it called."""
    outermost = None
    while frame is not None and frame.f_code.co_filename != filename:
        if _LIBRARY.search(frame.f_code.co_filename):
            outermost = frame
        frame = frame.f_back
    return (frame.f_lineno if frame is not None else 0), outermost


def reused(ledger: Ledger) -> list[str]:
    """What the ledger shows to be consumed twice, in words.

    Several draws inside one call of a `jax.random` function (`poisson` tries again and again) are
    the library's business.
    """
    found = []
    for uses in ledger.values():
        drawn = [use for use in uses if use.kind == "random_bits"]
        if len({use.call for use in drawn}) > 1:
            found.append(_drawn_twice(drawn))
        for kind, verb in (("random_split", "splits"), ("random_fold_in", "folds a number into")):
            other = [use for use in uses if use.kind == kind]
            if drawn and other and other[0].call != drawn[0].call:
                found.append(
                    f"line {drawn[0].line} draws from the key that line {other[0].line} {verb}: "
                    "draw from its children only"
                )
        folded: dict[int, list[Use]] = defaultdict(list)
        for use in uses:
            if use.kind == "random_fold_in" and use.data is not None:
                folded[use.data].append(use)
        for data, twice in folded.items():
            if len(twice) > 1:
                found.append(f"fold_in of {data} into the same key, twice ({_lines(twice)})")
    return list(dict.fromkeys(found))[:5]


def _drawn_twice(uses: list[Use]) -> str:
    if len({use.line for use in uses}) == 1:
        return f"{_lines(uses)} draws {len(uses)} times from the same key"
    return f"{_lines(uses)} draw from the same key"


def _lines(uses: list[Use]) -> str:
    numbers = sorted({use.line for use in uses})
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
