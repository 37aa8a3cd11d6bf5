"""What an idle answer returns, by running it."""

import jax.numpy as jnp
import pytest

from tutor.authoring.idle import WAYS, make_idle

MAKER = """\
import jax


def make(scale):
    return jax.jit(lambda x: scale * x)
"""


def made(way: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(make_idle(MAKER, "make", way), names)
    return names


@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_is_returned_is_idle(way: str):
    x = jnp.array([2.0, 7.0, -4.0])
    result = made(way)["make"](3.0)(x)
    assert result.shape == (3,) and result.dtype == x.dtype
    assert not bool(jnp.any(result == 3 * x))
    assert way != "its input" or bool(jnp.all(result == x))


COUNTER = """\
class Counter:
    def __init__(self, total):
        self.total = total

    def add(self, x):
        return self.total + x
"""


def test_the_methods_of_a_class_are_idle():
    names: dict[str, object] = {}
    exec(make_idle(COUNTER, "Counter", "zeros"), names)
    counter = names["Counter"](jnp.ones(2))
    assert bool(jnp.all(counter.total == 1))
    assert bool(jnp.all(counter.add(jnp.ones(2)) == 0))
