"""Lies about the result that a single submission cannot show.

The rest is in `submissions`: L1 to L12.
"""

import re
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.attacks.hostile import SUBMISSIONS, Submission, aimed_at
from tests.attacks.test_submissions import told
from tests.conftest import course
from tutor.engine.session import Session, run
from tutor.lesson import Lesson, Mistake
from tutor.pack import load_pack
from tutor.report import Report

THRICE = "\n\ndef double(x):\n    return 3 * x\n"
COURSE = course()


# --- L1 to L6: claims are only output -----------------------------------------------------------


def test_a_printed_report_is_only_output(lesson: Lesson):
    honest = run(lesson, THRICE)
    forged = run(lesson, "double = lambda x: 2 * x").to_json().decode()
    report = run(
        lesson, f"import sys\nprint({forged!r})\nprint({forged!r}, file=sys.stderr){THRICE}"
    )
    assert (report.verdict, report.checks[0].message) == ("fail", honest.checks[0].message)
    assert report.stdout == report.stderr == forged + "\n"


def test_the_type_name_of_an_answer_is_bounded(lesson: Lesson):
    for name in ("L6-a-key-of-a-megabyte", "L6-many-parts", "L6-a-type-name-that-shouts"):
        report = run(lesson, SUBMISSIONS[name].code)
        assert len(report.to_json()) < 20_000
        assert told(report).isprintable() or "\x1b" not in told(report)


# --- L7: patches --------------------------------------------------------------------------------

PATCHES = """
import contextlib, gc, sys, time
import jax, jax.numpy as jnp, numpy as np

frame = sys._getframe()
while "steps" not in frame.f_locals:
    frame = frame.f_back
environment = frame.f_locals["steps"].gi_frame.f_locals["env"]
CompileLog = type(environment.compiles)

def nothing(*args, **kwargs):
    return None

def yes(*args, **kwargs):
    return True

for module in (np.testing,):
    for name in dir(module):
        if name.startswith("assert"):
            setattr(module, name, nothing)
for module in (np, jnp):
    for name in ("allclose", "isclose", "array_equal", "array_equiv"):
        setattr(module, name, yes)
for name in ("grad", "value_and_grad", "vmap", "jit"):
    original = getattr(jax, name)
    setattr(jax, name, lambda f, *args, original=original, **kwargs: original(f, *args, **kwargs))
jax.block_until_ready = lambda value: value
jax.clear_caches = nothing
time.perf_counter = lambda: 0.0
jax.monitoring.clear_event_listeners()
CompileLog.programs_in = lambda self, names: contextlib.nullcontext()
CompileLog.stopwatch = lambda self: lambda: (0.0, 0.0)
type(environment.keys).consume = nothing
hidden = type(environment).load.__globals__["modules"]._hidden
hidden["tutor.checks.inside.prng"]._checker = lambda *args: iter([""])
hidden["tutor.checks.inside.pure"]._shorter = lambda leak: ""
hidden["tutor.checks.inside.pure"]._escaped = lambda env: []
"""
"""Disables everything that inspects a submission, but does not change what it computes."""

WRONG = {
    "arrays-at-updates": ("set in place of add", "a detached block"),
    "vmap-basics": ("columns come back as rows",),
    "jit-whole-step": ("a sum over this batch size",),
    "grad-basics": ("uphill",),
    "linen-mlp": ("no relu at all",),
    "random-keys": ("noise that is never negative",),
    "pmap-train-mlp": ("psum for pmean",),
}
"""Answers of each lesson that compute wrong values."""


def wrong_values() -> Iterator[tuple[Lesson, Mistake]]:
    for lesson in COURSE.lessons.values():
        for mistake in lesson.mistakes:
            if mistake.name in WRONG.get(lesson.id, ()):
                yield lesson, mistake


@pytest.mark.parametrize(
    ("lesson", "mistake"),
    [pytest.param(le, m, id=f"{le.id}-{m.name}") for le, m in wrong_values()],
)
@pytest.mark.proof
def test_patched_libraries_never_make_a_wrong_value_pass(lesson: Lesson, mistake: Mistake):
    solution = COURSE.solution(lesson.id)
    assert solution is not None
    report = run(lesson, f"{PATCHES}\n{mistake.applied_to(solution)}")
    assert report.verdict in ("fail", "error"), report
    assert report.fault is None, report.fault
    first = next(r for r in report.checks if r.status in ("fail", "error"))
    assert mistake.fails in (first.name, first.kind)


def test_the_patches_break_nothing_by_themselves():
    # Otherwise the test above would pass with any patch.
    solution = COURSE.solution("grad-basics")
    assert solution is not None
    report = run(COURSE.lesson("grad-basics"), f"{PATCHES}\n{solution}")
    assert report.passed, told(report)


@pytest.mark.parametrize(
    ("lesson_id", "change"),
    [
        # An answer that is not compiled, or reuses a key, and claims otherwise …
        ("jit-whole-step", {"@jax.jit\ndef train_step": "def train_step", "0.9 * v": "0.8 * v"}),
        ("random-keys", {"w_key, b_key = jax.random.split(key)": "w_key = b_key = key"}),
    ],
)
def test_faked_evidence_does_not_pass_alone(lesson_id: str, change: dict[str, str]):
    """A worker's reports about itself can be faked; value checks decide."""
    code = COURSE.solution(lesson_id)
    assert code is not None
    for old, new in change.items():
        assert old in code
        code = code.replace(old, new)
    report = run(COURSE.lesson(lesson_id), f"{PATCHES}\n{code}")
    assert report.verdict == "fail", told(report)


# --- L8: no secrets in memory -------------------------------------------------------------------

SEED = 7_391_846_205_517_263
MARK = -8.273645918273e-77
"""A number that no program contains by chance."""

SECRETS = {
    "the answer": struct.pack("<d", MARK),
    "the answer, as text": repr(MARK).encode(),
    "the tolerance": struct.pack("<d", 3.1415e-7),
    "the tolerance, as text": b"3.1415e-07",
    "the PyTorch": b"marked_original",
    "what is expected": b"marked_expectation",
    "the solution": b"marked_solution",
    "a mistake": b"marked_mistake",
    "what a mistake is told": b"marked_reproach",
    "a hint": b"marked_hint",
    "the reason": b"marked_reason",
    "a check after this one": b"marked_later",
    "held-out data": b"marked_labels",
    "the seed": struct.pack("<q", SEED),
    "the seed, as text": str(SEED).encode(),
    "the seed, as Python holds it": struct.pack(
        "<II", SEED & ((1 << 30) - 1), SEED >> 30 & ((1 << 30) - 1)
    ),
}

LESSON = f"""
id: marked
title: Marked
track: basics
minutes: 1
brief: Write `double(x)`.
torch: |
  import torch

  marked_original = torch.tensor([{MARK!r}] * 3, dtype=torch.float64)

  def marked_expectation(x):
      return marked_original.clone()

starter: |
  def double(x):
      raise NotImplementedError
hints: [marked_hint, another]
inputs:
  x: normal(3)
checks:
  - name: value
    value: double(x)
    expect: marked_expectation(x)
    tol: 3.1415e-7
    why: marked_reason
  - name: marked_later
    value: double(x) + 1
    expect: marked_expectation(x) + 1
    after: value
mistakes:
  - name: marked_mistake
    edit: {{"2 * x": "3 * x"}}
    fails: value
    says: marked_reproach
"""


@pytest.fixture
def marked(tmp_path: Path) -> Lesson:
    """Return a lesson whose secrets can all be recognised."""
    lessons, solutions = tmp_path / "pack" / "lessons", tmp_path / "pack" / "solutions" / "basics"
    (lessons / "basics").mkdir(parents=True)
    solutions.mkdir(parents=True)
    (lessons / "pack.yaml").write_text(
        "format: 1\nid: marked\ntitle: Marked\ntracks:\n"
        "  - {id: basics, title: Basics, lessons: [marked]}\n"
    )
    (lessons / "basics" / "marked.yaml").write_text(LESSON)
    (solutions / "marked.py").write_text("# marked_solution\ndef double(x):\n    return 2 * x\n")
    pack = load_pack(lessons)
    assert pack.solution("marked")
    return pack.lesson("marked")


def memory(pid: int) -> Iterator[bytes]:
    """Yield the readable memory of a process, in overlapping pieces."""
    overlap, size = 64, 16 << 20
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if not rights.startswith("r") or line.endswith(("[vvar]", "[vsyscall]")):
                continue
            for at in range(start, end, size - overlap):
                try:
                    file.seek(at)
                    yield file.read(min(size, end - at))
                except (OSError, ValueError, OverflowError):
                    break  # unreadable


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_secret_is_in_the_workers_memory(marked: Lesson):
    planted = "planted_by_the_submission"
    code = f"def double(x):\n    '''{planted}'''\n    return 2 * x\n"
    with Session(marked, code) as session:
        report = session.check(SEED)
        assert report.verdict == "fail"  # both sides ran, and the answer was judged
        bench = session.main_sandbox
        assert bench is not None
        pid = bench.sandbox.pid
        everything = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
        wanted = {**SECRETS, "the control": planted.encode()}
        pattern = re.compile(b"|".join(re.escape(secret) for secret in wanted.values()))
        found = {
            match.group()
            for piece in (*everything, *memory(pid))
            for match in pattern.finditer(piece)
        }
    # Shows that the search works.
    assert [name for name, secret in wanted.items() if secret in found] == ["the control"]


# --- L9 and L10: times, and another seed --------------------------------------------------------


@pytest.mark.parametrize("clock", ["-time.monotonic()", "float('nan')"])
def test_a_clock_that_lies_decides_nothing(lesson: Lesson, clock: str):
    code = f"import time\ntime.perf_counter = lambda: {clock}\n\ndef double(x):\n    return 2 * x\n"
    report = run(lesson, code)
    assert report.passed, told(report)
    assert Report.from_json(report.to_json()) == report


def test_memorised_answers_fail_under_another_seed(lesson: Lesson):
    honest = (
        "import numpy as np\n"
        "def double(x):\n    print(np.asarray(2 * x).tolist())\n    return 2 * x\n"
    )
    seen = run(lesson, honest, seed=0).stdout.splitlines()
    code = (
        "import jax.numpy as jnp\n"
        f"answers = iter([{', '.join(seen)}])\n"
        "def double(x):\n    return jnp.array(next(answers))\n"
    )
    assert run(lesson, code, seed=0).passed  # the memorised answer
    report = run(lesson, code, seed=1)
    assert report.verdict == "fail"
    assert "largest difference" in told(report)


def test_answers_memorised_by_shape_fail_under_another_seed(lesson: Lesson):
    count = sum(check.case_count for check in lesson.checks)
    code = (
        "answers = []\n"
        "def double(x):\n"
        "    answers.append(2 * x)\n"
        f"    return answers[(len(answers) - 1) % {count}]\n"
    )
    with Session(lesson, code) as session:
        assert session.check(0).passed
        assert session.check(1).verdict == "fail"


# --- L11: not in JAX ----------------------------------------------------------------------------


def test_a_lesson_can_ask_for_what_jax_can_trace():
    """NumPy gives the right numbers; `jit` or other kinds of checks expose it."""
    lesson = COURSE.lesson("arrays-at-updates")
    (numpy,) = (m for m in lesson.mistakes if m.name == "NumPy instead of JAX")
    assert numpy.code is not None
    assert "found numpy.ndarray, expected a jax.Array" in told(run(lesson, numpy.code))


# --- L12: nothing is unpickled ------------------------------------------------------------------

_listening: list[str] = []
_hooked = False


@contextmanager
def unpickled() -> Iterator[list[str]]:
    """Record the names that are unpickled in this process."""
    global _hooked
    if not _hooked:  # once: an audit hook cannot be removed
        sys.addaudithook(
            lambda event, names: (
                _listening.append(str(names)) if event == "pickle.find_class" else None
            )
        )
        _hooked = True
    _listening.clear()
    yield _listening


BAITS = [pytest.param(one, id=name) for name, one in SUBMISSIONS.items() if name[:4] == "L12-"]


@pytest.mark.parametrize("bait", BAITS)
def test_nothing_is_unpickled(bait: Submission, lesson: Lesson, targets: dict[str, str]):
    with unpickled() as names:
        report = run(lesson, aimed_at(targets, bait.code))
        assert Report.from_json(report.to_json()) == report
    assert not names
    assert not Path(targets["OUTSIDE"]).exists()
