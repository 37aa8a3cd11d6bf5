"""Every name of the table is looked up in the installed libraries, and explained when it is not
there."""

import ast
import json
import subprocess
import sys

import pytest

from tests.stopwatch import GUARD
from tutor.explain import Symptom, explain
from tutor.explain.names import groups, index, rule_of
from tutor.explain.rulebook import rules

LOOK_UP = '''
import builtins, importlib, json, sys
import jax, jax.numpy as jnp

def said(look_up):
    try:
        look_up()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None

def on_tracers(transform, x, name):
    def look_up():
        transform(lambda x: (getattr(x, name), 0.0)[1])(x)
    return look_up

def ways(owner, name):
    """Yield all ways to look a name up."""
    if owner == "array":
        x = jnp.ones(3)
        yield lambda: getattr(x, name)
        yield lambda: getattr(x.astype(jnp.int32)[0], name)
        yield on_tracers(jax.jit, x, name)
        yield on_tracers(jax.grad, x[0], name)
        yield on_tracers(jax.vmap, x, name)
    elif owner == "key":
        yield lambda: getattr(jax.random.key(0), name)
        yield on_tracers(jax.jit, jax.random.key(0), name)
    elif owner == "":
        yield lambda: importlib.import_module(name)
    elif owner in ("dict", "list", "tuple", "float", "int", "function", "str"):
        some = (lambda: 0) if owner == "function" else getattr(builtins, owner)()
        yield lambda: getattr(some, name)
    else:
        try:
            module = importlib.import_module(owner)
        except ModuleNotFoundError:
            module = None
        if module is not None:
            yield lambda: getattr(module, name)
            def from_import():
                exec(f"from {owner} import {name}", {})
            yield from_import
        yield lambda: importlib.import_module(f"{owner}.{name}")

wanted = json.load(sys.stdin)
json.dump([[said(way) for way in ways(owner, name)] for owner, name in wanted], sys.stdout)
'''

Said = dict[tuple[str, str], list[tuple[str, str] | None]]


@pytest.fixture(scope="module")
def looked_up() -> Said:
    """What every way to look a name up raises, in a process of its own."""
    wanted = list(index())
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK_UP],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(wanted, json.loads(done.stdout), strict=True))


def test_no_name_of_the_table_exists(
    looked_up: Said,
):
    there = [name for name, said in looked_up.items() if not said or None in said]
    assert not there, "these exist"


def test_every_name_is_explained_however_it_is_looked_up(
    looked_up: Said,
):
    wrong = []
    for (owner, name), said in looked_up.items():
        group = index()[owner, name]
        for exception, message in filter(None, said):
            symptom = Symptom(exception=exception, message=message)
            found = explain(symptom)
            if found is None or found.id != group.id:
                wrong.append(
                    f"{owner}.{name}: {found and found.id} explains {exception}: {message}"
                )
    assert not wrong, "\n".join(wrong)


def test_what_to_write_is_python():
    for (owner, name), group in index().items():
        rule = rule_of(group, owner, name)
        ast.parse(rule.instead)
        ast.parse(rule.example)


def test_ids_are_unique_and_no_name_stands_twice():
    ids = [group.id for group in groups()] + [rule.id for rule in rules()]
    assert len(ids) == len(set(ids))
    pairs = [(o, n) for group in groups() for o in group.owners for n in group.names]
    assert len(pairs) == len(set(pairs)), sorted({one for one in pairs if pairs.count(one) > 1})
