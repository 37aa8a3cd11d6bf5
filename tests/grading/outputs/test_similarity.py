"""Copies are found despite other names; common code is not."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from tests.grading.outputs.conftest import FakeCodeReader
from tests.grading.outputs.html import Page
from tutor.grading.result import Result
from tutor.grading.similarity import (
    MAX_BYTES,
    MAX_PAIRS,
    MAX_SHARING,
    Hashes,
    compare,
    distinct_hashes,
    fingerprints,
)
from tutor.manifest import Pack

Write = Callable[..., Path]

STARTER = """\
import jax
import jax.numpy as jnp


def init(key, sizes):
    raise NotImplementedError


def predict(params, x):
    raise NotImplementedError
"""
ORIGINAL = """\
import jax
import jax.numpy as jnp


def init(key, sizes):
    params = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        w = jax.random.normal(sub, (fan_in, fan_out)) / jnp.sqrt(fan_in)
        params.append({"w": w, "b": jnp.zeros(fan_out)})
    return params


def predict(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]
"""
RENAMED = '''\
import jax
import jax.numpy as jnp
# all my own work


def init(rng, dims):
    """Make the weights."""
    layers = []
    for n, m in zip(dims[:-1], dims[1:]):

        rng, one = jax.random.split(rng)
        weight = jax.random.normal(one, (n, m)) / jnp.sqrt(n)
        layers.append({"kernel": weight,
                       "bias": jnp.zeros(m)})
    return layers


def predict(layers, h):
    *inner, final = layers
    for one in inner:
        h = jnp.tanh(h @ one["kernel"] + one["bias"])
    return h @ final["kernel"] + final["bias"]
'''
INDEPENDENT = """\
import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jnp.sqrt(1 / n) * jax.random.normal(k, (n, m)), jnp.zeros((m,)))
        for k, n, m in zip(keys, sizes, sizes[1:])
    ]


def predict(params, x):
    for number, (w, b) in enumerate(params):
        x = jnp.dot(x, w) + b
        if number < len(params) - 1:
            x = jax.nn.tanh(x)
    return x
"""


def hashes(code: str) -> Hashes:
    found = fingerprints(code)
    assert found is not None
    return distinct_hashes(found)


def similarity(one: str, other: str) -> float:
    found = compare([hashes(one), hashes(other)], hashes(STARTER), threshold=0.0)
    return found.pairs[0].similarity if found.pairs else 0.0


# --- similarity ---------------------------------------------------------------------------


def test_other_names_numbers_comments_and_layout_change_nothing():
    assert similarity(ORIGINAL, RENAMED) == 1.0


def test_another_solution_is_not_similar():
    assert similarity(ORIGINAL, INDEPENDENT) < 0.3


def test_a_partial_copy_is_similar():
    start = ORIGINAL.index("def init")
    stop = ORIGINAL.index("def predict")
    mixed = (
        ORIGINAL[:start] + ORIGINAL[start:stop] + INDEPENDENT[INDEPENDENT.index("def predict") :]
    )
    assert 0.3 < similarity(ORIGINAL, mixed) < 1.0
    assert similarity(ORIGINAL, mixed) > similarity(INDEPENDENT, ORIGINAL)


def test_the_starter_is_ignored():
    filled = STARTER.replace("raise NotImplementedError", "return None")
    given = STARTER + ORIGINAL[ORIGINAL.index("def init") :]
    assert compare([hashes(STARTER), hashes(STARTER)], hashes(STARTER)).pairs == ()
    assert compare([hashes(filled), hashes(given)], hashes(STARTER)).pairs == ()


def test_library_functions_count():
    line = "def f(x):\n    return jnp.mean(jnp.exp(x)) + jnp.sum(x * jnp.log(x)) / jnp.max(x)\n"
    one = "import jax.numpy as jnp\n" + line
    other = one.replace("mean", "median").replace("exp", "tanh").replace("log", "sin")
    assert similarity(one, re.sub(r"\bx\b", "y", one)) == 1.0
    assert similarity(one, other) < 0.3


def test_code_that_more_than_ten_share_is_ignored():
    copies = [hashes(ORIGINAL)] * MAX_SHARING
    assert len(compare(copies, hashes(STARTER)).pairs) == MAX_SHARING * (MAX_SHARING - 1) // 2
    assert compare([*copies, hashes(RENAMED)], hashes(STARTER)).pairs == ()


def test_the_number_of_pairs_is_limited_and_the_rest_counted():
    groups = [
        np.arange(100 * place, 100 * place + 20, dtype=np.uint64)
        for place in range(MAX_PAIRS + 7)
        for _ in range(2)
    ]
    found = compare(groups, np.empty(0, np.uint64))
    assert (len(found.pairs), found.left_out) == (MAX_PAIRS, 7)


@hypothesis.given(
    strategies.lists(strategies.sets(strategies.integers(0, 40), max_size=20), max_size=12),
    strategies.sets(strategies.integers(0, 40), max_size=5),
)
def test_pairs_equal_those_of_comparing_every_two(sets: list[set[int]], given: set[int]):
    counts = {number: sum(number in one for one in sets) for number in range(41)}
    kept = [{n for n in one - given if counts[n] <= MAX_SHARING} for one in sets]
    expected = {
        (a, b): (len(kept[a] & kept[b]), 2 * len(kept[a] & kept[b]) / (len(kept[a]) + len(kept[b])))
        for b in range(len(kept))
        for a in range(b)
        if len(kept[a] & kept[b]) >= 4
        and 2 * len(kept[a] & kept[b]) / (len(kept[a]) + len(kept[b])) >= 0.6
    }
    arrays = [np.array(sorted(one), np.uint64) for one in sets]
    found = compare(arrays, np.array(sorted(given), np.uint64))
    assert {(p.a, p.b): (p.shared, pytest.approx(p.similarity)) for p in found.pairs} == expected
    ranks = [pair.similarity for pair in found.pairs]
    assert ranks == sorted(ranks, reverse=True)


# --- unreadable code ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "def f(:",
        "a\0b",
        "\ud800",
        "(" * 50_000,
        "-" * 60_000 + "1",
        "a" + ".b" * 30_000,
        "1+" * 30_000 + "1",
        "lambda:" * 8_000 + "1",
        "9" * 60_000,
        "#" * (MAX_BYTES + 1),
    ],
    ids=lambda code: repr(code[:10]),
)
def test_unparsable_code_is_unreadable_quickly(code: str):
    began = time.process_time()
    assert fingerprints(code) is None
    assert time.process_time() - began < 5


def test_what_only_a_newer_python_can_parse_takes_no_longer():
    began = time.process_time()
    fingerprints("if x: pass\n" + "elif x: pass\n" * 5_000)
    assert time.process_time() - began < 5


def test_a_deep_tree_is_read():
    assert fingerprints("x = " + "[" * 90 + "]" * 90)
    assert fingerprints("a = b" + ".c" * 700) is not None
    assert fingerprints("") == [] and fingerprints("x = 1") == []


def test_an_invalid_escape_gives_no_warning(recwarn: pytest.WarningsRecorder):
    assert fingerprints('x = "\\d"') is not None
    assert not recwarn.list


@hypothesis.given(strategies.text(alphabet="ab ()[]{}:=+.,\n\t\\'\"#@if0") | strategies.text())
def test_any_text_is_parsed_or_unreadable(text: str):
    for one in fingerprints(text) or ():
        assert 1 <= one.first_line <= one.last_line <= text.count("\n") + text.count("\r") + 1


# --- the report ------------------------------------------------------------------------------


CODES = {
    ("Ada", "double"): ORIGINAL,
    ("Bob", "double"): RENAMED,
    ("Cem", "double"): INDEPENDENT,
    ("<b>Dan", "double"): "x = 1\n",
    ("Eve", "double"): "def f(:",
}


def results() -> list[Result]:
    return [
        Result(name, lesson, "pass", 1.0, 1.0, source=f"{name}/{lesson}.py")
        for name, lesson in CODES
    ]


def test_pairs_are_reported_with_both_sources_and_no_verdict(write: Write):
    folder = write(results(), ["similarity"], reader=FakeCodeReader(CODES, STARTER))
    data = json.loads((folder / "similarity.json").read_text())
    double, tall = data["lessons"]
    assert (double["lesson"], tall["lesson"]) == ("double", "tall")
    assert (double["compared"], double["too_short"], double["unreadable"]) == (3, 1, ["Eve"])
    (pair,) = double["pairs"]
    assert pair["similarity"] == 1.0
    ada, bob = pair["submissions"]
    assert (ada["submission"], bob["submission"]) == ("Ada", "Bob")
    assert (ada["code"], bob["code"]) == (ORIGINAL, RENAMED)
    assert {7, 8, 9, 18} <= set(ada["shared_lines"])
    assert not {1, 2, 3} & set(ada["shared_lines"])
    page = Page.of(folder / "similarity.html")
    assert page.only_ours() and "not verdicts" in page.text and "100 % similar" in page.text
    marked = [text for tag, text in page.texts if tag == "mark"]
    assert "    params = []" in marked and "    layers = []" in marked
    shown = "".join(text for tag, text in page.texts if tag in ("pre", "mark"))
    assert shown == f"\n{ORIGINAL}\n\n{RENAMED}\n"  # a `pre` drops the first line end


def test_unchanged_starters_are_no_pair(pack: Pack):
    for lesson in pack.lessons.values():
        given = hashes(lesson.starter)
        assert compare([given, given], given).pairs == ()


def test_many_equal_submissions_are_compared_quickly():
    crowd = [np.arange(200, dtype=np.uint64)] * 5_000  # 12 million pairs of submissions
    assert compare(crowd, np.empty(0, np.uint64)).pairs == ()


# --- the export ----------------------------------------------------------------------


def test_the_export_has_a_directory_per_submission(write: Write):
    folder = write(results(), ["export"], reader=FakeCodeReader(CODES, STARTER)) / "export"
    assert (folder / "double/base/double.py").read_text() == STARTER
    assert (folder / "double/submissions/Ada/double.py").read_text() == ORIGINAL
    assert len(list((folder / "double/submissions").glob("*/double.py"))) == len(CODES)
    assert "-bc base submissions" in (folder / "README.txt").read_text()
