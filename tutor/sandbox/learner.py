"""The learner's side: their module, with JAX. Imported in the sandbox only."""

import functools
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
from jax._src.interpreters import mlir

from tutor.sandbox.compilation_cache import ProgramCache
from tutor.sandbox.environment import Environment, foreign
from tutor.sandbox.helpers import instances, refill
from tutor.tree import Leaf, Tree

_COMPILE_EVENTS = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
    "/jax/core/compile/backend_compile_duration",
)


KEYS = "threefry2x32"
"""The implementation of the keys that are given as inputs, whatever the default is set to."""

PROBING = ("jax_disable_jit", "jax_check_tracer_leaks")
"""Settings that would falsify what is observed of tracing and compiling: without `jit` nothing is
compiled as a whole, and where leaks are looked for nothing is cached."""


class LearnerEnvironment(Environment):
    """The learner's module beside JAX."""

    module_name = "submission"

    def __init__(self) -> None:
        super().__init__(
            {"jax": jax, "jnp": jnp, "np": np, "refill": refill, "instances": instances}
        )
        self.compiles = CompileLog()
        self.programs = ProgramCache.install()
        share_mlir_context()
        sys.meta_path.insert(0, _NoTorch())
        self._context = jax.make_user_context(0)  # type: ignore[no-untyped-call]
        self._contexts = count(1)
        self._before = _Settings()

    def load(self, source: str, filename: str) -> None:
        self._before.restore()
        # Whatever priming has left is there to stay: the collector need not look at it any more.
        gc.freeze()
        super().load(source, filename)
        # Checks give one key to a function again and again. That theirs is used once, `prng` sees.
        self._before.keep("jax_debug_key_reuse")

    def give(self, programs: Tree) -> None:
        """Programs as `collect` returned them elsewhere."""
        assert isinstance(programs, dict)
        leaves = ((key, leaf) for key, leaf in programs.items() if isinstance(leaf, Leaf))
        self.programs.give({key: leaf.values.tobytes() for key, leaf in leaves})

    def collect(self) -> Tree:
        """The compiled programs that were needed so far. Nothing of the module loaded last is
        kept but these."""
        sys.modules.pop(self.module_name, None)
        self.module = types.ModuleType(self.module_name)
        gc.collect()
        return {
            key: Leaf(np.frombuffer(program, np.uint8), "array")
            for key, program in self.programs.worth_keeping().items()
        }

    @contextmanager
    def unremembered(self) -> Iterator[None]:
        """In here JAX has traced and compiled nothing yet; outside, everything it had."""
        # Whatever JAX remembers, it remembers for the contexts in which it was found.
        with self._context(next(self._contexts)):
            yield

    def forget_traces(self) -> None:
        """Have the module's compiled functions trace their Python again when they are called."""

        def forget(value: Any, depth: int) -> None:
            if callable(clear := getattr(value, "clear_cache", None)) and callable(value):
                with foreign("clear_cache"):
                    clear()
            elif depth and isinstance(value, dict):
                for child in value.values():
                    forget(child, depth - 1)
            elif depth and isinstance(value, list | tuple):
                for child in value:
                    forget(child, depth - 1)

        for value in list(self.module.__dict__.values()):
            forget(value, 2)

    @contextmanager
    def our_settings(self, *names: str) -> Iterator[None]:
        """In here JAX's settings are as they were before the module changed them.

        A learner may set `jax_enable_x64`, `jax_default_prng_impl` or `jax_debug_nans`, and their
        code then runs so. What we do next to it must neither break nor change by that.

        **Arguments:** `names`: only these settings.
        """
        with self._before.restored(names):
            yield

    def settle(self, value: Any) -> Any:
        return jax.block_until_ready(value)  # type: ignore[no-untyped-call]

    def fresh(self, tree: Tree) -> Any:
        with self.our_settings():
            return jax.block_until_ready(self._fresh(tree))  # type: ignore[no-untyped-call]

    def encode(self, value: Any, running: str = "the result") -> Tree:
        with self.our_settings():
            return super().encode(value, running)

    def _fresh(self, tree: Tree) -> Any:
        if isinstance(tree, Leaf):
            array = tree.values
            if tree.type == "key":
                return jax.random.wrap_key_data(_put(array), impl=KEYS)
            if tree.type in ("int", "float", "bool", "complex"):
                return array.item()
            return _put(array)
        if isinstance(tree, dict):
            return {key: self._fresh(child) for key, child in tree.items()}
        if isinstance(tree, list):
            return [self._fresh(child) for child in tree]
        if isinstance(tree, tuple):
            return tuple(self._fresh(child) for child in tree)
        return tree

    def inputs(self, inputs: Mapping[str, Tree]) -> dict[str, Any]:
        """Fresh JAX values for one round of inputs."""
        values: dict[str, Any] = self.fresh({**inputs})
        return values

    def _encode_leaf(self, value: Any, depth: int) -> Tree:
        if isinstance(value, jax.core.Tracer):
            # Reading it raises JAX's own explanation of a leaked tracer.
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


def _put(array: np.ndarray[Any, Any]) -> jax.Array:
    """A JAX array of the same values. Nothing is compiled for it, as `jnp.array` would. Copied
    twice on purpose: the second time into memory of JAX's own, which happens later."""
    put: jax.Array = jax.device_put(np.array(array), may_alias=False)
    return put


class _Settings:
    """What a module may change for the whole process, as it was."""

    def __init__(self) -> None:
        self._config = dict(jax.config.values)
        self._environ = dict(os.environ)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        self._errors = np.geterr()

    def _changed(self) -> dict[str, Any]:
        """Settings of JAX that are not as they were, with what they are now."""
        return {
            name: value
            for name, value in jax.config.values.items()
            if value is not self._config[name] and value != self._config[name]
        }

    @contextmanager
    def restored(self, names: Sequence[str]) -> Iterator[None]:
        """In here JAX's settings (or `names` of them) are as they were."""
        theirs = self._changed()
        theirs = {name: theirs[name] for name in names or theirs if name in theirs}
        _update({name: self._config[name] for name in theirs})
        try:
            yield
        finally:
            _update(theirs)

    def keep(self, name: str) -> None:
        """Put one setting of JAX back."""
        _update({name: self._config[name]})

    def restore(self) -> None:
        """Put everything back for good."""
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
    """What JAX compiled, and how long it took: advisory, for the learner can reach it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.programs: list[str] = []
        jax.monitoring.register_event_duration_secs_listener(self._heard)

    def _heard(self, event: str, duration_secs: float, **details: str | int) -> None:
        if event in _COMPILE_EVENTS:
            self.seconds += duration_secs
            if event == _COMPILE_EVENTS[-1]:
                name = str(details.get("fun_name", "?"))
                self.programs.append(name.removeprefix("jit(").removesuffix(")"))

    def during(self, action: Callable[[], Any]) -> list[str]:
        """Run `action`; return the names of the programs compiled meanwhile."""
        before = len(self.programs)
        action()
        return self.programs[before:]

    def stopwatch(self) -> Callable[[], tuple[float, float]]:
        """A function that tells the seconds since now: compiling, and the rest."""
        start, compiled = time.perf_counter(), self.seconds

        def read() -> tuple[float, float]:
            compiling = self.seconds - compiled
            return compiling, max(0.0, time.perf_counter() - start - compiling)

        return read


def share_mlir_context() -> None:
    """Have JAX lower everything in one MLIR context. It makes one for every program otherwise,
    which takes longer than what it then does in it for most; what it keeps there are types and
    attributes, each once. `tests/sandbox/test_programs.py` notices if JAX changes this."""
    mlir.make_ir_context = functools.cache(mlir.make_ir_context)


class _NoTorch(importlib.abc.MetaPathFinder):
    """PyTorch is what the learner translates from, not what they answer with."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        if fullname.partition(".")[0] == "torch":
            raise ModuleNotFoundError(
                f"{fullname} is not available here: the exercise is to write this in JAX",
                name=fullname,
            )


def versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"jax": jax.__version__, "jaxlib": version("jaxlib"), "numpy": np.__version__}


def devices() -> tuple[int, str]:
    """How many devices there are, and of which platform. Starts the backend."""
    local = jax.local_devices()
    return len(local), local[0].platform
