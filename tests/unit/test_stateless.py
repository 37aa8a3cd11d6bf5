"""Which harnesses may serve several modules of user code."""

from tests.cases import for_each
from tutor.sandbox.stateless import stateless

STAYS = """
\"\"\"Functions of the checks.\"\"\"
import functools
import jax
import jax.numpy as jnp
from jax import lax

ROWS, SCALE, NAME = 3, -0.5, "rows"
SHAPE = (3, 4)
batched = jax.vmap(jax.grad(lambda w, x: (w * x).sum()), in_axes=(None, 0))
half = functools.partial(jnp.multiply, 0.5)

@jax.jit
def softmax(x, axis=-1, *, keepdims=True):
    counts = []
    counts.append(x)
    local = {}
    local["x"] = x
    return jnp.exp(x)
"""


def test_functions_and_constants_stay():
    assert stateless(STAYS)


@for_each(
    "more",
    [
        "seen = []",
        "seen = {}",
        "class Counted:\n    calls = 0",
        "import numpy as np\ntable = np.zeros(3)",
        "@functools.cache\ndef slow(x):\n    return x",
        "@functools.lru_cache(maxsize=3)\ndef slow(x):\n    return x",
        "cached = functools.cache(softmax)",
        "from functools import cache as memo\n@memo\ndef slow(x):\n    return x",
        """def memo(f):
    seen = {}
    return lambda x: seen.setdefault(x, f(x))
@memo
def slow(x):
    return x""",
        "def f(x, seen=[]):\n    return seen",
        "def f(x):\n    global ROWS\n    ROWS = x",
        "def f(x):\n    softmax.calls = x",
        "def f(x):\n    globals()['ROWS'] = x",
        "def f(x):\n    setattr(softmax, 'calls', x)",
        "key = jax.random.key(0)[None]",
        "for n in range(3):\n    pass",
    ],
)
def test_what_can_change_is_imported_again(more: str):
    assert not stateless(f"{STAYS}\n{more}\n")
