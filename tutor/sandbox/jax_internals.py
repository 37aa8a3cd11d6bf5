"""The private interfaces of JAX that jaxtutor uses, each with a fallback. Imported only in
sandboxes.

Nothing else may import from `jax._src`. A release that moves one of these must not break
anything: the fallback gives the same answers, but takes longer. `tests/sandbox/test_internals.py`
says which fallbacks the installed release needs.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import jax


class Cache(Protocol):
    """What JAX asks of a compilation cache."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, value: bytes) -> None: ...


fallbacks: set[str] = set()
"""The fallbacks in use: names of the functions below, added when they are called."""


def use_cache(cache: Cache, name: str) -> bool:
    """Make JAX look compiled programs up in `cache`, and save them there.

    JAX has no public interface for a custom cache, so this sets what `set_cache_dir` would set.
    Fallback: compile every program.

    **Arguments:** `name`: shown by JAX as the cache's path.
    """
    try:
        from jax._src import compilation_cache

        compilation_cache._cache  # noqa: B018 - raises if it has gone
        compilation_cache._cache_initialized  # noqa: B018
    except (ImportError, AttributeError):
        fallbacks.add("use_cache")
        return False
    jax.config.update("jax_compilation_cache_dir", name)  # type: ignore[no-untyped-call]
    compilation_cache._cache = cache  # type: ignore[assignment]
    compilation_cache._cache_initialized = True
    return True


def cache_class() -> type:
    """Return the class that JAX expects a cache to have. Fallback: any class."""
    try:
        from jax._src.compilation_cache_interface import CacheInterface
    except ImportError:
        fallbacks.add("cache_class")
        return object
    return CacheInterface


def share_mlir_context() -> None:
    """Make JAX lower all programs in one MLIR context. By default it creates one per program, which
    takes longer than lowering most of them. A context only interns types and attributes. Fallback:
    one context per program."""
    try:
        from jax._src.interpreters import mlir

        make = mlir.make_ir_context
    except (ImportError, AttributeError):
        fallbacks.add("share_mlir_context")
        return
    mlir.make_ir_context = functools.cache(make)


def cache_contexts() -> Callable[[int], AbstractContextManager[Any]]:
    """Return a function from a number to a context manager in which JAX finds only the traces and
    programs that it made under the same number. Fallback: forget everything at the beginning and
    at the end."""
    make = getattr(jax, "make_user_context", None)
    if make is None:
        fallbacks.add("cache_contexts")
        return _without_caches
    contexts: Callable[[int], AbstractContextManager[Any]] = make(0)
    return contexts


@contextmanager
def _without_caches(number: int) -> Iterator[None]:
    jax.clear_caches()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        jax.clear_caches()  # type: ignore[no-untyped-call]
