"""Submissions that meddle with the lesson's `jax_harness` get no pass through it."""

from pathlib import Path

import pytest

from tests.attacks.liars import liar, recorder
from tests.attacks.test_submissions import told
from tutor.engine.session import Session, run
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.report import Report

pytestmark = pytest.mark.usefixtures("forked")

LESSON = """
id: harnessed
title: Harnessed
track: basics
minutes: 1
brief: Write `double(x)`.
torch: |
  import torch

  def rolled(x):
      return torch.stack([2 * x, 4 * x, 8 * x])

jax_harness: |
  import jax.numpy as jnp

  TIMES = 3


  def rollout(f, x):
      out = []
      for _ in range(TIMES):
          x = _applied(f, x)
          out.append(x)
      return jnp.stack(out)


  def agrees(f, x):
      # A conclusion, to show that the builtins are the real ones.
      return float(abs(float(f(x)[0]) - 2 * float(x[0])) < 1e-3 and len(list(zip(f(x), x))) == 3)


  def _applied(f, x):
      return f(x)

starter: |
  def double(x):
      raise NotImplementedError
hints: [Add it to itself.]
inputs:
  x: normal(3)
checks:
  - name: rollout
    value: rollout(double, x)
    expect: rolled(x)
  - name: agrees
    value: agrees(double, x)
    expect: "1.0"
    evidence: true
"""

RIGHT = "def double(x):\n    return 2 * x\n"
WRONG = "def double(x):\n    return 0 * x + 1\n"

MEDDLING = {
    "its names": (
        "TIMES = 0\n_applied = None\n"
        "def rollout(f, x):\n    import jax.numpy as jnp\n    return jnp.stack([2*x, 4*x, 8*x])\n"
        "def agrees(f, x):\n    return 1.0\n"
    ),
    "its names as builtins": (
        "import builtins\nbuiltins.TIMES = 0\n"
        "builtins.rollout = lambda f, x: __import__('jax.numpy').stack([2*x, 4*x, 8*x])\n"
        "builtins.agrees = lambda f, x: 1.0\n"
    ),
    "builtins": (
        "import builtins\n"
        "class Zero(float):\n"
        "    def __lt__(self, other):\n        return True\n"
        "    def __sub__(self, other):\n        return Zero(0)\n"
        "builtins.abs = lambda value: 0.0\n"
        "builtins.float = lambda value=0: Zero(1)\n"
        "builtins.len = lambda value: 3\n"
        "builtins.range = lambda *n: []\n"
        "builtins.zip = lambda *lists: []\n"
    ),
    "a module of its name": (
        "import sys, types\n"
        "fake = types.ModuleType('jax_harness')\n"
        "fake.rollout = lambda f, x: 2 * x\nfake.agrees = lambda f, x: 1.0\n"
        "for name in ('jax_harness', 'harness', 'submission.jax_harness', '<jax_harness>'):\n"
        "    sys.modules[name] = fake\n"
    ),
    "sys.modules": (
        "import sys\n"
        "for name in [*sys.modules]:\n"
        "    if name.partition('.')[0] in ('jax', 'numpy', 'builtins', 'functools', 'tutor'):\n"
        "        del sys.modules[name]\n"
    ),
    "the helpers": (
        "import tutor.sandbox.helpers as helpers, tutor.sandbox.environment as environment\n"
        "helpers.rollout = helpers.agrees = lambda f, x: 1.0\n"
        "environment.rollout = environment.agrees = lambda f, x: 1.0\n"
        "environment.own_names = lambda source: {}\n"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    root: Path = tmp_path_factory.mktemp("pack")
    (root / "basics").mkdir()
    (root / "pack.yaml").write_text(
        "format: 1\nid: harnessed\ntitle: Harnessed\ntracks:\n"
        "  - {id: basics, title: Basics, lessons: [harnessed]}\n"
    )
    (root / "basics" / "harnessed.yaml").write_text(LESSON)
    return load_pack(root).lesson("harnessed")


@pytest.mark.parametrize("meddling", MEDDLING.values(), ids=MEDDLING)
def test_what_a_submission_defines_patches_or_removes_passes_nothing(lesson: Lesson, meddling: str):
    report = run(lesson, meddling + WRONG)
    assert report.verdict in ("fail", "error"), told(report)
    assert not any(check.status == "pass" for check in report.checks), told(report)


@pytest.mark.parametrize("meddling", [MEDDLING["its names"], MEDDLING["a module of its name"]])
def test_a_right_answer_may_use_the_same_names(lesson: Lesson, meddling: str):
    assert run(lesson, meddling + RIGHT).passed


@pytest.mark.parametrize("name", ["jax_harness", "harness", "submission.jax_harness"])
def test_it_cannot_be_imported(lesson: Lesson, name: str):
    report = run(lesson, f"import {name}\n{RIGHT}")
    assert report.fault is not None and report.fault.code == "import-error"
    code = f"import sys\nassert not [n for n in sys.modules if 'harness' in n]\n{RIGHT}"
    assert run(lesson, code).passed


def test_faking_what_it_calls_passes_no_other_inputs(lesson: Lesson, forks: Forks):
    """As for expressions: `tests/attacks/test_liars.py`."""

    def judged(code: str, seed: int) -> Report:
        with Session(lesson, code, sandboxes=forks) as session:
            return session.check(seed)

    honest = judged(recorder(["jnp.stack"], RIGHT), 0)
    assert honest.passed and "jnp.stack" in honest.stdout
    lying = liar("jnp.stack", RIGHT, lesson, honest.stdout)
    assert judged(lying, 0).checks[0].status == "pass"  # the lie is effective
    assert judged(lying, 1).checks[0].status == "fail"


FRAMES = """\
import sys


def double(x):
    frame = sys._getframe()
    while frame is not None and "rollout" not in frame.f_globals:
        frame = frame.f_back
    if frame is not None:
        frame.f_globals["TIMES"] = 0
        frame.f_globals["_applied"] = lambda f, x: 0 * x
        frame.f_globals["rollout"] = lambda f, x: x
        frame.f_globals["agrees"] = lambda f, x: 1.0
    return 0 * x
"""


def test_reaching_it_through_frames_gains_nothing_but_conclusions(lesson: Lesson):
    """`docs/security.md`: a conclusion that it draws can be faked; the arrays it returns cannot be
    right without being computed."""
    report = run(lesson, FRAMES)
    assert report.verdict == "fail"
    assert report.checks[0].status == "fail"
