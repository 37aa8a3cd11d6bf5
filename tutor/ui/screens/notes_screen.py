"""A learner's notes on a lesson."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Label, TextArea

from tutor.learner.notes import Notes
from tutor.ui.actions import ACTIONS, key_of

SAVE_AFTER = 0.25
"""Seconds after the last key before the notes are saved."""


class NotesScreen(ModalScreen[str]):
    """The notes, saved while they are written. Its result is their text."""

    CSS_PATH = "notes.tcss"
    BINDINGS = [ACTIONS["close_notes"].binding()]  # noqa: RUF012

    def __init__(self, notes: Notes, text: str) -> None:
        super().__init__()
        self._notes = notes
        self._saved = text
        self._area = TextArea(text, soft_wrap=True, id="notes-text")
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="notes"):
            yield self._area
            yield Label(f"{key_of('close_notes')} closes. {self._notes.path}", id="notes-keys")

    def on_mount(self) -> None:
        self._area.border_title = "Your notes"
        self._area.move_cursor(self._area.document.end)
        self._area.focus()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SAVE_AFTER, self._save)

    def _save(self) -> bool:
        text = self._area.text
        if text == self._saved:
            return True
        try:
            self._notes.write(text)
        except OSError as error:
            self.notify(
                f"not saved: {error.strerror}. Your notes are still here; free some disk space "
                "and continue.",
                severity="error",
                markup=False,
            )
            return False
        self._saved = text
        return True

    def on_unmount(self) -> None:
        self._save()

    def action_close_notes(self) -> None:
        if self._save():
            self.dismiss(self._area.text)
