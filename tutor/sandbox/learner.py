"""The learner's module with JAX. Imported only in sandboxes."""

import gc
import importlib.abc
import os
import random
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tutor.sandbox import jax_internals, modules
from tutor.sandbox.calls import Call, Steps
from tutor.sandbox.compilation_cache import ProgramCache
from tutor.sandbox.environment import Environment
from tutor.sandbox.helpers import instances, refill
from tutor.sandbox.key_recorder import KeyRecorder
from tutor.sandbox.reimport import holds_nothing
from tutor.sandbox.seal import seal
from tutor.tree import PYTHON_NUMBERS, Leaf, Tree, map_leaves

KEY_IMPLEMENTATION = "threefry2x32"
"""Implementation of keys that are inputs, whatever the learner sets as the default."""

TRACING_SETTINGS = ("jax_disable_jit", "jax_check_tracer_leaks")
"""Settings that change tracing and compiling: the first disables `jit`, the second caching."""


class LearnerEnvironment(Environment):
    """The learner's module, with JAX."""

    module_name = "submission"

    def __init__(self) -> None:
        super().__init__(
            {"jax": jax, "jnp": jnp, "np": np, "refill": refill, "instances": instances}
        )
        # Tracing makes many objects that live on. Looking for garbage as often as by default takes
        # a twentieth of it.
        gc.set_threshold(10_000)
        self.compiles = CompileLog()
        self.keys = KeyRecorder()
        self.trained: list[Any] = []
        """What the last training returned, until something is predicted with it."""
        self.programs = ProgramCache.install()
        jax_internals.share_mlir_context()
        sys.meta_path.insert(0, _NoTorch())
        self._context = jax_internals.cache_contexts()
        self._contexts = count(1)
        self._before = _Settings()
        self._lasting_harness = ""

    def load_harness(self, source: str, filename: str) -> Steps[None]:
        self._before.restore()
        if source == self._lasting_harness:
            return
        self._lasting_harness = ""
        yield from super().load_harness(source, filename)
        self._lasting_harness = source if holds_nothing(source) else ""

    def load(self, source: str, filename: str) -> Steps[None]:
        self._before.restore()
        modules.hide()
        # Objects left by priming stay alive: spare the collector.
        gc.freeze()
        yield from super().load(source, filename)
        # Checks pass one key to a function repeatedly. `prng` detects key reuse by the learner.
        self._before.restore_setting("jax_debug_key_reuse")

    def seal(self) -> Callable[[], bool]:
        return seal()

    def stopwatch(self) -> Callable[[], tuple[float, float]]:
        return self.compiles.stopwatch()

    def give(self, programs: Tree) -> None:
        """Accept programs that `collect` returned in another worker."""
        assert isinstance(programs, dict)
        leaves = ((key, leaf) for key, leaf in programs.items() if isinstance(leaf, Leaf))
        self.programs.give({key: leaf.values.tobytes() for key, leaf in leaves})

    def collect(self, *, unload: bool = True) -> Tree:
        """Return the compiled programs that were needed since the last time, and `unload` the
        module."""
        if unload:
            sys.modules.pop(self.module_name, None)
            self.module = types.ModuleType(self.module_name)
            gc.collect()
        return {
            key: Leaf(np.frombuffer(program, np.uint8), "array")
            for key, program in self.programs.take_needed().items()
        }

    @contextmanager
    def empty_caches(self) -> Iterator[None]:
        """Hide all traces and compiled programs from JAX in this block."""
        # JAX caches per context.
        with self._context(next(self._contexts)):
            yield

    def forget_traces(self) -> Steps[None]:
        """Make compiled functions of the module and the harness trace their Python again when
        called."""

        def forget(value: Any, depth: int) -> Steps[None]:
            children: list[Any] = []
            if callable(clear := getattr(value, "clear_cache", None)) and callable(value):
                yield Call("clear_cache", clear)
            elif depth and isinstance(value, dict):
                children = [*value.values()]
            elif depth and isinstance(value, list | tuple):
                children = [*value]
            for child in children:
                yield from forget(child, depth - 1)

        for value in [*self.module.__dict__.values(), *self._harness.values()]:
            yield from forget(value, 2)

    @contextmanager
    def our_settings(self, *names: str) -> Iterator[None]:
        """Undo the module's changes of JAX's settings in this block.

        A learner may set `jax_enable_x64`, `jax_default_prng_impl` or `jax_debug_nans` for their
        code, but that must not change ours.

        **Arguments:** `names`: only these settings, if any are given.
        """
        with self._before.restored(names):
            yield

    def settle(self, value: Any) -> Any:
        return jax.block_until_ready(value)  # type: ignore[no-untyped-call]

    def fresh(self, tree: Tree) -> Any:
        with self.our_settings():
            return jax.block_until_ready(map_leaves(_value, tree))  # type: ignore[no-untyped-call]

    def encoded(self, value: Any) -> Tree:
        with self.our_settings():
            return super().encoded(value)

    def _encode_leaf(self, value: Any, depth: int) -> Tree:
        if isinstance(value, jax.core.Tracer):
            # Raises JAX's explanation of a leaked tracer.
            np.asarray(value)
        if isinstance(value, jax.Array):
            if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
                return Leaf(np.asarray(jax.random.key_data(value)), "key")
            return self.leaf(value, "jax.Array")
        nnx = sys.modules.get("flax.nnx")
        if nnx is not None and isinstance(value, nnx.Variable):
            return self._encode(value[...], depth + 1)
        if isinstance(value, type(jnp.float32) | np.dtype):
            return str(np.dtype(value))
        node = jax.tree_util.default_registry.flatten_one_level(value)
        if node is not None:
            return [self._encode(child, depth + 1) for child in node[0]]
        return super()._encode_leaf(value, depth)


def _value(leaf: Leaf) -> Any:
    """Return a leaf of inputs as a value of JAX or Python."""
    if leaf.type == "key":
        return jax.random.wrap_key_data(_put(leaf.values), impl=KEY_IMPLEMENTATION)
    return leaf.values.item() if leaf.type in PYTHON_NUMBERS else _put(leaf.values)


def _put(array: np.ndarray[Any, Any]) -> jax.Array:
    """Return a JAX array without compiling anything, as `jnp.array` would. Copied twice on purpose:
    JAX makes its copy later."""
    copy: jax.Array = jax.device_put(np.array(array), may_alias=False)
    return copy


class _Settings:
    """The original state of what a module may change for the whole process."""

    def __init__(self) -> None:
        self._config = dict(jax.config.values)
        self._environ = dict(os.environ)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        self._errors = np.geterr()

    def _changed(self) -> dict[str, Any]:
        """Return the current values of JAX's settings that have changed."""
        return {
            name: value
            for name, value in jax.config.values.items()
            if value is not self._config[name] and value != self._config[name]
        }

    @contextmanager
    def restored(self, names: Sequence[str]) -> Iterator[None]:
        """Restore JAX's settings, or `names` of them, in this block."""
        changed = self._changed()
        changed = {name: changed[name] for name in names or changed if name in changed}
        _update({name: self._config[name] for name in changed})
        try:
            yield
        finally:
            _update(changed)

    def restore_setting(self, name: str) -> None:
        """Restore one setting of JAX."""
        _update({name: self._config[name]})

    def restore(self) -> None:
        """Restore everything."""
        _update({name: self._config[name] for name in self._changed()})
        os.environ.clear()
        os.environ.update(self._environ)
        self._warnings.__exit__(None, None, None)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        np.seterr(**self._errors)
        random.seed()
        np.random.seed()


def _update(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]


class CompileLog:
    """Programs that JAX compiled, and compile times. Only evidence: the learner can change it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.programs: list[str] = []
        jax_internals.listen_to_compilations(self._record)

    def _record(self, seconds: float, program: str | None) -> None:
        self.seconds += seconds
        if program is not None:
            self.programs.append(program)

    @contextmanager
    def programs_in(self, names: list[str]) -> Iterator[None]:
        """Add the names of the programs that are compiled in this block to `names`.

        Raises: RuntimeError if this release of JAX does not tell.
        """
        if not self.programs:
            _compile_something()
        if self.programs:
            before = len(self.programs)
            yield
            names += self.programs[before:]
            return
        heard: list[str] = []
        with jax_internals.logged_compilations(heard):
            _compile_something()
        if not heard:
            raise RuntimeError(f"JAX {jax.__version__} does not tell what it compiles")
        with jax_internals.logged_compilations(names):
            yield

    def hears(self) -> bool:
        """Return whether a program that is compiled now is counted."""
        names: list[str] = []
        with self.programs_in(names):
            _compile_something()
        return bool(names)

    def stopwatch(self) -> Callable[[], tuple[float, float]]:
        """Return a function that returns the seconds since this call: compiling, and the rest."""
        start, compiled = time.perf_counter(), self.seconds

        def read() -> tuple[float, float]:
            compiling = self.seconds - compiled
            return compiling, max(0.0, time.perf_counter() - start - compiling)

        return read


def _compile_something() -> None:
    jax.jit(lambda: jnp.zeros(()))()


class _NoTorch(importlib.abc.MetaPathFinder):
    """Refuse to import PyTorch: a lesson's answer must be JAX."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        if fullname.partition(".")[0] == "torch":
            raise ModuleNotFoundError(
                f"{fullname} is not available here: the exercise is to write this in JAX",
                name=fullname,
            )


def versions() -> dict[str, str]:
    """Return the versions of the learner's libraries."""
    from importlib.metadata import version

    return {"jax": jax.__version__, "jaxlib": version("jaxlib"), "numpy": np.__version__}


def devices() -> tuple[int, str]:
    """Return the number of devices and their platform. Starts the backend."""
    local = jax.local_devices()
    return len(local), local[0].platform
