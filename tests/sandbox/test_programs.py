"""Compiled programs: the internals of JAX that we rely on, and encryption."""

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as some

from tutor.lesson import Limits
from tutor.sandbox import sealing
from tutor.sandbox.launch import Spec, environment

KEYS = some.text(min_size=1, max_size=80)

INSIDE = """
import jax, jax.numpy as jnp
import numpy as np
from jax._src.interpreters import mlir
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Leaf

environment = LearnerEnvironment()
heard = []
jax.monitoring.register_event_listener(lambda event, **_: heard.append(event))
hits = lambda: heard.count("/jax/compilation_cache/cache_hits")
contexts = []
enter = mlir.ModuleContext.__init__

def counted(self, *arguments, **more):
    enter(self, *arguments, **more)
    contexts.append(self.context)

mlir.ModuleContext.__init__ = counted

def double(x):
    return x + x

before = jax.jit(double)(jnp.arange(3.0))
assert hits() == 0, heard
kept = environment.programs.take_needed()
assert kept and not any("double" in name for name in kept), kept
assert not any(b"double" in program for program in kept.values())
environment.programs.made.clear()
environment.programs.give(kept)
jax.clear_caches()
after = jax.jit(double)(jnp.arange(3.0))
assert hits() >= 1, heard
assert (before == after).all()
assert environment.programs.take_needed()
assert len(contexts) >= 2 and len({id(one) for one in contexts}) == 1, contexts
heard.clear()
environment.fresh(Leaf(np.ones(7), "array"))
assert not heard, heard
"""


def test_jax_uses_our_cache_and_mlir_context(tmp_path: Path):
    """Given programs are found under their encrypted names and used, all lowering shares one MLIR
    context, and inputs need no compilation."""
    done = subprocess.run(
        [sys.executable, "-c", INSIDE],
        env=environment(Spec("learner", Limits()), tmp_path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@given(KEYS, some.binary(max_size=2000))
def test_the_key_decrypts_the_program(key: str, program: bytes):
    assert sealing.sealed(key, sealing.sealed(key, program)) == program


@given(KEYS, KEYS, some.binary(min_size=40, max_size=2000))
def test_another_key_does_not(key: str, other: str, program: bytes):
    kept = sealing.sealed(key, program)
    assert len(kept) == len(program)
    if other != key:
        assert sealing.name(other) != sealing.name(key)
        assert sealing.sealed(other, kept) != program
