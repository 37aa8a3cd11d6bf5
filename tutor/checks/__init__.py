"""The kinds of checks there are.

A kind is one file here (what to ask, how to judge) and one of the same name in `inside/` (what
to observe, beside the learner's code and beside PyTorch). A distribution may bring its own
through the entry point group `jaxtutor.checks`: the name is the kind, the object its class.
"""

from functools import cache

from tutor.checks.compiles import Compiles
from tutor.checks.grad import Grad
from tutor.checks.prng import Prng
from tutor.checks.pure import Pure
from tutor.checks.shape import Shape
from tutor.checks.train import Train
from tutor.checks.train_step import TrainStep
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap
from tutor.lesson import Check

BUILT_IN: tuple[type[Check], ...] = (
    Value,
    Shape,
    Grad,
    Vmap,
    Prng,
    Pure,
    Compiles,
    TrainStep,
    Train,
)


@cache
def kinds() -> dict[str, type[Check]]:
    """Every kind of check by name: ours, and those of installed distributions."""
    found: dict[str, type[Check]] = {kind.kind: kind for kind in BUILT_IN}
    from importlib.metadata import entry_points

    for point in entry_points(group="jaxtutor.checks"):
        if point.name not in found:
            found[point.name] = point.load()
    return found
