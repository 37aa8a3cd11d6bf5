"""A lesson: what to read, the learner's code, and what the checks say about it."""

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer, Label, Markdown, TextArea

from tutor.lesson import Lesson
from tutor.report import Report
from tutor.source_text import BadFile
from tutor.ui.actions import ACTIONS, Action, actions, bindings, key_of
from tutor.ui.desk import Desk, OpenLesson
from tutor.ui.widgets.editor import CodeEditor
from tutor.ui.widgets.results import ResultsPane

if TYPE_CHECKING:
    from tutor.engine.background import RunEvent

SAVE_AFTER = 0.25
"""Seconds without a key after which the code is saved."""

LOOK_EVERY = 1.0
"""Seconds between two looks whether another program has changed the file."""

TELL_AFTER = 0.1
"""Seconds after which a run that goes on is told of. Most are over by then, and painting would only
keep them up."""

TELL_EVERY = 0.1
"""Seconds between two paintings of what has come so far."""

PANES: tuple[str, ...] = ("brief", "code", "results")
"""Each is also the id of the action that shows it."""


class LessonScreen(Screen[None]):
    """One lesson. Narrow terminals show one pane at a time, wider ones all three."""

    ACTIONS: tuple[Action, ...] = actions(
        "run", "stop", "hint", "solution", "next", "editor", "course", "brief", "code", "results",
        "reset", "help", "quit",
    )  # fmt: skip
    BINDINGS = bindings(ACTIONS)
    CSS_PATH = ["lesson.tcss"]  # noqa: RUF012
    PANES = PANES

    class RunTold(Message):
        """News of a run, from the thread in which it happens."""

        def __init__(self, news: "RunEvent") -> None:
            super().__init__()
            self.news = news

    def __init__(self, desk: Desk, lesson: Lesson) -> None:
        super().__init__()
        self.desk = desk
        self.pack = desk.pack
        self.lesson = lesson
        self._run_number = 0
        self._running_code = False
        self._run_timer: Timer | None = None
        self._results_wanted = False  # whoever has turned to another pane since does not want them
        self._save_timer: Timer | None = None
        self._opened = False
        self._unsaved = False
        # Kept here as well, for when the screen goes, its editor has gone before it.
        self._text = ""
        self._cursor = (0, 0)

    # --- layout ------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Label(classes="title", id="lesson-title")
        with Container(id="panes"):
            yield from self.compose_panes()
        yield Label(id="status")
        yield Footer(show_command_palette=False)

    def compose_panes(self) -> ComposeResult:
        with VerticalScroll(id="brief", classes="pane"):
            yield Markdown(brief_markdown(self.lesson))
        yield CodeEditor("", id="code")
        yield ResultsPane(self.lesson, self.pack.others(self.lesson.id), id="results")

    def on_mount(self) -> None:
        if not self.query("#code"):
            return  # whoever leaves while the screen is built has none of its parts
        self._opened = True
        self._open_file()
        progress = self.desk.progress
        progress.opened(self.pack.id, self.lesson.id)
        self._editor.cursor_location = progress.cursor(self.pack.id, self.lesson.id)
        self.set_interval(LOOK_EVERY, self._look_outside)
        self.show_pane(self.first_pane)
        self.desk.tell_notices(self)
        self.desk.looks_at(self.lesson)
        self._get_ready()

    @work(thread=True, exit_on_error=False)
    def _get_ready(self) -> None:
        self.desk.expect(self.lesson)

    def on_unmount(self) -> None:
        if not self._opened:
            return
        self.action_stop()
        self._save()
        self.desk.progress.left(self.pack.id, self.lesson.id, self._cursor)

    def on_resize(self) -> None:
        # Only after a layout is it known whether there is room for more than one pane.
        self.call_after_refresh(self._tell_state)

    @property
    def first_pane(self) -> str:
        """Who has begun to write comes back to the code."""
        return "brief" if self._text == self.lesson.starter else "code"

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front, and the keyboard into it."""
        self._results_wanted = False
        for pane in self.PANES:
            self.set_class(pane == name, f"show-{pane}")
        # At once, not by `focus()`, which waits its turn: the next key may be on its way already.
        self.set_focus(self.query_one(f"#{name}"))
        self._tell_state()

    @property
    def _editor(self) -> CodeEditor:
        return self.query_one("#code", CodeEditor)

    @property
    def _results(self) -> ResultsPane:
        return self.query_one("#results", ResultsPane)

    def _tell_state(self) -> None:
        """The title line, and the line above the footer."""
        mark = "✓ " if self.desk.passed(self.lesson) else ""
        place = f"{self.desk.place(self.lesson)}/{len(self.pack.lessons)}"
        title = f"{mark}{self.lesson.title}  ·  {place}"
        self.query_one("#lesson-title", Label).update(title)
        labels = {name: f" {key_of(name)} {ACTIONS[name].label} " for name in self.PANES}
        tabs = " ".join(
            f"[reverse]{label}[/]" if self.has_class(f"show-{name}") else label
            for name, label in labels.items()
        )
        narrow = self.has_class("-narrow")
        self.query_one("#status", Label).update(f"{tabs if narrow else ''} {self.summary}")

    @property
    def summary(self) -> str:
        """What the line above the footer says."""
        return self._results.summary

    # --- the learner's file ------------------------------------------------------------------

    def _open_file(self) -> None:
        workspace = self.desk.workspace
        try:
            text = workspace.open(self.lesson)
        except BadFile as error:
            kept = workspace.set_aside(self.lesson)
            self.notify(
                f"{error}\nIt was set aside as {kept}; you start from the starter.",
                severity="warning",
                timeout=20,
            )
            text = workspace.open(self.lesson)
        except OSError as error:
            self.notify(
                f"{error.filename}: {error.strerror}. Your code cannot be saved; "
                "run jaxtutor doctor.",
                severity="error",
                timeout=30,
            )
            text = self.lesson.starter
        self._load_text(text)

    def _load_text(self, text: str) -> None:
        cursor = self._editor.cursor_location
        with self.prevent(TextArea.Changed):
            self._editor.load_text(text)
        self._editor.cursor_location = cursor
        self._text = text
        self._unsaved = False

    @on(TextArea.Changed, "#code")
    def _typed(self) -> None:
        self._text = self._editor.text
        self._unsaved = True
        if self.desk.pool is not None:
            self.desk.pool.keep_alive()
        if self._save_timer is not None:
            self._save_timer.stop()
        self._save_timer = self.set_timer(SAVE_AFTER, self._save)

    @on(TextArea.SelectionChanged, "#code")
    def _moved(self) -> None:
        self._cursor = self._editor.cursor_location

    def _save(self) -> None:
        if not self._unsaved:
            return
        try:
            saved = self.desk.workspace.save(self.lesson, self._text)
        except OSError as error:
            self.notify(
                f"not saved: {error.strerror}. Your code is still here; free some space, then "
                "type on.",
                severity="error",
                timeout=10,
            )
            return
        self._unsaved = False
        if saved.kept is not None:
            self.notify(
                f"the file had been changed by another program; that version is kept: {saved.kept}",
                severity="warning",
                timeout=15,
            )

    def _look_outside(self) -> None:
        """Take over what another editor has written, unless something here is newer."""
        if self._unsaved or not self.is_current:
            return
        text = self.desk.workspace.changed_outside(self.lesson)
        if text is not None:
            self.desk.workspace.accept(self.lesson, text)
            self._load_text(text)
            self.notify("reloaded: another program changed the file", timeout=3)

    # --- running -----------------------------------------------------------------------------

    def action_run(self) -> None:
        self._save()
        number = self.desk.runner.run(
            self.lesson, self._text, lambda news: self._hear(self.RunTold(news))
        )
        if number != self._run_number:  # else it is going on already
            self._run_number = number
            self._running_code = True
            self._results.begin()
            self._stop_telling()
            self._results_wanted = True
            self._run_timer = self.set_timer(TELL_AFTER, self._tell_running)

    def _tell_running(self) -> None:
        """Begin to tell of a run that goes on."""
        self._results.show()
        self._show_results()
        self.refresh_bindings()
        self._run_timer = self.set_interval(TELL_EVERY, self._tell_progress)

    def _tell_progress(self) -> None:
        self._results.show()
        self._tell_state()

    def _stop_telling(self) -> None:
        if self._run_timer is not None:
            self._run_timer.stop()
            self._run_timer = None

    def _show_results(self) -> None:
        if self.has_class("-narrow") and self._results_wanted:
            self.show_pane("results")
        else:
            self._tell_state()

    def _hear(self, message: Message) -> None:
        self.post_message(message)

    @on(RunTold)
    def _run_told(self, message: RunTold) -> None:
        from tutor.engine.background import (
            CheckFinished,
            RaceFinished,
            ReferenceNeeded,
            RunFinished,
            RunStopped,
        )

        if message.news.number != self._run_number:
            return  # of a run that has been replaced
        match message.news:
            case ReferenceNeeded():
                self._results.waits_for_torch()
            case CheckFinished(result=result):
                self._results.add(result)
            case RunStopped():
                self._over(None)
            case RaceFinished(report=report):
                self._results.end(report)
            case RunFinished(report=report):
                self._over(report)
                self._judged(report)

    def _over(self, report: Report | None) -> None:
        self._running_code = False
        self._stop_telling()
        self._results.end(report)
        self._show_results()
        self.refresh_bindings()

    def _judged(self, report: Report) -> None:
        before = self.desk.passed(self.lesson)
        self.desk.progress.record(self.pack.id, report)
        self.desk.tell_notices(self)
        if report.passed and not before:
            self.notify(
                f"Passed. {key_of('solution')} compares your code with the solution, "
                f"{key_of('next')} opens the next lesson.",
                timeout=8,
            )

    # --- actions -----------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self._running_code
        return True

    def action_stop(self) -> None:
        if self._running_code:
            self.desk.runner.stop(self._run_number)

    def action_brief(self) -> None:
        self.show_pane("brief")

    def action_code(self) -> None:
        self.show_pane("code")

    def action_results(self) -> None:
        self.show_pane("results")

    def action_hint(self) -> None:
        from tutor.ui.screens.hint_screen import HintScreen

        taken = self.desk.progress.take_hint(self.pack.id, self.lesson.id, len(self.lesson.hints))
        self.app.push_screen(HintScreen(self.lesson, taken))

    def action_solution(self) -> None:
        from tutor.ui.screens.confirm_screen import ConfirmScreen

        if self.desk.passed(self.lesson):
            self._show_solution(True)
            return
        question = "You have not passed this lesson yet. See the solution all the same?"
        self.app.push_screen(ConfirmScreen(question), self._show_solution)

    def _show_solution(self, wanted: bool | None) -> None:
        if not wanted:
            return
        solution = self.pack.solution(self.lesson.id)
        if solution is None:
            self.notify("this pack comes without solutions", severity="warning")
            return
        from tutor.ui.screens.solution_screen import SolutionScreen

        self.app.push_screen(SolutionScreen(self.lesson, self._text, solution))

    def action_next(self) -> None:
        following = self.pack.next_after(self.lesson.id)
        if following is None:
            self.notify(f"This was the last lesson. {key_of('course')} lists all lessons.")
            return
        self.post_message(OpenLesson(following))

    def action_course(self) -> None:
        self.app.pop_screen()

    def action_reset(self) -> None:
        from tutor.ui.screens.confirm_screen import ConfirmScreen

        question = "Put the starter back? Your code is kept as a backup."
        self.app.push_screen(ConfirmScreen(question), self._reset)

    def _reset(self, wanted: bool | None) -> None:
        if not wanted:
            return
        self._save()
        try:
            kept = self.desk.workspace.reset(self.lesson)
        except OSError as error:
            self.notify(f"nothing was changed: {error.strerror}", severity="error")
            return
        self._load_text(self.lesson.starter)
        if kept is not None:
            self.notify(f"your code is kept: {kept}", timeout=10)

    def action_editor(self) -> None:
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            self.notify("set EDITOR, for example: export EDITOR=vim", severity="warning")
            return
        self._save()
        path = self.desk.workspace.path(self.lesson)
        try:
            with self.app.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603
        except SuspendNotSupported:
            self.notify(f"this terminal cannot be handed over; edit {path}", severity="warning")
        except (OSError, ValueError) as error:
            self.notify(f"{editor} could not be started: {error}", severity="error")
        self.app.refresh()
        self._look_outside()


def brief_markdown(lesson: Lesson) -> str:
    """What there is to read: the brief, and the PyTorch to translate."""
    parts = [lesson.instructions, "### The PyTorch", f"```python\n{lesson.torch.rstrip()}\n```"]
    if lesson.sources:
        parts.append(f"*Sources: {', '.join(lesson.sources)}.*")
    return "\n\n".join(parts)
