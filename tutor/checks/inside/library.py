"""The public names of the libraries, with what each says of itself."""

import importlib
import warnings
from types import ModuleType
from typing import Any, TypeVar

from tutor.sandbox.library_help import about, signature
from tutor.tree import Tree

MODULES = (
    "jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.nn",
    "jax.nn.initializers", "jax.random", "jax.tree", "jax.tree_util", "jax.debug", "jax.sharding",
    "jax.scipy", "jax.scipy.linalg", "jax.scipy.special", "jax.scipy.stats", "jax.image",
    "jax.ops", "jax.profiler", "jax.experimental", "jax.experimental.checkify", "optax",
    "optax.losses", "optax.schedules", "optax.tree", "flax", "flax.linen", "flax.nnx",
    "flax.struct", "flax.traverse_util", "numpy", "numpy.linalg", "numpy.random",
)  # fmt: skip

ARRAY = "jax.Array"
"""The entry for what an array has."""


def observe(env: Any, args: dict[str, Any], input_sets: Any) -> Tree:
    """Return for each module its names, each with its signature and its first paragraph."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        modules: dict[Any, Tree] = {name: _names_in(name) for name in MODULES}
        array = importlib.import_module("jax").Array
        modules[ARRAY] = {
            name: [signature(getattr(array, name), bound=True), about(getattr(array, name))]
            for name in sorted(dir(array))
            if not name.startswith("_")
        }
    return modules


def _names_in(path: str) -> dict[Any, Tree]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(path)
    found: dict[Any, Tree] = {}
    for name in sorted({*dir(module), *getattr(module, "__all__", ())}):
        if name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError, Warning):
            continue  # deprecated or removed
        if _belongs(name, value, module):
            is_module = isinstance(value, ModuleType)
            found[name] = ["", ""] if is_module else [signature(value), about(value)]
    return found


def _belongs(name: str, value: object, module: ModuleType) -> bool:
    """Return whether users mean a name when they write it after the module's."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        return last == name and (parent == module.__name__ or value.__name__ in MODULES)
    if isinstance(value, TypeVar) or type(value).__name__ == "Primitive":
        return False
    return getattr(value, "__module__", None) not in ("typing", "collections.abc", "__future__")
