"""Lessons in the command palette, found by their titles and by what they say."""

import asyncio
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tutor.pack.lesson_search import LessonSearch
from tutor.ui.desk import Desk

MOST = 12
"""Lessons listed at once."""


class LessonCommands(Provider):
    """Opens a lesson."""

    async def startup(self) -> None:
        desk = self._desk
        self._lessons = LessonSearch(desk.pack, desk.title)

    @property
    def _desk(self) -> Desk:
        desk: Desk = self.app.desk  # type: ignore[attr-defined]
        return desk

    async def discover(self) -> Hits:
        last = self._desk.progress.last_lesson(self._desk.pack.id)
        if last is not None and last in self._desk.pack.lessons:
            words = f"Go on with: {self._desk.title(last)}"
            yield DiscoveryHit(words, partial(self._open, last), help="The lesson opened last.")

    async def search(self, query: str) -> Hits:
        found = await asyncio.to_thread(self._lessons.find, query)
        best = max((one.score for one in found), default=1)
        matcher = self.matcher(query)
        for one in found[:MOST]:
            words = f"Lesson: {one.title}"
            yield Hit(
                0.1 + 0.8 * one.score / best,
                matcher.highlight(words),
                partial(self._open, one.lesson),
                text=words,
                help=self._desk.pack.track_of(one.lesson).title,
            )

    def _open(self, lesson: str) -> None:
        self.app.open_lesson(lesson)  # type: ignore[attr-defined]
