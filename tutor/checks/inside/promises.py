"""Find false promises about indices.

`x.at[i].add(v, unique_indices=True)` lets XLA skip the handling of repeated indices. If the
promise is false, the result is undefined: right on a CPU today, wrong on the next device. So this
checks the indices, not the values.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax import lax

from tutor.sandbox.calls import Steps, UserCodeError
from tutor.sandbox.learner import LearnerEnvironment

PROMISES = ("unique_indices", "indices_are_sorted")
"""Arguments to look for. Code without them is not run again."""


def broken_promises(
    env: LearnerEnvironment, expression: str, inputs: dict[str, Any]
) -> Steps[list[str]]:
    """Run an expression without `jit`, and describe its false promises."""
    if not any(word in env.source for word in PROMISES):
        return []
    messages: list[str] = []
    with _checking(messages.append, env), jax.disable_jit():
        try:
            yield env.evaluate(expression, inputs)
        except UserCodeError:
            pass  # it cannot run without jit: keep the messages so far
    return list(dict.fromkeys(messages))


@contextmanager
def _checking(report: Callable[[str], None], env: LearnerEnvironment) -> Iterator[None]:
    names = [
        name for name in dir(lax) if name.startswith(("scatter", "gather")) and name[-2:] == "_p"
    ]
    original = {name: getattr(lax, name).impl for name in names}

    def checked(name: str) -> Any:
        def impl(*operands: Any, **parameters: Any) -> Any:
            # (operand, indices, …) of a gather and of every scatter.
            for promise in _false_promises(operands[1], parameters):
                report(f"line {env.line_of_caller()}: {promise}")
            return original[name](*operands, **parameters)

        return impl

    try:
        for name in names:
            getattr(lax, name).impl = checked(name)
        yield
    finally:
        for name in names:
            getattr(lax, name).impl = original[name]


def _false_promises(indices: Any, parameters: dict[str, Any]) -> Iterator[str]:
    rows = np.asarray(indices)
    rows = rows.reshape(-1, rows.shape[-1]) if rows.ndim else rows.reshape(-1, 1)
    dimensions = parameters["dimension_numbers"]
    if getattr(dimensions, "operand_batching_dims", ()):
        return  # each batch has its own indices
    listed = rows[:, 0].tolist() if rows.shape[1] == 1 else rows.tolist()
    shown = f"{listed[:12]}{' …' if len(listed) > 12 else ''}"
    if parameters["unique_indices"] and len(np.unique(rows, axis=0)) < len(rows):
        yield f"`unique_indices=True` is promised for the indices {shown}, which repeat"
    if parameters["indices_are_sorted"] and sorted(rows.tolist()) != rows.tolist():
        yield f"`indices_are_sorted=True` is promised for the indices {shown}, which are not"
