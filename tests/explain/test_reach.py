"""`reachable` keeps the parts of a module that an expression can reach, and omits the rest."""

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


def test_a_named_function_is_kept_with_the_names_it_uses():
    found = kept("first(x)")
    assert "axis_name" in found and "def helper" in found and "RATE: float" in found
    assert "class Second" not in found and "third" not in found and "tx, other" not in found


def test_a_class_is_kept_whole():
    found = kept("Second()(x)")
    assert "return other" in found and "tx, other = make" in found and "RATE: float" in found
    assert "def helper" not in found


def test_statements_that_define_nothing_are_kept():
    assert "import jax" in kept("third()")
    assert "if RATE == 0" in kept("third()")


def test_an_unknown_name_keeps_the_whole_module():
    assert kept("unknown(x)") == MODULE


@given(st.text(alphabet="ab=:(),@ \n\tdefclass", max_size=200), st.text(max_size=10))
def test_any_text_is_accepted(source: str, expression: str):
    found = reachable(source, [expression])
    assert all(line in source for line in found.splitlines())


@pytest.mark.parametrize("numbers", [range(60_000), range(59_999, -1, -1)])
def test_the_longest_possible_chain_is_followed(numbers: range):
    """If every step searched all definitions, this would take far too long."""
    chain = "".join(f"f{number} = f{number + 1}\n" for number in numbers)
    assert reachable(chain + "g = f0\n", ["f0(x)"]) == chain


def test_what_a_decorator_adds_to_a_function_belongs_to_it():
    code = (
        "@jax.custom_jvp\ndef f(x): return x\n\n"
        "@f.defjvp\ndef f_jvp(primals, tangents): return helper(primals)\n\n"
        "def helper(x): return x\n\n@other.register\ndef _(x): return x\n\n"
        "@jax.jit\ndef g(x): pass\n"
    )
    found = reachable(code, ["f(x)"])
    assert "def f_jvp" in found and "def helper" in found
    assert "other.register" not in found and "def g" not in found
