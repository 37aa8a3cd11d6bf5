"""Hidden inputs: what an author may write under `inputs:`, and drawing it.

Each input is one call, `normal(B, 3)`, or a mapping or list of them (a pytree). Arguments are
numbers, names from `sizes:` and arithmetic between those (`tutor.arithmetic`). There is nothing
else in this language and none of it is evaluated as Python.

Every input has its own random stream, fixed by (seed, lesson, case, round, name, path): adding
an input to a lesson changes no other one.
"""

import ast
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import Struct

from tutor import arithmetic
from tutor.arithmetic import ArithmeticFault, Number
from tutor.tree import Leaf, Tree

if TYPE_CHECKING:
    import numpy as np

Inputs: TypeAlias = "dict[str, Draws]"

MAX_ELEMENTS = 4_000_000
"""Of one drawn array: 16 MB of float32."""

MAX_TEXT = 300
"""Characters of one draw; this also bounds how deep its arithmetic nests."""


class DrawError(ArithmeticFault):
    """A draw that cannot be understood; `column` counts from 0 within its text."""


class Draw(Struct, frozen=True):
    """One parsed call, such as `uniform(B, 3, low=0, high=2)`."""

    text: str
    function: str
    arguments: tuple[ast.expr, ...]
    options: tuple[tuple[str, ast.expr | str], ...]

    def __repr__(self) -> str:
        # The rest follows from it, and nodes show where they are in memory: a lesson's `repr`, by
        # which things are remembered, must be the same in every process.
        return f"Draw({self.text!r})"

    @property
    def names(self) -> frozenset[str]:
        """The sizes it uses."""
        return frozenset(self.places)

    @property
    def places(self) -> dict[str, int]:
        """The sizes it uses, each with the column (from 0) at which it stands in `text`."""
        nodes = [*self.arguments, *(v for _, v in self.options if isinstance(v, ast.expr))]
        return {k: v for node in reversed(nodes) for k, v in arithmetic.names_of(node).items()}


Draws: TypeAlias = "Draw | dict[str, Draws] | tuple[Draws, ...]"


def parse(source: str) -> Draw:
    """Read one draw.

    Raises:
        DrawError: it is not a call of a known function with arguments of the forms above.
    """
    if len(source) > MAX_TEXT:
        raise DrawError(f"{len(source):,} characters; a draw has at most {MAX_TEXT}")
    try:
        return _parse(source.strip())
    except ArithmeticFault as error:
        lead = len(source) - len(source.lstrip())
        raise DrawError(str(error), lead + error.column) from None


def _parse(source: str) -> Draw:
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = max(getattr(error, "offset", None) or 1, 1) - 1
        raise DrawError("not a call such as normal(B, 3)", column) from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise DrawError(f"not a call of one of {known()}, such as normal(B, 3)")
    function = tree.func.id
    if function not in _DRAWS:
        raise DrawError(
            f"no draw is called {function!r}; there are {known()}", tree.func.col_offset
        )
    _, allowed = _DRAWS[function]
    options: list[tuple[str, ast.expr | str]] = []
    for keyword in tree.keywords:
        if keyword.arg is None or keyword.arg not in allowed:
            what = ", ".join(sorted(allowed)) or "none"
            raise DrawError(
                f"{function} has no option {keyword.arg or '**'!r}; it has: {what}",
                keyword.col_offset,
            )
        value = keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            options.append((keyword.arg, value.value))
        else:
            options.append((keyword.arg, arithmetic.checked(value)))
    draw = Draw(source, function, tuple(arithmetic.checked(a) for a in tree.args), tuple(options))
    _rehearse(draw)
    return draw


def known() -> str:
    return ", ".join(_DRAWS)


def names_in(draws: "Draws") -> frozenset[str]:
    """All sizes that a tree of draws uses."""
    if isinstance(draws, Draw):
        return draws.names
    children = draws.values() if isinstance(draws, dict) else draws
    return frozenset[str]().union(*(names_in(child) for child in children))


def drawn(draws: "Draws") -> Iterator[Draw]:
    """Every draw of a tree of them."""
    if isinstance(draws, Draw):
        yield draws
    else:
        for child in draws.values() if isinstance(draws, dict) else draws:
            yield from drawn(child)


def holds_key(draws: "Draws") -> bool:
    """Whether a PRNG key is among them: PyTorch has no use for those."""
    if isinstance(draws, Draw):
        return draws.function == "key"
    children = draws.values() if isinstance(draws, dict) else draws
    return any(holds_key(child) for child in children)


def draw_sizes(
    sizes: Mapping[str, "int | tuple[int, ...]"], seed: tuple[int, ...]
) -> dict[str, int]:
    """One number for each named size. Sizes with several candidates are drawn; case by case
    they also walk through their candidates, so that a few cases already see different ones.

    No size is 1 in the first case, where little would be told apart, if there are other candidates.
    Every other of those that may be 1 is so in the second case, and the rest in the third: what
    goes wrong with one axis of length 1 may go unnoticed if all are that short."""
    *base, case = seed
    chosen = {}
    turn = int(generator((*base, word("1"))).integers(2))
    for name, candidates in sizes.items():
        if isinstance(candidates, int):
            chosen[name] = candidates
            continue
        if 1 in candidates:
            start = candidates.index(1) - (1 + turn % 2 if len(candidates) > 2 else 1)
            turn += 1
        else:
            start = int(generator((*base, word(name))).integers(len(candidates)))
        chosen[name] = candidates[(start + case) % len(candidates)]
    return chosen


CORNERS = 3
"""A Python integer is its lowest value, its highest, and any other in turn, case by case."""


class Source(NamedTuple):
    """Where the values of a draw come from. `corner` walks from case to case, which may be the
    `first`."""

    random: "np.random.Generator"
    corner: int
    first: bool


def draw_tree(
    draws: "Draws",
    sizes: Mapping[str, int],
    seed: tuple[int, ...],
    corner: int = 0,
    *,
    first: bool = True,
) -> Tree:
    """Draw every leaf of a tree of draws.

    **Arguments:** `corner`: which bound a Python integer is at, modulo `CORNERS`; `first`: whether
    arrays of integers reach their bounds.

    Raises:
        DrawError: a size is missing, an array would be too large, or NumPy has no such draw.
    """
    if isinstance(draws, Draw):
        function, _ = _DRAWS[draws.function]
        try:
            arguments = [arithmetic.value(a, sizes) for a in draws.arguments]
            options = {
                k: v if isinstance(v, str) else arithmetic.value(v, sizes) for k, v in draws.options
            }
            return function(Source(generator(seed), corner % CORNERS, first), arguments, options)
        except DrawError:
            raise
        except ArithmeticFault as error:
            raise DrawError(str(error), error.column) from None
        except (ValueError, OverflowError, MemoryError) as error:
            raise DrawError(f"{draws.text}: {error}") from None
    if isinstance(draws, dict):
        return {
            k: draw_tree(v, sizes, (*seed, word(k)), corner, first=first) for k, v in draws.items()
        }
    return [draw_tree(v, sizes, (*seed, i), corner + i, first=first) for i, v in enumerate(draws)]


def word(text: str) -> int:
    """A stable number for a name (`hash` differs from process to process)."""
    return zlib.crc32(text.encode())


def generator(seed: tuple[int, ...]) -> "np.random.Generator":
    import numpy as np

    return np.random.default_rng(np.random.SeedSequence(list(seed)))


def _rehearse(draw: Draw) -> None:
    """Count the arguments now, so that a wrong call is an error of the file, not of a run."""
    least = _POSITIONAL.get(draw.function, 0)
    if len(draw.arguments) < least:
        raise DrawError(
            f"{draw.function} needs at least {least} arguments: {_USAGE[draw.function]}"
        )
    if draw.function in _EXACT and len(draw.arguments) != least:
        raise DrawError(f"{draw.function} takes {least} arguments: {_USAGE[draw.function]}")
    for name, value in draw.options:
        if name == "dtype" and value not in _DTYPES:
            raise DrawError(f"dtype must be one of {', '.join(map(repr, _DTYPES))}")
        if name != "dtype" and isinstance(value, str):
            raise DrawError(f"{name} must be a number")


# --- the draws -----------------------------------------------------------------------------

Options: TypeAlias = "dict[str, Number | str]"
DrawFunction: TypeAlias = "Callable[[Source, list[Number], Options], Tree]"

_DTYPES = ("float32", "float16", "bfloat16", "int32", "uint8", "bool", "complex64")


def _shape(arguments: list[Number]) -> tuple[int, ...]:
    shape = []
    total = 1
    for size in arguments:
        if not isinstance(size, int) or size < 0:
            raise DrawError(f"a dimension must be a whole number, not {size!r}")
        shape.append(size)
        total *= max(size, 1)  # NumPy refuses (0, 2**60) as well
    if total > MAX_ELEMENTS:
        raise DrawError(f"{total:,} elements; at most {MAX_ELEMENTS:,} may be drawn")
    return tuple(shape)


def _number(options: Options, name: str, default: float) -> float:
    value = options.get(name, default)
    assert not isinstance(value, str), "parse() refuses text here"
    return value


def _array(values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", options: Options) -> Leaf:
    import numpy as np

    name = str(options.get("dtype", "float32"))
    if name == "bfloat16":
        import ml_dtypes

        return Leaf(values.astype(ml_dtypes.bfloat16), "array")
    return Leaf(np.asarray(values).astype(name), "array")


def _normal(source: Source, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.normal(
        _number(options, "mean", 0), _number(options, "scale", 1), _shape(arguments)
    )
    return _array(values, options)


def _uniform(source: Source, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.uniform(
        _number(options, "low", 0), _number(options, "high", 1), _shape(arguments)
    )
    return _array(values, options)


def _integers(source: Source, arguments: list[Number], options: Options) -> Leaf:
    low, high, *shape = arguments
    least, most = int(low), max(int(high), int(low) + 1) - 1
    # Wrong answers live where a bound comes up, and where it does not.
    inner = 0 if source.first or most - least < 2 else 1
    values = source.random.integers(least + inner, most - inner, _shape(shape), endpoint=True)
    if values.size > 1 and not inner:
        values.flat[source.random.choice(values.size, 2, replace=False)] = least, most
    return _array(values, {"dtype": "int32", **options})


def _permutation(source: Source, arguments: list[Number], options: Options) -> Leaf:
    return _array(source.random.permutation(_shape(arguments)[0]), {"dtype": "int32", **options})


def _bernoulli(source: Source, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.random(_shape(arguments)) < _number(options, "p", 0.5)
    return _array(values, {"dtype": "bool", **options})


def _full(source: Source, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    value, *shape = arguments
    return _array(np.full(_shape(shape), value), options)


def _zeros(source: Source, arguments: list[Number], options: Options) -> Leaf:
    return _full(source, [0, *arguments], options)


def _ones(source: Source, arguments: list[Number], options: Options) -> Leaf:
    return _full(source, [1, *arguments], options)


def _arange(source: Source, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    return _array(np.arange(_shape(arguments)[0]), options)


def _key(source: Source, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    # Raw threefry key data; the sandbox wraps it into a typed key.
    return Leaf(source.random.integers(0, 2**32, 2, dtype=np.uint32), "key")


def _int(source: Source, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    low, high = int(arguments[0]), int(arguments[1])
    bounds = {0: low, 1: high}
    value = bounds.get(source.corner, source.random.integers(low, high, endpoint=True))
    return Leaf(np.asarray(value, np.int64), "int")


def _float(source: Source, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    low, high = arguments
    return Leaf(np.asarray(source.random.uniform(low, high)), "float")


def _digits(source: Source, arguments: list[Number], options: Options) -> Tree:
    from tutor.datasets import digits

    x, y = digits()
    shape = _shape(arguments)
    count = 1
    for size in shape:
        count *= size
    if count > len(x):
        raise DrawError(f"there are {len(x)} digits, not {count}")
    rows = source.random.permutation(len(x))[:count]
    return {
        "x": Leaf(x[rows].reshape(*shape, x.shape[1]), "array"),
        "y": Leaf(y[rows].reshape(shape), "array"),
    }


_USAGE = {
    "normal": "normal(*shape, mean=0, scale=1)",
    "uniform": "uniform(*shape, low=0, high=1)",
    "integers": "integers(low, high, *shape) with high left out",
    "permutation": "permutation(n)",
    "bernoulli": "bernoulli(*shape, p=0.5)",
    "zeros": "zeros(*shape)",
    "ones": "ones(*shape)",
    "full": "full(value, *shape)",
    "arange": "arange(n)",
    "key": "key(), a PRNG key",
    "int": "int(low, high), a Python int: low, high, and any between in turn",
    "float": "float(low, high), a Python float",
    "digits": "digits(*shape): {'x': (*shape, 64), 'y': (*shape,)}, real digits, aligned",
}
"""What there is, for messages and for the documentation."""

_POSITIONAL = {"integers": 2, "permutation": 1, "full": 1, "arange": 1, "int": 2, "float": 2,
               "digits": 1, "key": 0}  # fmt: skip
_EXACT = frozenset({"permutation", "arange", "int", "float", "key"})

_DRAWS: "dict[str, tuple[DrawFunction, frozenset[str]]]" = {
    "normal": (_normal, frozenset({"mean", "scale", "dtype"})),
    "uniform": (_uniform, frozenset({"low", "high", "dtype"})),
    "integers": (_integers, frozenset({"dtype"})),
    "permutation": (_permutation, frozenset({"dtype"})),
    "bernoulli": (_bernoulli, frozenset({"p", "dtype"})),
    "zeros": (_zeros, frozenset({"dtype"})),
    "ones": (_ones, frozenset({"dtype"})),
    "full": (_full, frozenset({"dtype"})),
    "arange": (_arange, frozenset({"dtype"})),
    "key": (_key, frozenset()),
    "int": (_int, frozenset()),
    "float": (_float, frozenset()),
    "digits": (_digits, frozenset()),
}

USAGE: Mapping[str, str] = _USAGE
