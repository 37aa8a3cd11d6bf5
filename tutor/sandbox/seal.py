"""Whether what observes a submission is still what it was before the submission was imported.

Our modules cannot be found by name, but objects that JAX and Python hold lead to them: hooks,
listeners, the recorder of keys. Code that finds a way can replace functions. What it computes is
judged all the same, and that it replaced something is reported.
"""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from tutor.sandbox import jax_internals, modules


def seal() -> Callable[[], bool]:
    """Return a function that returns whether our functions and classes, JAX's random primitives and
    the first import hook are the same as now."""
    held = [entry for module in modules.ours() for entry in _held_by(module)]
    codes = [(value, value.__code__) for _, _, value in held if isinstance(value, FunctionType)]
    primitives = [
        (primitive, primitive.impl)
        for primitive in (jax_internals.random_primitives() or {}).values()
    ]
    hooks, first = sys.meta_path, sys.meta_path[0]

    def unchanged() -> bool:
        return (
            all(space.get(name) is value for space, name, value in held)
            and all(function.__code__ is code for function, code in codes)
            and all(primitive.impl is impl for primitive, impl in primitives)
            and first in hooks
        )

    return unchanged


def _held_by(module: ModuleType) -> Iterator[tuple[Any, str, Any]]:
    """Yield the functions and classes of a module and of its classes: where, under which name."""
    for name, value in vars(module).items():
        if isinstance(value, FunctionType | type):
            yield vars(module), name, value
        if isinstance(value, type) and value.__module__ == module.__name__:
            for attribute, method in vars(value).items():
                if isinstance(method, FunctionType | property | classmethod | staticmethod):
                    yield vars(value), attribute, method
