"""Whether calls of the learner's functions write into their arguments.

A check's expression often makes an argument itself, such as the state of a training, so that
comparing the inputs before and after the call is not enough.
"""

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import jax
import numpy as np

from tutor.expressions import free_names
from tutor.sandbox.adapters import Observed
from tutor.sandbox.learner import LearnerEnvironment

MAX_DEPTH = 60
"""Containers in containers that are looked into."""


def watched_functions(
    env: LearnerEnvironment, expression: str, report: Callable[[str], None]
) -> dict[str, Any]:
    """Return the learner's functions that an expression names, as functions that also report which
    of their arguments they write into.

    What they call themselves is not watched: they may write into their own copies.
    """
    names = env.names({})
    named = {name: names.get(name) for name in free_names(expression) if name in vars(env.module)}
    return {
        name: _watched(name, function, report)
        for name, function in named.items()
        if function is vars(env.module)[name] and _is_function(function)
    }


def _is_function(value: Any) -> bool:
    """Return whether a value is a function, or made of one by `jax.jit` and the like."""
    if isinstance(value, type) or not callable(value):
        return False
    return isinstance(value, types.FunctionType | functools.partial) or hasattr(
        value, "__wrapped__"
    )


def _watched(name: str, function: Callable[..., Any], report: Callable[[str], None]) -> Observed:
    def enter(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Callable[[Any], None]:
        given: dict[Any, Any] = {**dict(enumerate(arguments)), **keywords}
        before = {which: _Snapshot(value) for which, value in given.items()}

        def leave(result: Any) -> None:
            for which, snapshot in before.items():
                if (path := snapshot.changed()) is not None:
                    where = path and f", at {path}"
                    argument = _parameter(function, which)
                    report(f"`{name}` writes into its argument `{argument}`{where}")

        return leave

    return Observed(function, enter)


class _Snapshot:
    """What a value held: entries of containers by identity, numbers of NumPy arrays as a copy."""

    def __init__(self, value: Any, depth: int = 0) -> None:
        self.value = value
        self._numbers = value.copy() if isinstance(value, np.ndarray) else None
        entries = _entries(value) if depth < MAX_DEPTH else {}
        self._entries = {key: _Snapshot(child, depth + 1) for key, child in entries.items()}

    def changed(self) -> str | None:
        """Return the path to what has changed, "" for the value itself; None if nothing has."""
        if self._numbers is not None:
            now = self.value
            same = now.shape == self._numbers.shape and now.tobytes() == self._numbers.tobytes()
            return None if same else ""
        if not self._entries and not isinstance(self.value, dict | list):
            return None
        now = _entries(self.value)
        if now.keys() != self._entries.keys():
            return ""
        for key, before in self._entries.items():
            path = None if now[key] is before.value else ""
            path = before.changed() if path is None else path
            if path is not None:
                return f"[{key!r}]{path}"
        return None


def _entries(value: Any) -> dict[Any, Any]:
    """Return what a container holds; nothing for anything else.

    Of classes, those are looked into that are dataclasses and pytrees. Modules of Flax are not:
    those of `nnx` are meant to be written into, and those of Linen write into themselves.
    """
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if _is_module(value) or not _is_pytree(value):
            return {}
        fields = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in fields if hasattr(value, name)}
    return {}


def _is_module(value: Any) -> bool:
    libraries = ("flax.nnx", "flax.linen")
    return any(base.__module__.startswith(libraries) for base in type(value).__mro__)


def _is_pytree(value: Any) -> bool:
    return jax.tree_util.default_registry.flatten_one_level(value) is not None


def _parameter(function: Callable[..., Any], which: int | str) -> str:
    """Return the name of a parameter, or its number from 1 if that is unknown."""
    if isinstance(which, str):
        return which
    with suppress(ValueError, TypeError):
        parameters = [*inspect.signature(function).parameters.values()]
        if (
            which < len(parameters)
            and parameters[which].kind is not inspect.Parameter.VAR_POSITIONAL
        ):
            return parameters[which].name
    return str(which + 1)
