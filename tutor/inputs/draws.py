"""Hidden inputs: parse what authors write under `inputs:`, and draw it.

Each input is one call, `normal(B, 3)`, or a mapping or list of them (a pytree). Arguments are
numbers, names from `sizes:` and arithmetic between those (`tutor.inputs.arithmetic`); some draws
begin with the name of another input (`tutor.inputs.order`). The language has nothing else, and none
of it is evaluated as Python.

Every input has its own random stream, fixed by (seed, lesson, case, round, name, path): adding
an input to a lesson changes no other one.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.inputs.datasets import DATASETS, Datasets
from tutor.inputs.derived import dtype_of
from tutor.inputs.drawing import DrawError, Stream
from tutor.inputs.functions import (
    CORNERS,
    FUNCTIONS,
    Function,
    examples_named,
    function_named,
    function_names,
)
from tutor.inputs.streams import generator, word
from tutor.syntax_tree import expression_tree
from tutor.tree import Leaf, Tree, leaves

Inputs: TypeAlias = "dict[str, Draws]"

MAX_TEXT = 300
"""Characters of one draw; this also bounds how deep its arithmetic nests."""


class Draw(Struct, frozen=True):
    """One parsed call, such as `uniform(B, 3, low=0, high=2)`.

    `input`: the name of the other input that it begins with, at `column` (from 0) of `text`; empty
    if it begins with none. `arguments` are those after it.
    """

    text: str
    function: str
    arguments: tuple[ast.expr, ...]
    options: tuple[tuple[str, ast.expr | str], ...]
    input: str = ""
    column: int = 0

    def __repr__(self) -> str:
        # A lesson's `repr` is a cache key, so it must be the same in every process. The `repr` of
        # an AST node shows its address.
        return f"Draw({self.text!r})"

    @property
    def calls(self) -> Function:
        """What it calls: any name but those of functions is that of a data set."""
        return FUNCTIONS.get(self.function) or examples_named(self.function)

    @property
    def names(self) -> frozenset[str]:
        """The sizes it uses."""
        return frozenset(self.columns)

    @property
    def columns(self) -> dict[str, int]:
        """The sizes it uses, each with its column (from 0) in `text`."""
        nodes = [*self.arguments, *(v for _, v in self.options if isinstance(v, ast.expr))]
        return {k: v for node in reversed(nodes) for k, v in arithmetic.names_of(node).items()}


Draws: TypeAlias = "Draw | dict[str, Draws] | tuple[Draws, ...]"


def parse(source: str, datasets: Collection[str] = DATASETS) -> Draw:
    """Parse one draw.

    **Arguments:** `datasets`: the names of data sets, which it may call.

    Raises:
        DrawError: it is not a call of a known function with arguments of the forms above.
    """
    if len(source) > MAX_TEXT:
        raise DrawError(f"{len(source):,} characters; a draw has at most {MAX_TEXT}")
    try:
        return _parse(source.strip(), datasets)
    except ArithmeticFault as error:
        lead = len(source) - len(source.lstrip())
        raise DrawError(str(error), lead + error.column) from None


def _parse(source: str, datasets: Collection[str]) -> Draw:
    try:
        tree = expression_tree(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = max(getattr(error, "offset", None) or 1, 1) - 1
        raise DrawError("not a call such as normal(B, 3)", column) from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise DrawError(f"not a call of one of {known(datasets)}, such as normal(B, 3)")
    name = tree.func.id
    function = function_named(name, datasets)
    if function is None:
        what = f"no draw is called {name!r}; there are {known(datasets)}"
        raise DrawError(what, tree.func.col_offset)
    options: list[tuple[str, ast.expr | str]] = []
    for keyword in tree.keywords:
        if keyword.arg is None or keyword.arg not in function.options:
            what = ", ".join(sorted(function.options)) or "none"
            raise DrawError(
                f"{name} has no option {keyword.arg or '**'!r}; it has: {what}", keyword.col_offset
            )
        value = keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            options.append((keyword.arg, value.value))
        else:
            options.append((keyword.arg, arithmetic.checked(value)))
    given, arguments = "", tree.args
    if function.takes is not None:
        given, *arguments = _input_first(name, tree)
    checked = tuple(arithmetic.checked(a) for a in arguments)
    column = tree.args[0].col_offset if given else 0
    draw = Draw(source, name, checked, tuple(options), given, column)
    _check_arguments(draw, function)
    return draw


def _input_first(name: str, call: ast.Call) -> tuple[str, *tuple[ast.expr, ...]]:
    """Return the name that a call begins with, and its other arguments."""
    match call.args:
        case [ast.Name(id=given), *others]:
            return given, *others
        case [first, *_]:
            column = first.col_offset
        case _:
            column = 0
    raise DrawError(f"{name} begins with the name of another input", column)


def known(datasets: Collection[str] = DATASETS) -> str:
    return ", ".join(function_names(datasets))


def names_in(draws: "Draws") -> frozenset[str]:
    """Return all sizes that a tree of draws uses."""
    if isinstance(draws, Draw):
        return draws.names
    children = draws.values() if isinstance(draws, dict) else draws
    return frozenset[str]().union(*(names_in(child) for child in children))


def drawn(draws: "Draws") -> Iterator[Draw]:
    """Yield every draw of a tree of draws."""
    if isinstance(draws, Draw):
        yield draws
    else:
        for child in draws.values() if isinstance(draws, dict) else draws:
            yield from drawn(child)


def holds_key(draws: "Draws") -> bool:
    """Return whether a draw is a PRNG key, for which PyTorch has no use."""
    if isinstance(draws, Draw):
        return draws.function == "key"
    children = draws.values() if isinstance(draws, dict) else draws
    return any(holds_key(child) for child in children)


def draw_tree(
    draws: "Draws",
    sizes: Mapping[str, int],
    seed: tuple[int, ...],
    corner: int = 0,
    *,
    first: bool = True,
    inputs: Mapping[str, Tree] | None = None,
    datasets: Datasets = DATASETS,
) -> Tree:
    """Draw every leaf of a tree of draws.

    **Arguments:** `corner`: which bound Python integers take, modulo `CORNERS`; `first`: whether
    arrays of integers reach their bounds; `inputs`: other inputs, already drawn; `datasets`: those
    that draws may call.

    Raises:
        DrawError: a size or input is missing, an array would be too large, or NumPy has no such
            draw.
    """
    if isinstance(draws, Draw):
        function = draws.calls
        try:
            arguments = [arithmetic.value(a, sizes) for a in draws.arguments]
            options = {
                k: v if isinstance(v, str) else arithmetic.value(v, sizes) for k, v in draws.options
            }
            given = _given(draws, function, inputs or {})
            stream = Stream(generator(seed), corner % CORNERS, first, given, datasets)
            return function.draw(stream, *arguments, **options)
        except DrawError:
            raise
        except ArithmeticFault as error:
            raise DrawError(str(error), error.column) from None
        except (ValueError, OverflowError, MemoryError) as error:
            raise DrawError(f"{draws.text}: {error}") from None

    def below(child: "Draws", number: int, shift: int = 0) -> Tree:
        return draw_tree(
            child, sizes, (*seed, number), corner + shift,
            first=first, inputs=inputs, datasets=datasets,
        )  # fmt: skip

    if isinstance(draws, dict):
        return {k: below(v, word(k)) for k, v in draws.items()}
    return [below(v, i, i) for i, v in enumerate(draws)]


def _given(draw: Draw, function: Function, inputs: Mapping[str, Tree]) -> Tree:
    """Return the input that a draw begins with, if any."""
    if function.takes is None:
        return None
    if draw.input not in inputs:
        raise DrawError(f"{draw.text}: no input is called {draw.input!r}", draw.column)
    given = inputs[draw.input]
    dtypes = [dtype_of(leaf) for _, leaf in leaves(given)]
    if fault := function.takes.fault_in(draw.input, dtypes, isinstance(given, Leaf)):
        raise DrawError(f"{draw.text}: {fault}", draw.column)
    return given


def _check_arguments(draw: Draw, function: Function) -> None:
    """Check the arguments now, so that a wrong call is an error of the file, not of a run."""
    if fault := function.wrong_count(len(draw.arguments) + bool(draw.input)):
        raise DrawError(fault)
    for name, value in draw.options:
        if name == "dtype" and value not in function.dtypes:
            raise DrawError(f"dtype must be one of {', '.join(map(repr, function.dtypes))}")
        if name != "dtype" and isinstance(value, str):
            raise DrawError(f"{name} must be a number")
