"""Functions between a submission and JAX's transformations, or the expressions of checks.

Their frames are on the submission's stack, so they are the same whatever is being checked.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


class Arrays:
    """Some leaves of a call's arguments, and the call as a function of these alone.

    **Arguments:** `values`: the arguments; `chosen`: whether a leaf is one of them.
    """

    def __init__(self, values: list[Any], chosen: Callable[[Any], bool]) -> None:
        self._leaves, self._structure = jax.tree.flatten(values)
        self._places = [i for i, leaf in enumerate(self._leaves) if chosen(leaf)]
        self.chosen = [self._leaves[i] for i in self._places]

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` of the arguments as a function of the chosen leaves."""

        def call(*given: Any) -> Any:
            return function(*self._arguments(given))

        return call

    def _arguments(self, given: tuple[Any, ...]) -> list[Any]:
        leaves = list(self._leaves)
        for place, leaf in zip(self._places, given, strict=True):
            leaves[place] = leaf
        arguments: list[Any] = jax.tree.unflatten(self._structure, leaves)
        return arguments


class Observed:
    """A submission's function, for all that can be seen of it.

    **Arguments:** `enter` gets the arguments of each call before it, and returns a function that
    gets the result.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        enter: Callable[[tuple[Any, ...], dict[str, Any]], Callable[[Any], None]],
    ) -> None:
        self.__wrapped__ = function  # where inspect.signature looks
        self._enter = enter

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        leave = self._enter(arguments, keywords)
        result = self.__wrapped__(*arguments, **keywords)
        leave(result)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


def summed(function: Callable[..., Any], chosen: Callable[[Any], bool]) -> Callable[..., Any]:
    """Return a function that adds up the chosen leaves of what `function` returns."""

    def call(*given: Any) -> Any:
        results = jax.tree.leaves(function(*given))
        start = jnp.zeros((), jnp.float32)  # not float64, which strict promotion refuses
        return sum((r.astype(jnp.float32).sum() for r in results if chosen(r)), start)

    return call
