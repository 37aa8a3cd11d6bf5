"""What a program says of itself is not what it does."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.explain import Symptom, explain
from tutor.explain.bare_code import bare


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("x = 1  # jax.pmap(f)", "x = 1  "),
        ('"""jax.pmap"""\nx = 1', "\nx = 1"),
        ("'''a\n# b\n'''\nx = 1  # c", "\nx = 1  "),
        ("s = '#'  # no", "s = '#'  "),
        ('s = "it\'s # in"', 's = "it\'s # in"'),
        (r"s = 'a\'# b'  # c", r"s = 'a\'# b'  "),
        ("it's  # broken\nx = 1  # c", "it's  # broken\nx = 1  "),
        ('# it\'s """\nx = 1', "\nx = 1"),
    ],
)
def test_comments_and_docstrings_are_left_out(code: str, kept: str):
    assert bare(code) == kept


WORDS = ["x = 1", "# c", "'a'", '"#"', "\\", "\n", " ", "f('\\'#')", "+"]


@given(st.lists(st.sampled_from(WORDS)).map("".join))
def test_what_is_left_is_the_same_program(code: str):
    try:
        whole = ast.dump(ast.parse(code))
    except SyntaxError:
        return
    assert ast.dump(ast.parse(bare(code))) == whole


def test_a_sign_in_a_comment_does_not_count():
    line = "y = jax.lax.psum(x, 'batch')"
    said = {
        source: explain(
            Symptom(
                exception="NameError", fault="exception",
                message="unbound axis name: batch", line=line, source=f"{source}\n{line}",
            )
        )
        for source in ("", "# unlike jax.pmap(f, 'i')", "jax.pmap(f, 'i')")
    }  # fmt: skip
    plain, commented, called = said.values()
    assert plain == commented != called
