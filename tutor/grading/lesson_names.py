"""Which lesson a file is meant for, by its name; no guess where there could be two."""

import difflib
import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from tutor.grading.student_names import normalize_name

NEAR = 0.75
"""How much of a name must agree for a guess, as `difflib` measures it."""

CLEAR = 0.1
"""By how much the best guess must be better than the next."""

_COPY = re.compile(
    r"^(?:copy of |kopie von )?(.+?)(?:[ _-]*\(\d+\)|[ _-]+(?:copy|kopie)(?:[ _-]*\d+)?|-\d+)?$",
    re.IGNORECASE,
)


class Match(Struct, frozen=True):
    """`rank`: 0 where the name is the lesson's, 1 that of a copy of it, 2 where the name holds the
    lesson's, 3 where its folder is named so, 4 where it is near. `rest`: what else the name
    holds, as it is written."""

    lesson: str
    rank: int
    rest: str = ""


def lesson_of(stem: str, folders: Sequence[str], lessons: Sequence[str]) -> Match | None:
    """The lesson that a file is meant for, if that is clear.

    **Arguments:** `stem`: the file's name without its ending; `folders`: those it lies in, below
    its owner's.
    """
    by_letters = {_letters(lesson): lesson for lesson in lessons}
    if (lesson := by_letters.get(_letters(stem))) is not None:
        return Match(lesson, 0)
    copied = _COPY.match(stem.strip())
    if copied and (lesson := by_letters.get(_letters(copied[1]))) is not None:
        return Match(lesson, 1)
    if (held := _held(stem, by_letters)) is not None:
        return held
    for folder in reversed(folders):
        if (lesson := by_letters.get(_letters(folder))) is not None:
            return Match(lesson, 3)
    return _near(_letters(stem), by_letters)


def _held(stem: str, by_letters: dict[str, str]) -> Match | None:
    """The lesson whose words the name holds, one after the other; the longest, if that holds all
    others."""
    words = re.findall(r"[^\W_]+", _plain(stem))
    spans = [(begin, end) for end in range(len(words) + 1) for begin in range(end)]
    found = [
        (begin, end, lesson)
        for begin, end in spans
        if (lesson := by_letters.get("".join(words[begin:end]))) is not None
    ]
    if not found:
        return None
    begin, end, lesson = max(found, key=lambda one: one[1] - one[0])
    if any(first < begin or last > end for first, last, _ in found):
        return None
    return Match(lesson, 2, _without(stem, words[begin:end]))


def _without(stem: str, words: Sequence[str]) -> str:
    """Return what is left of a name, as it is written, without these words."""
    found = re.search(r"[\W_]*".join(map(re.escape, words)), stem, re.IGNORECASE)
    if found is None:  # written in wide letters, say
        return _plain(stem).replace("".join(words), "")
    return f"{stem[: found.start()]} {stem[found.end() :]}".strip(" _-")


def person_in(rest: str) -> str:
    """Return the name that is left of a file's, without what stands between words."""
    parts = re.split(r"[\s_]+|-(?=\s)|(?<=\s)-", rest)
    return normalize_name(" ".join(part for part in parts if part.strip("-")))


def _near(letters: str, by_letters: dict[str, str]) -> Match | None:
    near = difflib.get_close_matches(letters, by_letters, n=2, cutoff=NEAR)
    if not near:
        return None
    ratios = [difflib.SequenceMatcher(None, one, letters).ratio() for one in near]
    if len(near) == 2 and ratios[0] - ratios[1] < CLEAR:
        return None
    return Match(by_letters[near[0]], 4)


def _letters(text: str) -> str:
    """A name without what people write differently: case, spaces, hyphens."""
    return "".join(one for one in _plain(text) if one.isalnum())


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
