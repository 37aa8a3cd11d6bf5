"""Mutation operators: small ways in which JAX code goes wrong, as changes of its syntax tree.

Given a node, an operator yields wrong replacements; some may not change the program, or not even
run. LibCST preserves the rest of the source, so that a mutant can be shown as a diff.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import libcst as cst
from libcst import matchers as m

Wrong: TypeAlias = Iterator[cst.CSTNode]
Change: TypeAlias = Callable[[cst.CSTNode], Wrong]


class Operator(NamedTuple):
    """A way to go wrong. Reports and lessons use `name`; `summary` is for the documentation;
    `wrong` yields wrong replacements for a node."""

    name: str
    summary: str
    wrong: Change


OPERATORS: list[Operator] = []
"""All operators, in the order of this file."""


def _operator(summary: str) -> Callable[[Change], Change]:
    """Make an operator of a function, which has its name."""

    def listed(wrong: Change) -> Change:
        OPERATORS.append(Operator(wrong.__name__.replace("_", "-"), summary, wrong))
        return wrong

    return listed


# --- arithmetic ------------------------------------------------------------------------------


_OTHER_SIGN = {
    cst.Add: cst.Subtract, cst.Subtract: cst.Add,
    cst.AddAssign: cst.SubtractAssign, cst.SubtractAssign: cst.AddAssign,
}  # fmt: skip

_OTHER_ARITHMETIC = {
    cst.Multiply: cst.Divide, cst.Divide: cst.Multiply, cst.FloorDivide: cst.Multiply,
}  # fmt: skip


@_operator("plus for minus, or a forgotten minus")
def flip_sign(node: cst.CSTNode) -> Wrong:
    yield from _with_operator(node, _OTHER_SIGN)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        yield _in_place_of(node, node.expression)


@_operator("multiplication for division, and the reverse")
def other_arithmetic(node: cst.CSTNode) -> Wrong:
    yield from _with_operator(node, _OTHER_ARITHMETIC)


@_operator("operands of a non-commutative operation swapped")
def swap_operands(node: cst.CSTNode) -> Wrong:
    ordered = cst.Subtract | cst.Divide | cst.MatrixMultiply | cst.Power | cst.FloorDivide
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, ordered):
        yield node.with_changes(left=_enclosed(node.right), right=_enclosed(node.left))


@_operator("a forgotten term or factor")
def drop_operand(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.Modulo):
        yield _in_place_of(node, node.left)
        if isinstance(node.operator, cst.Add | cst.Multiply):
            yield _in_place_of(node, node.right)


@_operator("a matrix transposed, or not")
def transpose(node: cst.CSTNode) -> Wrong:
    match node:
        case cst.BinaryOperation(operator=cst.MatrixMultiply()):
            yield node.with_changes(right=cst.Attribute(_enclosed(node.right), cst.Name("T")))
        case cst.Attribute(value=inner, attr=cst.Name(value="T" | "mT")):
            yield _in_place_of(node, inner)


# --- numbers, flags, conditions --------------------------------------------------------------


@_operator("an integer one too large or too small")
def off_by_one(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Integer):
        number = node.evaluated_value
        yield node.with_changes(value=str(number + 1))
        if number > 0:
            yield node.with_changes(value=str(number - 1))


@_operator("a number doubled")
def other_number(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Float):
        yield node.with_changes(value=repr(2 * node.evaluated_value or 1.0))


@_operator("True for False")
def other_flag(node: cst.CSTNode) -> Wrong:
    match node:
        case cst.Name(value="True"):
            yield node.with_changes(value="False")
        case cst.Name(value="False"):
            yield node.with_changes(value="True")


_OTHER_COMPARISONS: dict[type[cst.BaseCompOp], tuple[type[cst.BaseCompOp], ...]] = {
    cst.LessThan: (cst.LessThanEqual, cst.GreaterThan),
    cst.LessThanEqual: (cst.LessThan, cst.GreaterThan),
    cst.GreaterThan: (cst.GreaterThanEqual, cst.LessThan),
    cst.GreaterThanEqual: (cst.GreaterThan, cst.LessThan),
    cst.Equal: (cst.NotEqual,),
    cst.NotEqual: (cst.Equal,),
}


@_operator("the other direction, or strict for non-strict")
def wrong_comparison(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.ComparisonTarget):
        for other in _OTHER_COMPARISONS.get(type(node.operator), ()):
            yield node.with_changes(operator=other())


@_operator("the other branch")
def negate_condition(node: cst.CSTNode) -> Wrong:
    # No `while`: most of these would only use up the limit.
    if isinstance(node, cst.If | cst.IfExp):
        test = cst.UnaryOperation(cst.Not(), _enclosed(node.test))
        space = cst.SimpleWhitespace(" ")
        more = {"whitespace_before_test": space} if isinstance(node, cst.If) else {}
        yield node.with_changes(test=test, **more)


# --- axes and shapes -------------------------------------------------------------------------


@_operator("two neighbours in a tuple argument, such as a shape, swapped")
def swap_axes(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Arg):
        yield from _with_swapped(node)


@_operator("an axis mapped that should not be, or the reverse")
def other_axis(node: cst.CSTNode) -> Wrong:
    if not m.matches(node, m.Arg(keyword=m.Name("in_axes") | m.Name("out_axes"))):
        return
    assert isinstance(node, cst.Arg)
    value = node.value
    axes = value.elements if isinstance(value, cst.Tuple) else ()
    for axis in axes:
        if other := _other_axis(axis.value):
            yield node.with_changes(value=value.deep_replace(axis.value, other))
    if not axes and (other := _other_axis(value)):
        yield node.with_changes(value=other)


_OTHER_REDUCTIONS = {
    "mean": "sum", "sum": "mean", "max": "min", "min": "max", "maximum": "minimum",
    "minimum": "maximum", "argmax": "argmin", "argmin": "argmax", "any": "all", "all": "any",
    "std": "var", "var": "std", "prod": "sum", "cumsum": "cumprod", "pmean": "psum",
    "psum": "pmean", "pmax": "pmin", "pmin": "pmax", "logsumexp": "sum",
    "softmax": "log_softmax", "log_softmax": "softmax", "segment_sum": "segment_max",
}  # fmt: skip


@_operator("a sum for a mean, a maximum for a minimum")
def wrong_reduction(node: cst.CSTNode) -> Wrong:
    yield from _renamed(node, _OTHER_REDUCTIONS)


@_operator("a slice without one of its bounds")
def drop_bound(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Slice):
        if node.lower is not None:
            yield node.with_changes(lower=None)
        if node.upper is not None:
            yield node.with_changes(upper=None)


# --- calls -----------------------------------------------------------------------------------


_SYMMETRIC = (
    "maximum", "minimum", "max", "min", "logaddexp", "add", "multiply", "isclose", "allclose",
    "array_equal",
)  # fmt: skip


@_operator("two neighbouring arguments swapped")
def swap_arguments(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Call) and _last_name(node.func) not in _SYMMETRIC:
        for args in _swapped(node.args):
            yield node.with_changes(args=args)


@_operator("a forgotten keyword argument (argnums, axis, has_aux, in_axes)")
def drop_argument(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Call):
        for number, arg in enumerate(node.args):
            if arg.keyword is not None:
                args = [*node.args[:number], *node.args[number + 1 :]]
                if args:
                    args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                yield node.with_changes(args=args)


@_operator("a function not applied: an activation, a reduction")
def drop_call(node: cst.CSTNode) -> Wrong:
    match node:
        case cst.Call(args=[cst.Arg(keyword=None, star="", value=inner)]):
            yield _in_place_of(node, inner)
        case cst.Call(args=[], func=cst.Attribute(value=inner)):
            yield _in_place_of(node, inner)


_OTHER_UPDATES = {
    "set": "add", "add": "set", "multiply": "set", "divide": "multiply", "max": "min",
    "min": "max",
}  # fmt: skip


@_operator("another update of `.at[…]`")
def wrong_update(node: cst.CSTNode) -> Wrong:
    at = m.Subscript(value=m.Attribute(attr=m.Name("at")))
    if m.matches(node, m.Call(func=m.Attribute(value=at))):
        yield from _renamed(node, _OTHER_UPDATES)


# --- randomness ------------------------------------------------------------------------------


@_operator("a key reused where it should be split")
def reuse_key(node: cst.CSTNode) -> Wrong:
    if not isinstance(node, cst.Call) or not node.args:
        return
    match _last_name(node.func), node.args:
        case "split", [cst.Arg(value=key)]:
            pair = cst.Tuple([cst.Element(key), cst.Element(key)])
            yield _in_place_of(node, pair)
        case "split", [cst.Arg(value=key), cst.Arg(value=count)]:
            keys = cst.List([cst.Element(key)])
            yield _in_place_of(node, cst.BinaryOperation(keys, cst.Multiply(), _enclosed(count)))
        case "fold_in", [cst.Arg(value=key), _]:
            yield _in_place_of(node, key)


@_operator("a constant key for the one given")
def fixed_key(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Call) and _last_name(node.func) in ("split", "fold_in"):
        # Made without a name that the module may not have imported.
        fixed = cst.parse_expression('__import__("jax").random.key(0)')
        if node.args and isinstance(node.func, cst.Attribute):
            args = [node.args[0].with_changes(value=fixed), *node.args[1:]]
            yield node.with_changes(args=args)


_OTHER_DISTRIBUTIONS = {"normal": "uniform", "uniform": "normal"}


@_operator("another distribution")
def wrong_distribution(node: cst.CSTNode) -> Wrong:
    yield from _renamed(node, _OTHER_DISTRIBUTIONS)


# --- transformations and devices -------------------------------------------------------------


@_operator("devices that do not communicate")
def drop_collective(node: cst.CSTNode) -> Wrong:
    names = ("pmean", "psum", "pmax", "pmin", "all_gather", "ppermute", "psum_scatter")
    if isinstance(node, cst.Call) and _last_name(node.func) in names and len(node.args) > 1:
        yield _in_place_of(node, node.args[0].value)


@_operator("one device for all")
def vmap_for_pmap(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Attribute) and node.attr.value == "pmap":
        yield node.with_changes(attr=cst.Name("vmap"))


@_operator("eager for jit, or any other decorator removed")
def drop_decorator(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        for number in range(len(node.decorators)):
            rest = [*node.decorators[:number], *node.decorators[number + 1 :]]
            yield node.with_changes(decorators=rest)


# --- statements ------------------------------------------------------------------------------


@_operator("two neighbours in a returned tuple swapped")
def swap_results(node: cst.CSTNode) -> Wrong:
    if isinstance(node, cst.Return):
        yield from _with_swapped(node)


@_operator("a variable that keeps its old value")
def drop_update(node: cst.CSTNode) -> Wrong:
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return
    (statement,) = node.body
    update = isinstance(statement, cst.AugAssign)
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        # Anything else would leave a name without a value, and break.
        targets = _names(statement.targets[0].target)
        update = bool(targets) and targets <= _names(statement.value)
    if update:
        yield node.with_changes(body=[cst.Pass()])


# --- helpers ---------------------------------------------------------------------------------


def _with_operator(node: cst.CSTNode, others: dict[Any, Any]) -> Wrong:
    """Yield the node with another operator, and the same spaces around it."""
    if isinstance(node, cst.BinaryOperation | cst.AugAssign):
        old: Any = node.operator
        if other := others.get(type(old)):
            yield node.with_changes(operator=other(old.whitespace_before, old.whitespace_after))


def _in_place_of(node: cst.CSTNode, other: cst.BaseExpression) -> cst.BaseExpression:
    """Return `other` in brackets where it may bind less tightly than `node` did."""
    lpar, rpar = getattr(node, "lpar", ()), getattr(node, "rpar", ())
    if lpar:
        return other.with_changes(lpar=[*lpar, *other.lpar], rpar=[*other.rpar, *rpar])
    return _enclosed(other)


def _enclosed(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the node in brackets if it needs them as an operand."""
    loose = (
        cst.BinaryOperation | cst.UnaryOperation | cst.BooleanOperation | cst.Comparison
        | cst.IfExp | cst.Lambda | cst.Tuple | cst.NamedExpr | cst.Await | cst.Yield
    )  # fmt: skip
    if not isinstance(node, loose) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _last_name(function: cst.BaseExpression) -> str:
    match function:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            return name
    return ""


def _renamed(node: cst.CSTNode, others: dict[str, str]) -> Wrong:
    """Yield a call of another function of the same module, or of another method."""
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and (other := others.get(node.func.attr.value))
    ):
        yield node.with_changes(func=node.func.with_changes(attr=cst.Name(other)))


def _swapped(parts: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield elements or arguments with the values of two neighbours swapped."""
    for number, (a, b) in enumerate(pairwise(parts)):
        if not any(getattr(one, "keyword", None) or getattr(one, "star", "") for one in (a, b)):
            swapped = a.with_changes(value=b.value), b.with_changes(value=a.value)
            yield [*parts[:number], *swapped, *parts[number + 2 :]]


def _with_swapped(node: "cst.Arg | cst.Return") -> Wrong:
    """Yield the node with two neighbours in its tuple swapped, if it has one."""
    if isinstance(node.value, cst.Tuple):
        for elements in _swapped(node.value.elements):
            yield node.with_changes(value=node.value.with_changes(elements=elements))


def _other_axis(value: cst.BaseExpression) -> cst.BaseExpression | None:
    match value:
        case cst.Name(value="None"):
            return cst.Integer("0")
        case cst.Integer():
            return cst.Name("None")
    return None


def _names(node: cst.CSTNode) -> set[str]:
    """Return the plain names in a target or an expression."""
    return {name.value for name in m.findall(node, m.Name()) if isinstance(name, cst.Name)}
