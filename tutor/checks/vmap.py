"""`vmap`: a function written for one example can be batched."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr, Nan, Tolerance, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Leaf, Tree, TreeError, entry, items


class Vmap(Check, frozen=True, kw_only=True):
    """`jax.vmap(vmap, in_axes, out_axes)(*args)` equals one call of the function per example, and
    `expect` for the whole batch, if given."""

    kind: ClassVar[str] = "vmap"
    inside: ClassVar[str] = "tutor.checks.inside.vmap"
    default_cases: ClassVar[int] = 2

    vmap: Annotated[JaxExpr, Meta(description="A function of one example: a name, or a lambda.")]
    args: Annotated[tuple[JaxExpr, ...], Meta(min_length=1, description="Its arguments, batched.")]
    in_axes: Annotated[
        Any,
        Meta(
            description="As for jax.vmap: a number, or one entry per argument (null: not batched).",
            extra={"holds": "axes"},
        ),
    ] = 0
    out_axes: Annotated[int, Meta(description="As for jax.vmap.")] = 0
    expect: Annotated[TorchExpr | None, Meta(description="PyTorch expression for the batch.")] = (
        None
    )
    tol: Tolerance | None = None
    nan: Nan = False

    def observe(self) -> dict[str, Any]:
        return {
            "function": self.vmap,
            "args": self.args,
            "in_axes": self.in_axes,
            "out_axes": self.out_axes,
        }

    def refer(self) -> dict[str, Any] | None:
        return {"expression": self.expect} if self.expect else None

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        batched, one_by_one = entry(observed, "batched"), items(entry(observed, "one by one"))
        stacked = stack(one_by_one, self.out_axes)
        if mismatch := compare(stacked, batched, self.tol):
            return Finding(
                f"jax.vmap gives another result than one call per example: {words(mismatch)}",
                mismatch,
                compared=(stacked, batched),
            )
        if expected is not None and (mismatch := compare(expected, batched, self.tol)):
            return Finding(
                f"under jax.vmap: {words(mismatch)}", mismatch, compared=(expected, batched)
            )
        return None


def stack(trees: list[Tree], axis: int) -> Tree:
    """Stack trees of one structure, with a new axis in every leaf. Raises: TreeError: the trees
    differ in structure or shapes."""
    first = trees[0] if trees else None
    if isinstance(first, dict):
        return {key: stack([entry(tree, key) for tree in trees], axis) for key in first}
    if isinstance(first, list | tuple):
        return [stack([entry(tree, i) for tree in trees], axis) for i in range(len(first))]
    if not isinstance(first, Leaf):
        return first
    arrays = [tree.values for tree in trees if isinstance(tree, Leaf)]
    if len(arrays) != len(trees) or len({array.shape for array in arrays}) != 1:
        raise TreeError("the examples give results of different shapes")
    rank = arrays[0].ndim + 1
    try:
        stacked = np.stack(arrays, axis if axis >= 0 else axis + rank)
    except (TypeError, ValueError) as error:  # no common dtype, or no such axis
        raise TreeError(f"the examples' results cannot be stacked: {error}") from None
    return msgspec.structs.replace(first, array=stacked)
