"""Finding lessons by words: of their titles, and of anything that their files say.

A learner thinks of `cross_entropy` or `DataLoader`, not of a lesson's title. The files are searched
as text, without reading them as lessons: this takes a hundredth of the time.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from tutor.manifest import Pack

_TAUGHT = re.compile(r"^(?:brief|torch|starter|title|id):.*(?:\n(?: .*)?$)*", re.MULTILINE)
"""The parts of a lesson's file that learners see."""


class Found(NamedTuple):
    """A lesson, and how often it says the words; a title counts more than all else."""

    lesson: str
    title: str
    score: int


class LessonSearch:
    """Searches the lessons of a pack. Files are read at the first search; call it in a thread.

    **Arguments:** `title` returns a lesson's title.
    """

    def __init__(self, pack: Pack, title: Callable[[str], str]) -> None:
        self._pack = pack
        self._title = title
        self._texts: dict[str, str] | None = None

    def find(self, words: str) -> list[Found]:
        """Return the lessons that say all of the words, or beginnings of them, the best first."""
        wanted = words.lower().split()
        if not wanted:
            return []
        if self._texts is None:
            self._texts = {lesson: self._text(lesson) for lesson in self._pack.lessons}
        # `grad` is not to find `gradually`, but `jax.grad`, `value_and_grad` and `grads` are found.
        patterns = [re.compile(rf"(?<![^\W_]){re.escape(word)}") for word in wanted]
        found = []
        for lesson, text in self._texts.items():
            title = self._title(lesson)
            counts = [len(pattern.findall(text)) for pattern in patterns]
            named = [
                bool(pattern.search(title.lower())) or word in lesson.split("-")
                for word, pattern in zip(wanted, patterns, strict=True)
            ]
            if all(map(any, zip(counts, named, strict=True))):
                found.append(Found(lesson, title, 1000 * sum(named) + min(counts)))
        return sorted(found, key=lambda one: -one.score)

    def _text(self, lesson: str) -> str:
        track = self._pack.track_of(lesson)
        try:
            whole = (self._pack.root / track.id / f"{lesson}.yaml").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return lesson  # opening it tells what is wrong
        return "\n".join(match[0] for match in _TAUGHT.finditer(whole)).lower()
