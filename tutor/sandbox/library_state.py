"""What code leaves behind in the libraries of its process, beyond the module that is unloaded.

A sandbox that waits for the next run may have run the learner's code before. That must not change
what the next code does, so the sandbox is only used if the code replaced no function of a library,
registered no type of one as a pytree, and left no thread, file or hook. Evidence, as everything
that a sandbox says: code that hides its traces harms the next verdict of its own author.
"""

import builtins
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tutor.sandbox import jax_internals

LIBRARIES = ("jax", "jaxlib", "numpy", "flax", "optax", "tutor", "ml_dtypes", "functools", "math",
             "random", "dataclasses", "typing", "collections", "contextlib", "operator",
             "itertools", "abc", "os", "time", "warnings", "types", "inspect", "copy")  # fmt: skip
"""Packages whose functions and classes are compared."""

MAX_NAMED = 20
"""Changes that are named; one is enough to give the sandbox up."""


class LibraryState:
    """The state of the libraries at one moment."""

    def __init__(self) -> None:
        self._values = dict(_values())
        self._process = _process()
        self._registered = jax_internals.registered_types()
        self._modules = {*sys.modules}

    def changes(self) -> list[str]:
        """Return what differs now, in words for the log; empty if nothing does."""
        before, now = self._values, dict(_values())
        changed = [name for name, value in before.items() if now.get(name) is not value]
        # A module that was imported meanwhile is no change, but a name in one that was there is:
        # code that needs the name would pass here, and nowhere else. jaxlib adds its own.
        owners = {name.rpartition(".")[0] for name in before if not name.startswith("jaxlib.")}
        changed += [n for n in now.keys() - before.keys() if n.rpartition(".")[0] in owners]
        process = _process()
        changed += [name for name, value in self._process.items() if process[name] != value]
        registered = jax_internals.registered_types()
        if registered is None or self._registered is None:
            changed.append("the types registered with JAX are unknown")
        else:
            new = registered - self._registered
            # Those of modules that were not there before do not matter to code that has others.
            changed += [
                f"{t.__module__}.{t.__qualname__}" for t in new if t.__module__ in self._modules
            ]
        return changed[:MAX_NAMED]


def _values() -> Iterator[tuple[str, Any]]:
    """Yield every function, class and constant that the libraries hold, in modules and in their
    classes."""
    yield from _callables("builtins", vars(builtins))
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] not in LIBRARIES or not isinstance(module, ModuleType):
            continue
        for key, value in _callables(name, vars(module)):
            yield key, value
            if isinstance(value, type) and value.__module__ == name:
                yield from _callables(key, vars(value))


def _callables(owner: str, values: Any) -> Iterator[tuple[str, Any]]:
    for name, value in [*values.items()]:
        # Floats are constants, such as `jnp.pi`; integers also count things.
        kept = isinstance(value, float | complex | property | staticmethod | classmethod)
        if kept or (callable(value) and not isinstance(value, ModuleType)):
            yield f"{owner}.{name}", value


def _process() -> dict[str, object]:
    """Return what else code can leave behind in its process, by name."""
    return {
        "threads": threading.active_count(),
        "files": sorted(map(str, Path().iterdir())),
        "directory": str(Path.cwd()),
        "temporary files": sorted(map(str, Path(os.environ.get("TMPDIR", ".")).iterdir())),
        "sys.path": list(sys.path),
        "sys.meta_path": [id(finder) for finder in sys.meta_path],
        "sys.path_hooks": [id(hook) for hook in sys.path_hooks],
        "tracing": (sys.gettrace(), sys.getprofile(), threading.gettrace()),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook),
        "streams": (id(sys.stdout), id(sys.stderr), id(sys.stdin)),
        "print options": np.get_printoptions(),
        "logging": (logging.root.level, len(logging.root.handlers), logging.root.disabled),
        "recursion limit": sys.getrecursionlimit(),
        "switch interval": sys.getswitchinterval(),
        "garbage collector": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks)),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
    }
