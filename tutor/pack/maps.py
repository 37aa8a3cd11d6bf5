"""The maps of a pack's tracks: a table of what PyTorch code becomes in JAX.

The app and `jaxtutor list --map` search it and lay it out with the functions of this module.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tutor.manifest import MapEntry, Track

HEADER = ("PyTorch", "JAX", "lesson")


class TrackMap(NamedTuple):
    """Rows of one track's map."""

    track: Track
    rows: tuple[MapEntry, ...]


def search(tracks: Iterable[Track], words: str = "") -> list[TrackMap]:
    """Return the rows that contain `words` in any column or in the note, by track.

    Case does not matter, nor do spaces around the words. Tracks without such rows are left out.
    """
    wanted = words.strip().casefold()
    maps = (TrackMap(one, tuple(row for row in one.map if _has(row, wanted))) for one in tracks)
    return [one for one in maps if one.rows]


def _has(row: MapEntry, wanted: str) -> bool:
    texts = (row.torch, row.jax, row.lesson or "", row.note or "")
    return any(wanted in text.casefold() for text in texts)


def fitted(needs: Sequence[int], room: int) -> list[int]:
    """Return widths of columns that fit into `room` together: what a column needs, or an equal
    share of what narrower columns leave. No width is below 1."""
    widths = list(needs)
    for number, column in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        share = max(1, room // (len(needs) - number))
        widths[column] = min(needs[column], share)
        room -= widths[column]
    return widths
