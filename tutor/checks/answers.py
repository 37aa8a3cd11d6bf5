"""A learner's predictions: Python literals, read from the source and never run.

    y_shape = (3, 4)

so that an answer is what somebody thought, not what a program computed.
"""

import ast
import copy
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tutor.foreign.python_source import parse, quoted
from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault

Literal: TypeAlias = (
    "int | float | complex | bool | str | list[Literal] | tuple[Literal, ...] | "
    "dict[Literal, Literal] | None"
)

MAX_ELEMENTS = 10_000
"""Parts of one answer."""

NOT_YET = "not answered yet"
"""Said of a question whose answer is still `...` or not in the file."""


class Unanswered(Exception):
    """The file holds no answer under a name; the message is for the learner."""


class Answered:
    """The top-level assignments of a learner's file. Raises: SyntaxError: the file is not
    Python."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._values: dict[str, ast.expr] = {}
        for node in parse(source).body:
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets = [node.target]
            else:
                continue
            assert node.value is not None
            for target in targets:
                if isinstance(target, ast.Name):
                    self._values[target.id] = node.value

    def answer(self, name: str) -> Literal:
        """Return the last literal that is assigned to `name`. A bare name counts as what the file
        assigns to it, if that is a literal, and else as text, such as `TypeError` or `b`.

        Raises:
            Unanswered: nothing is assigned, or `...`, or no literal.
        """
        node = self._values.get(name)
        if node is None:
            raise Unanswered(f"{NOT_YET}: write `{name} = …` in the file")
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            raise Unanswered(NOT_YET)
        if sum(1 for _ in ast.walk(node)) > MAX_ELEMENTS:
            raise Unanswered(f"line {node.lineno}: the answer has too many parts")
        try:
            return _literal(_Resolved(self._values).visit(node))
        except (ValueError, ArithmeticFault, RecursionError, OverflowError):
            raise Unanswered(
                f"line {node.lineno}: `{quoted(self._source, node)}` is code; "
                "write the answer itself, such as 3, (3, 4) or True"
            ) from None


class _Resolved(ast.NodeTransformer):
    """Puts what names stand for in their place, where that is a literal.

    **Arguments:** `values`: what the file assigns, by name.
    """

    def __init__(self, values: Mapping[str, ast.expr], left: int = MAX_ELEMENTS) -> None:
        self._values = values
        self._left = left
        self._within: list[str] = []

    def visit_Name(self, node: ast.Name) -> ast.expr:
        meant = self._values.get(node.id)
        if meant is None or node.id in self._within:
            return node
        self._within.append(node.id)
        resolved: ast.expr = self.visit(copy.deepcopy(meant))
        self._within.pop()
        self._left -= sum(1 for _ in ast.walk(resolved))
        if self._left < 0:
            raise ValueError("too many parts")
        try:
            _literal(resolved)
        except (ValueError, ArithmeticFault):
            return node
        return resolved

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return node  # `jnp.float32` is a name as a whole


def _literal(node: ast.expr) -> Literal:
    """Raises: ValueError, ArithmeticFault: it is not a literal."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | complex() | str() as value):
            return value
        case ast.Tuple(elts=parts):
            return tuple(map(_literal, parts))
        case ast.List(elts=parts):
            return [*map(_literal, parts)]
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            return {_key(k): _literal(v) for k, v in zip(keys, values, strict=True)}
        case ast.Attribute(attr="__name__", value=ast.Name() | ast.Attribute() as named):
            return ast.unparse(named).rpartition(".")[2]
        case ast.Name() | ast.Attribute() if all(
            isinstance(part, ast.Name | ast.Attribute | ast.Load) for part in ast.walk(node)
        ):
            return ast.unparse(node)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
            return float(text)
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[part], keywords=named
        ) if name in _CONVERSIONS and all(one.arg == "dtype" for one in named):
            return _CONVERSIONS[name](_literal(part))
        case ast.Call(func=ast.Attribute(value=inner, attr="tolist"), args=[], keywords=[]):
            return _literal(inner)
        case ast.Call(func=ast.Name(id="round"), args=[part, ast.Constant(value=int() as digits)]):
            return round(_real(_literal(part)), digits)
        case ast.BinOp(
            left=ast.Tuple() | ast.List() as left,
            op=ast.Add(),
            right=ast.Tuple() | ast.List() as right,
        ) if type(left) is type(right):
            return _literal(left) + _literal(right)  # type: ignore[operator]
    return arithmetic.value(arithmetic.checked(node), _no_sizes)


def _number(value: Literal) -> Literal:
    """Raises: ValueError: it is not a number."""
    if not isinstance(value, bool | int | float | complex):
        raise ValueError("not a number")
    return value


def _real(value: Literal) -> float:
    """Raises: ValueError: it is not a real number."""
    if not isinstance(value, bool | int | float):
        raise ValueError("not a real number")
    return value


def _whole(value: Literal) -> Literal:
    if not isinstance(value, bool | int):
        raise ValueError("not an integer")
    return int(value)


def _items(value: Literal) -> list[Literal]:
    if not isinstance(value, list | tuple):
        raise ValueError("not a sequence")
    return [*value]


_CONVERSIONS: Mapping[str, Callable[[Literal], Literal]] = {
    "array": lambda value: value,
    "asarray": lambda value: value,
    "tuple": lambda value: tuple(_items(value)),
    "list": _items,
    "int": _whole,
    "float": _number,
    "bool": _number,
    **dict.fromkeys(("float32", "float16", "bfloat16", "float64"), _number),
    **dict.fromkeys(("int32", "int64", "int8", "uint8", "uint32", "bool_"), _number),
}
"""What people write around an answer: `jnp.array([1, 2])`, `np.int32(3)`, `tuple([2, 3])`."""


def _key(node: ast.expr | None) -> str | int:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return node.value
    raise ValueError("not a key")


_no_sizes: Mapping[str, int] = {}
