"""Small wrong versions: what is made, how it is called, and that it stays what it was."""

import ast
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.conftest import course
from tests.course.sample import sample_of
from tutor.authoring.mutate import mutants
from tutor.authoring.operators import OPERATORS

CHANGES = [
    ("flip-sign", "y = a + b", "y = a - b"),
    ("flip-sign", "y = a - b", "y = a + b"),
    ("flip-sign", "y = f(-b)", "y = f(b)"),
    ("flip-sign", "y += a", "y -= a"),
    ("other-arithmetic", "y = a / b", "y = a * b"),
    ("swap-operands", "y = a - b * c", "y = (b * c) - a"),
    ("swap-operands", "y = (a + b) @ c", "y = c @ (a + b)"),
    ("drop-operand", "y = (a * b + c) ** 2", "y = (a * b) ** 2"),
    ("drop-operand", "y = 0.9 * v", "y = v"),
    ("transpose", "y = x @ w", "y = x @ w.T"),
    ("transpose", "y = x.T", "y = x"),
    ("off-by-one", "y = x[:-1]", "y = x[:-2]"),
    ("off-by-one", "y = f(1)", "y = f(0)"),
    ("other-number", "y = 0.05 * x", "y = 0.1 * x"),
    ("other-number", "y = 0.0", "y = 1.0"),
    ("other-flag", "y = grad(f, has_aux=True)", "y = grad(f, has_aux=False)"),
    ("wrong-comparison", "y = a < b", "y = a <= b"),
    ("wrong-comparison", "y = a < b", "y = a > b"),
    ("negate-condition", "y = a if b else c", "y = a if not b else c"),
    ("negate-condition", "if a or b:\n    c()", "if not (a or b):\n    c()"),
    ("swap-axes", "y = x.reshape((2, n))", "y = x.reshape((n, 2))"),
    ("other-axis", "y = vmap(f, in_axes=(None, 0))", "y = vmap(f, in_axes=(0, 0))"),
    ("other-axis", "y = vmap(f, in_axes=1)", "y = vmap(f, in_axes=None)"),
    ("wrong-reduction", "y = jnp.mean(x, axis=0)", "y = jnp.sum(x, axis=0)"),
    ("wrong-reduction", "y = lax.pmean(g, 'data')", "y = lax.psum(g, 'data')"),
    ("drop-bound", "y = x[1:]", "y = x[:]"),
    ("swap-arguments", "y = f(a, b, c)", "y = f(a, c, b)"),
    ("drop-argument", "y = grad(f, argnums=1)", "y = grad(f)"),
    ("drop-call", "y = relu(x)", "y = x"),
    ("drop-call", "y = x.mean()", "y = x"),
    ("wrong-update", "y = x.at[i].add(v)", "y = x.at[i].set(v)"),
    ("reuse-key", "a, b = jax.random.split(k)", "a, b = (k, k)"),
    ("reuse-key", "a = jax.random.split(k, n + 1)", "a = [k] * (n + 1)"),
    ("reuse-key", "a = jax.random.fold_in(k, i)", "a = k"),
    ("fixed-key", "a = r.split(k, n)", 'a = r.split(__import__("jax").random.key(0), n)'),
    ("wrong-distribution", "a = r.normal(k, n)", "a = r.uniform(k, n)"),
    ("drop-collective", "g = lax.pmean(g, axis_name='data')", "g = g"),
    ("vmap-for-pmap", "f = jax.pmap(g)", "f = jax.vmap(g)"),
    ("drop-decorator", "@jax.jit\ndef f(x):\n    pass", "def f(x):\n    pass"),
    ("swap-results", "def f():\n    return a, b, c", "def f():\n    return b, a, c"),
    ("drop-update", "params = step(params)", "pass"),
    ("drop-update", "a, b = step((a, b), c)", "pass"),
]


def programs(source: str, operator: str) -> list[str]:
    made = [mutant for mutant in mutants(source) if mutant.name.startswith(f"{operator}@")]
    return [ast.dump(ast.parse(mutant.code)) for mutant in made]


@for_each(("operator", "right", "wrong"), CHANGES)
def test_each_operator_makes_what_it_says(operator: str, right: str, wrong: str):
    assert ast.dump(ast.parse(wrong)) in programs(right, operator)


def test_every_operator_is_tried_here_and_documented():
    assert {change[0] for change in CHANGES} == {operator.name for operator in OPERATORS}
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    for operator in OPERATORS:
        assert f"| `{operator.name}` | {operator.summary} |" in page


@pytest.mark.parametrize(
    ("operator", "source"),
    [
        ("swap-arguments", "y = jnp.maximum(0, x)"),  # the same either way round
        ("wrong-reduction", "import jax.numpy as jnp\nfrom a import mean"),
        ("off-by-one", "def f(x: tuple[int, 3] = y) -> g(1): ..."),
        ("drop-update", "y = step(x)"),  # without it `y` has no value
    ],
)
def test_nothing_is_made_of_what_says_nothing_or_would_only_break(operator: str, source: str):
    assert not programs(source, operator)


def test_a_mutant_is_called_the_same_wherever_its_line_is():
    body = "def f(a, b):\n    return a - b\n"
    above = f'"""Docstring."""\nimport jax\n\n\nN = "x"\n\n\n{body}'
    names = [mutant.name for mutant in mutants(body)]
    assert names == [mutant.name for mutant in mutants(above)]
    assert "flip-sign@return a - b -> return a + b" in names


def test_the_same_change_in_two_places_has_two_names():
    found = mutants("def f(a, b):\n    g(a - b)\n    h(a - b)\n    g(a - b)\n")
    names = [m.name for m in found if m.name.startswith("flip-sign@")]
    assert len(set(names)) == 3
    assert sum(name.endswith("#2") for name in names) == 1


def test_a_mutant_is_one_change_shown_as_a_diff():
    (mutant,) = [m for m in mutants("# why\ny = a  -  b  # because\n") if "flip-sign" in m.name]
    assert mutant.code == "# why\ny = a  +  b  # because\n"
    assert mutant.line == 2
    assert mutant.diff.splitlines()[-2:] == ["-y = a  -  b  # because", "+y = a  +  b  # because"]


def test_what_is_no_python_has_no_mutants():
    with pytest.raises(SyntaxError):
        mutants("def f(:\n")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Mutate a sample of the course's solutions, with `--proofs` all of them. Lessons that consist
    of questions have no mutants."""
    if "lesson" in metafunc.fixturenames:
        lessons = course().lessons.values()
        names = [one.id for one in lessons if {c.kind for c in one.checks} != {"predict"}]
        if not metafunc.config.getoption("proofs"):
            names = sample_of(metafunc.config).of(names, str, lambda name: None)
        metafunc.parametrize("lesson", names)


def test_mutants_of_the_course_are_programs_and_none_is_there_twice(lesson: str):
    source = course().solution(lesson)
    assert source is not None
    found = mutants(source)
    assert len(found) >= 9
    names = [mutant.name for mutant in found]
    assert len(set(names)) == len(names)
    dumps = {ast.dump(ast.parse(mutant.code)) for mutant in found}
    assert len(dumps) == len(found)
    assert ast.dump(ast.parse(source)) not in dumps
