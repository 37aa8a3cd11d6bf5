"""What an idle answer returns, by running it in a process of its own: JAX starts threads."""

import json
import subprocess
import sys

from tests.cases import all_cases
from tests.stopwatch import GUARD
from tutor.authoring.idle import WAYS, make_idle

ANSWER = """\
import jax


def make(scale):
    return jax.jit(lambda x: scale * x)


def pair(scale):
    return {"scale": scale * jax.numpy.ones(2), "f": lambda x: scale * x}


class Counter:
    def __init__(self, total):
        self.total = total

    def add(self, x):
        return self.total + x


def doubled(rows):
    for row in rows:
        yield {"row": 2 * row}
"""

USED = """
import json

import jax.numpy as jnp

results = {}
for way, code in json.loads(CODES).items():
    names = {}
    exec(code, names)
    made = names["make"](3.0)(jnp.array([2.0, 7.0, -4.0]))
    pair = names["pair"](3.0)
    of_pair = [pair["scale"].tolist(), pair["f"](jnp.array([2.0, 7.0, -4.0])).tolist()]
    counter = names["Counter"](jnp.ones(2))
    added = counter.add(jnp.ones(2))
    of_counter = [counter.total.tolist(), added.tolist()]
    of_rows = [one["row"].tolist() for one in names["doubled"](jnp.array([[2.0, 7.0], [1.0, 3.0]]))]
    results[way] = [str(made.dtype), made.tolist(), *of_counter, of_rows, of_pair]
print(json.dumps(results))
"""


def test_functions_classes_trees_and_generators_are_idle():
    codes = {}
    for way in WAYS:
        codes[way] = ANSWER
        for function in ("make", "pair", "Counter", "doubled"):
            codes[way] = make_idle(codes[way], function, way)
    program = f"CODES = {json.dumps(codes)!r}\n{USED}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=GUARD, check=True
    )
    results = json.loads(done.stdout)
    with all_cases() as case:
        for way in WAYS:
            with case(way):
                dtype, made, total, added, rows, (scale, made_by_pair) = results[way]
                # A function that is returned.
                assert dtype == "float32" and len(made) == 3
                assert not {*made} & {6, 21, -12}
                assert way != "its input" or made == [2, 7, -4]
                # The methods of a class.
                assert total == [1, 1] and added != [2, 2]
                assert way != "zeros" or added == [0, 0]
                # Arrays and functions in a tree.
                assert 3 not in scale and not {*made_by_pair} & {6, 21, -12}
                # A generator.
                assert len(rows) == 2
                assert rows[0] != [4, 14] and rows[1] != [2, 6]
