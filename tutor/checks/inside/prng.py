"""What an expression draws from a key, and which keys it consumed.

The ledger runs the expression with `jax.disable_jit`, so that every random primitive executes
with concrete keys, and writes down each key that is drawn from, split or folded, with the line
of the learner's code that did it. It sees what JAX's own checker is blind to: raw
`PRNGKey`s, and `fold_in` of the same number twice. It allows splitting a key twice in the same
way, if every child is used once; if one is used twice, it names the splits. The checker is asked
only where the ledger could not be filled.
"""

import re
import signal
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from tutor.sandbox.environment import ForeignError
from tutor.tree import Leaf, Tree, leaves, map_leaves

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment

LEDGER_SECONDS = 8.0
"""Processor time for the ledger: without `jit` some code takes thousands of times as long."""

_LIBRARY = re.compile(r"jax/_src/random(\.py|/\w+\.py)$")


class Use(Struct, frozen=True):
    """One consumption of one key. `line` is in the learner's code (0: not known); `call` tells
    apart the calls of `jax.random` functions that led here; `data` is what was folded in."""

    kind: Literal["random_bits", "random_split", "random_fold_in"]
    line: int
    call: int
    data: int | None = None


class Ledger:
    """Who consumed which key, by its raw data; and from which splits each key came."""

    def __init__(self) -> None:
        self.uses: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)
        self.origins: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> Tree:
    expression, name = args["expression"], args["key"]
    keys = [{name: one[name]} for one in input_sets]

    def result(tree: dict[str, Tree]) -> Tree:
        return env.encode(env.evaluate(expression, env.inputs(tree)), expression)

    observation: dict[str, Tree] = {
        "first": result(input_sets[0]),
        "again": result(input_sets[0]),
        "other": result({**input_sets[0], **keys[1]}),
        "others": [result({**input_sets[0], **key}) for key in keys[2:]],
        "next": result({**input_sets[0], name: _next(input_sets[0][name])}),
    }
    ledger, whole = keys_used(env, expression, input_sets[0])
    observation["checker"] = "" if whole else _checker(env, expression, input_sets[0])
    observation["reuse"] = [*reused(ledger)]
    given = {tuple(row) for row in _rows(input_sets[0][name])}
    observation["used"] = "yes" if given & ledger.uses.keys() or not whole else None
    observation["constant"] = []
    if any_same(observation["first"], observation["other"]):
        changed, _ = keys_used(env, expression, {**input_sets[0], **keys[1]})
        observation["constant"] = [*drawn_in_both(ledger, changed)]
    return observation


def _next(key: Tree) -> Tree:
    """The keys after these: those of the next seed, where a key was made from one."""
    import numpy as np

    def after(leaf: Leaf) -> Leaf:
        return Leaf(leaf.values + np.array([0, 1], leaf.values.dtype), leaf.type)

    return map_leaves(after, key)


def _rows(key: Tree) -> list[list[int]]:
    """The raw data of every key in an input."""
    return [
        row
        for _, leaf in leaves(key)
        for row in leaf.values.reshape(-1, leaf.values.shape[-1]).tolist()
    ]


def any_same(one: Tree, other: Tree) -> bool:
    """Return whether an array that is not one number throughout is the same in both."""
    import numpy as np

    arrays = zip(leaves(one), leaves(other), strict=False)
    return any(
        np.array_equal(a.array, b.array)
        and a.values.size > 1
        and (a.values != a.values.flat[0]).any()
        for (_, a), (_, b) in arrays
        if a.array is not None and b.array is not None
    )


def drawn_in_both(one: Ledger, other: Ledger) -> list[str]:
    """Return where was drawn from a key that was the same both times."""
    uses = [use for key in one.uses.keys() & other.uses.keys() for use in one.uses[key]]
    drawn = sorted({use.line for use in uses if use.kind == "random_bits"})
    return [f"line {line}" for line in drawn if line][:5]


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


def keys_used(
    env: "LearnerEnvironment", expression: str, inputs: dict[str, Tree]
) -> tuple[Ledger, bool]:
    """Run the expression with the ledger open.

    **Returns:** the ledger, and whether it is whole: what cannot run without `jit`, or takes too
    long, leaves what was written so far.
    """
    import jax

    values = env.inputs(inputs)
    with _open(env.filename) as ledger, _stopped_after(LEDGER_SECONDS), jax.disable_jit():
        try:
            env.evaluate(expression, values)
        except ForeignError:
            return ledger, False
    return ledger, True


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Raise an exception in what has computed for longer, and again in what catches that."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds / 10)
    try:
        with warnings.catch_warnings():
            # What is stopped on the way, such as writing a file of JAX's cache, is no news.
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _open(filename: str) -> Iterator[Ledger]:
    import jax
    import numpy as np

    ledger = Ledger()
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
            # One gamma takes a loop for each of its numbers: nothing to run step by step.
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
    """The raw data of an array of keys, a row for each."""
    import jax
    import numpy as np

    rows = np.asarray(jax.random.key_data(keys))
    return rows.reshape(-1, rows.shape[-1])


def _primitives() -> dict[str, Any]:
    """The primitives that consume keys, found by tracing rather than by private import."""
    import jax

    def use_all(key: Any) -> Any:
        return (
            jax.random.bits(key),
            jax.random.split(key),
            jax.random.fold_in(key, 1),
            jax.random.gamma(key, 1.0),
        )

    found: dict[str, Any] = {}

    def walk(jaxpr: Any) -> None:
        for equation in jaxpr.eqns:
            found[equation.primitive.name] = equation.primitive
            for parameter in equation.params.values():
                inner = getattr(parameter, "jaxpr", parameter)
                if hasattr(inner, "eqns"):
                    walk(inner)

    walk(jax.make_jaxpr(use_all)(jax.random.key(0)).jaxpr)
    names = ("random_bits", "random_split", "random_fold_in", "random_gamma")
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
    for key, uses in ledger.uses.items():
        drawn = [use for use in uses if use.kind == "random_bits"]
        splits = ledger.origins.get(key, [])
        if len({use.call for use in uses}) > 1 and len({use.call for use in splits}) > 1:
            # Who uses the key is right: it is one key because its parent was split twice.
            found.append(f"{_split_twice(splits)}: each time it gives the same children")
            continue
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
