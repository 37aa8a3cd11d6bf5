"""`shape`: an answer is made of `jax.Array`s of the right shape and dtype."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, field

from tutor.check import Case, Check, Finding, JaxExpr, TorchExpr
from tutor.checks.compare import shape_words
from tutor.foreign.plain_text import cut
from tutor.report import Mismatch, Side
from tutor.tree import ABSENT, Leaf, Tree, TreeError, brief, leaves, paired

_JAX_DTYPE = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
"""JAX's equivalents of PyTorch's dtypes while x64 is off."""

_WIDE = {narrow: wide for wide, narrow in _JAX_DTYPE.items()}
"""Dtypes of the same code under `jax_enable_x64`, without which no JAX array has them."""

DTYPES = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "key"),
    }
)
"""Names of dtypes; a PRNG key counts as one element of dtype `key`."""


class Shape(Check, frozen=True, kw_only=True):
    """Every array of the answer is a `jax.Array` with the shape and dtype in `is`, or those of the
    reference."""

    kind: ClassVar[str] = "shape"
    inside: ClassVar[str] = "tutor.checks.inside.value"

    shape: Annotated[JaxExpr, Meta(description="Expression to evaluate with the learner's code.")]
    is_: Annotated[
        Any,
        Meta(
            description="Such as `float32[B, 3]`, or a mapping or list of them. Without a dtype "
            "(`[B, 3]`), any passes.",
            extra={"holds": "spec"},
        ),
    ] = field(default=None, name="is")
    leaves: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Instead of `is`: the arrays of the answer in any order and structure, "
            "such as [`float32[12, 16]`, `float32[16]`].",
            extra={"holds": "spec"},
        ),
    ] = None
    expect: Annotated[
        TorchExpr | None, Meta(description="PyTorch expression with the right shape and dtype.")
    ] = None

    def refer(self) -> dict[str, Any] | None:
        if self.is_ is not None or self.leaves is not None:
            return None
        # Not steady: random numbers have a shape, too.
        return {"expression": self.expect or self.shape, "steady": False}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        if self.leaves is not None:
            return _judge_leaves(observed, self.leaves, case.sizes)
        if self.is_ is None:
            return _judge(observed, expected, {}, "")
        return _judge(observed, self.is_, case.sizes, "")


def _judge(observed: Tree, spec: Any, sizes: dict[str, int], path: str) -> Finding | None:
    """Walk the answer and the specification (or PyTorch's answer) together."""
    if spec is None:  # from PyTorch
        return None if observed is None else _structure(observed, spec, path)
    if not isinstance(spec, dict | list | tuple):
        return _judge_leaf(observed, spec, sizes, path)
    entries = paired(spec, observed)
    if entries is None or any(a is ABSENT or b is ABSENT for a, b in entries.values()):
        return _structure(observed, spec, path)
    judged = (
        _judge(child, below, sizes, f"{path}[{key!r}]") for key, (below, child) in entries.items()
    )
    return next(filter(None, judged), None)


def _judge_leaves(observed: Tree, specs: Sequence[str], sizes: dict[str, int]) -> Finding | None:
    """Match every array with one of the specifications."""
    arrays = list(leaves(observed))
    left = list(arrays)
    missing = []
    for spec in specs:
        match = next(
            (one for one in left if _judge_leaf(one[1], spec, sizes, one[0]) is None), None
        )
        if match is None:
            missing.append(_written(spec, sizes))
        else:
            left.remove(match)
    if not missing and not left:
        return None
    reason = "; ".join(
        f"{word} {', '.join(these[:6])}{' …' if len(these) > 6 else ''}"
        for word, these in (
            ("missing", missing),
            ("unexpected", [cut(f"{path} {brief(leaf)}".strip(), 200) for path, leaf in left]),
        )
        if these
    )
    return Finding(f"{len(arrays)} arrays, expected {len(specs)}: {reason}")


def _written(spec: str, sizes: dict[str, int]) -> str:
    dtype, dimensions = parse_spec(spec)
    return f"{dtype}{[sizes[d] if isinstance(d, str) else d for d in dimensions]}"


def _judge_leaf(observed: Tree, spec: Any, sizes: dict[str, int], path: str) -> Finding | None:
    if isinstance(spec, Leaf):
        dtype = _JAX_DTYPE.get(spec.values.dtype.name, spec.values.dtype.name)
        shape = spec.values.shape
    else:
        dtype, dimensions = parse_spec(spec)
        shape = tuple(sizes[d] if isinstance(d, str) else d for d in dimensions)
    where = f"{path}: " if path else ""
    expected = Side("jax.Array", tuple(shape), dtype)
    if not isinstance(observed, Leaf) or observed.type not in ("jax.Array", "key"):
        kind = observed.type if isinstance(observed, Leaf) else brief(observed)
        kind = cut(kind, 400)
        mismatch = Mismatch("type", path, expected, Side(kind))
        message = f"{where}found {kind}, expected a jax.Array"
        return Finding(message, mismatch, code="not-a-jax-array")
    array = observed.values
    if observed.type == "key":
        actual = Side("key", array.shape[:-1], "key")
    else:
        actual = Side("jax.Array", array.shape, array.dtype.name)
    if actual.shape != shape:
        mismatch = Mismatch("shape", path, expected, actual)
        return Finding(where + shape_words(actual.shape or (), shape), mismatch)
    if dtype and actual.dtype != dtype and actual.dtype != _WIDE.get(dtype):
        mismatch = Mismatch("dtype", path, expected, actual)
        return Finding(f"{where}dtype {actual.dtype}, expected {dtype}", mismatch)
    return None


def _structure(observed: Tree, spec: Any, path: str) -> Finding:
    if isinstance(spec, dict):
        expected = f"a dict with the keys {sorted(map(str, spec))}"
    elif spec is None:
        expected = "None"
    else:
        expected = f"{len(spec)} items"
    found = cut(brief(observed), 400)
    where = f"{path}: " if path else ""
    mismatch = Mismatch("structure", path, Side(expected), Side(found))
    return Finding(f"{where}found {found}, expected {expected}", mismatch)


def parse_spec(text: str) -> tuple[str, tuple[int | str, ...]]:
    """Parse `float32[B, 3]` as `("float32", ("B", 3))`; a missing dtype is "". Raises: TreeError:
    the text does not have that form."""
    dtype, bracket, rest = text.strip().partition("[")
    if not bracket or not rest.endswith("]"):
        raise TreeError(f"expected something like float32[B, 3], got {text!r}")
    dimensions: list[int | str] = []
    for part in filter(None, (p.strip() for p in rest[:-1].split(","))):
        if part.isascii() and part.isdigit() and len(part) < 10:
            dimensions.append(int(part))
        elif part.isidentifier():
            dimensions.append(part)
        else:
            raise TreeError(f"{part!r} is neither a number nor a size")
    return dtype.strip(), tuple(dimensions)
