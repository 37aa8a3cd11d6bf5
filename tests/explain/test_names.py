"""No name of the table exists in the installed libraries, and what to write instead is Python."""

import ast
import json
import subprocess
import sys

import pytest

from tests.stopwatch import GUARD
from tutor.explain.names import TABLE, find, groups, index, rule_of
from tutor.pack import load_pack

LOOK_UP = """
import builtins, importlib, json, sys
import jax, jax.numpy as jnp

def error(look_up):
    try:
        look_up()
    except Exception as error:
        return type(error).__name__, str(error)

OBJECTS = {"array": jnp.ones(3), "key": jax.random.split(jax.random.key(0))}

def ways(owner, name):
    if owner in OBJECTS:
        yield lambda: getattr(OBJECTS[owner], name)
        for transform in (jax.jit, jax.vmap):
            yield lambda: transform(lambda x: (getattr(x, name), 0.0)[1])(OBJECTS[owner])
    elif hasattr(builtins, owner):
        yield lambda: getattr(getattr(builtins, owner)(), name)
    else:
        yield lambda: importlib.import_module(f"{owner}.{name}" if owner else name)
        if owner:
            yield lambda: getattr(importlib.import_module(owner), name)
            yield lambda: exec(f"from {owner} import {name}", {})

json.dump([[error(way) for way in ways(*pair)] for pair in json.load(sys.stdin)], sys.stdout)
"""
SITES = ("docs.jax.dev", "flax-linen.readthedocs.io", "flax.readthedocs.io", "optax.readthedocs.io")


def test_no_name_exists_and_each_is_found_however_it_is_looked_up():
    program = [sys.executable, "-W", "ignore", "-c", LOOK_UP]
    pairs = json.dumps(list(index())).encode()
    done = subprocess.run(program, input=pairs, stdout=subprocess.PIPE, timeout=GUARD, check=True)
    for (owner, name), errors in zip(index(), json.loads(done.stdout), strict=True):
        assert None not in errors, f"{owner}.{name} exists"
        rule = rule_of(index()[owner, name], owner, name)
        for exception, message in errors:
            found = find(exception, message)
            assert found is not None, f"{owner}.{name}: {message}"
            assert (found.rule.id, found.rule.instead) == (rule.id, rule.instead)


def test_each_entry_is_python_with_a_lesson_and_a_page():
    lessons = load_pack().lessons
    for (owner, name), group in index().items():
        rule = rule_of(group, owner, name)
        ast.parse(rule.example + rule.instead)
        assert "\n" not in rule.instead, name
        assert rule.lesson in lessons, name
        assert rule.link.split("/")[2] in SITES, name


def test_the_table_is_short_and_no_name_stands_twice():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 900
    assert max(map(len, lines)) <= 120
    assert sum(len(group.of) * len(group.names) for group in groups()) == len(index())


@pytest.mark.parametrize(
    ("message", "name", "instead"),
    [
        ("module 'jax.numpy' has no attribute 'cat'", "cat", "jnp.concatenate"),
        ("'ArrayImpl' object has no attribute 'detach'", "detach", "jax.lax.stop_gradient"),
        ("DynamicJaxprTracer has no attribute unsqueeze", "unsqueeze", "x[None]"),
        ("jax.tree_map was removed in JAX v0.6.0: use jax.tree.map", "tree_map", "jax.tree.map"),
        ("cannot import name 'optim' from 'flax' (/flax/__init__.py)", "optim", "optax.adamw"),
        ("No module named 'jax.experimental.maps'", "maps", "jax.shard_map"),
    ],
)
def test_names_are_found_in_messages(message: str, name: str, instead: str):
    found = find("AttributeError", message)
    assert found is not None
    assert found.rule.id == name
    assert instead in found.rule.instead
    assert find("ValueError", message) is None
