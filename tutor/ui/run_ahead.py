"""Running the checks before the learner asks, while they think about what they have typed.

When typing pauses and the file parses, it is run at low priority in a waiting sandbox. Nothing of
that is shown or counted; but who then asks for the verdict need not wait for it.
"""

import ast
import os
import warnings
from collections.abc import Callable
from contextlib import suppress

from textual.timer import Timer
from textual.widget import Widget

from tutor.learner.settings import Settings
from tutor.lesson import Lesson
from tutor.pool.capacity import CORES, on_battery
from tutor.ui.desk import Desk

PAUSE_SECONDS = 0.6
"""Seconds without a key after which code is run. Fewer would run what is not finished."""

RETRY_SECONDS = 1.0
"""Seconds until another try, when no sandbox was ready or something else went on."""

MOST_TRIES = 20

IDLE_LOAD = 0.5
"""With a single core, the load of the last minute below which it counts as idle."""

MOST_BYTES = 100_000
"""Longest code that is parsed here."""

SETTING = "run-ahead"
CHOICES = {
    "": "unless on battery",
    "always": "always",
    "never": "never",
}
"""Values of the setting, and what they mean."""


class RunAhead:
    """Runs the code of one lesson ahead. For the thread of the app.

    **Arguments:** `owner`: the widget whose timers are used; `code`: returns the code as it is.
    """

    def __init__(self, owner: Widget, desk: Desk, lesson: Lesson, code: Callable[[], str]) -> None:
        self._owner = owner
        self._desk = desk
        self._lesson = lesson
        self._code = code
        self._known = ""
        self._begun = False
        self._settings = Settings()
        self._timer: Timer | None = None
        self._tries = 0

    def typed(self) -> None:
        """Note that the code has changed. What runs ahead is of other code now: it is stopped, so
        that a sandbox is ready again when the learner asks."""
        self._stop()
        if self._begun:
            self._begun, self._known = False, ""
            self._desk.forget_ahead()
        self._tries = MOST_TRIES
        self._timer = self._owner.set_timer(PAUSE_SECONDS, self._run)

    def skip(self) -> None:
        """Do not run the code as it is: it was just opened, or is run anyway."""
        self._stop()
        self._known, self._begun = self._code(), False

    def leave(self) -> None:
        """Run nothing more: the learner leaves the lesson."""
        self._stop()
        self._desk.forget_ahead()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _run(self) -> None:
        code = self._code()
        known = code in (self._known, self._lesson.starter)
        if known or not parses(code) or not allowed(self._settings):
            return
        self._tries -= 1
        if self._begin(code):
            self._known, self._begun = code, True
        elif self._tries:
            self._timer = self._owner.set_timer(RETRY_SECONDS, self._run)

    def _begin(self, code: str) -> bool:
        pool = self._desk.pool
        if pool is None or not pool.ready(self._lesson, 0):
            return False  # starting one would keep a core busy
        if CORES == 1 and os.getloadavg()[0] > IDLE_LOAD:
            return False
        return self._desk.runner.run_ahead(self._lesson, code)


def parses(code: str) -> bool:
    """Return whether the code is Python. An unfinished line seldom is."""
    if len(code) > MOST_BYTES:
        return False
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(code)
        return True
    return False


def allowed(settings: Settings) -> bool:
    """Return whether the learner wants code to be run ahead."""
    chosen = settings.get(SETTING) or ""
    return chosen == "always" or (chosen != "never" and not on_battery())


def next_choice(settings: Settings) -> str:
    """Set the next of `CHOICES`, and return what it means."""
    known = [*CHOICES]
    now = settings.get(SETTING) or ""
    chosen = known[(known.index(now) + 1) % len(known)] if now in known else ""
    settings.set(SETTING, chosen)
    return CHOICES[chosen]
