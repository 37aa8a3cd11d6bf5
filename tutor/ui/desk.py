"""What the screens share: the pack, the learner's files, their progress."""

from typing import Self

from textual.message import Message
from textual.widget import Widget

from tutor.lesson import Lesson, Pack
from tutor.pack.catalogue import Catalogue
from tutor.progress import Progress
from tutor.workspace import Workspace


class Desk:
    """Owned by the app, read and written by its screens, all in one thread.

    **Arguments:** `workspace` and `progress` are the learner's own if left out.
    """

    def __init__(
        self, pack: Pack, workspace: Workspace | None = None, progress: Progress | None = None
    ) -> None:
        self.pack = pack
        self.catalogue = Catalogue(pack)
        self.workspace = workspace or Workspace(pack)
        self.progress = progress or Progress()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.progress.close()

    def title(self, lesson_id: str) -> str:
        """A lesson's title, or its id as long as nothing more is known."""
        card = self.catalogue.remembered(lesson_id)
        return card.title if card is not None else lesson_id

    def passed(self, lesson: Lesson) -> bool:
        return self.progress.passed(self.pack.id, lesson.id)

    def place(self, lesson: Lesson) -> int:
        """The lesson's number in the course, from 1."""
        return list(self.pack.lessons).index(lesson.id) + 1

    def tell_notices(self, widget: Widget) -> None:
        """Tell what the progress database had to say, once."""
        for notice in self.progress.notices:
            widget.notify(notice, severity="warning", timeout=15, markup=False)
        self.progress.notices.clear()


class OpenLesson(Message):
    """Asks the app to show a lesson."""

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
