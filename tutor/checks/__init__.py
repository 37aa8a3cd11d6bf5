"""The kinds of checks there are.

A kind is one file here (what to ask, how to judge) and one of the same name in `inside/` (what
to observe, beside the learner's code and beside PyTorch). A distribution may bring its own
through the entry point group `jaxtutor.checks` (`brought`): the name is the kind, the object its
class.
"""

from functools import cache

from tutor.check import Check
from tutor.checks.bounds import Bounds
from tutor.checks.brought import bring
from tutor.checks.compiles import Compiles
from tutor.checks.distribution import Distribution
from tutor.checks.grad import Grad
from tutor.checks.permutation import Permutation
from tutor.checks.prng import Prng
from tutor.checks.pure import Pure
from tutor.checks.same import Different, Same
from tutor.checks.shape import Shape
from tutor.checks.train import Train
from tutor.checks.train_step import TrainStep
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap

BUILT_IN: tuple[type[Check], ...] = (
    Value,
    Shape,
    Grad,
    Vmap,
    Distribution,
    Same,
    Different,
    Permutation,
    Bounds,
    Prng,
    Pure,
    Compiles,
    TrainStep,
    Train,
)


def kinds() -> dict[str, type[Check]]:
    """Every kind of check by name: ours, and those of installed distributions."""
    return _found()[0]


def unusable_kinds() -> dict[str, str]:
    """Why a kind that an installed distribution brings cannot be used, by name."""
    return _found()[1]


@cache
def _found() -> tuple[dict[str, type[Check]], dict[str, str]]:
    found: dict[str, type[Check]] = {kind.kind: kind for kind in BUILT_IN}
    return found, bring(found)
