"""The losses of a training are shown while it runs, and change nothing about its verdict."""

import pytest

from tests.engine.conftest import Written
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.report import CheckResult
from tutor.sandbox.process import Progress

TORCH = """
import torch

def step(w, x):
    loss = ((w * x) ** 2).mean()
    return w - 0.1 * 2 * w * (x ** 2).mean(), loss

def train(w, x):
    losses = []
    for _ in range(12):
        w, loss = step(w, x)
        losses.append(loss)
    return losses
"""
STARTER = "def step(w, x): ...\n\ndef train(w, x): ...\n"
HEAD = """
import time

import jax
import jax.numpy as jnp

def step(w, x):
    loss, grad = jax.value_and_grad(lambda w: ((w * x) ** 2).mean())(w)
    return w - 0.1 * grad, loss
"""
LOOP = """
def train(w, x):
    losses = []
    for _ in range(12):
        w, loss = step(w, x)
        losses.append(loss)
        time.sleep(0.05)
    return losses
"""


@pytest.fixture
def lesson(written: Written) -> Lesson:
    check = {"name": "training", "learns": "train(w, x)", "watch": "step"}
    inputs = {"w": "normal()", "x": "normal(5)"}
    return written(torch=TORCH, starter=STARTER, inputs=inputs, checks=[check])


def trained(lesson: Lesson, code: str, forks: Forks) -> tuple[CheckResult, list[Progress]]:
    seen: list[Progress] = []
    with Session(lesson, code, sandboxes=forks) as session:
        report = session.check(on_progress=seen.append)
    return report.checks[0], seen


def test_losses_arrive_while_the_training_runs(lesson: Lesson, forks: Forks):
    result, seen = trained(lesson, HEAD + LOOP, forks)
    assert result.status == "pass", result.text
    steps = [progress.step for progress in seen]
    assert steps[0] == 0 and 2 <= len(steps) < 12 and steps == sorted(set(steps))
    assert result.curves is not None
    shown = [progress.loss for progress in seen]
    assert shown == [pytest.approx(result.curves.losses[step]) for step in steps]


STYLES = {
    "scan": "def train(w, x):\n    return jax.lax.scan(lambda w, _: step(w, x), w, None, 12)[1]\n",
    "compiled outside": "compiled = jax.jit(step)\n" + LOOP.replace("= step(", "= compiled("),
    "compiled inside": LOOP.replace("losses = []", "losses, once = [], jax.jit(step)").replace(
        "= step(", "= once("
    ),
    "attributes": "step = jax.jit(step)\n"
    + LOOP.replace("losses = []", "losses, _ = [], (step.lower(w, x), step.__name__)"),
}


@pytest.mark.parametrize("style", STYLES)
def test_other_styles_pass_whether_they_can_be_watched_or_not(
    style: str, lesson: Lesson, forks: Forks
):
    result, _ = trained(lesson, HEAD + STYLES[style], forks)
    assert result.status == "pass", result.text


def test_a_loss_that_is_nan_is_shown_as_such(lesson: Lesson, forks: Forks):
    _, seen = trained(lesson, HEAD + LOOP.replace("step(w, x)", "step(w, x * jnp.nan)"), forks)
    assert seen and all(progress.loss is None for progress in seen)


FLOOD = """
import sys

def train(w, x):
    frame = sys._getframe()
    while "steps" not in frame.f_locals:
        frame = frame.f_back
    env = frame.f_locals["steps"].gi_frame.f_locals["env"]
    for number in range(COUNT):
        env.show_step(number, LOSS)
    return [1.0] * 12
"""


@pytest.mark.parametrize(("count", "loss"), [("20_000", "1.0"), ("1", '"a" * 600')])
def test_a_submission_that_floods_us_with_progress_fails(
    count: str, loss: str, lesson: Lesson, forks: Forks
):
    code = FLOOD.replace("COUNT", count).replace("LOSS", loss)
    result, seen = trained(lesson, HEAD + code, forks)
    assert result.status == "error"
    assert result.fault is not None and result.fault.code == "malformed"
    assert len(seen) <= 10_000
