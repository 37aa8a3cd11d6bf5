"""A lesson: the brief, the learner's code, and the results of its checks."""

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer, Label, Markdown

from tutor.checks.predict import question_markdown, questions
from tutor.lesson import Lesson
from tutor.report import Report
from tutor.requirements import unmet
from tutor.ui.actions import ACTIONS, Action, actions, bindings, key_of
from tutor.ui.desk import Desk, OpenLesson, OpenMap
from tutor.ui.widgets.lesson_editor import LessonEditor
from tutor.ui.widgets.results import ResultsPane

if TYPE_CHECKING:
    from tutor.engine.background import RunEvent

SHOW_RUN_AFTER = 0.1
"""Seconds before a run is shown. Most runs have ended by then, and painting would slow them."""

PAINT_EVERY = 0.1
"""Seconds between two paintings of the results so far."""

PANES: tuple[str, ...] = ("brief", "code", "results")
"""Each is also the id of the action that shows it."""


class LessonScreen(Screen[None]):
    """One lesson. A narrow terminal shows one pane at a time, a wider one all three."""

    ACTIONS: tuple[Action, ...] = actions(
        "run", "stop", "hint", "solution", "next", "editor", "course", "brief", "code", "results",
        "reset", "help", "quit",
    )  # fmt: skip
    BINDINGS = bindings(ACTIONS)
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
        self._show_results_pane = False  # not once the learner has switched to another pane
        self._opened = False
        self._hinted: Report | None = None  # the last one whose failure hint was shown
        # Not looked up in the tree: the editor is removed before its screen.
        self.editor = LessonEditor(desk, lesson, id="code")

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
        yield self.editor
        yield ResultsPane(self.lesson, self.pack.others(self.lesson.id), id="results")

    def on_mount(self) -> None:
        if not self.query("#code"):
            return  # the learner left while the screen was being built
        self._opened = True
        self.editor.open()
        progress = self.desk.progress
        progress.opened(self.pack.id, self.lesson.id)
        self.editor.cursor_location = progress.cursor(self.pack.id, self.lesson.id)
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
        self.editor.save()
        self.desk.progress.left(self.pack.id, self.lesson.id, self.editor.cursor_location)

    def on_resize(self) -> None:
        # The breakpoint classes are set by the layout.
        self.call_after_refresh(self._show_state)

    @property
    def first_pane(self) -> str:
        """The brief, or the code once the learner has begun to write."""
        return "brief" if self.editor.code == self.lesson.starter else "code"

    def show_pane(self, name: str) -> None:
        """Show a pane, and focus it."""
        self._show_results_pane = False
        for pane in self.PANES:
            self.set_class(pane == name, f"show-{pane}")
        # Not by `focus()`, which takes effect later: the next key may already be on its way.
        self.set_focus(self.query_one(f"#{name}"))
        self._show_state()

    @property
    def _results(self) -> ResultsPane:
        return self.query_one("#results", ResultsPane)

    def _show_state(self) -> None:
        """Update the title line, and the status line above the footer."""
        mark = "✓ " if self.desk.passed(self.lesson) else ""
        number = f"{self.desk.number(self.lesson)}/{len(self.pack.lessons)}"
        title = f"{mark}{self.lesson.title}  ·  {number}"
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
        """The text of the status line."""
        return self._results.summary

    # --- running -----------------------------------------------------------------------------

    def action_run(self) -> None:
        self.editor.save()
        number = self.desk.runner.run(
            self.lesson,
            self.editor.code,
            lambda event: self._post(self.RunProgressed(event)),
        )
        if number != self._run_number:  # else this code is already being checked
            self._run_number = number
            self._running_code = True
            self._results.begin()
            self._stop_painting()
            self._show_results_pane = True
            self._run_timer = self.set_timer(SHOW_RUN_AFTER, self._show_run)

    def _show_run(self) -> None:
        """Show that a run is going on, and paint its results as they arrive."""
        self._results.show()
        self._show_results()
        self.refresh_bindings()
        self._run_timer = self.set_interval(PAINT_EVERY, self._paint)

    def _paint(self) -> None:
        self._results.show()
        self._show_state()

    def _stop_painting(self) -> None:
        if self._run_timer is not None:
            self._run_timer.stop()
            self._run_timer = None

    def _show_results(self) -> None:
        if self.has_class("-narrow") and self._show_results_pane:
            self.show_pane("results")
        else:
            self._show_state()

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
                self._results.wait_for_torch()
            case TrainingProgressed(step=step, loss=loss):
                self._results.train(step, loss)
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
        self._stop_painting()
        self._results.end(report)
        self._show_results()
        self.refresh_bindings()

    def _judged(self, report: Report) -> None:
        before = self.desk.passed(self.lesson)
        self.desk.progress.record(self.pack.id, report)
        self.desk.show_notices(self)
        if report.passed and not before:
            words = (
                f"Passed. {key_of('solution')} compares your code with the solution, "
                f"{key_of('next')} opens the next lesson."
            )
            if self.desk.finished(self.lesson.track):
                words += (
                    " You have finished this track; for a certificate of what you proved, run: "
                    f"jaxtutor certificate {self.lesson.track}"
                )
            self.notify(words, timeout=8)

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

        progress, report = self.desk.progress, self._results.report
        number = self.lesson.failure_hint(report) if report is not None else 0
        if number and report is not self._hinted:
            self._hinted = report
            taken = progress.hints(self.pack.id, self.lesson.id)
            self.app.push_screen(HintScreen(self.lesson, taken, number, first=True))
            return
        taken = progress.take_hint(self.pack.id, self.lesson.id, len(self.lesson.hints))
        self.app.push_screen(HintScreen(self.lesson, taken, number))

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
        track = self.desk.map_on_the_way(self.lesson)
        self.post_message(OpenLesson(following) if track is None else OpenMap(track, entering=True))

    def action_course(self) -> None:
        self.app.pop_screen()

    def action_reset(self) -> None:
        from tutor.ui.screens.confirm_screen import ConfirmScreen

        question = "Restore the starter? Your code is backed up."
        self.app.push_screen(ConfirmScreen(question), self._reset)

    def _reset(self, confirmed: bool | None) -> None:
        if confirmed:
            self.editor.reset()

    def action_editor(self) -> None:
        self.editor.edit_outside()


def brief_markdown(lesson: Lesson) -> str:
    """Return the brief, the questions and the PyTorch to translate."""
    parts = [lesson.instructions, *map(question_markdown, questions(lesson.checks))]
    if lesson.torch:
        parts += ["### The PyTorch", f"```python\n{lesson.torch.rstrip()}\n```"]
    if lesson.sources:
        parts.append(f"*Sources: {', '.join(lesson.sources)}.*")
    return "\n\n".join(parts)
