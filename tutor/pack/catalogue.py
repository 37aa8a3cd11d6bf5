"""Summaries of a pack's lessons, which lists show, without reading whole lessons.

Summaries are cached between starts, each with the stamp of its file.
"""

from tutor.lesson import LessonSummary
from tutor.manifest import Pack
from tutor.pack.folder import Folder, Stamp
from tutor.pack.pack_cache import recall, remember
from tutor.pack.problems import BadPack, BadSource

_Kept = dict[str, tuple[Stamp, LessonSummary]]


class Catalogue:
    """Summaries by lesson id.

    `cached` may be called from any thread, the other methods from one only.
    """

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._folder = Folder(pack.root)
        self._files = {
            lesson: f"{track.id}/{lesson}.yaml"
            for track in pack.manifest.tracks
            for lesson in track.lessons
        }
        self._kept: _Kept = recall(pack.root, "summaries", _Kept) or {}
        self._changed = False

    def cached(self, lesson_id: str) -> LessonSummary | None:
        """Return the summary as last read, without accessing the file."""
        stamp_and_card = self._kept.get(lesson_id)
        return stamp_and_card[1] if stamp_and_card is not None else None

    def summary(self, lesson_id: str) -> LessonSummary:
        """Return the current summary, read again only if the file has changed.

        Raises:
            BadPack: the lesson has problems, and no summary can be read.
        """
        stamp = self._folder.stamp(self._files[lesson_id])
        known = self._kept.get(lesson_id)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            summary = self._read(lesson_id)
        except BadPack:
            self._changed |= self._kept.pop(lesson_id, None) is not None
            raise
        if stamp is not None:
            self._kept[lesson_id] = stamp, summary
            self._changed = True
        return summary

    def title(self, lesson_id: str) -> str:
        """Return the current title, or the id if it cannot be read."""
        try:
            return self.summary(lesson_id).title
        except BadPack:
            return lesson_id

    def save(self) -> None:
        """Cache the summaries for the next start."""
        if self._changed:
            kept = {lesson: self._kept[lesson] for lesson in self._files if lesson in self._kept}
            self._changed = False
            remember(self._pack.root, "summaries", kept)

    def _read(self, lesson_id: str) -> LessonSummary:
        from tutor.pack.summary_reader import read_summary

        try:
            summary = read_summary(self._folder.read(self._files[lesson_id]))
        except BadSource:
            summary = None
        if summary is None:
            # Reading the whole lesson reports its problems, or finds that it is valid after all.
            lesson = self._pack.lesson(lesson_id)
            summary = LessonSummary(lesson.title, lesson.minutes, lesson.needs)
        return summary
