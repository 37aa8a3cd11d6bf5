"""Running the checks before the learner asks, while they think about what they have typed.

When typing pauses and the file parses, it is run in a waiting sandbox. Nothing of that is shown or
counted; but when the learner asks, the verdict is there.
"""

from collections.abc import Callable
from contextlib import suppress

from textual.timer import Timer
from textual.widget import Widget

from tutor.foreign.python_source import parse
from tutor.learner.settings import Settings
from tutor.lesson import Lesson
from tutor.ui.desk import Desk

PAUSE_SECONDS = 0.6
"""Seconds without a key after which code is run. Fewer would run what is not finished."""

RETRY_SECONDS = 1.0
"""Seconds until another try, when no sandbox was ready or something else went on."""

MOST_TRIES = 20

MOST_BYTES = 100_000
"""Longest code that is parsed here."""

SETTING, OFF = "run-ahead", "never"
"""The setting, and its value if the learner has switched running ahead off."""


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
        if known or not parses(code) or not wanted(self._settings):
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
        return self._desk.runner.run_ahead(self._lesson, code)


def parses(code: str) -> bool:
    """Return whether the code is Python. An unfinished line seldom is."""
    if len(code) > MOST_BYTES:
        return False
    with suppress(SyntaxError):
        parse(code)
        return True
    return False


def wanted(settings: Settings) -> bool:
    """Return whether the learner wants code to be run ahead."""
    return settings.get(SETTING) != OFF


def switch(settings: Settings) -> bool:
    """Switch running ahead on or off, and return whether it is on."""
    on = not wanted(settings)
    settings.set(SETTING, "" if on else OFF)
    return on
