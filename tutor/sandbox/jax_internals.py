"""The private interfaces of JAX that jaxtutor uses, each with a fallback. Imported only in
sandboxes.

Nothing else may import from `jax._src`. A release that moves one of these must not break
anything: the fallback gives the same answers, but takes longer. `tests/sandbox/test_internals.py`
says which fallbacks the installed release needs.
"""

import functools
import logging
import re
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


_STEPS_OF_COMPILING = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
    "/jax/core/compile/backend_compile_duration",
)


def listen_to_compilations(listener: Callable[[float, str | None], None]) -> None:
    """Call `listener` after each step of compiling a program: with the seconds that the step took,
    and with the program's name after the last step.

    The names of JAX's events are not documented. Fallback for the names of programs:
    `logged_compilations`; without the events, no time counts as compiling.
    """

    def heard(event: str, duration_secs: float, **details: str | int) -> None:
        if event in _STEPS_OF_COMPILING:
            last = event == _STEPS_OF_COMPILING[-1]
            listener(duration_secs, _bare(str(details.get("fun_name", "?"))) if last else None)

    jax.monitoring.register_event_duration_secs_listener(heard)


@contextmanager
def logged_compilations(names: list[str]) -> Iterator[None]:
    """Add the names of the programs that JAX says in its log to have compiled in this block to
    `names`."""
    fallbacks.add("listen_to_compilations")

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            names.extend(map(_bare, _FINISHED.findall(record.getMessage())))

    reader, logger = Reader(), logging.getLogger("jax")
    shown, logger.propagate = logger.propagate, False
    logger.addHandler(reader)
    try:
        with jax.log_compiles():
            yield
    finally:
        logger.removeHandler(reader)
        logger.propagate = shown


_FINISHED = re.compile(r"Finished XLA compilation of (\S+)")


def _bare(name: str) -> str:
    return name.removeprefix("jit(").removesuffix(")")


RANDOM_PRIMITIVES = ("random_bits", "random_split", "random_fold_in", "random_gamma")


@functools.cache
def random_primitives() -> dict[str, Any] | None:
    """Return the primitives that consume keys, by name. Starts no backend.

    They are found by tracing, which needs no private module, but their names are not documented.
    Fallback: None, and keys are checked by JAX's own checker, which sees less.
    """

    def use_all() -> Any:
        key = jax.random.key(0)
        return (
            jax.random.bits(key),
            jax.random.split(key),
            jax.random.fold_in(key, 1),
            jax.random.gamma(key, 1.0),
        )

    primitives: dict[str, Any] = {}

    def walk(jaxpr: Any) -> None:
        for equation in jaxpr.eqns:
            primitives[equation.primitive.name] = equation.primitive
            for parameter in equation.params.values():
                inner = getattr(parameter, "jaxpr", parameter)
                if hasattr(inner, "eqns"):
                    walk(inner)

    traced: Any = jax.make_jaxpr(use_all)()
    walk(getattr(traced, "jaxpr", traced))
    found = {name: primitives.get(name) for name in RANDOM_PRIMITIVES}
    if all(hasattr(primitive, "impl") for primitive in found.values()):
        return found
    fallbacks.add("random_primitives")
    return None
