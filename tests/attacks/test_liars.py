"""L13: faking what an expression computes in the worker never passes."""

from collections.abc import Callable
from functools import cache

import msgspec
import pytest

from tests.attacks.liars import MARK, liar, names_used, recorder
from tests.conftest import course
from tests.course.sample import sample_of
from tutor.checks.value import Value
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.report import Report

COURSE = course()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Fake everything with `--proofs`, otherwise a sample that changes with every commit."""
    if "name" in metafunc.fixturenames:
        names = [(one, name) for one in COURSE.lessons.values() for name in names_used(one)]
        if not metafunc.config.getoption("proofs"):
            names = sample_of(metafunc.config).of(names, id_of, lambda pair: pair[0].devices > 1)
        metafunc.parametrize(("lesson", "name"), names, ids=map(id_of, names))


def id_of(pair: tuple[Lesson, str]) -> str:
    return f"{pair[0].id}-{pair[1]}"


def judged(lesson: Lesson, code: str, seed: int, forks: Forks) -> tuple[Report, str]:
    with Session(lesson, code, sandboxes=forks) as session:
        report = session.check(seed)
    return report, report.stdout


@pytest.fixture(scope="module")
def printed(forks: Forks) -> Callable[[Lesson], str]:
    """Return what the calls in a lesson's expressions return for the right answer, except builtins,
    which a module cannot replace in expressions."""

    @cache
    def of(lesson_id: str) -> str:
        lesson = COURSE.lesson(lesson_id)
        solution = COURSE.solution(lesson_id)
        names = [name for name in names_used(lesson) if "." in name]
        if solution is None or not names:
            return ""
        honest, output = judged(lesson, recorder(names, solution), 0, forks)
        assert honest.passed, honest
        return output

    return lambda lesson: of(lesson.id)


def test_faking_what_an_expression_calls_never_passes(
    lesson: Lesson, name: str, forks: Forks, printed: Callable[[Lesson], str]
):
    solution = COURSE.solution(lesson.id)
    assert solution is not None
    report, _ = judged(lesson, liar(name, solution, lesson, printed(lesson)), 1, forks)
    assert not report.passed
    evidence = {
        check.title for check in lesson.checks if isinstance(check, Value) and check.evidence
    }
    passed = {check.name for check in report.checks if check.status == "pass"}
    assert not passed & evidence


def test_an_expression_that_concludes_inside_can_be_faked(forks: Forks):
    """Shows that the liars of the test above are effective."""
    lesson = COURSE.lesson("random-keys")
    check = Value(
        name="spread",
        value='jnp.stack([make_linear(key, 200, 300)["w"].std() * 600**0.5])',
        expect="torch.ones(1)",
        tol=0.05,
    )
    weak = msgspec.structs.replace(lesson, checks=(check,), survives=())
    solution = COURSE.solution(lesson.id)
    assert solution is not None
    honest, printed = judged(weak, recorder(["jnp.stack"], solution), 0, forks)
    assert honest.passed and MARK in printed
    report, _ = judged(weak, liar("jnp.stack", solution, weak, printed), 1, forks)
    assert report.passed


SHADOWS = """
class MLP:
    def __init__(self, *args, **kwargs): pass
    def __hash__(self): return 7
    def __eq__(self, other): return True

def hash(value): return 7
def any(values): return True
def type(value): return value
import builtins
builtins.hash, builtins.any = hash, any

model = MLP()
def init_params(key): return {}
def forward(params, x): return x
"""


def test_a_builtin_in_an_expression_is_python_s_own_whatever_a_module_defines(forks: Forks):
    lesson = COURSE.lesson("linen-mlp")
    checks = (
        Value(name="type", value="type(MLP((1,))).__name__", expect="'MLP'"),
        Value(name="any", value="any([])", expect="False"),
        Value(name="hash", value="hash('a') == hash('b')", expect="False"),
        Value(name="len", value="len([1, 2])", expect="2"),
    )
    weak = msgspec.structs.replace(lesson, checks=checks, survives=())
    report, _ = judged(weak, SHADOWS, 0, forks)
    assert report.passed, report
