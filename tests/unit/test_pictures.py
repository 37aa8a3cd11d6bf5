"""Pictures of failures as text: at every width, without colours, and in a pipe."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tests.cases import for_each
from tutor import render
from tutor.checks.compare import compare, words
from tutor.pictures.array_map import LEVELS, ArrayMap, worst_slice
from tutor.pictures.bars import MAX_MARKS
from tutor.pictures.gauge import COLUMNS, gauge
from tutor.report import Accuracy, CheckResult, Fault, Mismatch, Race, Report, Timings
from tutor.tree import Leaf, Tree

from .trees import trees

RANDOM = np.random.default_rng(0).normal(size=(4, 6, 5))


def leaf(value: Any) -> Leaf:
    return Leaf(np.asarray(value, np.float32), "jax.Array")


def mismatch(expected: Tree, actual: Tree) -> Mismatch:
    found = compare(expected, actual)
    assert found is not None
    return found


def lines(found: Any, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, no_color=True, highlight=False).print(found)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def shown(found: Mismatch, width: int = 80, slice_number: int | None = None) -> list[str]:
    """Return the lines of a check's result between its message and its inputs."""
    result = CheckResult("f", "value", "fail", "MESSAGE", found, case="INPUTS")
    rendered = lines(render.check(result, slice_number=slice_number), width)
    assert rendered[:2] == ["✗ f", "    MESSAGE"] and rendered[-1] == "    with INPUTS"
    return rendered[2:-1]


def three_wrong() -> Mismatch:
    expected = np.zeros((3, 4))
    actual = expected.copy()
    actual[0, 1], actual[1, 3], actual[2, 0] = 2e-4, 0.5, np.inf
    return mismatch(leaf(expected), leaf(actual))


def test_the_worst_elements_stand_beside_the_map() -> None:
    assert shown(three_wrong(), 60) == [
        "      0 1 2 3    index   expected     got  difference",
        "    0 · ░ · ·    [0, 1]         0  0.0002      0.0002",
        "    1 · · · █    [1, 3]         0     0.5         0.5",
        "    2 × · · ·    [2, 0]         0     inf         inf",
        "    · right  ░ < 0.1 %  █ ≥ 10 % of the scale",
        "    × NaN or infinite",
    ]


def test_below_60_columns_they_stand_below_it() -> None:
    assert shown(three_wrong(), 40) == [
        "      0 1 2 3",
        "    0 · ░ · ·",
        "    1 · · · █",
        "    2 × · · ·",
        "    · right  ░ < 0.1 %",
        "    █ ≥ 10 % of the scale",
        "    × NaN or infinite",
        "    index   expected     got  difference",
        "    [0, 1]         0  0.0002      0.0002",
        "    [1, 3]         0     0.5         0.5",
        "    [2, 0]         0     inf         inf",
    ]


def test_a_vector_has_no_rows_and_one_wrong_element_no_table() -> None:
    expected = np.arange(6.0)
    assert shown(mismatch(leaf(expected), leaf(np.add(expected, [0, 0, 0, 2, 0, 0])))) == [
        "    0 1 2 3 4 5",
        "    · · · █ · ·",
        "    · right  █ ≥ 10 % of the scale",
    ]


def test_a_pooled_map_says_so_and_counts_in_elements() -> None:
    expected = np.zeros((40, 100))
    actual = expected.copy()
    actual[39, 99] = 1
    found = shown(mismatch(leaf(expected), leaf(actual)))
    assert found[0] == "    each cell is the worst of 3 × 4 elements"
    assert found[1] == "       0    20   40   60   80"
    assert found[2] == "     0 " + "·" * 25
    assert found[15] == "    39 " + "·" * 24 + "█"
    row = shown(mismatch(leaf(expected[0]), leaf(actual[39])))
    assert row[0] == "    each cell is the worst of 4 elements"


def test_of_more_axes_the_worst_matrix_is_shown_and_any_other_can_be() -> None:
    actual = RANDOM.copy()
    actual[1, 2, 3] += 0.01
    actual[3, 0, :2] += 3
    found = mismatch(leaf(RANDOM), leaf(actual))
    assert found.errors is not None and worst_slice(found) == 3
    worst = shown(found)
    assert worst[0] == "    [3, :, :], the worst of 4 slices"
    assert worst[2].startswith("    0 █ █ · · ·")
    assert shown(found, slice_number=3) == worst
    other = shown(found, slice_number=1)
    assert other[0] == "    [1, :, :], 2 of 4 slices"
    assert other[4].startswith("    2 · · · ▒ ·")


def test_a_tree_stands_above_the_map_of_its_first_wrong_array() -> None:
    weights = RANDOM[0]
    other = weights.copy()
    other[5] *= [1, 2, 1, -3, 1]
    other[1, 1] = other[2, 2] = other[3, 3] = 7
    expected = {"dense": {"kernel": leaf(weights), "bias": leaf(RANDOM[1, 0])}, "step": leaf(1)}
    actual = {"dense": {"kernel": leaf(other), "bias": leaf(RANDOM[1, 0])}, "step": leaf(2)}
    found = shown(mismatch(expected, actual))
    assert found[:6] == [
        "    ✗ ['dense']",
        "      ✗ ['kernel']  float32[6, 5]: 5 of 30 differ, by at most 9.32503",
        "      ✓ ['bias']    float32[5]",
        "    ✗ ['step']      2, expected 1",
        "    ['dense']['kernel']",
        "      0 1 2 3 4    index    expected      got  difference",
    ]


def test_a_pattern_stands_in_place_of_the_numbers() -> None:
    assert shown(mismatch(leaf(RANDOM[0]), leaf(RANDOM[0] * 2))) == [
        "    every number is 2 times the expected one"
    ]
    changed = RANDOM[0].copy()
    changed[4] += 1
    assert shown(mismatch(leaf(RANDOM[0]), leaf(changed)))[:3] == [
        "    only row 4 of 6 differs",
        "      0 1 2 3 4",
        "    0 · · · · ·",
    ]


def test_a_mismatch_without_map_still_lists_its_elements() -> None:
    """As in reports of earlier versions."""
    keys = Leaf(np.array([1, 2], np.uint32), "key"), Leaf(np.array([5, 3], np.uint32), "key")
    assert shown(mismatch(*keys)) == [
        "    index  expected  got  difference",
        "    [0]           1    5           4",
        "    [1]           2    3           1",
    ]


def test_shape_carries_the_meaning_of_a_cell() -> None:
    assert len(set(LEVELS)) == len(LEVELS) == 6


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(
    ("race", "bars"),
    [
        (
            Race("f(x)", 0.044, 1.5e-5, 2.2e-5),
            [
                "f(x)",
                "  JAX compiles  44 ms ▏▏▏▏▏▏▏▏▏▏▏▏▏",
                "  JAX runs      15 µs ▏",
                "  PyTorch runs  22 µs ▏▏",
                "  one more ▏: 2 times as long",
            ],
        ),
        (
            Race("f(x)", 20.0, 1e-6),
            [
                "f(x)",
                "  JAX compiles  20.0 s ▏▏▏▏▏▏▏▏▏▏▏▏▏",
                "  JAX runs        1 µs ▏",
                "  one more ▏: 4 times as long",
            ],
        ),
    ],
)
def test_a_race_is_bars_a_line_each(width: int, race: Race, bars: list[str]) -> None:
    assert lines(render.race(Report("a", "pass", (), timings=Timings(race=race))), width) == bars


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.none() | st.floats(0, 1e5))
def test_bars_fit_whatever_the_times(first: float, warm: float, torch: float | None) -> None:
    text = render.race(Report("a", "pass", (), timings=Timings(race=Race("f", first, warm, torch))))
    assert len(text.splitlines()) == (4 if torch is None else 5)
    assert max(line.count("▏") for line in text.splitlines()) <= MAX_MARKS


@for_each(
    ("reached", "goal", "line"),
    [
        (0.512, 0.7, "accuracy 0.512 ██████████░░░░│░░░░░░ goal 0.7"),
        (0.699, 0.7, "accuracy 0.699 █████████████░│░░░░░░ goal 0.7"),
        (0.953, 0.95, "accuracy 0.953 ███████████████████│░ goal 0.95"),
        (0.97, 0.97, "accuracy 0.970 ████████████████████│ goal 0.97"),
        (0.0, None, "accuracy 0.000 ░░░░░░░░░░░░░░░░░░░░"),
        (1.0, None, "accuracy 1.000 ████████████████████"),
    ],
)
def test_accuracy_is_a_bar_that_touches_the_mark_if_the_goal_is_reached(
    reached: float, goal: float | None, line: str
) -> None:
    result = CheckResult("digits", "train", "fail", accuracy=Accuracy(reached, goal))
    assert lines(render.check(result))[-1] == f"    {line}"


@given(st.floats(0, 1), st.none() | st.integers(1, 999).map(lambda one: one / 1000))
def test_every_accuracy_has_a_bar(reached: float, goal: float | None) -> None:
    line = gauge("accuracy", reached, goal)
    assert line.count("█") + line.count("░") == COLUMNS
    if goal is not None and abs(reached - goal) > 1e-9:
        assert ("█│" in line) == (reached >= goal)


def everything(pair: tuple[Tree, Tree]) -> CheckResult | None:
    found = compare(*pair)
    return found and CheckResult("f", "value", "fail", words(found), found)


@settings(max_examples=60)
@given(st.tuples(trees(), trees()) | st.tuples(trees()).map(lambda one: (one[0], changed(one[0]))))
def test_every_mismatch_is_drawn_within_the_width_without_control_characters(
    pair: tuple[Tree, Tree],
) -> None:
    if (result := everything(pair)) is None:
        return
    for width in (40, 60, 120, render.UNWRAPPED):
        drawn = lines(render.check(result), width)
        assert all(cell_len(line) <= width for line in drawn)
        if result.mismatch is not None:
            for line in lines(ArrayMap(result.mismatch), width):
                assert line.isprintable()


def changed(tree: Tree) -> Tree:
    """Return a tree with other numbers."""
    if isinstance(tree, dict):
        return {key: changed(child) for key, child in tree.items()}
    if isinstance(tree, list | tuple):
        return [changed(child) for child in tree]
    if isinstance(tree, Leaf) and tree.array is not None:
        return Leaf(np.roll(tree.array, 1), tree.type)
    return tree


def test_the_output_of_a_pipe_has_no_escape_codes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    result = everything(({"w": leaf(RANDOM[0])}, {"w": leaf(RANDOM[1])}))
    assert result is not None
    render.console().print(render.check(result))
    text = capsys.readouterr().out
    assert "\x1b" not in text and "█" in text and "index" in text
    assert max(map(len, text.splitlines())) < 120


def test_a_pattern_of_one_array_of_a_tree_says_of_which():
    right = {"a": leaf([1, 2, 3]), "b": leaf([1, 2, 4])}
    wrong = {"a": leaf([2, 4, 6]), "b": leaf([1, 2, 4.001])}
    found = lines(render.check(CheckResult("f", "value", "fail", mismatch=mismatch(right, wrong))))
    assert "    in ['a']: every number is 2 times the expected one" in found
    alone = mismatch(right["a"], wrong["a"])
    found = lines(render.check(CheckResult("f", "value", "fail", mismatch=alone)))
    assert "    every number is 2 times the expected one" in found


def test_a_fault_says_what_the_names_in_its_line_stood_for():
    fault = Fault("exception", "TypeError: no", values=("x float32[3, 2]", "n 5"))
    result = CheckResult("f", "value", "error", "TypeError: no", fault=fault)
    assert "    where x float32[3, 2], n 5" in lines(render.check(result))
    whole = [line for part in render.fault(fault) for line in lines(part)]
    assert "    where x float32[3, 2], n 5" in whole
