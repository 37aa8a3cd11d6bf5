"""Write the names that the editor completes into `tutor/ui/names.json`.

    .venv/bin/python docs/names.py

The app never imports the libraries, so it reads their public names, and how to call them, from
this table.
"""

import importlib
import inspect
import json
import re
import warnings
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

TABLE = Path(__file__).parents[1] / "tutor" / "ui" / "names.json"

LIBRARIES = ("jax", "flax", "optax", "numpy")
MODULES = (
    "jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.nn",
    "jax.nn.initializers", "jax.random", "jax.tree", "jax.tree_util", "jax.debug", "jax.sharding",
    "jax.scipy", "jax.scipy.linalg", "jax.scipy.special", "jax.scipy.stats", "jax.image",
    "jax.ops", "jax.profiler", "jax.experimental", "jax.experimental.checkify", "optax",
    "optax.losses", "optax.schedules", "optax.tree", "flax", "flax.linen", "flax.nnx",
    "flax.struct", "flax.traverse_util", "numpy", "numpy.linalg", "numpy.random",
)  # fmt: skip
ARRAY = "jax.Array"
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
WIDTH = 60
"""Characters of a signature; what is longer ends in an ellipsis."""


def names() -> dict[str, Any]:
    """Return versions, and for each module its names with their signatures (empty if they have
    none)."""
    modules = {name: _of(importlib.import_module(name)) for name in MODULES}
    array = importlib.import_module("jax").Array
    modules[ARRAY] = {
        name: _signature(getattr(array, name), bound=True)
        for name in sorted(dir(array))
        if not name.startswith("_")
    }
    return {"versions": {name: version(name) for name in LIBRARIES}, "modules": modules}


def _of(module: ModuleType) -> dict[str, str]:
    found = {}
    for name in sorted({*dir(module), *getattr(module, "__all__", ())}):
        if name.startswith("_"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                value = getattr(module, name)
            except (AttributeError, ImportError, Warning):
                continue  # deprecated or removed
        if _belongs(name, value, module):
            found[name] = "" if isinstance(value, ModuleType) else _signature(value)
    return found


def _belongs(name: str, value: object, module: ModuleType) -> bool:
    """Return whether users mean a name when they write it after the module's."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        return last == name and (parent == module.__name__ or value.__name__ in MODULES)
    if isinstance(value, TypeVar) or type(value).__name__ == "Primitive":
        return False
    return getattr(value, "__module__", None) not in ("typing", "collections.abc", "__future__")


def _signature(value: object, bound: bool = False) -> str:
    """Return how to call something, without annotations: `(x, axis=None, *, where=None)`."""
    if not callable(value) or (isinstance(value, type) and issubclass(value, Enum)):
        return ""
    try:
        signature = inspect.signature(value)
        variadic = all(one.kind in VARIADIC for one in signature.parameters.values())
        if isinstance(value, type) and variadic:  # its metaclass's
            signature, bound = inspect.signature(value.__init__), True
    except (TypeError, ValueError):
        return ""
    parameters = [
        one.replace(annotation=one.empty, default=_Shown(one.default))
        if one.default is not one.empty
        else one.replace(annotation=one.empty)
        for one in signature.parameters.values()
    ]
    if bound and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    return text if len(text) <= WIDTH else f"{text[: text.rindex(',', 0, WIDTH - 2)]}, …)"


class _Shown:
    """A default as somebody would write it."""

    def __init__(self, value: object) -> None:
        name = getattr(value, "__name__", "") if callable(value) else ""
        text = name or repr(value)
        self._text = text if re.fullmatch(r"[\w.'+-]{1,16}|\(\)|\[\]", text) else "…"

    def __repr__(self) -> str:
        return self._text


if __name__ == "__main__":
    made = names()
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made["modules"].items())
    text = f'{{"versions": {json.dumps(made["versions"])},\n"modules": {{\n{lines}\n}}}}\n'
    TABLE.write_text(text, encoding="utf-8")
