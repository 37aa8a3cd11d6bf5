"""Which edges of their domains PyTorch's functions reach while a reference runs.

An edge is an argument at which a function, or its gradient, is infinite, undefined or different
from its neighbours: the logarithm of 0, the last index. Two programs may agree everywhere else.
"""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from tutor.sandbox.calls import UserCodeError
from tutor.sandbox.environment import EXPRESSION
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.reference import ReferenceEnvironment

MOST_CALLS = 50_000
"""Calls of functions under inputs that nobody drew, with which a loop may not end."""


class Call(NamedTuple):
    """A call of a function of PyTorch that has returned."""

    args: tuple[Any, ...]
    result: Any


class Edge(NamedTuple):
    """An edge of some functions. `reached` returns whether a call was at it."""

    name: str
    functions: tuple[str, ...]
    reached: Callable[[Call], Any]


def _equals(position: int, value: float) -> Callable[[Call], Any]:
    return lambda call: (call.args[position] == value).any()


def _no_result(call: Call) -> Any:
    return (call.result == 0).any()


def _power(call: Call) -> Any:
    base, exponent = call.args[:2]
    if isinstance(exponent, int | float):  # 0 ** 2 is like its neighbours
        return base.new_tensor(not (exponent >= 1 or exponent == 0)).bool() & (base == 0).any()
    return (base == 0).any()


EDGES = (
    Edge("log of 0", ("log", "log2", "log10"), _equals(0, 0)),
    Edge("log1p of -1", ("log1p",), _equals(0, -1)),
    Edge("root of 0", ("sqrt", "rsqrt"), _equals(0, 0)),
    Edge("division by 0", ("truediv", "itruediv", "div", "true_divide"), _equals(1, 0)),
    Edge("division by 0", ("rtruediv", "rdiv", "reciprocal"), _equals(0, 0)),
    Edge("power of 0", ("pow", "ipow"), _power),
    Edge("norm of zeros", ("norm", "linalg_norm", "linalg_vector_norm", "normalize"), _no_result),
    Edge("standard deviation of equal numbers", ("std",), _no_result),
    Edge(
        "arcsine or arccosine of 1",
        ("asin", "acos", "arcsin", "arccos"),
        lambda call: (abs(call.args[0]) == 1).any(),
    ),
    Edge("softmax of -inf", ("softmax", "log_softmax", "logsumexp"), _equals(0, -float("inf"))),
)
"""By the names of functions and methods; those of operators without underscores."""

INDEXED = ("getitem", "index_select", "gather", "take_along_dim", "embedding")
"""Functions that look up entries."""


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    """Return what a request reaches, `args["args"]` to the module `args["inside"]`: a list of
    dicts, each of a `line` of the reference (0 for a check's expression), the `call` in it, the
    name of an `edge`, whether it was `reached`, and the `lowest` and `highest` index that was
    looked up.

    `args["fill"]`, if it is a number, replaces all those in arrays.
    """
    from torch.overrides import TorchFunctionMode

    seen: dict[tuple[int, int, str], tuple[bool, int, int]] = {}
    calls = 0

    class Observer(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            nonlocal calls
            calls += 1
            if fill is not None and calls > MOST_CALLS:
                raise RuntimeError("too many calls")
            result = func(*args, **(kwargs or {}))
            place = _place(env.filename)
            if place is not None:
                name = getattr(func, "__name__", "").strip("_")
                for edge, reached, index in _looked_at(name, Call(args, result)):
                    before = seen.get((*place, edge), (False, index, index))
                    lowest, highest = min(before[1], index), max(before[2], index)
                    seen[(*place, edge)] = before[0] or reached, lowest, highest
            return result

    fill = args["fill"]
    module = import_module(args["inside"])
    try:
        with Observer():
            module.refer(_Filled(env, fill), args["args"], input_sets)
    except UserCodeError:
        pass  # the request itself reports it; inputs that nobody drew may well raise
    found: Tree = [
        {"line": env.encoded(line), "call": env.encoded(call), "edge": edge,
         "reached": env.encoded(reached), "lowest": env.encoded(lowest),
         "highest": env.encoded(highest)}
        for (line, call, edge), (reached, lowest, highest) in seen.items()
    ]  # fmt: skip
    return found, 0.0


class _Filled:
    """An environment in which all arrays of inputs are filled with a number, if there is one."""

    def __init__(self, env: "ReferenceEnvironment", fill: float | None) -> None:
        self._env = env
        self._fill = fill

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def inputs(self, trees: Any) -> Any:
        inputs = self._env.inputs(trees)
        return inputs if self._fill is None else _filled(inputs, self._fill)


def _filled(value: Any, fill: float) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        whole = not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
        return value if whole else torch.full_like(value, fill)
    if isinstance(value, dict):
        return {key: _filled(one, fill) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_filled(one, fill) for one in value)
    return value


def _place(filename: str) -> tuple[int, int] | None:
    """Return the line of the reference that is running, 0 for a check's expression, and the
    instruction; None if an optimizer is, whose own roots and quotients begin at 0."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code.co_filename
        if code in (filename, EXPRESSION):
            return (frame.f_lineno if code == filename else 0), frame.f_lasti
        if "/torch/optim/" in code.replace("\\", "/"):
            return None
        frame = frame.f_back
    return None


def _looked_at(name: str, call: Call) -> Iterator[tuple[str, bool, int]]:
    """Yield the edges of a function's domain, whether a call reached them, and an index that it
    looked up."""
    import torch

    with torch.no_grad():
        try:
            for edge in EDGES:
                if name in edge.functions:
                    yield edge.name, bool(edge.reached(call)), 0
            if name in INDEXED:
                yield from _lookups(name, call.args)
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            return  # such as a tensor within `vmap`, which has no value


def _lookups(name: str, args: tuple[Any, ...]) -> Iterator[tuple[str, bool, int]]:
    import torch

    if name == "embedding":
        pairs = [(args[0], args[1].shape[0])]
    elif name == "getitem":
        parts = args[1] if isinstance(args[1], tuple) else (args[1],)
        if any(part is None or part is Ellipsis or _is_mask(part) for part in parts):
            return  # whose axes are not those of the array
        pairs = [*zip(parts, args[0].shape, strict=False)]
    else:
        dim = next((one for one in args[1:] if isinstance(one, int)), 0)
        pairs = [(next(one for one in args[1:] if hasattr(one, "shape")), args[0].shape[dim])]
    for axis, (part, size) in enumerate(pairs):
        of = f" of axis {axis}" if name == "getitem" and axis else ""
        if not isinstance(part, slice):
            index = torch.as_tensor(part)
            first, last = (index % size == 0).any(), (index % size == size - 1).any()
            for at in (int(index.min()), int(index.max())):
                yield f"index 0{of}", bool(first), at
                yield f"the last index{of}", bool(last), at
        elif size:
            for end, edge, words in ((part.start, 0, "from 0"), (part.stop, size, "to the end")):
                if end is not None:
                    at = int(end) + size * (end < 0)
                    yield f"a slice {words}{of}", min(max(at, 0), size) == edge, int(end)


def _is_mask(part: Any) -> bool:
    import torch

    return isinstance(part, bool) or getattr(part, "dtype", None) == torch.bool
