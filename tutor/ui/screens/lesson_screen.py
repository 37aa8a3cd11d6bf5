"""A lesson: the PyTorch, the brief, the learner's code, and the results of its checks."""

import time
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.events import DescendantFocus, Key
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer, Label, Markdown, TextArea

from tutor.checks.brief import brief_markdown
from tutor.learner.history import KEPT, Attempt
from tutor.learner.notes import Notes
from tutor.lesson import Lesson
from tutor.report import Report
from tutor.requirements import unmet
from tutor.ui.actions import ACTIONS, EDITING, Action, actions, bindings, key_of, letter_key
from tutor.ui.desk import Desk, OpenLesson, OpenMap
from tutor.ui.pane_sizes import PaneSizes
from tutor.ui.run_ahead import RunAhead
from tutor.ui.widgets.code_view import CodeView
from tutor.ui.widgets.hints_pane import HintsPane
from tutor.ui.widgets.lesson_editor import LessonEditor
from tutor.ui.widgets.menu import Menu
from tutor.ui.widgets.results import Card, ResultsPane

if TYPE_CHECKING:
    from tutor.engine.background import RunEvent

IN_THE_MENU = [action for action in ACTIONS.values() if action.letter]
"""Actions that have a letter, if the screen has them."""

SHOW_RUN_AFTER = 0.1
"""Seconds before a run is shown. Most runs have ended by then, and painting would slow them."""

PAINT_EVERY = 0.1
"""Seconds between two paintings of the results so far."""

PANES: tuple[str, ...] = ("torch", "brief", "code", "results")
"""Each is also the id of the action that goes there."""


class BriefPane(VerticalScroll):
    """The brief, which leads to the code."""

    BINDINGS = bindings(actions("to_code"))

    def on_mount(self) -> None:
        self.border_title = f"Lesson · {key_of('to_code')}: your code"


class LessonScreen(Screen[None]):
    """One lesson. In a narrow terminal, the PyTorch stands above the code or the brief."""

    ACTIONS: tuple[Action, ...] = actions(
        "run", "stop", "close_hint", "hint", "brief", "next", "course", "menu", "solution",
        "editor", "torch", "code", "results", "zoom", "larger", "smaller", "map", "history",
        "notes", "reset", "help", "quit",
    )  # fmt: skip
    BINDINGS = [  # noqa: RUF012
        *bindings(ACTIONS),
        *(
            Binding(letter_key(action.letter), f"letter('{action.id}')", show=False, priority=True)
            for action in IN_THE_MENU
        ),
    ]
    CSS_PATH = ["lesson.tcss"]  # noqa: RUF012
    PANES = PANES

    class RunProgressed(Message):
        """Carries an event of a run from the runner's thread."""

        def __init__(self, event: "RunEvent") -> None:
            super().__init__()
            self.event = event

    def __init__(self, desk: Desk, lesson: Lesson) -> None:
        super().__init__()
        self.desk = desk
        self.pack = desk.pack
        self.lesson = lesson
        self._run_number = 0
        self._running_code = False
        self._run_timer: Timer | None = None
        self._opened = False
        self._hinted: Report | None = None  # the last one whose failure hint was shown
        self._typed = False  # since the last run was begun
        self._stale = False  # whether the results are of other code
        self._checked = ""  # the code of that run
        # Not looked up in the tree: the editor is removed before its screen.
        self.editor = LessonEditor(desk, lesson, id="code")
        self._ahead = RunAhead(self, desk, lesson, lambda: self.editor.code)
        self._sizes = PaneSizes()
        self._notes = Notes(desk.workspace.folder, lesson)
        self._text = Markdown(self._brief())
        self.torch = CodeView((lesson.torch or "").rstrip(), id="torch")
        self.results = ResultsPane(lesson, self.pack.others(lesson.id), id="results")
        self.hints = HintsPane(lesson, id="hint")
        self._menu = Menu((*self.ACTIONS, *actions(*EDITING, "palette")), id="menu")

    # --- layout ------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        # Before the first frame, which is then the final one.
        width = self.app.size.width
        fitting = [name for least, name in self.app.HORIZONTAL_BREAKPOINTS or () if width >= least]
        self.add_class(fitting[-1])
        yield Label(classes="title", id="lesson-title")
        with Container(id="panes"):
            with Vertical(id="left"):
                yield from self.compose_left()
            with Vertical(id="right"):
                with Vertical(id="coding"):
                    yield self.editor
                    yield self.editor.find_bar
                    yield self.editor.completion_list
                    yield self.hints
                yield self.results
        yield self._menu
        yield Footer(show_command_palette=False)

    def compose_left(self) -> ComposeResult:
        self.torch.display = bool(self.lesson.torch)
        yield self.torch
        yield BriefPane(self._text, id="brief", classes="pane")

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        """Give the panes their sizes, unless one fills the screen or makes room for a hint."""
        classes = ("narrow", "wide", "huge")
        layout = next((name for name in classes if self.has_class(f"-{name}")), "")
        crowded = layout == "narrow" and (self.has_class("-hint") or self.has_class("show-results"))
        if self.has_class("-zoom") or crowded:
            layout = ""
        left, right = self.query("#left"), self.query("#right")
        if left and right:
            self._sizes.apply(self.torch, self.results, left.first(), right.first(), layout=layout)

    def action_resize(self, by: int) -> None:
        name = next((pane for pane in self.PANES if self._has_focus(pane)), "code")
        self._sizes.change(name, by, columns=not self.has_class("-narrow"))
        self._lay_out()

    def _has_focus(self, pane: str) -> bool:
        focused = self.focused
        return focused is not None and any(
            widget.id == pane for widget in focused.ancestors_with_self
        )

    def on_mount(self) -> None:
        if not self.query("#code"):
            return  # the learner left while the screen was being built
        self._opened = True
        self.editor.open()
        self._ahead.skip()
        progress = self.desk.progress
        progress.opened(self.pack.id, self.lesson.id)
        self.editor.cursor_location = progress.cursor(self.pack.id, self.lesson.id)
        self.call_after_refresh(self.editor.show_line_starts)
        self.show_pane(self.first_pane)
        self.desk.show_notices(self)
        if missing := unmet(self.lesson.requires):
            notice = f"This lesson is skipped here: it {missing}"
            self.notify(notice, severity="warning", timeout=15, markup=False)
        self.desk.looks_at(self.lesson)
        self._get_ready()

    @work(thread=True, exit_on_error=False)
    def _get_ready(self) -> None:
        self.desk.expect(self.lesson)

    def on_unmount(self) -> None:
        if not self._opened:
            return
        self.action_stop()
        self._ahead.leave()
        self.editor.save()
        self.desk.progress.left(self.pack.id, self.lesson.id, self.editor.cursor_location)

    @property
    def first_pane(self) -> str:
        """The brief, or the code once the learner has begun to write."""
        return "brief" if self.editor.code == self.lesson.starter else "code"

    def show_pane(self, name: str) -> None:
        """Show a pane, and focus it."""
        self._mark_pane(name)
        # Not by `focus()`, which takes effect later: the next key may already be on its way.
        if name == "results":
            self.results.focus_first()
        else:
            self.set_focus(self.query_one(f"#{name}"))
        self._show_state()

    def _mark_pane(self, name: str) -> None:
        """Note which pane is in use; in a narrow terminal, it then gets the room."""
        # The PyTorch is above both in a narrow terminal: going there does not hide the code.
        if name == "torch" and not self.has_class("-zoom"):
            return
        # The styles are updated once: it takes as long as a frame.
        others = (f"show-{pane}" for pane in self.PANES if pane != name)
        self.remove_class(*others, update=False).add_class(f"show-{name}")
        self._lay_out()

    @on(DescendantFocus)
    def _focused(self, event: DescendantFocus) -> None:
        """A pane that was clicked is in use."""
        ancestors = [widget.id for widget in event.widget.ancestors_with_self]
        name = next((pane for pane in self.PANES if pane in ancestors), "")
        if name and name != "results":  # reading results does not hide the code
            self._mark_pane(name)

    @on(TextArea.Changed, "#code")
    def _type(self) -> None:
        self._typed = True
        if not self._stale and not self._running_code and self.results.report is not None:
            self._stale = True
            self.results.border_title = self.summary
        self._ahead.typed()

    @on(TextArea.SelectionChanged, "#code")
    def _follow(self) -> None:
        row, _ = self.editor.cursor_location
        self.torch.follow(self.editor.document.lines, row)

    def _show_state(self) -> None:
        """Update the title line and the title of the results."""
        mark = "✓ " if self.desk.passed(self.lesson) else ""
        number = f"{self.desk.number(self.lesson)}/{len(self.pack.lessons)}"
        title = Text.assemble(f"{mark}{self.lesson.title}", (f"  ·  {number}", "dim"))
        self.query_one("#lesson-title", Label).update(title)
        self.results.border_title = self.summary

    @property
    def summary(self) -> str:
        """The title of the results."""
        return f"{self.results.summary}{' · edited since' if self._stale else ''}"

    # --- the menu ----------------------------------------------------------------------------

    @property
    def menu_is_open(self) -> bool:
        return self._menu.display

    def action_menu(self) -> None:
        self._menu.display = not self._menu.display

    def close_menu(self) -> None:
        self._menu.display = False

    def on_key(self, event: Key) -> None:
        """A key without a meaning closes the menu."""
        if self.menu_is_open:
            self.close_menu()
            event.stop()
            event.prevent_default()

    async def action_letter(self, name: str) -> None:
        """Do what a letter of the menu means."""
        self.close_menu()
        action = ACTIONS[name]
        if name in EDITING:
            self.show_pane("code")
            await self.app.run_action(action.command, self.editor)
        elif "." in action.command:
            await self.app.run_action(action.command)
        else:
            await self.app.run_action(action.command, self)

    # --- running -----------------------------------------------------------------------------

    def action_run(self) -> None:
        if self.has_class("-narrow") and self.has_class("show-brief"):
            self.show_pane("code")  # with the results below it
        self.editor.catch_up()
        self.editor.save()
        self._ahead.skip()
        self._checked = self.editor.code
        number = self.desk.runner.run(
            self.lesson,
            self._checked,
            lambda event: self._post(self.RunProgressed(event)),
        )
        self._typed = self._stale = False
        if number != self._run_number:  # else this code is already being checked
            self._run_number = number
            self._running_code = True
            self.results.begin()
            self._stop_painting()
            self._run_timer = self.set_timer(SHOW_RUN_AFTER, self._show_run)

    def _show_run(self) -> None:
        """Show that a run is going on, and paint its results as they arrive."""
        self._paint()
        self.refresh_bindings()
        self._run_timer = self.set_interval(PAINT_EVERY, self._paint)

    def _paint(self) -> None:
        self.results.show()
        self._show_state()

    def _stop_painting(self) -> None:
        if self._run_timer is not None:
            self._run_timer.stop()
            self._run_timer = None

    def _post(self, message: Message) -> None:
        self.post_message(message)

    @on(RunProgressed)
    def _run_progressed(self, message: RunProgressed) -> None:
        from tutor.engine.background import (
            CheckFinished,
            RaceFinished,
            ReferenceNeeded,
            RunFinished,
            RunStopped,
            TrainingProgressed,
        )

        if message.event.number != self._run_number:
            return  # the run has been replaced
        match message.event:
            case ReferenceNeeded():
                self.results.wait_for_torch()
            case TrainingProgressed(step=step, loss=loss):
                self.results.train(step, loss)
            case CheckFinished(result=result):
                self.results.add(result)
            case RunStopped():
                self._over(None)
            case RaceFinished(report=report):
                self.results.end(report)
            case RunFinished(report=report):
                before = self.desk.passed(self.lesson)
                self.desk.progress.record(self.pack.id, report, self._checked)
                self._over(report)
                self._judged(report, first=report.passed and not before)

    def _over(self, report: Report | None) -> None:
        self._running_code = False
        self._stop_painting()
        self.results.record = ""
        self.results.end(report)
        self.set_class(self.results.has_class("-failed"), "-failing")
        self.editor.mark(self.results.marked_lines)
        self._show_state()
        self.refresh_bindings()

    def _judged(self, report: Report, *, first: bool) -> None:
        """Show what came of a run.

        **Arguments:** `first`: whether the lesson is passed for the first time.
        """
        self._show_state()
        self.desk.show_notices(self)
        if first:
            self.results.record = self._record()
            self.results.show()
            # What is typed now is meant for the code, even if its message is still on its way.
            if not self._typed and self.editor.code == self._checked:
                self.set_focus(self.results.pass_card, scroll_visible=False)

    def _record(self) -> str:
        """Return how the lesson was passed, in a line or two."""
        attempts = self.desk.progress.attempts(self.pack.id, self.lesson.id)
        hints = self.desk.progress.hints(self.pack.id, self.lesson.id)
        tries = "at the first try" if attempts == 1 else f"after {attempts} tries"
        helped = "without hints" if not hints else f"with {hints} hint{'s' if hints > 1 else ''}"
        words = f"Passed {tries}, {helped}."
        if self.desk.finished(self.lesson.track):
            words += (
                " You have finished this track; for a certificate of what you proved, run: "
                f"jaxtutor certificate {self.lesson.track}"
            )
        return words

    # --- actions -----------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.editor.completion_list.display and action in ("stop", "close_hint", "menu"):
            return False  # the key closes the list
        if action == "stop":
            return self._running_code
        if action == "close_hint":
            return self.hints.display and not self._running_code and not self.menu_is_open
        if action == "menu":
            # Elsewhere, the key closes what has the focus, or a hint.
            busy = self._running_code or self.editor.find_bar.has_focus_within
            return not busy and (self.menu_is_open or not self.hints.display)
        if action == "letter":
            return self.menu_is_open
        return True

    def action_stop(self) -> None:
        if self._running_code:
            self.desk.runner.stop(self._run_number)

    def action_brief(self) -> None:
        """Go to the brief, or from there to the code."""
        there = self.has_class("show-brief") and self.has_class("-narrow")
        self.show_pane("code" if there else "brief")

    def action_torch(self) -> None:
        self.show_pane("torch" if self.lesson.torch else "code")

    def action_zoom(self) -> None:
        self.toggle_class("-zoom")
        if self.has_class("-zoom") and self.focused is self.torch:
            self._mark_pane("torch")
        self._lay_out()

    @on(Card.Visited)
    def _visit(self, message: Card.Visited) -> None:
        row = min(message.line, self.editor.document.line_count) - 1
        self.show_pane("code")
        self.editor.move_cursor((row, len(self.editor.document[row])), center=True)

    def action_code(self) -> None:
        self.show_pane("code")

    def action_results(self) -> None:
        self.show_pane("results")

    def action_hint(self) -> None:
        """Show the hint for the last failure, or else the next hint, above the results."""
        if self.has_class("-narrow") and self.has_class("show-brief"):
            self.show_pane("code")
        progress, report = self.desk.progress, self.results.report
        number = self.lesson.failure_hint(report) if report is not None else 0
        if number and report is not self._hinted:
            self._hinted = report
            taken = progress.hints(self.pack.id, self.lesson.id)
            self._show_hints(taken, number, first=True)
            return
        if not self.hints.go_on():
            taken = progress.take_hint(self.pack.id, self.lesson.id, len(self.lesson.hints))
            self._show_hints(taken, number)

    def _show_hints(self, taken: int, failure: int, *, first: bool = False) -> None:
        self.hints.show(taken, failure, first)
        self.add_class("-hint")
        self._lay_out()
        self.refresh_bindings()

    def action_close_hint(self) -> None:
        self.hints.close()
        self.remove_class("-hint")
        self._lay_out()
        if self.focused is None or self.focused is self.hints:
            self.set_focus(self.editor)
        self.refresh_bindings()

    def action_solution(self) -> None:
        from tutor.ui.screens.confirm_screen import ConfirmScreen

        if self.desk.passed(self.lesson):
            self._show_solution(True)
            return
        question = "You have not passed this lesson yet. Show the solution anyway?"
        self.app.push_screen(ConfirmScreen(question), self._show_solution)

    def _show_solution(self, confirmed: bool | None) -> None:
        if not confirmed:
            return
        solution = self.pack.solution(self.lesson.id)
        if solution is None:
            self.notify("this pack has no solutions", severity="warning")
            return
        from tutor.ui.screens.solution_screen import SolutionScreen

        self.app.push_screen(SolutionScreen(self.lesson, self.editor.code, solution))

    def action_next(self) -> None:
        following = self.pack.next_after(self.lesson.id)
        if following is None:
            self.notify(f"This was the last lesson. {key_of('course')} lists all lessons.")
            return
        track = self.desk.map_between(self.lesson.track, following)
        self.post_message(OpenLesson(following) if track is None else OpenMap(track, entering=True))

    def action_map(self) -> None:
        track = self.pack.track_of(self.lesson.id)
        if track.map:
            self.post_message(OpenMap(track))
        else:
            self.notify("this track has no map", severity="warning")

    def action_course(self) -> None:
        self.app.pop_screen()

    def action_reset(self) -> None:
        from tutor.ui.screens.confirm_screen import ConfirmScreen

        question = "Restore the starter? Your code is backed up."
        self.app.push_screen(ConfirmScreen(question), self._reset)

    def _reset(self, confirmed: bool | None) -> None:
        if confirmed:
            self.editor.reset()

    def _brief(self, notes: str | None = None) -> str:
        """Return the brief, and the learner's notes below it."""
        if notes is None:
            try:
                notes = self._notes.read()
            except OSError:  # told when they are opened
                notes = ""
        brief = brief_markdown(self.lesson)
        return f"{brief}\n\n### Your notes\n\n{notes}" if notes.strip() else brief

    def action_notes(self) -> None:
        from tutor.ui.screens.notes_screen import NotesScreen

        try:
            text = self._notes.read()
        except OSError as error:
            told = f"{self._notes.path}: {error.strerror}; mend or move it"
            self.notify(told, severity="warning", markup=False)
            return
        self.app.push_screen(NotesScreen(self._notes, text), self._noted)

    def _noted(self, text: str | None) -> None:
        if text is not None:
            self._text.update(self._brief(text))

    def action_history(self) -> None:
        from tutor.ui.screens.history_screen import HistoryScreen

        attempts = self.desk.progress.history.attempts(self.pack.id, self.lesson.id)
        if attempts:
            screen = HistoryScreen(self.lesson, attempts, self.editor.code)
            self.app.push_screen(screen, self._restore)
        else:
            self.notify(f"no attempts yet; {key_of('run')} checks your code")

    def _restore(self, code: str | None) -> None:
        """Show the code of an attempt; the code before is kept in the history."""
        if code is None or code == self.editor.code:
            return
        before = Attempt(at=time.time(), verdict=KEPT, code=self.editor.code)
        self.desk.progress.keep(self.pack.id, self.lesson.id, before)
        self.desk.show_notices(self)
        self.editor.take(code)
        self.show_pane("code")

    def action_editor(self) -> None:
        self.editor.edit_outside()
