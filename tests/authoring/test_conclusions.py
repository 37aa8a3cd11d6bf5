"""Conclusions drawn in functions of a `jax_harness` are found like those in expressions."""

from tests.cases import for_each
from tutor.authoring.conclusions import conclusion

IMPORTS = """\
import functools
import math
import operator

import jax
import jax.numpy as jnp
import numpy as onp
from jax.numpy import allclose as near

"""

CONCLUDED = """\
# h(f, x) -> a comparison
def h(f, x):
    return f(x) < 1

# h(f, x) -> a truth value
def h(f, x):
    return not f(x)

# h(f, x) -> `jnp.allclose`
def h(f, x):
    return jnp.allclose(f(x), x)

# h(f, x) -> `near`
def h(f, x):
    return near(f(x), x)

# h(f, x) -> `onp.stack`
def h(f, x):
    return onp.stack([f(x)])

# h(f, x) -> `operator.lt`
def h(f, x):
    return operator.lt(f(x), 1)

# h(f, x) -> `.std()`
def h(f, x):
    return f(x).std()

# h(f, x) -> `.shape`
def h(f, x):
    return f(x).shape

# h(f, x) -> a value computed from two answers
def h(f, x):
    return f(x) - f(2 * x)

# h(f, x) -> the builtin `len`
def h(f, x):
    return [len(f(x)) for _ in x]

# h(f, x) -> a comparison
h = lambda f, x: f(x) == x

# list(h(f, x)) -> a comparison
def h(f, x):
    yield f(x) == x

# h(f, x) -> a comparison
def h(f, x):
    y = f(x)
    same = y == x
    return same

# h(f, x) -> a value computed from two answers
def h(f, x):
    d = f(x) - f(-x)
    return [d]

# h(f, x) -> the builtin `len`
def h(f, x):
    y, n = f(x), len(f(x))
    return n

# h(f, x) -> `.sum()`
def h(f, x):
    out = []
    for v in x:
        out.append(f(v).sum())
    return out

# h(f, x) -> `jnp.size`
def h(f, x):
    out = {}
    out['n'] = jnp.size(f(x))
    return out

# h(f, x) -> the builtin `len`
def h(f, x):
    seen = []
    def spy(v):
        seen.append(v)
        return v
    f(spy, x)
    return len(seen)

# h(f, x) -> a count
def h(f, x):
    n = 0
    def spy(v):
        nonlocal n
        n += 1
        return v
    f(spy, x)
    return n

# h(f, x) -> `jnp.allclose`
def h(f, x):
    if jnp.allclose(f(x), x):
        return 1.0
    return 0.0

# h(f, x) -> a comparison
def h(f, x):
    ok = True
    for v in x:
        if f(v) > v:
            ok = False
    return ok

# h(f, x) -> a caught exception
def h(f, x):
    try:
        f(x)
    except ValueError:
        return 1
    return 0

# h(f, x) -> `jnp.all`
def h(f, x):
    assert jnp.all(f(x) == x)
    return x

# h(f, x) -> a comparison
def near_enough(a, b):
    return abs(a - b) < 1

def h(f, x):
    return near_enough(f(x), x)

# h(f, x) -> a comparison
def h(f, x):
    def same(v):
        return v == x
    return same(f(x))

# jax.vmap(norm)(f(x)) -> `jnp.sqrt`
def norm(v):
    return jnp.sqrt((v ** 2).sum())

# [norm(f(x)), x] -> `jnp.sqrt`
def norm(v):
    return jnp.sqrt((v ** 2).sum())

# h(f(x).sum()) -> `.sum()`
def h(v):
    return [v]
"""
"""Each harness below the expression that calls it, and what that concludes."""

RAW = """\
# h(f, x)
def h(f, x):
    out = []
    for _ in range(3):
        x = f(x)
        out.append(x)
    return out

# h(f, x)
def h(f, x):
    return [f(v) for v in x]

# h(f, x)
def h(f, x):
    return f(jnp.stack([x, x]), len(x))

# h(f, x)
def h(f, x):
    for _ in range(9):
        x = x - 0.1 * jax.grad(f)(x)
    return x

# h(f, x)
def h(step, x):
    def loss(v):
        return jnp.sum(v ** 2)
    return step(loss, x)

# f(loss, x)
def loss(v):
    return jnp.sum(v ** 2)

# f(loss)(2 * x)
def loss(v):
    return v @ v - x @ v

# f(pairs(x))
def pairs(n):
    return jnp.stack([n, n]).sum()

# h(f, x)
def h(f, x):
    y = f(x)
    if isinstance(y, tuple):
        y = y[0]
    return y

# h(f, x)
def h(f, x):
    model = f(x)
    while not model.done:
        model = model.step()
    return model.state

# h(f, x)
def h(f, x):
    if x.ndim > 1:
        return x
    return f(x)

# h(f, x)
def h(f, x):
    mapped = jax.jit(jax.vmap(functools.partial(f, scale=math.pi)))
    return mapped(jnp.ones(3)), jax.tree.map(lambda v: v + 1, f(x))

# h(f(x))
def h(n):
    return h(n - 1) if n else h(0)
"""


def cases(text: str) -> list[list[str]]:
    """Return the first line of each case, and its harness."""
    return [one.split("\n", 1) for one in text.removeprefix("# ").split("\n\n# ")]


@for_each(("case", "harness"), cases(CONCLUDED))
def test_a_conclusion_in_the_harness_is_found(case: str, harness: str):
    expression, told = case.split(" -> ")
    assert conclusion(expression, {"x"}, IMPORTS + harness) == told


@for_each(("expression", "harness"), cases(RAW))
def test_a_harness_that_returns_what_the_learners_functions_do_is_not_remarked(
    expression: str, harness: str
):
    assert not conclusion(expression, {"x"}, IMPORTS + harness)
