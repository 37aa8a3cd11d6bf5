"""The losses of a training while it runs, for the learner to see."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from tutor.sandbox.adapters import Observed

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
    module[name] = shown = Observed(function, _shown(env.show_step))
    try:
        yield
    finally:
        if module.get(name) is shown:
            module[name] = function


def _shown(show: Callable[[int, float | None], None]) -> Callable[..., Callable[[Any], None]]:
    """Return what shows the loss of a call, from time to time."""
    thread, clock = threading.current_thread(), time.monotonic
    step, last = 0, -math.inf

    def leave(result: Any) -> None:
        nonlocal step, last
        number, step = step, step + 1
        now = clock()
        if now - last < EVERY_SECONDS or threading.current_thread() is not thread:
            return
        last = now
        with suppress(Exception):  # whatever the learner returns is for the checks to judge
            found, loss = _loss(result)
            if found:
                show(number, loss)

    return lambda arguments, keywords: leave


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
