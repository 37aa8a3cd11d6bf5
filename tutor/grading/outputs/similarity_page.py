"""`similarity.html` and `similarity.json`: pairs of submissions to look at, side by side.

No verdict and no mark follows from them. Unlike other formats, this one keeps something of every
submission: its fingerprints, about a kilobyte.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tutor.files import replacing
from tutor.grading.outputs.pages import template
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, Result
from tutor.grading.similarity import (
    COMMON,
    FEWEST,
    THRESHOLD,
    Comparison,
    Prints,
    SimilarPair,
    compare,
    fingerprints,
    prints_of,
    shared_lines,
)
from tutor.plain_text import inert

NOTE = (
    "Pairs to look at, not verdicts: short exercises have few right answers, and two people who "
    "learnt from one text write alike."
)

_LINE_END = re.compile(r"\r\n|\r|\n")  # as Python's parser counts lines


class Line(Struct, frozen=True):
    """A line of a source, and whether the other source has the like."""

    text: str
    shared: bool


class Side(Struct, frozen=True):
    """One of two submissions."""

    submission: str
    source: str
    lines: tuple[Line, ...]


class Sight(Struct, frozen=True):
    """A pair as somebody sees it."""

    similarity: float
    shared: int
    sides: tuple[Side, Side]


class Lesson:
    """What is known of the submissions to one lesson."""

    def __init__(self, name: str, starter: str) -> None:
        self.name = name
        self.starter = prints_of(fingerprints(starter) or ())
        self.results: list[Result] = []
        self.prints: list[Prints] = []
        self.short = 0
        self.unreadable: list[str] = []

    def add(self, result: Result, code: str | None) -> None:
        spots = fingerprints(code) if code is not None else None
        if spots is None:
            self.unreadable.append(result.submission)
        elif len(prints := prints_of(spots)) < FEWEST:
            self.short += 1
        else:
            self.prints.append(prints)
            # Enough to find the source again.
            self.results.append(msgspec.structs.replace(result, checks=(), notes=(), versions={}))

    def sights(self, found: Comparison, sources: Sources) -> Iterator[Sight]:
        for pair in found.pairs:
            yield self._sight(pair, sources)

    def _sight(self, pair: SimilarPair, sources: Sources) -> Sight:
        a, b = self._side(pair.a, pair.b, sources), self._side(pair.b, pair.a, sources)
        return Sight(round(pair.similarity, 3), pair.shared, (a, b))

    def _side(self, one: int, other: int, sources: Sources) -> Side:
        result = self.results[one]
        code = sources.code(result) or ""
        given = set(self.starter.tolist())
        spots = [spot for spot in fingerprints(code) or () if spot.print not in given]
        shared = shared_lines(spots, self.prints[other])
        texts = enumerate(_LINE_END.split(code), 1)
        lines = tuple(Line(text, number in shared) for number, text in texts)
        return Side(result.submission, result.source, lines)


@contextmanager
def similarity(batch: Batch, folder: Path, sources: Sources) -> Iterator[Callable[[Result], None]]:
    """See `tutor.grading.outputs`."""
    lessons = {name: Lesson(name, sources.starter(name)) for name in batch.lessons}

    def add(result: Result) -> None:
        if result.source:  # where there is none, nothing was handed in
            lessons[result.lesson].add(result, sources.code(result))

    yield add
    found = [(lesson, compare(lesson.prints, lesson.starter)) for lesson in lessons.values()]
    with replacing(folder / "similarity.html") as file:
        page = template("similarity.html").generate(
            batch=batch, found=found, sources=sources, note=NOTE, common=COMMON
        )
        for part in page:
            file.write(part.encode())
    with replacing(folder / "similarity.json") as file:
        head = {"pack": batch.pack, "note": NOTE, "threshold": THRESHOLD, "common": COMMON}
        file.write(msgspec.json.encode(head)[:-1] + b',"lessons":[')
        for place, (lesson, comparison) in enumerate(found):
            file.write(
                b",\n" * bool(place) + msgspec.json.encode(_data(lesson, comparison, sources))
            )
        file.write(b"]}\n")


def _data(lesson: Lesson, found: Comparison, sources: Sources) -> dict[str, Any]:
    return {
        "lesson": lesson.name,
        "compared": len(lesson.results),
        "too_short": lesson.short,
        "unreadable": [inert(name) for name in lesson.unreadable],
        "left_out": found.left_out,
        "pairs": [
            {
                "similarity": sight.similarity,
                "shared": sight.shared,
                "submissions": [_side_data(side) for side in sight.sides],
            }
            for sight in lesson.sights(found, sources)
        ],
    }


def _side_data(side: Side) -> dict[str, Any]:
    return {
        "submission": inert(side.submission),
        "source": inert(side.source),
        "code": "\n".join(inert(line.text) for line in side.lines),
        "shared_lines": [number for number, line in enumerate(side.lines, 1) if line.shared],
    }
