"""Answers that differ little from PyTorch's are tried with other inputs: rounding does not fail a
right answer, and a mistake is still one."""

import numpy as np
import pytest

from tests.engine.conftest import RIGHT, Written
from tutor.engine import references
from tutor.engine.plan import plan, redrawn
from tutor.engine.second_draw import NOTE
from tutor.engine.session import run
from tutor.lesson import Lesson
from tutor.tree import Leaf

pytestmark = pytest.mark.usefixtures("forked")

OFF = """\
import jax.numpy as jnp

def double(x):
    return jnp.where(x[0, 0] > 0, 2 * x + {by}, 2 * x)
"""


def positive(lesson: Lesson, seed: int) -> tuple[bool, bool]:
    """Return whether the first number of the only case is positive, in the first draw and in the
    second."""
    ((check, (case,)),) = plan(lesson, seed)
    draws = (case, redrawn(lesson, check, case, seed))
    first, second = (leaf.values[0, 0] > 0 for one in draws
                     if isinstance(leaf := one.inputs["x"], Leaf))  # fmt: skip
    return bool(first), bool(second)


def seed_with(lesson: Lesson, signs: tuple[bool, bool]) -> int:
    return next(seed for seed in range(100) if positive(lesson, seed) == signs)


@pytest.fixture
def lesson(written: Written) -> Lesson:
    return written(checks=[{"value": "double(x)", "cases": 1}])


def test_a_small_difference_for_rare_inputs_does_not_fail_an_answer(lesson: Lesson):
    (check,) = run(lesson, OFF.format(by=1e-3), seed=seed_with(lesson, (True, False))).checks
    assert (check.status, check.notes) == ("pass", (NOTE,))


def test_a_small_difference_for_other_inputs_as_well_is_a_mistake(lesson: Lesson):
    (check,) = run(lesson, OFF.format(by=1e-3), seed=seed_with(lesson, (True, True))).checks
    assert check.status == "fail"
    assert check.mismatch is not None


def test_a_large_difference_is_a_mistake_whatever_other_inputs_give(lesson: Lesson):
    (check,) = run(lesson, OFF.format(by=1.0), seed=seed_with(lesson, (True, False))).checks
    assert check.status == "fail"


def test_a_right_answer_has_no_note(lesson: Lesson):
    (check,) = run(lesson, RIGHT, seed=seed_with(lesson, (True, False))).checks
    assert (check.status, check.notes) == ("pass", ())


def test_an_answer_that_raises_for_other_inputs_fails_as_it_did(lesson: Lesson):
    code = (
        "def double(x):\n    if x[0, 0] > 0:\n        return 2 * x + 1e-3\n    raise KeyError(1)\n"
    )
    (check,) = run(lesson, code, seed=seed_with(lesson, (True, False))).checks
    assert check.status == "fail"


def test_without_pytorch_a_small_difference_is_a_mistake(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    seed = seed_with(lesson, (True, False))
    code = OFF.format(by=2e-3)
    assert run(lesson, RIGHT, seed=seed).passed  # PyTorch's first answer is in the cache now
    monkeypatch.setattr(references, "torch_installed", lambda: False)
    monkeypatch.setattr(references.References, "_load", _only_first(references.References._load))
    (check,) = run(lesson, code, seed=seed).checks
    assert check.status == "fail"


def _only_first(load):  # type: ignore[no-untyped-def]
    """Return `load` for the first set of answers that is asked for; nothing is known of others."""
    asked: list[object] = []

    def first(self):  # type: ignore[no-untyped-def]
        asked.append(self)
        return load(self) if len(asked) == 1 else False

    return first


def test_other_inputs_have_the_same_sizes(written: Written):
    lesson = written(
        sizes={"n": [2, 5, 9], "m": [3, 1]},
        inputs={"x": "normal(n, m)", "rate": "float(0.1, 0.9)"},
        checks=[{"value": "double(x) * rate + n"}],
    )
    for check, cases in plan(lesson, 3):
        for case in cases:
            other = redrawn(lesson, check, case, 3)
            assert (other.index, other.sizes) == (case.index, case.sizes)
            x, y = case.inputs["x"], other.inputs["x"]
            assert isinstance(x, Leaf) and isinstance(y, Leaf)
            assert x.values.shape == y.values.shape
            assert not np.array_equal(x.values, y.values)
            assert str(case.inputs["n"]) == str(other.inputs["n"])
