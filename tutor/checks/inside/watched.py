"""The losses of a training while it runs, for the learner to see."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment

EVERY_SECONDS = 0.2
"""Not more often: reading a loss waits until it is computed."""

MAX_DEVICES = 64
"""Elements of a loss that has one for each device."""


@contextmanager
def watched(env: "LearnerEnvironment", name: str | None) -> Iterator[None]:
    """Show what calls of a function of the learner's return last, while this block runs.

    A training that calls it some other way than by its name in the module, or inside a traced
    function, is not shown.
    """
    module = env.module.__dict__
    function = module.get(name or "")
    if (
        name is None
        or not callable(function)
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    module[name] = _Watched(function, env.show_step)
    try:
        yield
    finally:
        if isinstance(module.get(name), _Watched):
            module[name] = function


class _Watched:
    """The learner's function, for all that they can see."""

    def __init__(
        self, function: Callable[..., Any], show: Callable[[int, float | None], None]
    ) -> None:
        self.__wrapped__ = function  # where inspect.signature looks
        self._show = show
        self._thread = threading.current_thread()
        self._clock = time.monotonic
        self._step = 0
        self._shown = -math.inf

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        result = self.__wrapped__(*arguments, **keywords)
        step, self._step = self._step, self._step + 1
        now = self._clock()
        if now - self._shown >= EVERY_SECONDS and threading.current_thread() is self._thread:
            self._shown = now
            try:
                found, loss = _loss(result)
            except Exception:  # noqa: BLE001 - whatever the learner returns is for the checks to judge
                return result
            if found:
                self._show(step, loss)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


def _loss(result: Any) -> tuple[bool, float | None]:
    """Return whether a result ends with a loss, and its mean over the devices; None if it is not
    finite."""
    import jax

    last = result[-1] if isinstance(result, list | tuple) and result else result
    if not isinstance(last, jax.Array | np.ndarray | np.generic | float):
        return False, None
    if isinstance(last, jax.core.Tracer) or np.size(last) > MAX_DEVICES or not np.size(last):
        return False, None
    loss = float(np.mean(np.asarray(last, dtype=np.float64)))
    return True, loss if math.isfinite(loss) else None
