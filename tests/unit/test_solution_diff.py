"""The learner's code beside the solution: what is marked, and what is not."""

from hypothesis import given, settings
from hypothesis import strategies as some

from tutor.ui.screens.solution_diff import Line, docstring_lines, rows

YOURS = '''\
import jax


def f(x):
    """My own words,
    in two lines."""
    y = jax.nn.relu(x)
    return y
'''
SOLUTION = '''\
"""A docstring of the module."""

import jax


def f(x):
    """Another."""
    y = jax.nn.gelu(x)
    return y * 2


def g(x):
    return x
'''


def changed(side: int) -> list[str]:
    return [line.text for row in rows(YOURS, SOLUTION) if (line := row[side]) and line.changed]


def test_only_code_that_differs_is_marked():
    assert changed(0) == ["    y = jax.nn.relu(x)", "    return y"]
    assert changed(1) == [
        "    y = jax.nn.gelu(x)", "    return y * 2", "def g(x):", "    return x",
    ]  # fmt: skip


def test_the_words_that_differ_are_marked_within_a_line():
    left, right = next((a, b) for a, b in rows(YOURS, SOLUTION) if a and b and a.parts)
    assert [left.text[slice(*part)] for part in left.parts] == ["relu"]
    assert [right.text[slice(*part)] for part in right.parts] == ["gelu"]


def test_docstrings_are_shown_beside_each_other_and_count_as_equal():
    pairs = [(a and a.text.strip(), b and b.text.strip()) for a, b in rows(YOURS, SOLUTION)]
    assert ('"""My own words,', '"""Another."""') in pairs
    assert ('in two lines."""', None) in pairs
    same = YOURS.replace("My own", "Other")
    assert not any(line and line.changed for row in rows(YOURS, same) for line in row)


def test_code_that_is_no_python_is_compared_as_well():
    assert docstring_lines("def f(:") == set()
    assert any(line and line.changed for row in rows("def f(:", SOLUTION) for line in row)


LINES = ("x = 1", "", '    """a', 'b"""', '"""doc"""', "def f(x):", "    y = x", "    return y")
lines = some.lists(some.sampled_from(LINES), max_size=12)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(lines, lines)
def test_every_line_is_shown_once_in_its_order(left: list[str], right: list[str]):
    texts = ["\n".join(left), "\n".join(right)]
    found = rows(*texts)
    for side, text in enumerate(texts):
        shown = [line for row in found if (line := row[side]) is not None]
        assert [line.text for line in shown] == text.rstrip().splitlines()
        assert [line.number for line in shown] == [*range(1, len(shown) + 1)]
    equal = [(a, b) for a, b in found if a and b and not a.changed and not b.changed]
    told = docstring_lines(texts[0])
    for a, b in equal:
        assert a.text.rstrip() == b.text.rstrip() or a.number - 1 in told
    assert all(isinstance(line, Line) for row in found for line in row if line is not None)
