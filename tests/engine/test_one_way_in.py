"""A submission cannot tell what is being checked: not from its callers, nor from our modules.

What it tells apart anyway (that it is traced, that `jit` is off, the number of the call) gains it
nothing: the call that is looked at must give what it should.
"""

from typing import Any

import pytest

from tests.engine.conftest import Written
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.report import Report

TORCH = """
import torch

def double(x):
    return 2 * x

def train(w, x):
    losses = []
    for _ in range(3):
        losses.append(((w * x) ** 2).mean())
        w = w - 0.2 * w * (x ** 2).mean()
    return losses
"""
STARTER = "def double(x): ...\n\ndef noise(key): ...\n\ndef train(w, x): ...\n"
HARNESS = """
def applied(function, x):
    return function(x)
"""
CHECKS: list[dict[str, Any]] = [
    {"value": "double(x)"},
    {"name": "through the harness", "value": "applied(double, x)", "expect": "double(x)"},
    {"shape": "double(x)", "is": "float32[3, 4]"},
    {"same": ["double(x)", "2 * x"]},
    {"prng": "noise(key)"},
    {"distribution": "noise(key)", "is": "normal(0, 1)"},
    {"pure": "double(x)", "jit": False},
    {"compiles": "double(x)", "at_most": 3},
]
INPUTS = {"x": "normal(3, 4)", "key": "key()", "w": "normal()"}

SEES = """
import sys

import jax
import jax.numpy as jnp

def callers():
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        yield f"{'/'.join(code.co_filename.split('/')[-2:])}:{code.co_name}"
        frame = frame.f_back

def say(name):
    print(name, *callers())

def double(x):
    say("double")
    return 2 * x

def noise(key):
    say("noise")
    return jax.random.normal(key, (400,))

def train(w, x):
    say("train")
    losses = []
    for _ in range(3):
        losses.append(((w * x) ** 2).mean())
        w = w - 0.2 * w * (x ** 2).mean()
    return losses

print("modules", *(name for name in sys.modules if name.partition(".")[0] == "tutor"))
"""


def checked(lesson: Lesson, code: str, forks: Forks) -> Report:
    with Session(lesson, code, sandboxes=forks) as session:
        return session.check()


@pytest.fixture
def every_kind(written: Written) -> Lesson:
    checks = [*CHECKS, {"learns": "train(w, x)"}]
    fields = {"torch": TORCH, "starter": STARTER, "jax_harness": HARNESS, "inputs": INPUTS}
    return written(checks=checks, **fields)


def test_the_callers_are_the_same_whatever_is_checked(every_kind: Lesson, forks: Forks):
    report = checked(every_kind, SEES, forks)
    assert report.passed, report
    modules, *lines = report.stdout.splitlines()
    assert modules == "modules", "a submission finds our modules"
    stacks: dict[str, set[str]] = {}
    for line in lines:
        name, _, _, *callers = line.split()  # without the function's own and that of `say`
        stacks.setdefault(name, set()).add(" ".join(callers))
    (direct,) = stacks["noise"] | stacks["train"]
    assert direct.startswith("<check>:<module> sandbox/calls.py:perform sandbox/calls.py:drive ")
    # Through the harness, and once more where `pure` looks at arguments: with the same values.
    through = ("<jax_harness>:<check>", "sandbox/adapters.py:__call__")
    assert stacks["double"] == {direct, *(f"{caller} {direct}" for caller in through)}
    assert "checks/" not in direct


OTHERWISE = """
import jax
import jax.numpy as jnp

calls = []

def double(x):
    calls.append(None)
    if {trick}:
        return {forged}
    return jnp.stack([2 * row for row in x])

def noise(key):
    if jax.config.jax_disable_jit:
        return jax.random.normal(key, (400,))
    return jnp.tile(jax.random.normal(key, (200,)), 2)
"""
"""Loops over its rows, except where it is looked at."""


@pytest.mark.parametrize(
    ("check", "trick", "forged"),
    [
        (
            {"program": "double(x)", "contains": ["scan"]},
            "isinstance(x, jax.core.Tracer)",
            "jax.lax.scan(lambda c, row: (c, row), 0, x)[1]",
        ),
        (
            {"program": "double(x)", "lacks": ["concatenate"]},
            "isinstance(x, jax.core.Tracer)",
            "x",
        ),
        ({"compiles": "double(x)", "at_most": 1}, "len(calls) > 1", "x"),
        ({"pure": "double(x)"}, "isinstance(x, jax.core.Tracer)", "x"),
    ],
)
def test_a_call_that_is_looked_at_must_give_what_it_should(
    check: dict[str, Any], trick: str, forged: str, written: Written, forks: Forks
):
    lesson = written(
        inputs=INPUTS, checks=[{"value": "double(x)", "cases": 1}, {"name": "how", **check}]
    )
    report = checked(lesson, OTHERWISE.format(trick=trick, forged=forged), forks)
    assert [result.status for result in report.checks] == ["pass", "fail"], report
    assert "gives something else" in report.checks[1].message or check.keys() & {"pure"}


@pytest.mark.parametrize(("lacks", "kinds"), [("sin", []), ("cos", ["evidence"])])
def test_only_a_pass_can_hide(lacks: str, kinds: list[str], written: Written, forks: Forks):
    """A program that is too long to be compiled as a whole, such as a loop that is unrolled."""
    code = "import jax.numpy as jnp\n\ndef double(x):\n    y = x\n"
    code += "    for _ in range(600):\n        y = jnp.sin(y)\n    return 2 * x + 0 * y\n"
    lesson = written(checks=[{"value": "double(x)"}, {"program": "double(x)", "lacks": [lacks]}])
    report = checked(lesson, code, forks)
    assert report.passed is bool(kinds)
    assert [look.kind for look in report.looks] == kinds


def test_survival_is_of_the_function_that_is_called(written: Written, forks: Forks):
    lesson = written(survives=["jit"])
    assert checked(lesson, "def double(x):\n    return 2 * x\n", forks).passed
    code = OTHERWISE.format(trick="isinstance(x, jax.core.Tracer)", forged="x")
    report = checked(lesson, code, forks)
    assert [result.status for result in report.checks] == ["pass", "fail"], report
    assert "when it is compiled" in report.checks[1].message


def test_keys_are_followed_in_a_call_that_gives_the_same(written: Written, forks: Forks):
    starter = "def noise(key): ...\n"
    lesson = written(starter=starter, inputs=INPUTS, checks=[{"prng": "noise(key)"}])
    report = checked(lesson, OTHERWISE.format(trick="False", forged="x"), forks)
    assert report.verdict == "fail"
    assert "when it is run without jit" in report.checks[0].message


def test_keys_that_cannot_be_followed_are_reported(written: Written, forks: Forks):
    starter = "def noise(key): ...\n"
    lesson = written(starter=starter, inputs=INPUTS, checks=[{"prng": "noise(key)"}])
    code = """
import jax

def noise(key):
    if jax.config.jax_disable_jit:
        raise ValueError
    return jax.random.normal(key, (400,))
"""
    report = checked(lesson, code, forks)
    assert report.passed and [look.kind for look in report.looks] == ["evidence"]


def test_following_keys_leaves_jit_on(written: Written, forks: Forks):
    starter = "def double(x): ...\n\ndef noise(key): ...\n"
    checks = [{"prng": "noise(key)"}, {"value": "double(x)"}]
    lesson = written(starter=starter, inputs=INPUTS, checks=checks)
    code = """
import jax

def noise(key):
    return jax.random.normal(key, (400,))

def double(x):
    assert not jax.config.jax_disable_jit
    return 2 * x
"""
    report = checked(lesson, code, forks)
    assert report.passed, report


READS = """
import gc

def size(array):
    try:
        return array.shape
    except Exception:
        return None

def train(x, y):
    arrays = [one for one in gc.get_objects() if type(one).__name__ in ("ndarray", "Leaf")]
    shapes = {getattr(getattr(one, "array", one), "shape", None) for one in arrays}
    if (30, 2) in shapes:
        raise RuntimeError("the held-out examples are here")
    return 0

def predict(trained, x):
    return x[:, 0] * 0 + 1
"""


def test_held_out_examples_are_not_there_during_the_training(written: Written, forks: Forks):
    check = {"train": "train(x, y)", "predict": "predict(trained, x)", "data": "plane(99, 2)"}
    starter = "def train(x, y): ...\n\ndef predict(trained, x): ...\n"
    lesson = written(starter=starter, checks=[{**check, "held_out": 30, "error": 1e9}])
    report = checked(lesson, READS, forks)
    assert report.passed, report
