"""The losses of a training beside PyTorch's: in words, and as a plot of characters."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.cases import for_each
from tutor.curves import (
    MIN_DIFFERENCE,
    CurveChart,
    difference_plot,
    in_words,
    loss_plot,
    spark_line,
)
from tutor.report import Curves

LOSS = st.none() | st.floats(-1e30, 1e30)


def lines(curves: Curves, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(CurveChart(curves))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def falling(count: int, offset: float = 0.0) -> Curves:
    right = tuple(2.0 * math.exp(-step / 10) for step in range(count))
    return Curves(tuple(range(count)), tuple(loss + offset for loss in right), right)


def test_equal_curves_are_said_to_be_equal():
    assert in_words(falling(20)).endswith("; equal at every step")


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ((2.0, 1.5, 0.5), "largest difference 0.5, at step 8"),
        ((2.0, None, 0.75), "largest difference 0.25, at step 16"),
        ((None, None, None), "losses from NaN to NaN; PyTorch's from 2 to 0.5"),
    ],
)
def test_the_largest_difference_is_named_with_its_step(losses: tuple[float | None, ...], said: str):
    assert said in in_words(Curves((0, 8, 16), losses, (2.0, 1.0, 0.5)))


def test_a_plot_has_both_curves_their_scale_and_their_difference():
    shown = lines(falling(30, offset=0.01))
    text = "\n".join(shown)
    assert "⠤ yours  ○ PyTorch" in text and "difference" in text
    axis = [line for line in shown if "┤" in line]
    assert axis[0].strip().startswith("2.01 ┤") and axis[6].strip().startswith("0.11 ┤")
    assert axis[7].strip().startswith("0.01 ┤")
    assert "○" in axis[0] and "○" in axis[6]
    # Both curves fall: their first marks stand above their last.
    assert axis[0].index("○") < axis[6].index("○")
    assert shown[-1].strip().startswith("step 0") and shown[-1].endswith("29")


def test_the_words_alone_are_printed_into_a_pipe_and_into_little_room():
    assert len(lines(falling(30), 10_000)) == 1
    assert not any("┤" in line for line in lines(falling(30), 30))


@given(st.lists(st.tuples(LOSS, LOSS), min_size=1, max_size=60), st.integers(20, 100))
def test_any_losses_can_be_drawn(pairs: list[tuple[float | None, float | None]], width: int):
    mine, right = zip(*pairs, strict=True)
    curves = Curves(tuple(range(len(pairs))), mine, right)
    for plot in (loss_plot(curves), difference_plot(curves)):
        values = [value for curve in plot.curves for value in curve if value is not None]
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in values)
    assert all(len(line) <= width for line in lines(curves, width))


def test_small_differences_are_drawn_at_the_bottom():
    plot = difference_plot(falling(10))
    assert plot.low == MIN_DIFFERENCE and set(plot.curves[0]) == {0.0}


@for_each(
    ("losses", "line"),
    [
        ((1.0, 0.1, 0.01), "█▅▁"),
        ((-1.0, 0.0, 1.0), "▁▅█"),
        ((2.0, 2.0), "▁▁"),
        ((None, 1.0), "×▁"),
        ((None,), "×"),
    ],
)
def test_losses_become_a_line_of_bars(losses: tuple[float | None, ...], line: str):
    assert spark_line(losses, 24) == line


@given(st.lists(LOSS, min_size=1, max_size=200), st.integers(1, 40))
def test_a_line_of_bars_has_the_width_it_is_given(losses: list[float | None], columns: int):
    assert 1 <= len(spark_line(losses, columns)) <= columns
