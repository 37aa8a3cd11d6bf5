"""The app: it opens screens and handles the actions that work on all of them."""

import asyncio
import signal
from collections.abc import Iterable

from textual import on, work
from textual.app import App, SystemCommand
from textual.command import Provider
from textual.driver import Driver
from textual.events import Event, Key
from textual.screen import Screen

from tutor.learner.settings import Settings, own_keys
from tutor.pack import BadPack
from tutor.ui.actions import ACTIONS, Action, actions, bindings, shown_keys
from tutor.ui.desk import Desk, OpenLesson, OpenMap
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.themes import DEFAULT, PALETTES, report_colours, theme

NARROW, WIDE, HUGE = 0, 110, 170
"""Columns from which panes are shown one at a time, in two columns, in three."""

GET_READY_AFTER = 0.3
"""Seconds after the start; the first frame has been painted by then."""


def lesson_commands() -> type[Provider]:
    from tutor.ui.lesson_commands import LessonCommands  # not needed for the first frame

    return LessonCommands


class TutorApp(App[int], inherit_bindings=False):
    """jaxtutor in a terminal.

    **Arguments:** `first`: the lesson to open; by default the last one opened; `welcome`: whether
    the very first start shows what jaxtutor found on this machine.
    """

    TITLE = "jaxtutor"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(NARROW, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]  # noqa: RUF012
    BINDINGS = bindings(actions("quit", "interrupt"))
    COMMANDS = App.COMMANDS | {lesson_commands}
    COMMAND_PALETTE_BINDING = ACTIONS["palette"].keys

    def __init__(self, desk: Desk, first: str | None = None, welcome: bool = False) -> None:
        super().__init__()
        self.desk = desk
        self._first = first
        self._welcome = welcome
        self._settings = Settings()
        for name in PALETTES:
            self.register_theme(theme(name))
        chosen = self._settings.get("theme")
        self.theme = chosen if chosen is not None and chosen in PALETTES else DEFAULT
        # Textual's own lack the colours that mean something here.
        for other in [*self.available_themes]:
            if other not in PALETTES:
                self.unregister_theme(other)
        self._touched = False
        keys, self._keys_problem = own_keys(ACTIONS)
        self.set_keymap(keys)

    def watch_theme(self, before: str, name: str) -> None:
        self.ansi_theme_dark = self.ansi_theme_light = report_colours(name)
        if self.is_running:  # else it is the one of last time
            self._settings.set("theme", name)

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        if driver.__name__ != "LinuxDriver":
            return driver
        from tutor.ui.driver import QuietDriver  # cannot be imported on Windows

        return QuietDriver

    def on_mount(self) -> None:
        self._exit_on_signals()
        if self._keys_problem:
            self.notify(self._keys_problem, severity="warning", timeout=20, markup=False)
        self.push_screen(CourseScreen(self.desk))
        last = self._first or self.desk.progress.last_lesson(self.desk.pack.id)
        if last is not None and last in self.desk.pack.lessons:
            # Show the list, with the cursor on the lesson, while the lesson is read.
            self.call_later(self.call_after_refresh, self._open_last, last)
        elif self._first is None and self._welcome and self._never_started:
            self._show_first_run()
        self.set_timer(GET_READY_AFTER, self._get_ready)

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key):
            self._touched = True
        await super().on_event(event)

    def _open_last(self, lesson_id: str) -> None:
        """Go on where the learner left off, unless they are already doing something else."""
        if not self._touched:
            self.open_lesson(lesson_id)

    @property
    def _never_started(self) -> bool:
        return self._settings.empty and self.desk.progress.empty

    def _show_first_run(self) -> None:
        from tutor.ui.screens.first_run_screen import FirstRunScreen

        self._settings.set("first-run", "shown")
        self.desk.torch_noticed = True  # this screen says it
        self.push_screen(FirstRunScreen(self.desk), self._begin)

    def _begin(self, lesson_id: str | None) -> None:
        if lesson_id is not None:
            self.open_lesson(lesson_id)

    @on(OpenLesson)
    def _open_lesson(self, message: OpenLesson) -> None:
        self.open_lesson(message.lesson_id)

    def open_lesson(self, lesson_id: str) -> None:
        """Show a lesson in place of the current lesson or map, or its problems on top of them."""
        from tutor.ui.screens.lesson_screen import LessonScreen
        from tutor.ui.screens.map_screen import MapScreen

        screen = self.screen_of(lesson_id)
        if not isinstance(screen, LessonScreen):
            self.push_screen(screen)
            return
        from_map = isinstance(self.screen, MapScreen)
        if from_map:
            self.pop_screen()
        if not isinstance(self.screen, LessonScreen):
            self.push_screen(screen)
        elif not (from_map and self.screen.lesson.id == lesson_id):
            self.switch_screen(screen)

    @on(OpenMap)
    def _open_map(self, message: OpenMap) -> None:
        from tutor.ui.screens.map_screen import MapScreen

        if not isinstance(self.screen, MapScreen):  # else the key has been pressed twice
            self.push_screen(MapScreen(self.desk, message.track, message.entering))

    def screen_of(self, lesson_id: str) -> Screen[None]:
        """Return the screen of a lesson, or of its problems."""
        from tutor.ui.screens.lesson_screen import LessonScreen
        from tutor.ui.screens.problems_screen import ProblemsScreen

        try:
            return LessonScreen(self.desk, self.desk.pack.lesson(lesson_id))
        except BadPack as error:
            return ProblemsScreen(lesson_id, error)

    @work(thread=True, exit_on_error=False)
    def _get_ready(self) -> None:
        """Import what the first frame does not need."""
        import tutor.ui.screens.lesson_screen  # noqa: F401

        self.desk.get_ready()

    # --- actions -----------------------------------------------------------------------------

    async def action_quit(self) -> None:
        self.exit(0)

    def action_help_keys(self) -> None:
        from tutor.ui.screens.help_screen import HelpScreen, actions_at_focus

        self.push_screen(HelpScreen(actions_of(self.screen), actions_at_focus(self.screen)))

    def action_run_ahead(self) -> None:
        from tutor.ui.run_ahead import switch

        how = "checked" if switch(self._settings) else "not checked"
        self.notify(f"Code is {how} while you pause.", timeout=5)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the entries of the palette: the screen's actions, then the theme."""
        for action in actions_of(screen):
            name = action.command if "." in action.command else f"screen.{action.command}"

            async def run(name: str = name) -> None:
                await self.run_action(name)

            yield SystemCommand(f"{action.label} ({shown_keys(action)})", action.help, run)
        yield SystemCommand("Theme", "Change the colours.", self.action_change_theme)
        yield SystemCommand(
            "Run ahead", "Switch checking code while you pause on or off.",
            self.action_run_ahead,
        )  # fmt: skip

    def _exit_on_signals(self) -> None:
        """Exit in the ordinary way on SIGHUP and SIGTERM, so that everything is saved. A second one
        ends the process, whatever it does. Without a terminal, as in tests, the process is not the
        app's own, and signals are not taken over."""
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()

        def leave(number: int) -> None:
            loop.remove_signal_handler(number)
            self.exit(None, 128 + number)

        for number in (getattr(signal, "SIGHUP", None), signal.SIGTERM):
            if number is not None:
                try:
                    loop.add_signal_handler(number, leave, number)
                except (NotImplementedError, RuntimeError, ValueError):
                    pass  # not the main thread, or a system without signals


def actions_of(screen: Screen[object]) -> tuple[Action, ...]:
    """Return the actions of a screen; dialogs list none."""
    actions: tuple[Action, ...] = getattr(screen, "ACTIONS", ())
    return actions
