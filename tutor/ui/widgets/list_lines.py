"""The lines of a list: a text on the left, quiet facts on the right, and what fits of both."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

GAP = 2
"""The least number of columns between two parts."""


class Line(NamedTuple):
    """What a line says. `progress` is the same in several lengths, the longest first."""

    text: str
    mark: str = ""
    progress: tuple[str, ...] = ()
    right: str = ""


class Fitted(NamedTuple):
    """The parts of a line, which together are exactly as wide as the list."""

    mark: str
    text: str
    progress: str
    gap: str
    right: str


def fitted(line: Line, width: int, column: int = 0) -> Fitted:
    """Return what of a line has room: the text first, then the progress, then the rest.

    **Arguments:** `column`: where the progress begins, if the text is not longer.
    """
    room = max(0, width - cell_len(line.mark))
    text = cut_to(" ".join(line.text.split("\n")), room)
    begins = max(column - cell_len(line.mark), cell_len(text) + GAP)
    for progress, right in _choices(line):
        start = begins if progress else cell_len(text) + (GAP if right else 0)
        end = start + cell_len(progress) + (GAP if progress and right else 0)
        if end + cell_len(right) <= room:
            return Fitted(
                line.mark,
                set_cell_size(text, start),
                progress,
                " " * (room - start - cell_len(progress) - cell_len(right)),
                right,
            )
    return Fitted(line.mark, set_cell_size(text, room), "", "", "")


def _choices(line: Line) -> Iterator[tuple[str, str]]:
    """Yield what may stand on the right of a text, the most first."""
    for right in dict.fromkeys((line.right, "")):
        yield from ((progress, right) for progress in line.progress)
    yield "", line.right


def cut_to(text: str, width: int) -> str:
    """Return a text, cut to a width."""
    return set_cell_size(text, width - 1) + "…" if cell_len(text) > width else text
