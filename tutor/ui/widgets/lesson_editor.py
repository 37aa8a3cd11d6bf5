"""The editor of a lesson: it saves the learner's file while they type, and reloads it."""

import time

from textual import on
from textual.app import SuspendNotSupported
from textual.timer import Timer
from textual.widgets import TextArea

from tutor.foreign.source_text import BadFile
from tutor.learner.editors import NoEditor, find_editor
from tutor.lesson import Lesson
from tutor.ui.desk import Desk
from tutor.ui.widgets.editor import CodeEditor

SAVE_AFTER = 0.25
"""Seconds after the last key before the code is saved."""

SAVE_AT_LATEST = 0.5
"""Seconds after the first unsaved key before the code of somebody who types on is saved."""

RELOAD_EVERY = 1.0
"""Seconds between two checks for changes by another program."""


class LessonEditor(CodeEditor):
    """The learner's file of one lesson. Call `open` before anything else, and `save` at the end."""

    def __init__(self, desk: Desk, lesson: Lesson, *, id: str) -> None:  # noqa: A002
        super().__init__("", id=id)
        self._desk = desk
        self._lesson = lesson
        # The file's own text until somebody types: `text` has lost unusual line separators.
        self.code = ""
        self._seen = ""  # the editor's text that belongs to it
        self._unsaved = False
        self._unsaved_since = 0.0
        self._shown = False
        self._save_timer: Timer | None = None

    def open(self) -> None:
        """Load the file, which is made from the starter if there is none."""
        workspace = self._desk.workspace
        try:
            text = workspace.open(self._lesson)
        except BadFile as error:
            backup = workspace.set_aside(self._lesson)
            self.notify(
                f"{error}\nIt was moved to {backup}; you start from the starter.",
                severity="warning",
                timeout=20,
            )
            text = workspace.open(self._lesson)
        except OSError as error:
            self.notify(
                f"{error.filename}: {error.strerror}. Your code cannot be saved; "
                "run `jaxtutor doctor`.",
                severity="error",
                timeout=30,
                markup=False,
            )
            text = self._lesson.starter
        self._show(text)
        self.set_interval(RELOAD_EVERY, self.reload)

    def on_mount(self) -> None:
        path = self._desk.workspace.path(self._lesson)
        self.border_title = f"JAX · {path.parent.name}/{path.name}"

    def show_line_starts(self) -> None:
        """Scroll to the cursor from the left: its line may be short enough to be seen whole."""
        self.scroll_to(x=0, animate=False)
        self.scroll_cursor_visible()

    def save(self) -> None:
        if not self._unsaved:
            return
        try:
            saved = self._desk.workspace.save(self._lesson, self.code)
        except OSError as error:
            self.notify(
                f"not saved: {error.strerror}. Your code is still here; free some disk space and "
                "continue typing.",
                severity="error",
                timeout=10,
            )
            return
        self._unsaved = False
        if saved.kept is not None:
            self.notify(
                f"another program changed the file; its version was moved to {saved.kept}",
                severity="warning",
                timeout=15,
            )

    def reload(self, own: bool = False) -> None:
        """Show what another program has written, unless there are unsaved changes.

        **Arguments:** `own`: whether it was the editor that the learner called.
        """
        if self._unsaved or not self.screen.is_current:
            return
        text = self._desk.workspace.changed_outside(self._lesson)
        if text is not None:
            self._desk.workspace.accept(self._lesson, text)
            self._show(text)
            if not own:
                self.notify("reloaded: another program changed the file", timeout=3)

    def take(self, code: str) -> None:
        """Replace the code, and save it. That can be undone."""
        self._show(code)
        self._unsaved = True
        self.save()

    def reset(self) -> None:
        """Restore the starter, and back up the code."""
        self.save()
        try:
            backup = self._desk.workspace.reset(self._lesson)
        except OSError as error:
            self.notify(f"nothing was changed: {error.strerror}", severity="error")
            return
        self._show(self._lesson.starter)
        if backup is not None:
            self.notify(f"your code is backed up in {backup}", timeout=10)

    def edit_outside(self) -> None:
        """Open the file at the cursor's line in the learner's own editor. An editor that needs this
        terminal is waited for."""
        path = self._desk.workspace.path(self._lesson)
        try:
            editor = find_editor(path, self.cursor_location[0] + 1)
            self.save()
            if editor.where != "terminal":
                editor.open()
                self.notify(f"opened with {editor.name}", timeout=3)
                return
            with self.app.suspend():
                editor.open()
        except SuspendNotSupported:
            self.notify(f"this terminal cannot suspend the app; edit {path}", severity="warning")
        except NoEditor as error:
            self.notify(str(error), severity="warning", markup=False)
        self.app.refresh()
        self.reload(own=True)

    def _show(self, text: str) -> None:
        """Show a text from elsewhere. It can be undone, unless it is the first."""
        cursor = self.cursor_location
        with self.prevent(TextArea.Changed):
            if self._shown:
                self.history.checkpoint()
                self.replace(text, self.document.start, self.document.end)
                self.history.checkpoint()
            else:
                self.load_text(text)
        self._shown = True
        self._seen = self.text
        self.cursor_location = cursor
        self.code = text
        self._unsaved = False

    def catch_up(self) -> None:
        """Take what was typed just now: its message may still be on its way."""
        if self.text != self._seen:
            self._typed()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self.code = self._seen = self.text
        now = time.monotonic()
        if not self._unsaved:
            self._unsaved_since = now
        self._unsaved = True
        if self._desk.pool is not None:
            self._desk.pool.keep_alive()
        if self._save_timer is not None:
            self._save_timer.stop()
        latest = self._unsaved_since + SAVE_AT_LATEST - now
        self._save_timer = self.set_timer(min(SAVE_AFTER, max(latest, 0.001)), self.save)
