"""Where the names in a failing statement were set: what to look at if the mistake is not in the
statement itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tutor.explain.parsed_file import Frame, ParsedFile, frame_at, parsed
from tutor.explain.returned import returned_by, spelled
from tutor.explain.settings import MAX_FRAMES, Setting, settings
from tutor.explain.symptom import Symptom
from tutor.foreign.plain_text import one_line
from tutor.report import Explanation, Origin

MAX_SHOWN = 6
"""Statements to show in all."""

_FIT = ("shape", "dtype", "structure", "broadcast", "tree", "carry")


def worth_showing(explained: Explanation | None, message: str) -> bool:
    """Return whether to show where names were set: if the cause is not sure, or two values do not
    fit each other, it may be there."""
    unsure = explained is None or explained.likely or bool(explained.alternatives)
    return unsure or any(word in message for word in _FIT)


def origins_of(symptom: Symptom) -> tuple[Origin, ...]:
    """Return the statements that set the names in the failing statement, as far as the symptom has
    the files."""
    frames = _frames(symptom)
    if not frames:
        return ()
    # One statement may set several names.
    names: dict[tuple[ParsedFile, ast.stmt], dict[str, str]] = {}
    for one in _settings(symptom, frames):
        if one.frame.statement is not frames[-1].statement:
            those = names.setdefault((one.frame.file, one.frame.statement), {})
            note = one.note or returned_by(one.value, one.frame)
            those.setdefault(one_line(one.label), note)
    own = frames[-1].file
    return tuple(
        Origin(
            ", ".join(those), statement.lineno, file.code(statement),
            "" if file is own else Path(file.path).name,
            next(filter(None, those.values()), ""),
        )
        for (file, statement), those in [*names.items()][:MAX_SHOWN]
    )  # fmt: skip


def calls_of(symptom: Symptom) -> frozenset[str]:
    """Return the calls whose results the names in the failing statement stand for, whole, as
    `tutor.explain.returned` spells them."""
    frames = _frames(symptom)
    return frozenset(
        spelled(one.value, one.frame)
        for one in (_settings(symptom, frames) if frames else ())
        if one.whole and isinstance(one.value, ast.Call)
    )


def _frames(symptom: Symptom) -> list[Frame]:
    """Return the running statements of files that are at hand, the innermost last."""
    files: dict[str, ParsedFile] = {}
    frames: list[Frame] = []
    for path, number in reversed(symptom.places[-MAX_FRAMES:]):
        source = symptom.files.get(path, "")
        if path not in files and source and (file := parsed(path, source)) is not None:
            files[path] = file
        frame = frame_at(files[path], number) if path in files else None
        if frame is None:
            break
        frames.insert(0, frame)
    return frames


def _settings(symptom: Symptom, frames: list[Frame]) -> Iterator[Setting]:
    part = symptom.frames[-1] if symptom.frames else ""
    traced = "racer" in symptom.exception or "traced" in symptom.message
    return settings(frames, part, traced=traced)
