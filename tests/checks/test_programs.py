"""`program` and `raises`: right answers in several styles pass, wrong ones are told why."""

from tests.cases import for_each
from tests.checks.one_check import result_of
from tutor.check import Check
from tutor.checks.program import Program
from tutor.checks.raises import Raises
from tutor.inputs.draws import parse
from tutor.pool.forks import Forks

HEAD = "import jax\nimport jax.numpy as jnp\nimport functools\n\n"
GROWTH = Program(program="f(x)", inputs={"x": parse("normal(64, 3)")}, steady={"x": "x[:4]"})
NEARER = Program(program="f(x)", inputs={"x": parse("normal(60, 3)")}, steady={"x": "x[:10]"})
COUNTED = Program(program="f(x, n)", inputs={"n": parse("int(40, 41)")}, steady={"n": "4"})
LOOP = Program(program="f(x)", contains=("scan | while",))
PLAIN = Program(program="f(x)", lacks=("scan", "while"))
DONATES = Program(program="f(x, w)", donates=("x",))
SPLIT, WHOLE = (Program(program="f(x)", devices=4, lives=how) for how in ("split", "replicated"))
REFUSES = Raises(raises="f(x)", error=("TypeError", "ValueError"), says="shape")
TRACED = Raises(raises="jax.jit(f)(x)", error="jax.errors.TracerBoolConversionError")

MESH = """
def put(x, *axes):
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((jax.device_count(),), ("d",), axis_types=auto)
    return jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.P(*axes)))
"""

PAIRS = """
def f(x):
    def join(one, other):
        return one[0] * other[0], one[1] * other[0] + other[1], one[2] + other[2]
    return jax.lax.associative_scan(join, (x * 0 + 0.9, x, x))[1][-1]
"""

RIGHT: dict[str, tuple[Check, str]] = {
    "scan": (GROWTH, "def f(x): return jax.lax.scan(lambda h, r: (h + r, None), x[0] * 0, x)[0]"),
    "sum": (GROWTH, "def f(x): return x.sum(0)"),
    "jit": (GROWTH, "f = jax.jit(lambda x: jnp.cumsum(jnp.tanh(x), 0)[-1])"),
    "fori": (
        GROWTH,
        "def f(x): return jax.lax.fori_loop(0, len(x), lambda i, h: h + x[i], x[0] * 0)",
    ),
    "associative scan": (GROWTH, "def f(x): return jax.lax.associative_scan(jnp.add, x)[-1]"),
    "associative scan of pairs": (
        NEARER,
        PAIRS,
    ),
    "vmap": (GROWTH, "f = jax.vmap(lambda r: jnp.linalg.norm(r))"),
    "grad of scan": (
        GROWTH,
        "def g(x): return jax.lax.scan(lambda h, r: (h * r.sum(), h), 1.0, x)[0]\nf = jax.grad(g)",
    ),
    "a number of turns": (
        COUNTED,
        "def f(x, n): return jax.lax.fori_loop(0, n, lambda i, h: h + i, x)",
    ),
    "loop by scan": (LOOP, "def f(x): return jax.lax.scan(lambda h, r: (h + r, h), x[0], x)[0]"),
    "loop by while": (
        LOOP,
        "def f(x): return jax.lax.while_loop(lambda h: h.sum() < 9, lambda h: h + 1, x)",
    ),
    "loop by map": (LOOP, "def f(x): return jax.lax.map(jnp.sum, x)"),
    "no loop": (PLAIN, "def f(x): return jnp.tanh(x) @ x.T"),
    "donated by number": (
        DONATES, "f = functools.partial(jax.jit, donate_argnums=0)(lambda x, w: x + w)",
    ),
    "donated by name": (
        DONATES, "@functools.partial(jax.jit, donate_argnames='x')\ndef f(x, w): return x * w",
    ),
    "split": (SPLIT, MESH + "def f(x): return {'y': put(x, 'd') + 1}"),
    "split by pmap": (SPLIT, "def f(x): return jax.pmap(lambda r: r * 2)(x)"),
    "replicated": (WHOLE, MESH + "def f(x): return [put(x), jax.jit(jnp.sin)(put(x))]"),
    "a type error": (REFUSES, "def f(x): raise TypeError('the Shape is wrong')"),
    "a class of one's own": (
        REFUSES,
        "class Refused(ValueError): pass\ndef f(x): raise Refused(f'shape {x.shape}')",
    ),
    "an error of a library": (REFUSES, "def f(x): return x @ jnp.ones((7, 7, 7, 5))"),
    "an error of tracing": (TRACED, "def f(x): return 1 if x.sum() > 0 else 2"),
}  # fmt: skip

WRONG: dict[str, tuple[Check, str, str]] = {
    "a loop in Python": (GROWTH, "def f(x): return sum(r for r in x)", "a loop in Python"),
    "under jit": (
        GROWTH,
        "@jax.jit\ndef f(x):\n    h = x[0]\n    for i in range(len(x)): h = h + x[i]\n    return h",
        "if `x` grows by 60",
    ),
    "a loop over fewer rows": (
        NEARER,
        "def f(x):\n    h = x[0]\n    for r in x: h = h + r\n    return h",
        "a loop in Python",
    ),
    "a loop that knows its length": (
        NEARER,
        "def f(x):\n    assert len(x) < 99\n    for r in x: x = x + r\n    return x",
        "a loop in Python",
    ),
    "turns in Python": (
        COUNTED,
        "def f(x, n):\n    for i in range(n): x = x + i\n    return x",
        "if `n` grows by 36",
    ),
    "no loop": (LOOP, "def f(x): return x + 1", "contains no `scan` or `while`; its operations"),
    "a loop": (PLAIN, "def f(x): return jax.lax.map(jnp.sum, x)", "contains `scan`"),
    "nothing donated": (DONATES, "f = jax.jit(lambda x, w: x + w)", "`x` is not donated"),
    "both donated": (
        DONATES,
        "f = functools.partial(jax.jit, donate_argnums=(0, 1))(lambda x, w: (x + 1, w + 1))",
        "`w` is donated",
    ),
    "on one device": (SPLIT, "def f(x): return {'y': x}", "result['y'] is on one device"),
    "replicated": (SPLIT, MESH + "def f(x): return put(x)", "is replicated, expected split"),
    "split": (WHOLE, MESH + "def f(x): return put(x, 'd')", "is split, expected replicated"),
    "no array": (SPLIT, "import numpy\ndef f(x): return numpy.ones(3)", "has no JAX array"),
    "no exception": (
        REFUSES, "def f(x): return x", "`f(x)` returned float32[4, 3], expected it to raise"
    ),
    "another exception": (
        REFUSES, "def f(x): raise KeyError('shape')", "raised KeyError: 'shape'; expected TypeError"
    ),
    "another message": (REFUSES, "def f(x): raise ValueError('no')", "to contain 'shape'"),
    "not written": (REFUSES, "def f(x): raise NotImplementedError", "still to be written"),
    "another signature": (REFUSES, "def f(x, shape): raise ValueError('shape')", "argument"),
    "not there": (REFUSES, "g = 1", "`f`"),
}  # fmt: skip


INPUTS = {"x": "normal(4, 3)", "w": "normal(4, 3)"}


@for_each("style", RIGHT)
def test_right_answers_pass(style: str, forks: Forks):
    check, code = RIGHT[style]
    result = result_of(check, HEAD + code, INPUTS, forks)
    assert result.status == "pass", result.text


@for_each("mistake", WRONG)
def test_wrong_answers_are_told(mistake: str, forks: Forks):
    check, code, words = WRONG[mistake]
    result = result_of(check, HEAD + code, INPUTS, forks)
    assert result.status in ("fail", "error")
    assert words in result.text
