"""Of a module, what an expression can reach is kept, and what it cannot is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.explain.reach import reachable

MODULE = """\
import functools

import jax

RATE: float = 0.1
tx, other = make(RATE), 2


def helper(x):
    return x * RATE


@functools.partial(
    jax.pmap,
    axis_name="data",
)
def first(x):
    return helper(x)

# a remark
class Second(
    Base,
):
    def __call__(self, x):
        return other

async def third(): pass
if RATE == 0:
    print()
"""


def kept(*expressions: str) -> str:
    return reachable(MODULE, expressions)


def test_what_is_named_is_kept_with_what_it_names():
    found = kept("first(x)")
    assert "axis_name" in found and "def helper" in found and "RATE: float" in found
    assert "class Second" not in found and "third" not in found and "tx, other" not in found


def test_a_class_is_kept_whole():
    found = kept("Second()(x)")
    assert "return other" in found and "tx, other = make" in found and "RATE: float" in found
    assert "def helper" not in found


def test_what_defines_nothing_is_kept():
    assert "import jax" in kept("third()")
    assert "if RATE == 0" in kept("third()")


def test_of_a_module_without_such_a_name_all_is_kept():
    assert kept("unknown(x)") == MODULE


@given(st.text(alphabet="ab=:(),@ \n\tdefclass", max_size=200), st.text(max_size=10))
def test_any_text_can_be_looked_at(source: str, expression: str):
    found = reachable(source, [expression])
    assert all(line in source for line in found.splitlines())


@pytest.mark.parametrize("numbers", [range(60_000), range(59_999, -1, -1)])
def test_a_chain_as_long_as_a_file_can_be_is_followed(numbers: range):
    """Were every step to look at all definitions, this would not end while somebody waits."""
    chain = "".join(f"f{number} = f{number + 1}\n" for number in numbers)
    assert reachable(chain + "g = f0\n", ["f0(x)"]) == chain
