"""Matching a file to a lesson by its name; no match if it could be two lessons."""

import difflib
import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from tutor.grading.student_names import normalize_name

MIN_RATIO = 0.75
"""The least `difflib` ratio of an approximate match."""

MIN_LEAD = 0.1
"""The least difference between the ratios of the best match and the next."""

_COPY = re.compile(
    r"^(?:copy of |kopie von )?(.+?)(?:[ _-]*\(\d+\)|[ _-]+(?:copy|kopie)(?:[ _-]*\d+)?|-\d+)?$",
    re.IGNORECASE,
)


class LessonMatch(Struct, frozen=True):
    """`rank`: 0 if the file is named after the lesson, 1 if it is named as a copy of that, 2 if its
    name contains the lesson's, 3 if its directory is named after the lesson, 4 if the name is
    similar. `rest`: the other words of the name."""

    lesson: str
    rank: int
    rest: str = ""


def match_lesson(stem: str, folders: Sequence[str], lessons: Sequence[str]) -> LessonMatch | None:
    """Return the lesson that a file is for, if that is clear.

    **Arguments:** `stem`: the file's name without its extension; `folders`: its directories below
    its owner's.
    """
    by_letters = {_letters(lesson): lesson for lesson in lessons}
    if (lesson := by_letters.get(_letters(stem))) is not None:
        return LessonMatch(lesson, 0)
    copy = _COPY.match(stem.strip())
    if copy and (lesson := by_letters.get(_letters(copy[1]))) is not None:
        return LessonMatch(lesson, 1)
    if (contained := _contained(stem, by_letters)) is not None:
        return contained
    for folder in reversed(folders):
        if (lesson := by_letters.get(_letters(folder))) is not None:
            return LessonMatch(lesson, 3)
    return _approximate(_letters(stem), by_letters)


def _contained(stem: str, by_letters: dict[str, str]) -> LessonMatch | None:
    """Return the lesson whose words the name contains in order: the longest, if it contains all the
    others."""
    words = re.findall(r"[^\W_]+", _folded(stem))
    spans = [(begin, end) for end in range(len(words) + 1) for begin in range(end)]
    found = [
        (begin, end, lesson)
        for begin, end in spans
        if (lesson := by_letters.get("".join(words[begin:end]))) is not None
    ]
    if not found:
        return None
    begin, end, lesson = max(found, key=lambda span: span[1] - span[0])
    if any(first < begin or last > end for first, last, _ in found):
        return None
    return LessonMatch(lesson, 2, _without(stem, words[begin:end]))


def _without(stem: str, words: Sequence[str]) -> str:
    """Return a name without these words."""
    found = re.search(r"[\W_]*".join(map(re.escape, words)), stem, re.IGNORECASE)
    if found is None:  # in full-width letters, for example
        return _folded(stem).replace("".join(words), "")
    return f"{stem[: found.start()]} {stem[found.end() :]}".strip(" _-")


def person_name(rest: str) -> str:
    """Return the student's name in the rest of a file name, without separators."""
    parts = re.split(r"[\s_]+|-(?=\s)|(?<=\s)-", rest)
    return normalize_name(" ".join(part for part in parts if part.strip("-")))


def _approximate(letters: str, by_letters: dict[str, str]) -> LessonMatch | None:
    near = difflib.get_close_matches(letters, by_letters, n=2, cutoff=MIN_RATIO)
    if not near:
        return None
    ratios = [difflib.SequenceMatcher(None, one, letters).ratio() for one in near]
    if len(near) == 2 and ratios[0] - ratios[1] < MIN_LEAD:
        return None
    return LessonMatch(by_letters[near[0]], 4)


def _letters(text: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return "".join(one for one in _folded(text) if one.isalnum())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
