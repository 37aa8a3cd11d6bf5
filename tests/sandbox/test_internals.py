"""JAX's private interfaces: which the installed release has, and the fallbacks for the others."""

import subprocess
import sys
from pathlib import Path

import pytest

from tutor.lesson import Limits
from tutor.sandbox.launch import Spec, environment

EXPECTED: dict[str, set[str]] = {}
"""The fallbacks that a release of JAX needs; none if it is not listed."""

USED = """
import jax
from tutor.sandbox import jax_internals
from tutor.sandbox.learner import LearnerEnvironment

LearnerEnvironment()
print(jax.__version__, *sorted(jax_internals.fallbacks))
"""

WITHOUT = """
import sys, types
import jax, jax.numpy as jnp
import jax._src, jax._src.interpreters

# JAX itself has imported these, and goes on using them.
jax._src.interpreters.mlir = types.ModuleType("mlir")
jax._src.compilation_cache = types.ModuleType("compilation_cache")
sys.modules["jax._src.compilation_cache_interface"] = None
del jax.make_user_context

# Events and primitives have other names.
tell = jax.monitoring.register_event_duration_secs_listener
jax.monitoring.register_event_duration_secs_listener = lambda heard: tell(
    lambda event, seconds, **details: heard("/new" + event, seconds, **details)
)
from tutor.sandbox import jax_internals

jax_internals.random_primitives()["random_bits"].name = "bits"
jax_internals.random_primitives.cache_clear()

from tutor.checks.inside import prng
from tutor.sandbox.calls import drive
from tutor.sandbox.learner import LearnerEnvironment

env = LearnerEnvironment()
assert jax_internals.fallbacks == {
    "use_cache", "cache_class", "share_mlir_context", "cache_contexts", "random_primitives"
}, jax_internals.fallbacks

traced = []

@jax.jit
def double(x):
    traced.append(x)
    return x + x

for _ in range(2):
    assert double(jnp.arange(3.0)).tolist() == [0, 2, 4]
assert len(traced) == 1
with env.empty_caches():
    programs = []
    with env.compiles.programs_in(programs):
        double(jnp.arange(3.0))
assert len(traced) == 2, "an empty cache traces again"
assert "double" in programs, programs
assert programs.count("double") == 1, programs
with env.empty_caches():
    first, second = [], []
    for programs in (first, second):
        with env.compiles.programs_in(programs):
            double(jnp.arange(3.0))
    assert first and not second
assert drive(prng._recorded(env, "jax.random.normal(jax.random.key(0))", {}))[0] is None
assert env.collect() == {}
assert {"listen_to_compilations", "random_primitives"} <= jax_internals.fallbacks
"""


def inside(code: str, folder: Path) -> str:
    """Run code in a learner's environment, without its protections."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(Spec("learner", Limits()), folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_which_fallbacks_the_installed_release_needs(tmp_path: Path):
    release, *used = inside(USED, tmp_path).split()
    assert set(used) == EXPECTED.get(release, set())


def test_without_them_everything_still_works(tmp_path: Path):
    inside(WITHOUT, tmp_path)


@pytest.mark.parametrize("room", ["sandbox", "checks"])
def test_no_other_module_imports_what_is_private(room: str):
    folder = Path(__file__).parents[2] / "tutor" / room
    for path in folder.rglob("*.py"):
        if path.name != "jax_internals.py":
            assert "from jax._src" not in path.read_text(encoding="utf-8"), path
            assert "import jax._src" not in path.read_text(encoding="utf-8"), path
