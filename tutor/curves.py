"""Two loss curves on one plot, and their difference below: scales, words, and a plot of characters.

The HTML pages of `grade` draw the same scales as SVG.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from tutor.report import Curves

LOSSES, REFERENCE = "cyan", "yellow"
ROWS, DIFFERENCE_ROWS = 7, 3
MIN_COLUMNS, MAX_COLUMNS = 20, 72
UNWRAPPED = 1000
"""A console that is wider than this does not wrap: it is a pipe."""

LABELS = 10
"""Columns left of a plot, for the labels of its axis."""

MIN_DIFFERENCE = 1e-9
"""Smaller differences are drawn at the bottom of their plot, whose axis is logarithmic."""

_BARS = "▁▂▃▄▅▆▇█"
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille character: four rows of two dots."""


class Plot(NamedTuple):
    """Curves scaled to a square: each value from 0 (`low`) to 1 (`high`), None for a gap."""

    low: float
    high: float
    curves: tuple[tuple[float | None, ...], ...]


def loss_plot(curves: Curves) -> Plot:
    """Return the plot of the losses and PyTorch's, in this order."""
    both = (curves.losses, curves.reference)
    finite = [loss for losses in both for loss in losses if loss is not None]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    return Plot(low, high, tuple(_scaled(losses, low, high) for losses in both))


def difference_plot(curves: Curves) -> Plot:
    """Return the plot of the absolute difference; its axis is logarithmic."""
    found = [None if one is None else max(one, MIN_DIFFERENCE) for one in differences(curves)]
    high = max((one for one in found if one is not None), default=MIN_DIFFERENCE)
    high = max(high, 10 * MIN_DIFFERENCE)
    logs = [None if one is None else math.log10(one) for one in found]
    scaled = _scaled(logs, math.log10(MIN_DIFFERENCE), math.log10(high))
    return Plot(MIN_DIFFERENCE, high, (scaled,))


def differences(curves: Curves) -> list[float | None]:
    """Return the absolute difference of both curves at each step."""
    pairs = zip(curves.losses, curves.reference, strict=True)
    return [None if a is None or b is None else abs(a - b) for a, b in pairs]


def in_words(curves: Curves) -> str:
    """Return both curves in a line."""
    known = [(d, step) for d, step in zip(differences(curves), curves.steps, strict=True)
             if d is not None]  # fmt: skip
    mine, theirs = (_ends(losses) for losses in (curves.losses, curves.reference))
    line = f"losses from {mine}; PyTorch's from {theirs}"
    if not known:
        return line
    most, step = max(known)
    if not most:
        return f"{line}; equal at every step"
    return f"{line}; largest difference {most:.2g}, at step {step}"


def spark_line(losses: Sequence[float | None], columns: int) -> str:
    """Return losses as a line of bars between the smallest and the largest, by their logarithms if
    all are positive; × is NaN."""
    shown = losses[:: max(1, -(-len(losses) // columns))]
    finite = [loss for loss in shown if loss is not None]
    scale: Callable[[float], float] = math.log if min(finite, default=0.0) > 0 else float
    values = [None if loss is None else scale(loss) for loss in shown]
    known = [value for value in values if value is not None]
    scaled = _scaled(values, min(known, default=0.0), max(known, default=1.0))
    last = len(_BARS) - 1
    return "".join("×" if value is None else _BARS[round(value * last)] for value in scaled)


class CurveChart:
    """Two curves and their difference as characters: the losses as a line, PyTorch's as circles on
    it. Where lines are not wrapped (see `tutor.render.console`), only a line of words."""

    def __init__(self, curves: Curves, indent: int = 4) -> None:
        self._curves = curves
        self._indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        left = (0, 0, 0, self._indent)
        yield Padding(Text(in_words(self._curves), "dim"), left, expand=False)
        room = options.max_width - self._indent - LABELS
        if options.max_width > UNWRAPPED or room < MIN_COLUMNS or len(self._curves.steps) < 2:
            return
        columns = min(room, MAX_COLUMNS)
        margin = " " * LABELS
        lines = [Text.assemble(margin, ("⠤", LOSSES), " yours  ", ("○", REFERENCE), " PyTorch")]
        lines += _rows(loss_plot(self._curves), columns, ROWS)
        lines.append(Text(f"{margin}difference", "dim"))
        lines += _rows(difference_plot(self._curves), columns, DIFFERENCE_ROWS)
        first, last = f"step {self._curves.steps[0]}", str(self._curves.steps[-1])
        lines.append(Text(margin + first + last.rjust(columns - len(first)), "dim"))
        yield Padding(Text("\n", no_wrap=True).join(lines), left, expand=False)


def _scaled(values: Sequence[float | None], low: float, high: float) -> tuple[float | None, ...]:
    width = (high - low) or 1.0
    return tuple(None if value is None else (value - low) / width for value in values)


def _ends(losses: Sequence[float | None]) -> str:
    first, last = ("NaN" if one is None else f"{one:.4g}" for one in (losses[0], losses[-1]))
    return f"{first} to {last}"


def _rows(plot: Plot, columns: int, rows: int) -> Iterator[Text]:
    """Yield the lines of a plot: the first curve as a line, the second as circles on it."""
    dots = _drawn(plot.curves[0], 2 * columns, 4 * rows)
    circles = _circles(plot.curves[1], columns, rows) if len(plot.curves) > 1 else set()
    labels = {0: f"{plot.high:.3g}", rows - 1: f"{plot.low:.3g}"}
    for row in range(rows):
        line = Text.assemble((f"{labels.get(row, ''):>{LABELS - 2}} ┤", "dim"))
        for column in range(columns):
            if (row, column) in circles:
                line.append("○", REFERENCE)
                continue
            bits = sum(
                _DOTS[y][x]
                for y in range(4)
                for x in range(2)
                if (4 * row + y, 2 * column + x) in dots
            )
            line.append(chr(_BRAILLE + bits) if bits else " ", LOSSES)
        yield line


def _drawn(curve: Sequence[float | None], width: int, height: int) -> set[tuple[int, int]]:
    """Return the dots (row, column) of a curve, joined by straight lines."""
    dots = set()
    for x in range(width):
        at = x / (width - 1) * (len(curve) - 1)
        left, share = int(at), at - int(at)
        one, two = curve[left], curve[min(left + 1, len(curve) - 1)]
        if one is None or (two is None and share):
            continue
        value = one if two is None else one + share * (two - one)
        dots.add((round((1 - value) * (height - 1)), x))
    return dots


def _circles(curve: Sequence[float | None], columns: int, rows: int) -> set[tuple[int, int]]:
    """Return the cells (row, column) of some points of a curve."""
    cells = set()
    for column in range(0, columns, max(4, columns // 12)):
        value = curve[round(column / (columns - 1) * (len(curve) - 1))]
        if value is not None:
            cells.add((min(int((1 - value) * rows), rows - 1), column))
    return cells
