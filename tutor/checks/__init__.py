"""The kinds of checks.

A kind is one file here (what to compute, how to judge) and one of the same name in `inside/`, which
runs in the sandboxes with the learner's code and with PyTorch. Distributions add kinds through the
entry point group `jaxtutor.checks` (`entry_points`).
"""

from functools import cache

from tutor.check import Check
from tutor.checks.bounds import Bounds
from tutor.checks.compiles import Compiles
from tutor.checks.distribution import Distribution
from tutor.checks.entry_points import add_installed_kinds
from tutor.checks.grad import Grad
from tutor.checks.learns import Learns
from tutor.checks.permutation import Permutation
from tutor.checks.predict import Predict
from tutor.checks.prng import Prng
from tutor.checks.program import Program
from tutor.checks.pure import Pure
from tutor.checks.raises import Raises
from tutor.checks.same import Different, Same
from tutor.checks.shape import Shape
from tutor.checks.train import Train
from tutor.checks.train_step import TrainStep
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap

BUILT_IN: tuple[type[Check], ...] = (
    Value, Shape, Grad, Vmap, Distribution, Same, Different, Permutation, Bounds, Prng, Pure,
    Compiles, Program, Raises, TrainStep, Train, Learns, Predict,
)  # fmt: skip


def kinds() -> dict[str, type[Check]]:
    """Return every kind of check by name: ours and those of installed distributions."""
    return _all_kinds()[0]


def unusable_kinds() -> dict[str, str]:
    """Return why kinds of installed distributions cannot be used, by name."""
    return _all_kinds()[1]


@cache
def _all_kinds() -> tuple[dict[str, type[Check]], dict[str, str]]:
    by_name: dict[str, type[Check]] = {kind.kind: kind for kind in BUILT_IN}
    return by_name, add_installed_kinds(by_name)
