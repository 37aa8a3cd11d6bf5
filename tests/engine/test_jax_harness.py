"""Functions of a lesson's `jax_harness` in the expressions of its checks."""

from pathlib import Path

import pytest

from tests.engine.conftest import LESSON, RIGHT, Written
from tutor.engine.plan import configuration_of
from tutor.engine.session import Session, run
from tutor.engine.submission import LoadedSandbox
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.pack.places import locate, pack_fault
from tutor.pool.forks import Forks
from tutor.pool.priming import prime
from tutor.sandbox.protocol import Observe
from tutor.sandbox.reimport import holds_nothing

pytestmark = pytest.mark.usefixtures("forked")

HARNESS = """\
import jax.numpy as jnp

_turns = [0]


def rollout(f, x):
    out = []
    for _ in range(3):
        x = f(x)
        out.append(x)
    return out


def turn(f, x):
    _turns[0] += 1
    return [f(x), float(_turns[0])]


def last(f, x):
    return f(x).last
"""
TORCH = f"{LESSON['torch']}\ndef rolled(x):\n    return [2 * x, 4 * x, 8 * x]\n"
ROLLOUT = {"name": "rollout", "value": "rollout(double, x)", "expect": "rolled(x)"}
PLAIN = {"name": "plain", "value": "double(x)"}
TURN = {"name": "turn", "value": "turn(double, x)", "expect": "[double(x), 1.0]", "cases": 1}


@pytest.fixture
def lesson(written: Written) -> Lesson:
    return written(
        jax_harness=HARNESS, torch=TORCH, checks=[ROLLOUT, PLAIN], survives=["jit", "grad"]
    )


def test_an_expression_calls_it_with_the_learners_functions(lesson: Lesson):
    with Session(lesson, RIGHT) as session:
        assert session.check(0).passed
        assert session.check(1).passed
    wrong = run(lesson, "def double(x):\n    return x * x\n")
    assert [check.status for check in wrong.checks] == ["fail", "fail", "skipped"]


def test_an_exception_shows_the_learners_lines_and_none_of_its_own(lesson: Lesson):
    first, _, _ = run(lesson, "def double(x):\n    raise ValueError('never')\n").checks
    assert first.fault is not None
    assert first.message == "ValueError: never (line 2: `raise ValueError('never')`)"
    assert [frame.line for frame in first.fault.frames] == [2]
    first, _, _ = run(lesson, "def double(x, y):\n    return x\n").checks
    assert first.message.startswith("calling `rollout(double, x)`: double() missing 1 required")
    assert first.fault is not None and first.fault.code == "wrong-signature"
    assert not first.fault.frames


def test_an_exception_of_its_own_names_no_line_of_the_learner(written: Written):
    lesson = written(jax_harness=HARNESS, checks=[{"value": "last(double, x)", "expect": "x"}])
    (check,) = run(lesson, RIGHT).checks
    assert check.fault is not None and check.status == "error"
    assert (check.fault.frames, check.fault.line) == ((), None)


@pytest.mark.parametrize(
    ("expression", "returned", "said"),
    [
        ("begun(double, x)", "3", "AttributeError: 'int' object has no attribute 'init'"),
        ("first(double, x)", "3", "TypeError: 'int' object is not subscriptable"),
        ("double(x)[0][1]", "[3]", "TypeError: 'int' object is not subscriptable"),
        ("double(x)['w']", "{}", "KeyError: 'w'"),
    ],
)
def test_what_it_cannot_use_is_not_shown_as_an_exception_of_the_learners_code(
    written: Written, expression: str, returned: str, said: str
):
    harness = "def begun(f, x):\n    return f(x).init(x)\ndef first(f, x):\n    return f(x)[0]\n"
    lesson = written(jax_harness=harness, checks=[{"value": expression, "expect": "x"}])
    (check,) = run(lesson, f"def double(x):\n    return {returned}\n").checks
    assert check.fault is not None and check.fault.code == "unusable-result"
    assert check.message == f"`{expression}` cannot use what your code returned: {said}"


def test_what_was_donated_is_told_as_such_though_its_call_is_not_the_learners(written: Written):
    harness = "def twice(f, x):\n    return f(x) + f(x)\n"
    lesson = written(jax_harness=harness, checks=[{"value": "twice(double, x)", "expect": "4 * x"}])
    donating = "double = jax.jit(lambda x: 2 * x, donate_argnums=0)"
    (check,) = run(lesson, f"import jax\n\n{donating}\n").checks
    assert check.message == (
        f"an array was used after it was donated: line 3 donates it (`{donating}`), "
        "so it cannot be used again"
    )


def test_each_submission_gets_a_new_one(written: Written, forks: Forks):
    """Even in a sandbox in which it has run before, with the solution."""
    lesson = written(jax_harness=HARNESS, checks=[TURN])
    configuration = configuration_of(lesson)
    with forks.start(lesson, configuration) as sandbox:
        prime(sandbox, lesson, configuration, RIGHT, 0, forks.programs, lambda: False)
        loaded = LoadedSandbox(sandbox, lesson, RIGHT)
        loaded.load(loaded.allowance())
        request = Observe("c", "tutor.checks.inside.value", {"expression": "turn(len, 'ab')[1]"})
        _, turns = loaded.ask(request, [{}], loaded.allowance(), "")
    assert getattr(turns, "values", None) == 1.0
    assert run(lesson, RIGHT).passed


STAYS = """
import jax

@jax.jit
def softmax(x, axis=0, *, keepdims=True):
    local = [x]
    local.append(x)
    return jax.nn.softmax(x, axis)
"""


def test_one_that_holds_nothing_stays_after_priming():
    assert holds_nothing(STAYS)
    for more in (
        "seen = []",
        "class Counted:\n    calls = 0",
        "import functools\n@functools.cache\ndef slow(x):\n    return x",
        "jit = jax.jit",
        "def f(x, seen=[]):\n    return seen",
        "def f(x):\n    global softmax\n    softmax = x",
        "def f(x):\n    softmax.calls = x",
        "def f(x):\n    globals()['softmax'] = x",
        "def f(x):\n    setattr(softmax, 'calls', x)",
        "for n in range(3):\n    pass",
    ):
        assert not holds_nothing(f"{STAYS}\n{more}\n"), more


@pytest.mark.parametrize(
    ("harness", "line", "said"),
    [
        ("import nothing_of_this_name\n", 1, "No module named 'nothing_of_this_name'"),
        ("import jax\n\nraise RuntimeError('broken')\n", 3, "RuntimeError: broken (line 3"),
        ("import torch\n", 1, "the exercise is to write this in JAX"),
        ("import os\nos._exit(3)\n", None, "ended the process"),
        ("while True:\n    pass\n", None, "used 1"),
    ],
)
def test_one_that_cannot_be_imported_is_the_packs_fault(
    written: Written, tmp_path: Path, harness: str, line: int | None, said: str
):
    written(jax_harness=harness, limits={"seconds": 1.0})
    text = (tmp_path / "pack" / "basics" / "double.yaml").read_text()
    block = "".join(f"  {row}\n" for row in harness.splitlines())
    start = text.index("jax_harness:")
    end = text.index("limits:")
    text = f"{text[:start]}jax_harness: |\n{block}{text[end:]}"
    (tmp_path / "pack" / "basics" / "double.yaml").write_text(text)
    pack = load_pack(tmp_path / "pack")
    lesson = pack.lesson("double")
    report = run(lesson, RIGHT)
    assert report.verdict == "internal"
    fault = pack_fault(report)
    assert fault is not None
    assert "lesson double is broken: its jax_harness cannot be imported: " in fault.message
    assert said in fault.message
    assert report.stdout == report.stderr == ""
    if line is not None:
        number = text[:start].count("\n") + 1 + line
        assert locate(pack, lesson, report, fault).endswith(f"double.yaml:{number}")


def test_what_its_import_prints_is_not_the_learners(written: Written):
    lesson = written(jax_harness="print('loaded')\n\n\ndef one(f, x):\n    return f(x)\n",
                     checks=[{"value": "one(double, x)", "expect": "double(x)"}])  # fmt: skip
    report = run(lesson, RIGHT)
    assert report.passed and not report.stdout
