"""`prng`: a key may be made twice if every child is used once, and the message names the lines that
made it twice."""

from tests.cases import for_each
from tests.checks.one_check import result_of
from tutor.checks.prng import Prng
from tutor.pool.forks import Forks

HEAD = """import jax
import jax.numpy as jnp
from jax.random import fold_in, normal, permutation, split

"""  # Four lines, and one that each answer begins with.

RIGHT: dict[str, str] = {
    "a table of fold_in": """
def f(key):
    return [normal(fold_in(fold_in(key, epoch), i), (9,)) for epoch in (0, 1) for i in (0, 1)]
""",
    "split twice, each child used once": """
def f(key):
    first = normal(split(key)[0], (9,))
    return [first, normal(split(key)[1], (9,))]
""",
    "the first of two, and fold_in of a number above": """
def f(key):
    return [normal(split(key, 2)[0], (9,)), normal(fold_in(key, 2), (9,))]
""",
    "a function that splits what its caller split again": """
def pair(key):
    a, b = split(key)
    return [normal(a, (9,)), normal(b, (9,))]

def f(key):
    return [pair(split(key)[i]) for i in (0, 1)]
""",
    "samplers that split": """
def f(key):
    a, b = split(key)
    return [permutation(a, 7), permutation(b, 7), jax.random.poisson(fold_in(key, 2), 3.0, (9,))]
""",
    "in a scan": """
def f(key):
    def body(state, i):
        return state, normal(fold_in(fold_in(key, i // 2), i % 2), (9,))
    return jax.lax.scan(body, 0, jnp.arange(4))[1]
""",
}
WRONG: dict[str, tuple[str, str]] = {
    "split in one function and folded in another": ("""
def orders(key, n, epochs):
    return jax.vmap(lambda k: permutation(k, n))(split(key, epochs))

def f(key):
    found = orders(key, 9, 2)
    keys = [split(fold_in(key, epoch), 3) for epoch in range(2)]
    return [found, [normal(k, (9,)) for row in keys for k in row]]
""", "line 7 splits the key into which line 11 folds"),
    "split in two functions": ("""
def first(key):
    return normal(split(key)[0], (9,))

def second(key):
    return normal(split(key, 3)[0], (9,))

def f(key):
    return first(key), second(key)
""", "lines 7 and 10 split the same key"),
    "folded in twice, the child split": ("""
def pair(key):
    return [normal(k, (9,)) for k in split(key)]

def f(key):
    return [pair(fold_in(key, i // 2)) for i in range(4)]
""", "fold_in of 0 into the same key twice (line 10)"),
    "a number that comes again below": ("""
def f(key):
    return [normal(fold_in(fold_in(key, 3), i % 2), (9,)) for i in range(4)]
""", "into the same key twice (line 7)"),
    "two permutations": ("""
def f(key):
    a = permutation(key, 9)
    return [a, permutation(key, 9)]
""", "lines 7 and 8 draw from the same key"),
    "not carried along": ("""
def pair(key):
    return [normal(k, (9,)) for k in split(key)]

def f(key):
    return [pair(split(key)[1]) for _ in range(3)]
""", "line 10 splits the same key 3 times"),
}  # fmt: skip


INPUTS = {"key": "key()"}


@for_each("style", RIGHT)
def test_keys_that_are_made_twice_and_used_once_pass(style: str, forks: Forks):
    result = result_of(Prng(prng="f(key)"), HEAD + RIGHT[style], INPUTS, forks)
    assert result.status == "pass", result.text


@for_each("mistake", WRONG)
def test_the_lines_that_made_a_key_twice_are_named(mistake: str, forks: Forks):
    code, words = WRONG[mistake]
    result = result_of(Prng(prng="f(key)"), HEAD + code, INPUTS, forks)
    assert result.status == "fail"
    assert words in result.text
