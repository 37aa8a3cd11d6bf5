"""Starters made from solutions whose regions are marked."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.marked_regions import (
    BadMarkers,
    has_regions,
    solution_lines,
    starter_of,
    without_markers,
)

SOLUTION = '''\
import jax.numpy as jnp


def cosine(a, b):
    """a (d,), b (d,) -> a scalar.

    # solution
    """
    # solution
    norms = jnp.linalg.norm(a) * jnp.linalg.norm(b)
    return a @ b / norms
    # end


class Layer:
    def __call__(self, x):
        # solution
        # instead: if x is None:
        # instead:     return x
        # instead:
        # instead: return 0 * x
        if x is None:
            return x
        # end of the easy part
        return 2 * x
        #end
    # An ordinary comment: # end
'''
STARTER = '''\
import jax.numpy as jnp


def cosine(a, b):
    """a (d,), b (d,) -> a scalar.

    # solution
    """
    raise NotImplementedError


class Layer:
    def __call__(self, x):
        if x is None:
            return x

        return 0 * x
    # An ordinary comment: # end
'''
SHOWN = '''\
import jax.numpy as jnp


def cosine(a, b):
    """a (d,), b (d,) -> a scalar.

    # solution
    """
    norms = jnp.linalg.norm(a) * jnp.linalg.norm(b)
    return a @ b / norms


class Layer:
    def __call__(self, x):
        if x is None:
            return x
        # end of the easy part
        return 2 * x
    # An ordinary comment: # end
'''


def test_a_region_is_left_to_the_learner():
    assert starter_of(SOLUTION) == STARTER


def test_the_solution_is_shown_without_markers():
    assert without_markers(SOLUTION) == SHOWN
    rows, shown = SOLUTION.split("\n"), SHOWN.split("\n")
    assert [rows[number - 1] for number in solution_lines(SOLUTION)] == shown


@for_each(
    "source",
    [
        "def f(x):\n    return x\n",
        "# end of file\n# solution of the exercise\ndef f(x):\n    return x\n",
        "def f(x):\n    '''\n    # solution\n    # end\n    '''\n    return x\n",
        "# solution\ndef f(x):\n    return x\n",  # markers that are not in order
        "x = [  # solution\n    1,  # end\n]\n",
        "# solution\nx = (\n",
    ],
)
def test_a_solution_without_regions_stays_as_it_is(source: str):
    assert not has_regions(source)
    assert without_markers(source) == source
    assert solution_lines(source) == [*range(1, source.count("\n") + 2)]


@for_each(
    ("source", "line", "column", "said", "remedy"),
    [
        ("def f(x):\n    return x\n", 1, 1, "no region of its solution is marked", "`# solution`"),
        ("def f(x):\n    # solution\n    return x\n", 2, 5, "has no end", "write `# end` below"),
        ("def f(x):\n    return x\n    # end\n", 3, 5, "`# end` ends no region", "above it"),
        ("x = 1\n# instead: x = 2\n", 2, 1, "`# instead:` stands outside", "above it"),
        (
            "# solution\ndef f(x):\n    # solution\n    return x\n    # end\n# end\n",
            3, 5, "begins in the one that began at line 1", "write `# end` before it",
        ),
        ("x = [\n    # solution\n    1,\n    # end\n]\n", 2, 5, "not valid Python", "whole statem"),
        (
            "x = 1\n\n@staticmethod\n# solution\ndef f(x):\n    return x\n# end\n",
            4, 1, "not valid Python", "`# instead: …`",
        ),
        (
            "def f(x):\n    # solution\n    # instead: retrun x\n    return x\n    # end\n",
            2, 5, "not valid Python: invalid syntax", "mark whole statements",
        ),
        ("def f(x):\n    y = = x\n", 2, 9, "invalid Python", "correct it"),
    ],
)  # fmt: skip
def test_a_marker_out_of_place_is_reported_there(
    source: str, line: int, column: int, said: str, remedy: str
):
    with pytest.raises(BadMarkers) as error:
        starter_of(source)
    assert (error.value.line, error.value.column) == (line, column)
    assert said in str(error.value)
    assert remedy in error.value.remedy


def test_of_several_regions_the_one_at_the_wrong_place_is_named():
    source = dedent(
        """\
        def f(x):
            # solution
            return x
            # end


        def g(x):
            return [
                # solution
                x,
                # end
            ]
        """
    )
    with pytest.raises(BadMarkers) as error:
        starter_of(source)
    assert error.value.line == 9


LINES = st.sampled_from(
    ["# solution", "# end", "# instead: x = 1", "x = 2", "def f():", "    return x", "'''", "(", ""]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_any_text_gives_python_or_a_place(source: str):
    place = 1
    try:
        compile(starter_of(source), "starter.py", "exec")
        compile(without_markers(source), "solution.py", "exec")
    except BadMarkers as error:
        place = error.line
    assert 1 <= place <= source.count("\n") + 1
