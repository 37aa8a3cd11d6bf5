"""A statement over several lines is read as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.explain.conftest import Kept, import_module
from tutor.explain.statement import MAX_LINE, MAX_LINES, statement_at


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("y = f(x)", "y = f(x)"),
        ("y = f(\n    x,\n    k,\n)", "y = f(x, k)"),
        ("g = grad(\n  loss, has_aux=True  # both\n)(w)", "g = grad(loss, has_aux=True)(w)"),
        ("with mesh(\n    a,\n):\n    pass", "with mesh(a):"),
        ("f(\n    # nothing\n    '#',\n)", "f('#')"),
        (")(x)", ")(x)"),
        ("f(" + "\nx," * MAX_LINES, "f("),
        ("f('(')\ng()", "f('(')"),
    ],
)  # fmt: skip
def test_brackets_say_where_a_statement_ends(code: str, statement: str):
    assert statement_at(code.split("\n"), 1) == statement


@given(st.lists(st.text(alphabet="f(x)[]{},#'\" ="), min_size=1, max_size=30), st.data())
def test_any_text_gives_one_line_of_bounded_length(lines: list[str], data: st.DataObject):
    number = data.draw(st.integers(1, len(lines)))
    statement = statement_at(lines, number)
    assert "\n" not in statement
    assert len(statement) <= max(len(lines[number - 1]), (MAX_LINE + 1) * MAX_LINES)


def test_a_fault_of_the_learners_code_quotes_all_of_it(kept: Kept):
    code = "import jax\n\njax.vmap(\n    lambda x: x,\n    in_axes=(0, 0),\n)(3.0)\n"
    symptom = import_module(kept, code)
    assert symptom is not None
    assert symptom.line == "jax.vmap(lambda x: x, in_axes=(0, 0))(3.0)"
