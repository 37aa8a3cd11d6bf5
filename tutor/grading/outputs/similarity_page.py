"""`similarity.html` and `similarity.json`: similar submissions side by side, for review.

They are not verdicts and change no score. Unlike the other formats, this one keeps data on every
submission in memory: its fingerprints, about a kilobyte.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tutor.foreign.plain_text import inert
from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.grouping import AddResult
from tutor.grading.outputs.pages import load_template
from tutor.grading.result import Batch, Result
from tutor.grading.similarity import (
    MAX_SHARING,
    MIN_SHARED,
    THRESHOLD,
    Comparison,
    Hashes,
    SimilarPair,
    compare,
    distinct_hashes,
    fingerprints,
    shared_lines,
)
from tutor.storage.files import replacing

NOTE = (
    "Pairs to review, not verdicts: short exercises have few right answers, and people who learnt "
    "from the same text write similar code."
)

_LINE_END = re.compile(r"\r\n|\r|\n")  # as Python's parser counts lines


class Line(Struct, frozen=True):
    """A line of code. `shared`: the other submission has the same fingerprints."""

    text: str
    shared: bool


class Side(Struct, frozen=True):
    """One of the two submissions of a pair."""

    submission: str
    source: str
    lines: tuple[Line, ...]


class PairView(Struct, frozen=True):
    """A similar pair with its code."""

    similarity: float
    shared: int
    sides: tuple[Side, Side]


class LessonSubmissions:
    """The fingerprints of the submissions to one lesson."""

    def __init__(self, name: str, starter: str) -> None:
        self.name = name
        self.starter = distinct_hashes(fingerprints(starter) or ())
        self.results: list[Result] = []
        self.hashes: list[Hashes] = []
        self.short = 0
        self.unreadable: list[str] = []

    def add(self, result: Result, code: str | None) -> None:
        found = fingerprints(code) if code is not None else None
        if found is None:
            self.unreadable.append(result.submission)
        elif len(hashes := distinct_hashes(found)) < MIN_SHARED:
            self.short += 1
        else:
            self.hashes.append(hashes)
            # Enough to find the code again.
            self.results.append(msgspec.structs.replace(result, checks=(), notes=(), versions={}))

    def pair_views(self, comparison: Comparison, reader: CodeReader) -> Iterator[PairView]:
        for pair in comparison.pairs:
            yield self._pair_view(pair, reader)

    def _pair_view(self, pair: SimilarPair, reader: CodeReader) -> PairView:
        sides = self._side(pair.a, pair.b, reader), self._side(pair.b, pair.a, reader)
        return PairView(round(pair.similarity, 3), pair.shared, sides)

    def _side(self, this: int, other: int, reader: CodeReader) -> Side:
        result = self.results[this]
        code = reader.code(result) or ""
        starter = set(self.starter.tolist())
        own = [one for one in fingerprints(code) or () if one.hash not in starter]
        shared = shared_lines(own, self.hashes[other])
        texts = enumerate(_LINE_END.split(code), 1)
        lines = tuple(Line(text, number in shared) for number, text in texts)
        return Side(result.submission, result.source, lines)


@contextmanager
def write_similarity(batch: Batch, folder: Path, reader: CodeReader) -> Iterator[AddResult]:
    """See `tutor.grading.outputs`."""
    lessons = {name: LessonSubmissions(name, reader.starter(name)) for name in batch.lessons}

    def add(result: Result) -> None:
        if result.source:  # otherwise nothing was handed in
            lessons[result.lesson].add(result, reader.code(result))

    yield add
    found = [(lesson, compare(lesson.hashes, lesson.starter)) for lesson in lessons.values()]
    with replacing(folder / "similarity.html") as file:
        page = load_template("similarity.html").generate(
            batch=batch, found=found, reader=reader, note=NOTE, common=MAX_SHARING
        )
        for part in page:
            file.write(part.encode())
    with replacing(folder / "similarity.json") as file:
        head = {"pack": batch.pack, "note": NOTE, "threshold": THRESHOLD, "common": MAX_SHARING}
        file.write(msgspec.json.encode(head)[:-1] + b',"lessons":[')
        for number, (lesson, comparison) in enumerate(found):
            file.write(
                b",\n" * bool(number) + msgspec.json.encode(_data(lesson, comparison, reader))
            )
        file.write(b"]}\n")


def _data(lesson: LessonSubmissions, comparison: Comparison, reader: CodeReader) -> dict[str, Any]:
    return {
        "lesson": lesson.name,
        "compared": len(lesson.results),
        "too_short": lesson.short,
        "unreadable": [inert(name) for name in lesson.unreadable],
        "left_out": comparison.left_out,
        "pairs": [
            {
                "similarity": pair.similarity,
                "shared": pair.shared,
                "submissions": [_side_data(side) for side in pair.sides],
            }
            for pair in lesson.pair_views(comparison, reader)
        ],
    }


def _side_data(side: Side) -> dict[str, Any]:
    return {
        "submission": inert(side.submission),
        "source": inert(side.source),
        "code": "\n".join(inert(line.text) for line in side.lines),
        "shared_lines": [number for number, line in enumerate(side.lines, 1) if line.shared],
    }
