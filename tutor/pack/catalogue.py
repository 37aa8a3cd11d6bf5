"""The cards of a pack's lessons: what lists show, without reading whole lessons.

Cards are remembered between starts, each with the stamp of the file that it was read from.
"""

from tutor.lesson import Card
from tutor.manifest import Pack
from tutor.pack.folder import Folder, Stamp
from tutor.pack.memory import recall, remember
from tutor.pack.problems import BadPack, BadSource

_Kept = dict[str, tuple[Stamp, Card]]


class Catalogue:
    """Cards by lesson id.

    What looks at files is for one thread; `remembered` for any.
    """

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._folder = Folder(pack.root)
        self._files = {
            lesson: f"{track.id}/{lesson}.yaml"
            for track in pack.manifest.tracks
            for lesson in track.lessons
        }
        self._kept: _Kept = recall(pack.root, "cards", _Kept) or {}
        self._changed = False

    def remembered(self, lesson_id: str) -> Card | None:
        """The card as it was when last read; no file is looked at."""
        stamp_and_card = self._kept.get(lesson_id)
        return stamp_and_card[1] if stamp_and_card is not None else None

    def card(self, lesson_id: str) -> Card:
        """The card as it is now, read only if the file is another one than when last read.

        Raises:
            BadPack: the lesson has problems, and one is that no card can be made of it.
        """
        stamp = self._folder.stamp(self._files[lesson_id])
        known = self._kept.get(lesson_id)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            card = self._read(lesson_id)
        except BadPack:
            self._changed |= self._kept.pop(lesson_id, None) is not None
            raise
        if stamp is not None:
            self._kept[lesson_id] = stamp, card
            self._changed = True
        return card

    def title(self, lesson_id: str) -> str:
        """The title as it is now, or the id where there is none."""
        try:
            return self.card(lesson_id).title
        except BadPack:
            return lesson_id

    def keep(self) -> None:
        """Remember what was read, for the next start."""
        if self._changed:
            kept = {lesson: self._kept[lesson] for lesson in self._files if lesson in self._kept}
            self._changed = False
            remember(self._pack.root, "cards", kept)

    def _read(self, lesson_id: str) -> Card:
        from tutor.pack.head import read_card

        try:
            card = read_card(self._folder.read(self._files[lesson_id]))
        except BadSource:
            card = None
        if card is None:
            # Read as a whole it says what is wrong; or nothing is, and the head was misjudged.
            lesson = self._pack.lesson(lesson_id)
            card = Card(lesson.title, lesson.minutes, lesson.needs)
        return card
