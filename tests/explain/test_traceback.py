"""Pasted tracebacks are read from Python, IPython, JAX and XLA, with any text around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.explain.symptom import UNKNOWN, Symptom
from tutor.explain.traceback import read_symptoms

CHAINED = """\
I0000 00:00:1 tfrt_cpu_pjrt_client.cc:349] TfrtCpuClient created.
Epoch: 3
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    loss = step(params)
           ^^^^^^^^^^^^
  File "/home/me/lib/python3.11/site-packages/jax/_src/traceback_util.py", line 2, in reraise
    return fun(*args)
  File "/home/me/train.py", line 5, in step
    if x > 0:
       ^^^^^
  File "/home/me/lib/python3.11/site-packages/jax/_src/core.py", line 1, in __bool__
    raise error
jax.errors.TracerBoolConversionError: Attempted boolean conversion of array with shape bool[].
The error occurred while tracing the function step at /home/me/train.py:4 for jit.

--------------------
For simplicity, JAX has removed its internal frames from the traceback of the following exception.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    loss = step(params)
  File "/home/me/train.py", line 6, in step
    while x > 0:
jax.errors.TracerBoolConversionError: Attempted boolean conversion of array with shape int[].
See https://docs.jax.dev
--------------------
For simplicity, JAX has removed its internal frames.
"""

IPYTHON = """\
\x1b[31m---------------------------------------------------------------------------\x1b[39m
\x1b[31mTypeError\x1b[39m                                 Traceback (most recent call last)
\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[3]\x1b[39m\x1b[32m, line 2\x1b[39m
\x1b[32m      1\x1b[39m x = jnp.ones((2, 3))
\x1b[32m----> 2\x1b[39m x.sum(dim=1)

File \x1b[32m~/lib/python3.11/site-packages/jax/_src/methods.py:1\x1b[39m, in f(self)
\x1b[32m----> 1\x1b[39m     return fun(self, *args, **kwargs)

\x1b[31mTypeError\x1b[39m: _sum() got an unexpected keyword argument 'dim'
"""

SEVERAL = """\
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    f(x, jnp.ones(3))
ValueError: Non-hashable static arguments are not supported. The error was:
TypeError: unhashable type: 'jaxlib._jax.ArrayImpl'
"""

WARNED = "train.py:7: UserWarning: Some donated buffers were not usable: float32[10].\n  warn()\n"
ABORTED = "F0000 rendezvous.cc:37] Termination timeout for 'all reduce RendezvousKey{run_id=1}'\n"
QUOTING = """\
Traceback (most recent call last):
  File "a.py", line 19, in <module>
    f(Grid(jnp.ones(3)))
ValueError: Non-hashable static arguments are not supported. The error was:
Traceback (most recent call last):
  File "a.py", line 14, in __hash__
TypeError: unhashable type: 'jaxlib._jax.ArrayImpl'
"""
OF_OPTAX = """\
  File "a.py", line 19, in <module>
    state = tx.init(params)
  File "C:\\env\\site-packages\\optax\\schedules\\_inject.py", line 283, in __call__
    return self.schedule_fn(state.count)
TypeError: f() missing 1 required positional argument: 'x'
"""
TYPED = """\
>>> key = jax.random.key(0)
>>> a, b, c = jax.random.split(key)
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
ValueError: not enough values to unpack (expected 3, got 2)
>>> a = jax.random.split(key)
"""
SESSION = """\
>>> jax.devices()
/lib/plugin_support.py:91: RuntimeWarning: JAX plugin is not compatible
  warnings.warn(
"""


def read_traceback(text: str) -> Symptom | None:
    """Return the last exception of a text that names its class."""
    return next((one for one in read_symptoms(text) if one.exception != UNKNOWN), None)


@pytest.mark.parametrize(
    ("text", "exception", "message", "line"),
    [
        (CHAINED, "TracerBoolConversionError",
         "Attempted boolean conversion of array with shape int[].\nSee https://docs.jax.dev",
         "while x > 0:"),
        (IPYTHON, "TypeError", "_sum() got an unexpected keyword argument 'dim'", "x.sum(dim=1)"),
        (SEVERAL, "ValueError", SEVERAL.partition("ValueError: ")[2], "f(x, jnp.ones(3))"),
        ("jax.errors.KeyReuseError: twice", "KeyReuseError", "twice", ""),
        ("log\nflax.errors.ScopeCollectionNotFound: Tried\nmore", "ScopeCollectionNotFound",
         "Tried\nmore", ""),
        (QUOTING, "ValueError", QUOTING.partition("ValueError: ")[2], "f(Grid(jnp.ones(3)))"),
        (SESSION, "RuntimeWarning", "JAX plugin is not compatible\n  warnings.warn(", ""),
        (TYPED, "ValueError", "not enough values to unpack (expected 3, got 2)",
         "a, b, c = jax.random.split(key)"),
        (WARNED, "UserWarning", "Some donated buffers were not usable: float32[10].\n  warn()", ""),
        ('  File "a.py", line 3, in f\n    g(x)\nKeyError', "KeyError", "", "g(x)"),
        ('  File "a.py", line 3, in f\n    state.rates = {"adam": 1e-4}\nAttributeError: no',
         "AttributeError", "no", 'state.rates = {"adam": 1e-4}'),
    ],
    ids=["chained", "ipython", "several", "last line", "flax", "quoting", "session", "typed",
         "warning", "no message", "a dict in the line"],
)  # fmt: skip
def test_a_traceback_is_read(text: str, exception: str, message: str, line: str):
    for variant in (text, text.replace("\n", "\r\n")):
        symptom = read_traceback(variant)
        assert symptom is not None
        found = symptom.exception, symptom.message, symptom.line
        assert found == (exception, message.strip(), line)


def test_the_libraries_frames_are_read():
    symptom = read_traceback(OF_OPTAX)
    assert symptom is not None
    assert symptom.line == "state = tx.init(params)"
    assert 'optax/schedules/_inject.py", line 283, in __call__' in symptom.through


def test_an_abort_of_xla_is_recognised():
    symptom = read_traceback(ABORTED)
    assert symptom is not None
    assert symptom.fault == "rendezvous"


@pytest.mark.parametrize(
    "text", ["", "hello", "Epoch: 3\nloss: 2.0", "x = 1\n", "INFO: all is well"]
)
def test_text_without_a_traceback_gives_none(text: str):
    assert read_traceback(text) is None


@given(st.text(alphabet="aA:. \n'\"()-File>Traceback\x1b[m", max_size=400))
def test_any_text_is_accepted(text: str):
    read_traceback(text)
