"""Which results an edit cannot have changed; in doubt, it has."""

import msgspec
import pytest

from tests.cases import for_each
from tutor.check import Check
from tutor.checks.value import Value
from tutor.engine.unchanged import MAX_RESULTS, Module, PassedChecks
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.report import CheckResult, Report

CODE = """
import jax
import jax.numpy as jnp
from functools import partial

SCALE = 2.0
half = partial(jnp.multiply, 0.5)


def scaled(x):
    return SCALE * x


def first(x):
    return scaled(x) + 1


@jax.jit
def second(x):
    return half(x)


@jax.custom_vjp
def third(x):
    return x


def forward(x):
    return x, None


def backward(_, g):
    return (2 * g,)


third.defvjp(forward, backward)


class Pair:
    def __init__(self, a):
        self.a = a

    def sum(self):
        return self.a


def fourth(x):
    return Pair(x).sum()
"""

CHECKS = {name: Value(value=f"{name}(x)") for name in ("first", "second", "third", "fourth")}


def behind(code: str) -> dict[str, bytes | None]:
    module = Module.read(code)
    return {name: module.behind(check) if module else None for name, check in CHECKS.items()}


def changed(old: str, new: str, code: str = CODE) -> set[str]:
    """Return the functions whose checks must be run after an edit."""
    assert old in code
    before, after = behind(code), behind(code.replace(old, new))
    return {name for name in CHECKS if before[name] is None or before[name] != after[name]}


@for_each(
    ("old", "new", "functions"),
    [
        ("+ 1", "+ 2", {"first"}),
        ("SCALE * x", "x * SCALE", {"first"}),
        ("SCALE = 2.0", "SCALE = 3.0", {"first"}),
        ("multiply, 0.5", "multiply, 0.25", {"second"}),
        ("@jax.jit\n", "", {"second"}),
        ("(2 * g,)", "(3 * g,)", {"third"}),
        ("defvjp(forward, backward)", "defvjp(forward, lambda _, g: (g,))", {"third"}),
        ("return self.a", "return -self.a", {"fourth"}),
        ("def scaled", "\n\n# A comment.\ndef scaled", set()),
        ("import jax\n", "import jax\nimport math\n", set()),
        ("def fourth", "def unused(x):\n    return x\n\n\ndef fourth", set()),
        ("def fourth", "shape = [1, 2]\nshape.append(3)\n\n\ndef fourth", set()),
        ("class Pair:", "if __name__ == '__main__':\n    first(1)\n\n\nclass Pair:", set()),
        ("import jax.numpy as jnp", "import numpy as jnp", {"second"}),
    ],
)
def test_only_what_uses_the_edited_lines_changes(old: str, new: str, functions: set[str]):
    assert changed(old, new) == functions


@for_each(
    ("line", "functions"),
    [
        ("seen = []\n\ndef fourth(x):\n    seen.append(x)\n    return x", {"fourth"}),
        ("table = {}\n\ndef fourth(x):\n    return table.setdefault(1, x)", {"fourth"}),
        ("def fourth(x, seen=[]):\n    return x", {"fourth"}),
        ("def memo(f):\n    return f\n\n@memo\ndef fourth(x):\n    return x", {"fourth"}),
        ("first = [first][0]", {"first"}),
        ("for f in (first, second):\n    f(1)", {"first", "second"}),
        ("if SCALE:\n    def fourth(a):\n        return a", {"first", "fourth"}),
        ("async def fourth(a):\n    return a", {"fourth"}),
        (
            "with jax.named_scope('a'):\n    class Pair:\n        pass",
            {"second", "third", "fourth"},
        ),
        ("try:\n    from jax.nn import relu as half\nexcept ImportError:\n    pass", {"second"}),
        ("import numpy as np\n\nnp.seterr(all='raise')", {*CHECKS}),
        ("def f(x):\n    import jax.numpy as q\n    q.add = x", {*CHECKS}),
        ("import time", {*CHECKS}),
        ("from os import path", {*CHECKS}),
        ("from jax import config", {*CHECKS}),
        ("from numpy import *", {*CHECKS}),
        ("jax.config.update('jax_enable_x64', True)", {*CHECKS}),
        ("import numpy as np\n\ndef noise():\n    return np.random.normal()", {*CHECKS}),
        ("import functools\n\n@functools.cache\ndef slow(x):\n    return x", {*CHECKS}),
        ("def f():\n    global SCALE\n    SCALE = 3.0", {*CHECKS}),
        ("def f(x):\n    scaled.calls = x", {*CHECKS}),
        ("def f(x):\n    jnp.add = x", {*CHECKS}),
        ("def f(x):\n    type(x).shape = ()", {*CHECKS}),
        ("def f(x):\n    setattr(jnp, 'add', x)", {*CHECKS}),
        ("def f(x):\n    jax.debug.print('{}', x)\n    return x", {*CHECKS}),
        ("def f(x):\n    return eval('x')", {*CHECKS}),
        ("def f(:", {*CHECKS}),
    ],
)
def test_code_that_keeps_state_or_acts_on_more_is_run_again(line: str, functions: set[str]):
    """Functions whose checks are run after no edit at all."""
    assert changed("+ 1", "+ 1", f"{CODE}\n{line}\n") == functions


def test_kinds_that_read_the_source_or_are_not_ours_are_run_again():
    class Stranger(Value, frozen=True, kw_only=True):
        pass

    module = Module.read(CODE)
    assert module is not None
    assert module.behind(Value(value="first(x)")) is not None
    assert module.behind(Stranger(value="first(x)")) is None


# --- what is remembered ------------------------------------------------------------------------


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return msgspec.structs.replace(mini.lesson("double"), checks=tuple(CHECKS.values()))


def report(*statuses: str, stdout: str = "", stderr: str = "") -> Report:
    checks = tuple(
        CheckResult(check.title, "value", status)  # type: ignore[arg-type]
        for check, status in zip(CHECKS.values(), statuses, strict=True)
    )
    return Report("double", "fail", checks, stdout=stdout, stderr=stderr)


def remembered(passed: PassedChecks, lesson: Lesson, code: str, seed: int = 0) -> list[str]:
    find = passed.of(lesson, code, seed)
    checks: list[Check] = [*CHECKS.values()]
    return [name for name, check in zip(CHECKS, checks, strict=True) if find(check) is not None]


EDITED = CODE.replace("+ 1", "+ 2")


def test_passes_are_remembered_until_what_they_rest_on_changes(lesson: Lesson):
    passed = PassedChecks()
    assert remembered(passed, lesson, EDITED) == []
    passed.add(lesson, CODE, 0, report("pass", "fail", "pass", "error"))
    assert remembered(passed, lesson, EDITED) == ["third"]
    passed.add(lesson, EDITED, 0, report("fail", "pass", "pass", "skipped"))
    # Undone: the first passed with these lines before.
    assert remembered(passed, lesson, f"{CODE}\n# undone\n") == ["first", "second", "third"]


def test_the_same_code_again_is_run_again(lesson: Lesson):
    passed = PassedChecks()
    passed.add(lesson, CODE, 0, report(*4 * ["pass"]))
    assert remembered(passed, lesson, CODE) == []
    assert remembered(passed, lesson, f"{CODE}\n") == [*CHECKS]


def test_other_inputs_and_an_edited_lesson_are_run_again(lesson: Lesson):
    passed = PassedChecks()
    passed.add(lesson, CODE, 0, report(*4 * ["pass"]))
    assert remembered(passed, lesson, EDITED, seed=1) == []
    assert remembered(passed, msgspec.structs.replace(lesson, title="Other"), EDITED) == []
    passed.add(lesson, CODE, 1, report(*4 * ["pass"]))
    assert remembered(passed, lesson, EDITED) == []


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_prints_is_run_again(lesson: Lesson, stream: str):
    passed = PassedChecks()
    passed.add(lesson, CODE, 0, report(*4 * ["pass"], **{stream: "hello\n"}))
    assert remembered(passed, lesson, EDITED) == []


def test_not_everything_is_remembered_for_ever(lesson: Lesson):
    passed = PassedChecks()
    for number in range(2 * MAX_RESULTS):
        passed.add(lesson, CODE.replace("+ 1", f"+ {number}"), 0, report(*4 * ["pass"]))
        assert len(passed._results) <= MAX_RESULTS + len(CHECKS)
