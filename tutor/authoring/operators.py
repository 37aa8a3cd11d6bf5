"""Mutation operators: small ways in which JAX code goes wrong, as changes of its syntax tree.

Given a node, an operator yields wrong replacements; some may not change the program, or not even
run. LibCST preserves the rest of the source, so that a mutant can be shown as a diff.
"""

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst
from libcst import matchers as m

Wrong = Iterator[cst.CSTNode]


class Operator:
    """A way to go wrong. Reports and lessons use `name`; `summary` is for the documentation."""

    name: ClassVar[str]
    summary: ClassVar[str]

    def wrong(self, node: cst.CSTNode) -> Wrong:
        """Yield wrong replacements for `node`."""
        raise NotImplementedError


# --- arithmetic ------------------------------------------------------------------------------


class FlipSign(Operator):
    name = "flip-sign"
    summary = "plus for minus, or a forgotten minus"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        match node:
            case cst.BinaryOperation(operator=cst.Add() as old):
                yield node.with_changes(operator=cst.Subtract(*_spaces(old)))
            case cst.BinaryOperation(operator=cst.Subtract() as old):
                yield node.with_changes(operator=cst.Add(*_spaces(old)))
            case cst.AugAssign(operator=cst.AddAssign() as old):
                yield node.with_changes(operator=cst.SubtractAssign(*_spaces(old)))
            case cst.AugAssign(operator=cst.SubtractAssign() as old):
                yield node.with_changes(operator=cst.AddAssign(*_spaces(old)))
            case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
                yield _in_place_of(node, inner)


class OtherArithmetic(Operator):
    name = "other-arithmetic"
    summary = "multiplication for division, and the reverse"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        match node:
            case cst.BinaryOperation(operator=cst.Multiply() as old):
                yield node.with_changes(operator=cst.Divide(*_spaces(old)))
            case cst.BinaryOperation(operator=cst.Divide() as old):
                yield node.with_changes(operator=cst.Multiply(*_spaces(old)))
            case cst.BinaryOperation(operator=cst.FloorDivide() as old):
                yield node.with_changes(operator=cst.Multiply(*_spaces(old)))


class SwapOperands(Operator):
    name = "swap-operands"
    summary = "operands of a non-commutative operation swapped"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if m.matches(
            node,
            m.BinaryOperation(
                operator=m.Subtract()
                | m.Divide()
                | m.MatrixMultiply()
                | m.Power()
                | m.FloorDivide()
            ),
        ):
            assert isinstance(node, cst.BinaryOperation)
            yield node.with_changes(left=_enclosed(node.right), right=_enclosed(node.left))


class DropOperand(Operator):
    name = "drop-operand"
    summary = "a forgotten term or factor"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.Modulo):
            yield _in_place_of(node, node.left)
            if isinstance(node.operator, cst.Add | cst.Multiply):
                yield _in_place_of(node, node.right)


class Transpose(Operator):
    name = "transpose"
    summary = "a matrix transposed, or not"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        match node:
            case cst.BinaryOperation(operator=cst.MatrixMultiply()):
                yield node.with_changes(right=cst.Attribute(_enclosed(node.right), cst.Name("T")))
            case cst.Attribute(value=inner, attr=cst.Name(value="T" | "mT")):
                yield _in_place_of(node, inner)


# --- numbers, flags, conditions --------------------------------------------------------------


class OffByOne(Operator):
    name = "off-by-one"
    summary = "an integer one too large or too small"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Integer):
            number = node.evaluated_value
            yield node.with_changes(value=str(number + 1))
            if number > 0:
                yield node.with_changes(value=str(number - 1))


class OtherNumber(Operator):
    name = "other-number"
    summary = "a number doubled"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Float):
            yield node.with_changes(value=repr(2 * node.evaluated_value or 1.0))


class OtherFlag(Operator):
    name = "other-flag"
    summary = "True for False"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        match node:
            case cst.Name(value="True"):
                yield node.with_changes(value="False")
            case cst.Name(value="False"):
                yield node.with_changes(value="True")


class WrongComparison(Operator):
    name = "wrong-comparison"
    summary = "the other direction, or strict for non-strict"

    _others: ClassVar[dict[type[cst.BaseCompOp], tuple[type[cst.BaseCompOp], ...]]] = {
        cst.LessThan: (cst.LessThanEqual, cst.GreaterThan),
        cst.LessThanEqual: (cst.LessThan, cst.GreaterThan),
        cst.GreaterThan: (cst.GreaterThanEqual, cst.LessThan),
        cst.GreaterThanEqual: (cst.GreaterThan, cst.LessThan),
        cst.Equal: (cst.NotEqual,),
        cst.NotEqual: (cst.Equal,),
    }

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.ComparisonTarget):
            for other in self._others.get(type(node.operator), ()):
                yield node.with_changes(operator=other())


class NegateCondition(Operator):
    name = "negate-condition"
    summary = "the other branch"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        # No `while`: most of these would only use up the limit.
        if isinstance(node, cst.If | cst.IfExp):
            test = cst.UnaryOperation(cst.Not(), _enclosed(node.test))
            space = cst.SimpleWhitespace(" ")
            more = {"whitespace_before_test": space} if isinstance(node, cst.If) else {}
            yield node.with_changes(test=test, **more)


# --- axes and shapes -------------------------------------------------------------------------


class SwapAxes(Operator):
    name = "swap-axes"
    summary = "two neighbours in a tuple argument, such as a shape, swapped"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Arg):
            yield from _with_swapped(node)


class OtherAxis(Operator):
    name = "other-axis"
    summary = "an axis mapped that should not be, or the reverse"

    def wrong(self, node: cst.CSTNode) -> Wrong:
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


class WrongReduction(Operator):
    name = "wrong-reduction"
    summary = "a sum for a mean, a maximum for a minimum"

    _others: ClassVar[dict[str, str]] = {
        "mean": "sum", "sum": "mean", "max": "min", "min": "max", "maximum": "minimum",
        "minimum": "maximum", "argmax": "argmin", "argmin": "argmax", "any": "all", "all": "any",
        "std": "var", "var": "std", "prod": "sum", "cumsum": "cumprod", "pmean": "psum",
        "psum": "pmean", "pmax": "pmin", "pmin": "pmax", "logsumexp": "sum",
        "softmax": "log_softmax", "log_softmax": "softmax", "segment_sum": "segment_max",
    }  # fmt: skip

    def wrong(self, node: cst.CSTNode) -> Wrong:
        yield from _renamed(node, self._others)


class DropBound(Operator):
    name = "drop-bound"
    summary = "a slice without one of its bounds"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Slice):
            if node.lower is not None:
                yield node.with_changes(lower=None)
            if node.upper is not None:
                yield node.with_changes(upper=None)


# --- calls -----------------------------------------------------------------------------------


class SwapArguments(Operator):
    name = "swap-arguments"
    summary = "two neighbouring arguments swapped"

    _either_way = frozenset({"maximum", "minimum", "max", "min", "logaddexp", "add", "multiply",
                             "isclose", "allclose", "array_equal"})  # fmt: skip

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Call) and _last_name(node.func) not in self._either_way:
            for first, (a, b) in enumerate(zip(node.args, node.args[1:], strict=False)):
                if a.keyword or b.keyword or a.star or b.star:
                    continue
                args = list(node.args)
                args[first] = a.with_changes(value=b.value)
                args[first + 1] = b.with_changes(value=a.value)
                yield node.with_changes(args=args)


class DropArgument(Operator):
    name = "drop-argument"
    summary = "a forgotten keyword argument (argnums, axis, has_aux, in_axes)"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Call):
            for number, arg in enumerate(node.args):
                if arg.keyword is not None:
                    args = [*node.args[:number], *node.args[number + 1 :]]
                    if args:
                        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                    yield node.with_changes(args=args)


class DropCall(Operator):
    name = "drop-call"
    summary = "a function not applied: an activation, a reduction"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        match node:
            case cst.Call(args=[cst.Arg(keyword=None, star="", value=inner)]):
                yield _in_place_of(node, inner)
            case cst.Call(args=[], func=cst.Attribute(value=inner)):
                yield _in_place_of(node, inner)


class WrongUpdate(Operator):
    name = "wrong-update"
    summary = "another update of `.at[…]`"

    _others: ClassVar[dict[str, str]] = {
        "set": "add", "add": "set", "multiply": "set", "divide": "multiply", "max": "min",
        "min": "max",
    }  # fmt: skip

    def wrong(self, node: cst.CSTNode) -> Wrong:
        at = m.Subscript(value=m.Attribute(attr=m.Name("at")))
        if m.matches(node, m.Call(func=m.Attribute(value=at))):
            yield from _renamed(node, self._others)


# --- randomness ------------------------------------------------------------------------------


class ReuseKey(Operator):
    name = "reuse-key"
    summary = "a key reused where it should be split"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if not isinstance(node, cst.Call) or not node.args:
            return
        match _last_name(node.func), node.args:
            case "split", [cst.Arg(value=key)]:
                pair = cst.Tuple([cst.Element(key), cst.Element(key)])
                yield _in_place_of(node, pair)
            case "split", [cst.Arg(value=key), cst.Arg(value=count)]:
                keys = cst.List([cst.Element(key)])
                yield _in_place_of(
                    node, cst.BinaryOperation(keys, cst.Multiply(), _enclosed(count))
                )
            case "fold_in", [cst.Arg(value=key), _]:
                yield _in_place_of(node, key)


class FixedKey(Operator):
    name = "fixed-key"
    summary = "a constant key for the one given"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Call) and _last_name(node.func) in ("split", "fold_in"):
            # Made without a name that the module may not have imported.
            fixed = cst.parse_expression('__import__("jax").random.key(0)')
            if node.args and isinstance(node.func, cst.Attribute):
                args = [node.args[0].with_changes(value=fixed), *node.args[1:]]
                yield node.with_changes(args=args)


class WrongDistribution(Operator):
    name = "wrong-distribution"
    summary = "another distribution"

    _others: ClassVar[dict[str, str]] = {"normal": "uniform", "uniform": "normal"}

    def wrong(self, node: cst.CSTNode) -> Wrong:
        yield from _renamed(node, self._others)


# --- transformations and devices -------------------------------------------------------------


class DropCollective(Operator):
    name = "drop-collective"
    summary = "devices that do not communicate"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        names = ("pmean", "psum", "pmax", "pmin", "all_gather", "ppermute", "psum_scatter")
        if isinstance(node, cst.Call) and _last_name(node.func) in names and len(node.args) > 1:
            yield _in_place_of(node, node.args[0].value)


class VmapForPmap(Operator):
    name = "vmap-for-pmap"
    summary = "one device for all"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Attribute) and node.attr.value == "pmap":
            yield node.with_changes(attr=cst.Name("vmap"))


class DropDecorator(Operator):
    name = "drop-decorator"
    summary = "eager for jit, or any other decorator removed"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            for number in range(len(node.decorators)):
                rest = [*node.decorators[:number], *node.decorators[number + 1 :]]
                yield node.with_changes(decorators=rest)


# --- statements ------------------------------------------------------------------------------


class SwapResults(Operator):
    name = "swap-results"
    summary = "two neighbours in a returned tuple swapped"

    def wrong(self, node: cst.CSTNode) -> Wrong:
        if isinstance(node, cst.Return):
            yield from _with_swapped(node)


class DropUpdate(Operator):
    name = "drop-update"
    summary = "a variable that keeps its old value"

    def wrong(self, node: cst.CSTNode) -> Wrong:
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


OPERATORS: tuple[Operator, ...] = tuple(kind() for kind in Operator.__subclasses__())
"""All operators, in the order of this file."""


# --- helpers ---------------------------------------------------------------------------------


def _spaces(old: cst.CSTNode) -> tuple[cst.BaseParenthesizableWhitespace, ...]:
    """Return the spaces around an operator, for its replacement."""
    return (old.whitespace_before, old.whitespace_after)  # type: ignore[attr-defined]


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


def _swapped(elements: "tuple[cst.BaseElement, ...] | object") -> Iterator[list[cst.BaseElement]]:
    assert isinstance(elements, tuple | list)
    for first in range(len(elements) - 1):
        a, b = elements[first], elements[first + 1]
        changed = list(elements)
        changed[first] = a.with_changes(value=b.value)
        changed[first + 1] = b.with_changes(value=a.value)
        yield changed


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
