"""The lesson's PyTorch module. Imported only in sandboxes."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional

from tutor.sandbox.calls import UserCodeError
from tutor.sandbox.environment import Environment
from tutor.tree import PYTHON_NUMBERS, Leaf, Tree, map_leaves


class ReferenceEnvironment(Environment):
    """The lesson's module, with PyTorch."""

    module_name = "reference"

    def __init__(self) -> None:
        super().__init__({"torch": torch, "F": functional, "np": np, "math": math})

    def fresh(self, tree: Tree) -> Any:
        return map_leaves(_value, tree)

    def _encode_leaf(self, value: Any, depth: int) -> Tree:
        if isinstance(value, torch.Tensor):
            tensor = value.detach().cpu()
            if tensor.dtype == torch.bfloat16:
                import ml_dtypes

                array = tensor.float().numpy().astype(ml_dtypes.bfloat16)
            else:
                array = tensor.numpy()
            return self.leaf(np.array(array), "torch.Tensor")
        return super()._encode_leaf(value, depth)


def _value(leaf: Leaf) -> Any:
    """Return a leaf of inputs as a value of PyTorch or Python."""
    array = leaf.values
    if leaf.type == "key":
        return None  # PyTorch has no PRNG keys; the loader refuses expressions with one
    if leaf.type in PYTHON_NUMBERS:
        return array.item()
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(np.array(array.astype(np.float32))).bfloat16()
    # PyTorch indexes with int64, JAX with int32.
    wide = array.astype(np.int64) if array.dtype == np.int32 else array
    return torch.from_numpy(np.array(wide))


def timed(action: Callable[[], Any], *, steady: bool = True) -> tuple[Any, float]:
    """Return the result, and the seconds that a second, warm run takes.

    **Arguments:** `steady`: whether both runs must give the same result.

    Raises:
        UserCodeError: the results differ, so the code cannot be a reference.
    """
    result = action()
    start = time.perf_counter()
    again = action()
    seconds = time.perf_counter() - start
    if steady and not _agree(result, again):
        text = (
            "a second call gives another result: the code draws random numbers, or keeps state "
            "between calls. Make random values inputs"
        )
        raise UserCodeError(ValueError(text), "a second call")
    return result, seconds


def _agree(one: Any, other: Any) -> bool:
    """Return whether two results agree, up to threads that sum in any order."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        if not (one.is_floating_point() or one.is_complex()):
            return bool((one == other).all())
        a, b = one.detach().to(torch.complex128), other.detach().to(torch.complex128)
        return bool(torch.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_agree(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-5) or one != one
    return True  # the judge compares anything else


def versions() -> dict[str, str]:
    """Return the versions of the reference's libraries."""
    return {"torch": torch.__version__.partition("+")[0], "numpy": np.__version__}
