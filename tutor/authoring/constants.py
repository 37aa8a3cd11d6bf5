"""A remark on constants of a lesson's PyTorch that no case decides: with other ones, it passes.

A constant is a number in an expression of `torch`, an infinity, or a number that one of PyTorch's
functions uses by default. The answers of the changed program are compared with those of the
original as a learner's would be, so no JAX is run, and most changes show in the first case.
"""

import ast
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Literal, NamedTuple, Self

from msgspec import Struct

from tutor.authoring.page import NodeRemark
from tutor.check import Check
from tutor.checks.compare import compare
from tutor.checks.grad import TOLERANCE_FACTOR, Grad
from tutor.engine.plan import plan, requests
from tutor.engine.references import LIMITS, Request
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Failed, Sandbox
from tutor.sandbox.protocol import Answer, Load, Loaded, Observe
from tutor.tree import Tree

_EPS: dict[str, float] = {"eps": 1e-5}
_ADAM: dict[str, float | tuple[float, ...]] = {"betas": (0.9, 0.999), "eps": 1e-8}

DEFAULTS: dict[str, dict[str, float | tuple[float, ...]]] = {
    "layer_norm": {**_EPS}, "LayerNorm": {**_EPS}, "group_norm": {**_EPS}, "GroupNorm": {**_EPS},
    "instance_norm": {**_EPS}, "InstanceNorm1d": {**_EPS}, "InstanceNorm2d": {**_EPS},
    "batch_norm": {**_EPS, "momentum": 0.1}, "BatchNorm1d": {**_EPS, "momentum": 0.1},
    "BatchNorm2d": {**_EPS, "momentum": 0.1},
    "leaky_relu": {"negative_slope": 0.01}, "LeakyReLU": {"negative_slope": 0.01},
    "elu": {"alpha": 1.0}, "ELU": {"alpha": 1.0}, "softplus": {"beta": 1.0},
    "huber_loss": {"delta": 1.0}, "smooth_l1_loss": {"beta": 1.0},
    "normalize": {"eps": 1e-12}, "cosine_similarity": {"eps": 1e-8},
    "Adam": {**_ADAM}, "AdamW": {**_ADAM, "weight_decay": 0.01},
    "RMSprop": {"alpha": 0.99, "eps": 1e-8}, "Adagrad": {"eps": 1e-10},
}  # fmt: skip
"""Numbers that functions of PyTorch use unless they are given others."""

SMALL = 1e-3
"""Smaller numbers are taken for an epsilon, of which people get the power of ten wrong."""

ZERO = 0.1
"""In place of 0."""

FINITE = 1e9
"""What people write for an infinity."""


class Constant(Struct, frozen=True):
    """A constant and its `line`. `other`: the program with another one in its place; `extremes`:
    with ones that change its answers if these depend on the constant; `raising`: with one that
    cannot be computed, empty where that would only show that an object was made."""

    line: int
    words: str
    other: str
    extremes: tuple[str, ...]
    raising: str = ""


def remarks_on_constants(lesson: Lesson, begin: Callable[[], Sandbox]) -> Iterator[NodeRemark]:
    """Yield a remark if some constants are decided by no case.

    **Arguments:** `begin`: starts a sandbox for the pack's PyTorch.
    """
    found: list[Constant] = []
    with suppress(DrawError, Failed):  # the trials report it
        found = undecided(lesson, begin)
    if found:
        listed = ", ".join(f"{one.words} (line {one.line})" for one in found)
        yield NodeRemark(
            ("torch",),
            "undecided-constant",
            f"no case decides these constants of the PyTorch; it passes with others: {listed}",
            "add inputs for which they matter, such as small ones for an epsilon",
        )


def undecided(lesson: Lesson, begin: Callable[[], Sandbox], seed: int = 0) -> list[Constant]:
    """Return the constants that answers depend on, but that may be others in every case.

    Raises:
        Failed: PyTorch does not answer.
        tutor.inputs.drawing.DrawError: an input cannot be drawn.
    """
    checks = {check.title: check for check in lesson.checks}
    asked = [
        (checks[one.source], one)
        for one in requests(lesson, plan(lesson, seed))
        if checks[one.source].kind != "shape"  # which no constant changes
    ]
    with _Programs(lesson, asked, begin) as programs:
        return [
            one
            for one in constants(lesson.torch)
            if programs.compare(one.other) == "same" and _is_used(one, programs)
        ]


def _is_used(constant: Constant, programs: "_Programs") -> bool:
    """Return whether answers depend on a constant, or would in another branch of a line that runs:
    a slope for negative numbers, where there are none."""
    if constant.raising and programs.compare(constant.raising) == "broken":
        return True
    return any(programs.compare(code) == "other" for code in constant.extremes)


class _Programs:
    """Compares the answers of a lesson's PyTorch with those of changed versions of it."""

    def __init__(
        self, lesson: Lesson, asked: list[tuple[Check, Request]], begin: Callable[[], Sandbox]
    ) -> None:
        self._asked = asked
        self._begin = begin
        self._harness = lesson.reference_code.removeprefix(lesson.torch)
        self._sandbox: Sandbox | None = None
        self._right = [*self._answers(lesson.torch)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._sandbox is not None:
            self._sandbox.close()

    def compare(self, torch: str) -> Literal["same", "other", "broken"]:
        """Return whether a version gives the same answers, up to the tolerance of each check."""
        answers = self._answers(torch)
        try:
            for (check, _), right in zip(self._asked, self._right, strict=True):
                if (answer := next(answers, _NONE)) is _NONE:
                    return "broken"
                if not _agree(check, right, answer):
                    return "other"
        except Failed:
            self.__exit__()
            self._sandbox = None
            return "broken"
        return "same"

    def _answers(self, torch: str) -> Iterator[Tree]:
        """Yield the answers of a version, up to the first at which it raises."""
        if self._sandbox is None:
            self._sandbox = self._begin()
            self._sandbox.ready()
        allowance = Allowance(LIMITS.seconds)
        load = Load("load", f"{torch}{self._harness}", "constants.torch.py")
        reply, _ = self._sandbox.ask(load, None, allowance, "the lesson's PyTorch")
        for _, request in self._asked if isinstance(reply, Loaded) else ():
            ask = Observe(request.case, request.inside, request.args)
            reply, tree = self._sandbox.ask(ask, [*request.input_sets], allowance, request.source)
            if not isinstance(reply, Answer):
                return
            yield tree


_NONE: Tree = object()  # type: ignore[assignment]


def _agree(check: Check, right: Tree, answer: Tree) -> bool:
    times = TOLERANCE_FACTOR if isinstance(check, Grad) else 1.0
    tolerance = getattr(check, "tol", None)
    return compare(check.compared(right), check.compared(answer), tolerance, times=times) is None


# --- finding constants -------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where a constant is. `put` puts another expression there, and undoes that if given None."""

    node: ast.expr
    words: str
    others: tuple[ast.expr, ...]
    put: Callable[[ast.expr | None], None]


def constants(source: str) -> Iterator[Constant]:
    """Yield the constants of a module, in the order of its lines."""
    tree = ast.parse(source)
    running = _running(tree)
    for place in sorted(_places(tree), key=lambda place: place.node.lineno):
        versions: list[str] = []
        for other in (*place.others, ast.parse("1 / 0", mode="eval").body):
            place.put(other)
            versions.append(ast.unparse(tree))
        place.put(None)
        raising = versions.pop()
        yield Constant(
            place.node.lineno,
            place.words,
            versions[0],
            (*versions[1:],),
            raising if id(place.node) in running else "",
        )


def _running(tree: ast.Module) -> set[int]:
    """Return the nodes, by id, that compute when they run: in functions, but neither where objects
    are made, which may never be used, nor where random numbers are, which PyTorch's are not
    compared with."""
    inside: set[int] = set()
    left_out: set[int] = set()
    for node in ast.walk(tree):
        below = [*ast.walk(node)]
        if isinstance(node, ast.FunctionDef):
            inside |= {*map(id, below)}
        elif isinstance(node, ast.expr):
            names = [_name(part) for part in below if isinstance(part, ast.Call)]
            made = isinstance(node, ast.Call) and _name(node)[:1].isupper()
            if made or any("rand" in name for name in names):
                left_out |= {*map(id, below)}
    return inside - left_out


def _places(tree: ast.Module) -> Iterator[_Place]:
    first_values = {id(part) for node in ast.walk(tree) for part in _first_values(node)}
    for parent in [*ast.walk(tree)]:
        for name, value in ast.iter_fields(parent):
            for number, node in enumerate(value if isinstance(value, list) else [value]):
                others: tuple[float, ...] = ()
                if isinstance(node, ast.Constant) and _is_number(node, parent):
                    others = _others(node.value)  # type: ignore[arg-type]
                elif isinstance(node, ast.expr) and _is_infinity(node):
                    others = FINITE, 1.0, math.nan
                # Where a sum or a search begins, it matters little where.
                if id(node) in first_values and others[:1] in ((FINITE,), (ZERO,)):
                    others = ()
                if others:
                    words = f"{ast.unparse(node)} for {others[0]:g}"
                    exprs = tuple(map(ast.Constant, others))
                    yield _Place(node, words, exprs, partial(_put, parent, name, number, node))
        if isinstance(parent, ast.Call):
            yield from _defaults(parent)


def _put(parent: ast.AST, name: str, number: int, before: ast.expr, other: ast.expr | None) -> None:
    value = getattr(parent, name)
    if isinstance(value, list):
        value[number] = other or before
    else:
        setattr(parent, name, other or before)


def _is_number(node: ast.Constant, parent: ast.AST) -> bool:
    """Return whether a literal is a number; integers that stand alone are sizes, axes, indices."""
    kinds = (float, int) if isinstance(parent, ast.BinOp | ast.Compare) else (float,)
    return type(node.value) in kinds and (node.value != 0 or type(node.value) is float)


def _is_infinity(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="inf"):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf" | "-inf")]):
            return True
    return False


def _first_values(node: ast.AST) -> list[ast.expr]:
    """Return what an assignment gives to names."""
    if not isinstance(node, ast.Assign) or isinstance(node.targets[0], ast.Subscript):
        return []
    return [node.value, *(node.value.elts if isinstance(node.value, ast.Tuple) else ())]


def _defaults(call: ast.Call) -> Iterator[_Place]:
    given = {keyword.arg for keyword in call.keywords}
    before = [*call.keywords]

    def put(key: str, numbers: tuple[float, ...], position: int, other: ast.expr | None) -> None:
        parts: list[ast.expr] = [ast.Constant(number) for number in numbers]
        if other is not None:
            parts[position] = other
        whole = parts[0] if len(parts) == 1 else ast.Tuple(parts)
        call.keywords = [*before, *([ast.keyword(key, whole)] if other is not None else [])]

    for key, default in DEFAULTS.get(_name(call), {}).items():
        numbers = default if isinstance(default, tuple) else (default,)
        for position, number in enumerate(numbers if key not in given else ()):
            others = _others(number)
            words = f"{_name(call)}'s {key}, {number!r} by default, for {others[0]!r}"
            exprs = tuple(map(ast.Constant, others))
            yield _Place(call, words, exprs, partial(put, key, numbers, position))


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _others(number: float) -> tuple[float, ...]:
    """Return another number, and extreme ones."""
    if isinstance(number, int):
        return number + 1, math.nan, 1000 * number + 1
    if number == 0:
        return ZERO, math.nan, 1000.0
    factor = 0.1 if abs(number) < SMALL else 0.9
    return float(f"{factor * number:.6g}"), math.nan, 1000 * number + 1
