"""The results of a run, shown check by check."""

from collections.abc import Collection

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, Static

from tutor import render
from tutor.curves import LOSSES, spark_line
from tutor.lesson import Lesson
from tutor.report import CheckResult, Report
from tutor.ui.actions import key_of

LOSS_COLUMNS = 24
"""Columns of the losses of a training that runs."""


class ResultsPane(VerticalScroll):
    """The results so far: none, some checks, or a whole report.

    **Arguments:** `others`: ids of lessons that explanations may point to.
    """

    def __init__(
        self,
        lesson: Lesson,
        others: Collection[str],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id, classes="pane")
        self._lesson = lesson
        self._others = others
        self._results: list[CheckResult] = []
        self.report: Report | None = None
        self.running = False
        self._stopped = False
        self._torch = False
        self._step = 0
        self._losses: list[float | None] = []
        # Not looked up in the tree: the learner may leave while the screen is being built.
        self._text = Static(id="results-text")
        self._after_pass = Markdown(id="results-after-pass")
        self._after_pass.display = False
        self._after_pass_built = False

    def compose(self) -> ComposeResult:
        yield self._text
        yield self._after_pass

    def on_mount(self) -> None:
        self.show()

    def begin(self) -> None:
        """Start a run. The old results stay on the screen until `show`."""
        self._results = []
        self.report = None
        self.running = True
        self._torch = False
        self._losses = []

    def wait_for_torch(self) -> None:
        """Note that PyTorch has to run, which takes longer than the checks. Call `show` after."""
        self._torch = True

    def train(self, step: int, loss: float | None) -> None:
        """Note that a training of the check that runs has reached a step. Call `show` after."""
        if step < self._step:  # the training of another case
            self._losses = []
        self._step = step
        self._losses.append(loss)

    def add(self, result: CheckResult) -> None:
        """Add the result of a check. Call `show` after."""
        self._losses = []
        self._results.append(result)

    def end(self, report: Report | None) -> None:
        """End the run; `report` is None if it was stopped."""
        self.report = report
        self.running = False
        self._stopped = report is None
        self.show()

    @property
    def summary(self) -> str:
        """The state of the run in a few words."""
        count = len(self._lesson.checks)
        if self.running:
            torch = "  (running PyTorch, once)" if self._torch else ""
            training = f"  {self._training}" if self._losses else ""
            return f"checking: {len(self._results)} of {count} …{torch}{training}"
        if self.report is None:
            return "stopped" if self._stopped else ""
        if self.report.skipped:
            return f"– skipped: {self.report.skipped}"
        if self.report.verdict == "internal":
            return "? could not be judged"
        passed = sum(check.status == "pass" for check in self.report.checks)
        mark = "✓" if self.report.passed else "✗"
        hint = f"  ·  {key_of('hint')}: a hint for this" if self._offers_hint else ""
        weak = "  ·  weak isolation" if render.weakness(self.report) else ""
        return f"{mark} {passed} of {count} checks pass{hint}{weak}"

    @property
    def _offers_hint(self) -> bool:
        """Whether the lesson has a hint for the failure of the last run."""
        return self.report is not None and self._lesson.failure_hint(self.report) > 0

    def show(self) -> None:
        """Show the results so far."""
        if self.running and not self._results:
            self.scroll_home(animate=False)
        parts: list[RenderableType] = [render.check(r, self._others) for r in self._results]
        waiting = self._lesson.checks[len(self._results) :]
        if self.running:
            for number, check in enumerate(waiting):
                mark = "… " if number == 0 else "  "
                parts.append(Text(f"{mark}{check.title}", "" if number == 0 else "dim"))
                if number == 0 and self._losses:
                    parts.append(render.indented(self._training, LOSSES))
        elif self.report is not None:
            parts.append(render.rest(self.report, self._others))
            if self._offers_hint:
                parts.append(Text(f"Stuck here? {key_of('hint')} shows a hint for this.", "dim"))
        elif self._stopped:
            parts.append(Text(f"Stopped. Press {key_of('run')} to check again.", "dim"))
        else:
            parts.append(Text(f"Press {key_of('run')} to check your code.", "dim"))
        self._text.update(Group(*parts))
        self._show_after_pass(not self.running and self.report is not None and self.report.passed)

    @property
    def _training(self) -> str:
        """The losses of the training that runs, as a picture and the last as a number."""
        last = self._losses[-1]
        shown = "NaN" if last is None else f"{last:.4g}"
        return f"{spark_line(self._losses, LOSS_COLUMNS)} step {self._step}: loss {shown}"

    def _show_after_pass(self, passed: bool) -> None:
        text = self._lesson.after_pass
        if text is None:
            return
        if passed and not self._after_pass_built:  # only now, so that the lesson opens quickly
            self._after_pass_built = True
            self._after_pass.update(text)
        self._after_pass.display = passed
