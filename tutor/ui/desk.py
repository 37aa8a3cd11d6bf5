"""The state that screens share: the pack, the learner's files and progress, the runner."""

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from textual.message import Message
from textual.widget import Widget

from tutor.engine.versions import INSTALL_TORCH, WITHOUT_TORCH, torch_installed
from tutor.learner.placement import placed
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.manifest import Pack, Track
from tutor.pack import BadPack
from tutor.pack.catalogue import Catalogue
from tutor.storage import cache

if TYPE_CHECKING:
    from tutor.engine.background import Runner
    from tutor.pool.pool import Pool


class Desk:
    """Owned by the app and used by its screens; from the main thread, if not stated otherwise.

    **Arguments:** `workspace` and `progress` default to the learner's; `warm`: whether sandboxes
    are prepared before they are needed; `fresh`: whether to use nothing that earlier runs left.
    """

    def __init__(
        self,
        pack: Pack,
        workspace: Workspace | None = None,
        progress: Progress | None = None,
        warm: bool = True,
        fresh: bool = False,
    ) -> None:
        self._warm = warm
        self._pool: Pool | None = None
        self._fresh = fresh
        self._runner: Runner | None = None
        self._starting = threading.Lock()
        self._expected = ""
        self.torch_noticed = False
        self.pack = pack
        self.catalogue = Catalogue(pack)
        self.workspace = workspace or Workspace(pack)
        self.progress = progress or Progress()

    def take(self, pack: Pack) -> None:
        """Replace the pack by one that has been read again."""
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
        """The runner, started on first use. Any thread may ask for it."""
        with self._starting:
            if self._runner is None:
                # Imported late, to keep the first frame fast: this imports NumPy.
                from tutor.engine.background import Runner
                from tutor.pool.pool import Pool

                self._pool = Pool(fresh=self._fresh) if self._warm else None
                ran = [self._pool.ran] if self._pool is not None else []
                self._runner = Runner(self._pool, *ran)
            return self._runner

    def get_ready(self) -> None:
        """Start the runner. Call this in a worker thread, for it takes a moment."""
        if self.runner is not None and self._pool is not None:
            self._pool.keep_alive()

    def forget_ahead(self) -> None:
        """Stop what runs without having been asked for, and forget its verdict."""
        if self._runner is not None:
            self._runner.forget_ahead()

    @property
    def pool(self) -> "Pool | None":
        """The prepared sandboxes; None before the runner has started."""
        return self._pool

    def looks_at(self, lesson: Lesson) -> None:
        """Note that this lesson is on the screen; see `expect`."""
        self._expected = lesson.id

    def expect(self, lesson: Lesson) -> None:
        """Prepare sandboxes for a lesson, if it is still on the screen, and for the next one. Call
        this in a worker thread, for it takes a moment."""
        if not self._warm:
            return
        following = self.pack.next_after(lesson.id)
        lessons = [lesson]
        if following is not None:
            with suppress(BadPack):  # reported when it is opened
                lessons.append(self.pack.lesson(following))
        codes = [(one, self.pack.sample_submissions(one.id)) for one in lessons]
        if self.runner is not None and self._pool is not None and self._expected == lesson.id:
            self._pool.expect(codes)

    # --- titles and notices ----------------------------------------------------------------

    def title(self, lesson_id: str) -> str:
        """Return a lesson's title, or its id if the title is not known yet."""
        summary = self.catalogue.cached(lesson_id)
        return summary.title if summary is not None else lesson_id

    def passed(self, lesson: Lesson) -> bool:
        return self.progress.passed(self.pack.id, lesson.id)

    def finished(self, track_id: str) -> bool:
        """Return whether each lesson of a track is passed or known."""
        (track,) = (track for track in self.pack.manifest.tracks if track.id == track_id)
        statuses = placed(self.pack.manifest, self.progress.statuses(self.pack.id))
        return all(statuses.get(name) in ("passed", "known") for name in track.lessons)

    def number(self, lesson: Lesson) -> int:
        """Return the lesson's number in the course, from 1."""
        return list(self.pack.lessons).index(lesson.id) + 1

    def map_between(self, track_id: str, following: str) -> Track | None:
        """Return the track that a learner enters by going from a track to a lesson, if its map is
        to be shown first: none of its lessons has been opened."""
        track = self.pack.track_of(following)
        opened = self.progress.statuses(self.pack.id)
        new = track.id != track_id and not opened.keys() & set(track.lessons)
        return track if new and track.map else None

    def show_notices(self, widget: Widget) -> None:
        """Show each notice once: what could not be stored, and that PyTorch is missing."""
        if not self.torch_noticed:
            self.torch_noticed = True
            if not torch_installed():
                notice = f"PyTorch is not installed: {WITHOUT_TORCH}. Run: {INSTALL_TORCH}"
                widget.notify(notice, severity="warning", timeout=15, markup=False)
        for notices in (self.progress.notices, cache.notices):
            for notice in notices:
                widget.notify(notice, severity="warning", timeout=15, markup=False)
            notices.clear()


class OpenMap(Message):
    """Asks the app to show the map of a track.

    **Arguments:** `entering`: whether the learner is about to begin the track.
    """

    def __init__(self, track: Track, entering: bool = False) -> None:
        super().__init__()
        self.track = track
        self.entering = entering


class OpenLesson(Message):
    """Asks the app to show a lesson."""

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
