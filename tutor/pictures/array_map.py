"""An array as a map of its errors, with the worst elements next to it or below."""

import textwrap

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tutor.report import ErrorMap, ErrorSlice, Mismatch

LEVELS = "·░▒▓█×"
"""The character of each level of `ErrorSlice`."""

LEGEND = ("right", "< 0.1 %", "< 1 %", "< 10 %", "≥ 10 %", "NaN or infinite")
"""What each level means; percentages are of the scale of the comparison."""

MIN_BESIDE = 60
"""Columns of a terminal from which numbers may stand next to the map."""

SPACED = 16
"""Most columns of cells with a space between them, which makes a cell a square."""


_NO_BREAK = "\N{NO-BREAK SPACE}"


class ArrayMap:
    """The map of a mismatch's array and its worst elements; only these if it has no map.

    **Arguments:** `number`: which of `errors.slices` to show; by default the one that holds the
    largest error. `numbers`: whether to show elements.
    """

    def __init__(
        self,
        mismatch: Mismatch,
        number: int | None = None,
        *,
        numbers: bool = True,
        indent: int = 4,
    ) -> None:
        self._mismatch = mismatch
        self._number = number
        self._entries = numbers and len(mismatch.entries) > 1
        self._indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        left = (0, 0, 0, self._indent)
        room = options.max_width - self._indent
        tables = [_entries(self._mismatch, full) for full in (True, False)] if self._entries else []
        widths = [Measurement.get(console, options, table).maximum for table in tables]
        errors = self._mismatch.errors
        if errors is not None:
            number = worst_slice(self._mismatch) if self._number is None else self._number
            drawing = _drawing(errors, errors.slices[number])
            if caption := _caption(self._mismatch, errors, number):
                yield Padding(Text(caption, "dim"), left, expand=False)
            beside = console.measure(drawing, options=options).maximum + 4
            if options.max_width >= MIN_BESIDE:
                for table, width in zip(tables, widths, strict=True):
                    if beside + width <= room:
                        yield Padding(_side_by_side(drawing, table), left, expand=False)
                        yield Padding(_legend(errors.slices[number], room), left, expand=False)
                        return
            yield Padding(drawing, left, expand=False)
            yield Padding(_legend(errors.slices[number], room), left, expand=False)
        if tables:
            fits = widths[0] <= room
            yield Padding(tables[0 if fits else 1], left, expand=False)


def worst_slice(mismatch: Mismatch) -> int:
    """Return the number of the slice of `mismatch.errors` that has the largest error."""
    assert mismatch.errors is not None
    leading = (mismatch.where or ())[:-2]
    indices = [one.index for one in mismatch.errors.slices]
    return indices.index(leading) if leading in indices else 0


def _caption(mismatch: Mismatch, errors: ErrorMap, number: int) -> str:
    """Return what the map shows, if that is not the whole answer element by element."""
    parts = [mismatch.path] if mismatch.tree else []
    index = errors.slices[number].index
    if index:
        which = "the worst" if number == worst_slice(mismatch) else f"{number + 1}"
        count = 1
        for size in (mismatch.expected.shape or ())[:-2]:
            count *= size
        kept = len(errors.slices)
        of = f"{count} slices" if kept == count else f"the {kept} worst of {count} slices"
        parts.append(f"[{', '.join(map(str, index))}, :, :], {which} of {of}")
    rows, columns = errors.step
    if rows > 1 or columns > 1:
        block = f"{columns}" if rows == len(errors.slices[0].rows) == 1 else f"{rows} × {columns}"
        parts.append(f"each cell is the worst of {block} elements")
    return "; ".join(parts)


def _drawing(errors: ErrorMap, one: ErrorSlice) -> Text:
    """Return the cells with the indices of the elements where they begin."""
    columns = len(one.rows[0])
    spread = 2 if columns <= SPACED else 1
    labels = [str(number * errors.step[0]) for number in range(len(one.rows))]
    if len(labels) == 1:
        labels = [""]
    margin = max(map(len, labels))
    margin += margin > 0
    lines = [Text(" " * margin + _ruler(columns, errors.step[1], spread), "dim")]
    for label, row in zip(labels, one.rows, strict=True):
        line = Text(label.rjust(margin - 1) + " " if margin else "", "dim")
        for cell in row:
            line.append(LEVELS[int(cell)], "dim" if cell == "0" else "red")
            line.append(" " * (spread - 1))
        line.rstrip()
        lines.append(line)
    return Text("\n", no_wrap=True).join(lines)


def _ruler(columns: int, step: int, spread: int) -> str:
    """Return the indices of columns, of as many as have room."""
    widest = len(str((columns - 1) * step)) + 1
    every = next(n for n in (1, 2, 5, 10, 20, 50) if n * spread >= widest or n >= columns)
    labels = [str(number * step).ljust(every * spread) for number in range(0, columns, every)]
    return "".join(labels).rstrip()


def _legend(one: ErrorSlice, room: int) -> Text:
    """Return what the characters mean, those that occur, in lines that break between meanings."""
    used = sorted(set("".join(one.rows)))
    parts = [f"{LEVELS[int(level)]} {LEGEND[int(level)]}" for level in used]
    if set(used) & set("1234"):
        last = max(number for number, level in enumerate(used) if level in "1234")
        parts[last] += " of the scale"
    whole = "  ".join(part.replace(" ", _NO_BREAK) for part in parts)
    lines = textwrap.wrap(whole, room, break_on_hyphens=False)
    return Text("\n".join(lines).replace(_NO_BREAK, " "), "dim")


def _entries(mismatch: Mismatch, full: bool) -> Table:
    """Return the listed elements, expected next to actual.

    **Arguments:** `full`: with their difference.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("index", style="dim", no_wrap=True)
    for name in ("expected", "got", "difference")[: 3 if full else 2]:
        style = "dim" if name == "difference" else ""
        table.add_column(name, justify="right", style=style, no_wrap=True)
    for entry in mismatch.entries:
        cells = [str(list(entry.index)), entry.expected, entry.actual, entry.error]
        style = "bold red" if entry.index == mismatch.where else ""
        table.add_row(*cells[: len(table.columns)], style=style)
    if (left := mismatch.wrong - len(mismatch.entries)) > 0:
        table.add_row(f"and {left} more")
    return table


def _side_by_side(drawing: Text, table: Table) -> RenderableType:
    both = Table.grid(padding=(0, 4, 0, 0))
    both.add_row(drawing, table)
    return both
