"""Arithmetic in place of a number: `n - 1`, `1 / n**0.5`.

Numbers, names of sizes, and `+ - * / // **` between them. None of it is evaluated as Python.
"""

import ast
from collections.abc import Callable, Mapping
from typing import TypeAlias

Number: TypeAlias = "int | float"


class ArithmeticFault(ValueError):
    """Arithmetic that is invalid or has no result; `column` counts from 0 within its text."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.column = column


def _power(base: Number, exponent: Number) -> Number:
    """Compute in floats, because integers would grow without bound."""
    result = float(base) ** float(exponent)
    if not isinstance(result, float):  # a root of a negative number is complex
        raise OverflowError
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(result) < 2**53
    return int(result) if whole and result.is_integer() else result


_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Pow: _power,
}


def checked(node: ast.expr) -> ast.expr:
    """Return `node` if it is arithmetic. Raises: ArithmeticFault: it is not."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return node
        case ast.Name():
            return node
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            checked(operand)
            return node
        case ast.BinOp(left=left, right=right, op=op) if type(op) in _OPERATORS:
            checked(left)
            checked(right)
            return node
    raise ArithmeticFault("expected a number, a size, or + - * / // ** of them", node.col_offset)


def value(node: ast.expr, sizes: Mapping[str, Number]) -> Number:
    """Return the value of a node that `checked` accepts. Raises: ArithmeticFault: a name is not a
    size, or the result does not exist (a division by zero)."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            if name not in sizes:
                raise ArithmeticFault(f"no size is called {name!r}", node.col_offset)
            return sizes[name]
        case ast.UnaryOp(operand=operand):
            return -value(operand, sizes)
        case ast.BinOp(left=left, right=right, op=op):
            try:
                return _OPERATORS[type(op)](value(left, sizes), value(right, sizes))
            except (ZeroDivisionError, OverflowError):
                raise ArithmeticFault("that arithmetic has no result", node.col_offset) from None
    raise AssertionError(f"checked() let {ast.dump(node)} through")


def names_of(node: ast.expr) -> dict[str, int]:
    """Return the sizes used, each with the column (from 0) of its first use."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return {name.id: name.col_offset for name in reversed(names)}
