"""What `watch` prints: in a pipe plain lines, one run after another; in a terminal one run at a
time, with the progress and the keys below it.

The terminal's alternate screen is never used: screen readers and braille displays follow what is
printed, and it can be scrolled and copied.
"""

import time
from collections.abc import Callable, Iterable

from rich.cells import cell_len
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.style import Style
from rich.text import Text

from tutor import render
from tutor.checks.brief import brief_markdown
from tutor.cli.check import offer, steps_after_pass
from tutor.engine.background import (
    CheckFinished,
    RaceFinished,
    ReferenceNeeded,
    RunEvent,
    RunFinished,
)
from tutor.learner.placement import placed
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.report import Report

BAR_COLUMNS = 20


class Output:
    """Prints the runs of one lesson.

    **Arguments:** `command`: returns a command to run next, as `next_command` does.
    """

    def __init__(
        self, pack: Pack, lesson: Lesson, out: Console, command: Callable[..., str]
    ) -> None:
        self.pack = pack
        self.out = out
        self.command = command
        self.open(lesson)

    def open(self, lesson: Lesson) -> None:
        """Print the runs of this lesson from now on."""
        self.lesson = lesson
        self._lessons = self.pack.others(lesson.id)
        self._passed = False

    def begin(self, code: str | None) -> None:
        """Begin a run.

        **Arguments:** `code`: what is checked; None if the file cannot be read.
        """
        self.out.print(f"── {self.lesson.id}  {time.strftime('%H:%M:%S')} ──", style="dim")

    def say(self, text: str, style: str = "") -> None:
        self.out.print(Text(text, style))

    def show(self, event: RunEvent) -> None:
        match event:
            case ReferenceNeeded():
                self.say("Running this lesson's PyTorch; the results are cached.", "dim")
            case CheckFinished(result=result):
                self.out.print(render.check(result, self._lessons))
            case RunFinished(report=report):
                self.out.print(render.rest(report, self._lessons))
                self._show_advice(report)
            case RaceFinished(report=report):
                self.say(render.race(report), "dim")

    def end(self) -> None:
        """Say what can be done after a run."""
        self.say("Waiting for the next save; press Ctrl-C to stop.", "dim")

    def _show_advice(self, report: Report) -> None:
        """Print the text after a pass, unless the last run passed, too; else offer a hint."""
        if report.verdict == "internal":
            return
        passed_before, self._passed = self._passed, report.passed
        if report.passed and not passed_before and self.lesson.after_pass is not None:
            self.out.print()
            self.out.print(render.PackText(self.lesson.after_pass, indent=0))
            self.out.print()
        elif number := self.lesson.failure_hint(report):
            self.offer_hint(number)

    def offer_hint(self, number: int) -> None:
        """Offer the hint for a failure."""
        self.say(offer(self.command, self.lesson.id, number), "dim")


class Screen(Output):
    """Prints for a terminal in which keys are pressed."""

    prompted = False
    """Whether the cursor is behind a question in the last line."""

    _wraps = False
    """Whether the question takes more than that line."""

    def begin(self, code: str | None) -> None:
        self.prompted = False
        self.out.clear()  # what stood there can be scrolled back to, in most terminals
        super().begin(code)
        self.out.print(Text(self.lesson.title, "bold"))
        self.out.print()
        if code == self.lesson.starter:
            self.out.print(render.PackText(brief_markdown(self.lesson), indent=0))
            self.out.print()
            if self.lesson.torch:
                self.say(f"The PyTorch to translate: {self.command('torch', self.lesson.id)}")
                self.out.print()

    def show(self, event: RunEvent) -> None:
        self.take_back_prompt()
        super().show(event)

    def say(self, text: str, style: str = "") -> None:
        self.take_back_prompt()
        super().say(text, style)

    def offer_hint(self, number: int) -> None:
        self.say("Stuck here? There is a hint for this: press h.", "dim")

    def _show_advice(self, report: Report) -> None:
        super()._show_advice(report)
        if report.passed:
            for step in steps_after_pass(self.pack, self.lesson, self.command):
                self.say(step, "dim")

    def end(self) -> None:
        with Progress() as progress:
            statuses = placed(self.pack.manifest, progress.statuses(self.pack.id))
        done = {name for name, status in statuses.items() if status in ("passed", "known")}
        path = Workspace(self.pack).path(self.lesson)
        link = Style(link=path.absolute().as_uri())  # printed only in terminals that have links
        self.out.print()
        self.out.print(_progress(self.pack, self.lesson, done))
        self.out.print(Text.assemble("Your file: ", (str(path), link)), soft_wrap=True)

    def prompt(self, done: bool) -> None:
        """Print the keys.

        **Arguments:** `done`: whether `n` leads to the next lesson.
        """
        next_ = "n:next / " if done else ""
        self.ask(f"{next_}h:hint / l:list / r:run / e:editor / q:quit ? ")

    def ask(self, question: str) -> None:
        """Print a question, and leave the cursor behind it."""
        self.take_back_prompt()
        self.out.print()
        self.out.print(Text(question, "bold"), end="")
        self.prompted = True
        self._wraps = cell_len(question) >= self.out.width

    def answered(self) -> None:
        """Note that a line was typed behind the question."""
        self.prompted = False

    def take_back_prompt(self) -> None:
        """Make the line of the prompt empty again."""
        if self.prompted:
            self.prompted = False
            if self._wraps:
                self.out.print()
                return
            self.out.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))


def _progress(pack: Pack, lesson: Lesson, done: Iterable[str]) -> Text:
    """Return `Progress ████░░░░ 12 of 94 lessons, 3 of 8 of Gradients`."""
    done = set(done)
    track = pack.track_of(lesson.id)
    share, of_track = len(done & pack.lessons.keys()), len(done & set(track.lessons))
    filled = BAR_COLUMNS * share // len(pack.lessons)
    bar = "█" * filled + "░" * (BAR_COLUMNS - filled)
    whole = f"{share} of {len(pack.lessons)} lessons"
    return Text(f"Progress {bar} {whole}, {of_track} of {len(track.lessons)} in {track.title}")
