"""What the screens share: the pack, the learner's files, their progress."""

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from textual.message import Message
from textual.widget import Widget

from tutor import cache
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import BadPack
from tutor.pack.catalogue import Catalogue

if TYPE_CHECKING:
    from tutor.engine.background import Runner
    from tutor.pool.pool import Pool


class Desk:
    """Owned by the app, read and written by its screens, all in one thread but where it says so.

    **Arguments:** `workspace` and `progress` are the learner's own if left out; `warm`: whether
    sandboxes are made ready before they are wanted.
    """

    def __init__(
        self,
        pack: Pack,
        workspace: Workspace | None = None,
        progress: Progress | None = None,
        warm: bool = True,
    ) -> None:
        self._warm = warm
        self._pool: Pool | None = None
        self._runner: Runner | None = None
        self._starting = threading.Lock()
        self._expected = ""
        self.pack = pack
        self.catalogue = Catalogue(pack)
        self.workspace = workspace or Workspace(pack)
        self.progress = progress or Progress()

    def take(self, pack: Pack) -> None:
        """The pack as it has been read again."""
        self.pack = pack
        self.catalogue = Catalogue(pack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._runner is not None:
            self._runner.close()
        if self._pool is not None:
            self._pool.close()
        self.progress.close()

    # --- running -----------------------------------------------------------------------------

    @property
    def runner(self) -> "Runner":
        """What checks code. May be asked for from any thread."""
        with self._starting:
            if self._runner is None:
                # Not before the first frame: this imports NumPy, and starts a process.
                from tutor.engine.background import Runner
                from tutor.pool.pool import Pool

                self._pool = Pool() if self._warm else None
                self._runner = Runner(self._pool)
            return self._runner

    def get_ready(self) -> None:
        """Have running start as soon as it is wanted. Takes a moment; for a thread of its own."""
        if self.runner is not None and self._pool is not None:
            self._pool.keep_alive()

    @property
    def pool(self) -> "Pool | None":
        """The sandboxes that wait, once there are any."""
        return self._pool

    def looks_at(self, lesson: Lesson) -> None:
        """The learner has this lesson before them. See `expect`."""
        self._expected = lesson.id

    def expect(self, lesson: Lesson) -> None:
        """Make ready what running a lesson, and then the next one, will need, if the learner
        still has it before them. Takes a moment; for a thread of its own."""
        if not self._warm:
            return
        following = self.pack.next_after(lesson.id)
        lessons = [lesson]
        if following is not None:
            with suppress(BadPack):  # it is told of when it is opened
                lessons.append(self.pack.lesson(following))
        codes = [(one, self.pack.sample_submissions(one.id)) for one in lessons]
        if self.runner is not None and self._pool is not None and self._expected == lesson.id:
            self._pool.expect(codes)

    # --- what there is to tell ---------------------------------------------------------------

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
        """Tell what could not be kept, of progress and of what makes starting fast, once."""
        for notices in (self.progress.notices, cache.notices):
            for notice in notices:
                widget.notify(notice, severity="warning", timeout=15, markup=False)
            notices.clear()


class OpenLesson(Message):
    """Asks the app to show a lesson."""

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
