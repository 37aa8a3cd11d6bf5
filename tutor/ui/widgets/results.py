"""The results of a run: a card for each check, and the verdict in the title."""

import time
from collections.abc import Callable, Collection
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Markdown, Static

from tutor import render
from tutor.curves import LOSSES, spark_line
from tutor.lesson import Lesson
from tutor.pictures.array_map import worst_slice
from tutor.report import CheckResult, Explanation, Fault, Report, to_answer
from tutor.ui.actions import actions, bindings, key_of

LOSS_COLUMNS = 24
"""Columns of the losses of a training that runs."""

DIALOG_MARGIN = 10
"""Columns of the screen that an explanation leaves free: borders and padding."""

COPIED_COLUMNS = 100
"""Columns of a result that is copied."""


class Card(Static, can_focus=True):
    """A row of the results. Its line in the code can be visited, and it can be copied."""

    BINDINGS = bindings(
        actions("go_to", "copy_result", "explain_result", "result_up", "result_down")
    )

    class Visited(Message):
        """Asks for a line of the learner's code, from 1."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, others: Collection[str]) -> None:
        super().__init__(classes="card")
        self._others = others
        self.line = 0
        """The line of the learner's code, from 1; 0 if there is none."""
        self.explained: Explanation | None = None
        """The explanation of the failure, if there is one."""
        self.whole: RenderableType = ""
        """All that the card tells, for the clipboard."""

    def action_explain_result(self) -> None:
        from tutor.ui.screens.dialogs import ExplanationScreen

        if self.explained is not None:
            width = self.app.size.width - DIALOG_MARGIN
            self.app.push_screen(ExplanationScreen(self.explained, self._others, width))

    def action_go_to(self) -> None:
        if self.line:
            self.post_message(self.Visited(self.line))

    def action_copy_result(self) -> None:
        console = Console(file=StringIO(), width=COPIED_COLUMNS, highlight=False)
        console.print(self.whole)
        assert isinstance(console.file, StringIO)
        self.app.copy_to_clipboard(console.file.getvalue())
        self.notify("copied", timeout=2)

    def action_result_up(self) -> None:
        self._step(-1)

    def action_result_down(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        cards = [card for card in self.screen.query(Card) if card.display]
        number = cards.index(self) + by
        if 0 <= number < len(cards):
            cards[number].focus()

    def _keys(self, *more: str) -> Text:
        there = [f"{key_of('go_to')}: line {self.line}"] if self.line else []
        if self.explained is not None:
            there.append(f"{key_of('explain_result')}: more")
        keys = [*there, f"{key_of('copy_result')}: copy", *more]
        return Text(f"    {'   '.join(keys)}", "dim")


class FaultCard(Card):
    """Why the code could not be run at all."""

    def __init__(self, fault: Fault, others: Collection[str]) -> None:
        super().__init__(others)
        self.add_class("-open")
        self.line, self.explained = fault.line or 0, fault.explanation
        self.whole = Group(*render.fault(fault, others))
        self.update(Group(self.whole, self._keys()))


class ResultCard(Card):
    """The result of a check. It can be opened and folded."""

    BINDINGS = bindings(actions("fold", "slice_before", "slice_after"))

    def __init__(self, result: CheckResult, others: Collection[str]) -> None:
        super().__init__(others)
        self.show(result, opened=False)

    def show(self, result: CheckResult, *, opened: bool) -> None:
        self.result = result
        self.line, self.explained = result.line, result.explained
        self.whole = render.check(result, self._others)
        self.opened = opened and _has_more(result)
        self._slice: int | None = None  # the one with the largest error
        self.set_class(self.opened, "-open")
        self.update(self._rendered())

    def _rendered(self) -> RenderableType:
        if render.unwritten(self.result):
            words = self.result.message if self.result.unanswered else "not written yet"
            return Text.assemble("○ ", self.result.name, (f"  {words}", "dim"))
        if self.opened:
            before, after = key_of("slice_before"), key_of("slice_after")
            slices = [f"{before} and {after}: other slices"] if self._slices > 1 else []
            told = render.check(self.result, self._others, slice_number=self._slice)
            return Group(told, self._keys(*slices))
        head = render.headline(self.result, timed=False)
        if self.result.status in ("fail", "error", "internal"):
            head.append(f"  {self.result.message.partition(chr(10))[0]}", "dim")
        return head

    def on_click(self) -> None:
        self.action_fold()

    def action_fold(self) -> None:
        self.show(self.result, opened=not self.opened)

    def action_go_to(self) -> None:
        if self.line:
            super().action_go_to()
        else:
            self.action_fold()

    @property
    def _slices(self) -> int:
        """The number of slices of a wrong array; 0 if there is no map."""
        mismatch = self.result.mismatch
        errors = mismatch.errors if mismatch is not None else None
        return len(errors.slices) if errors is not None else 0

    def action_slice_before(self) -> None:
        self._show_slice(-1)

    def action_slice_after(self) -> None:
        self._show_slice(1)

    def _show_slice(self, by: int) -> None:
        mismatch = self.result.mismatch
        if self._slices > 1 and mismatch is not None:
            now = self._slice if self._slice is not None else worst_slice(mismatch)
            self._slice = (now + by) % self._slices
            self.update(self._rendered())


class PassCard(Vertical, can_focus=True):
    """What a learner has shown and learnt, and where to go from here."""

    BINDINGS = bindings(actions("next_lesson", "compare", "read_map"))

    def __init__(self, lesson: Lesson, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._lesson = lesson
        self._learnt = Markdown(id="results-after-pass")
        self._learnt.display = False
        self._built = False
        self._record = ""
        self._keys = Static(id="pass-keys")
        self._race = Static(id="pass-race")
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._keys
        yield self._race
        yield self._learnt

    def show(self, record: str, race: str) -> None:
        """Show the card.

        **Arguments:** `record`: how the pass came about, in a few words, or empty; `race`: the
        times of both languages, once they are known.
        """
        self.display = True
        self._race.display = bool(race)
        self._race.update(Text(race, "dim"))
        text = self._lesson.after_pass
        if text is not None and not self._built:  # only now, so that the lesson opens quickly
            self._built = True
            self._learnt.update(text)
            self._learnt.display = True
        self._record = record
        self._show_keys(self.has_focus)

    def on_focus(self) -> None:
        self._show_keys(True)

    def on_blur(self) -> None:
        self._show_keys(False)

    def _show_keys(self, here: bool) -> None:
        """Name the keys that work now: the card's own only while it has the focus."""
        following, compare, read_map = (
            key_of(one if here else other)
            for one, other in (
                ("next_lesson", "next"),
                ("compare", "solution"),
                ("read_map", "map"),
            )
        )
        keys = [
            f"[@click=screen.next][b]{following}[/b] next lesson[/]",
            f"[@click=screen.solution][b]{compare}[/b] compare with the solution[/]",
            f"[@click=screen.map][b]{read_map}[/b] map[/]",
        ]
        self._keys.update(f"{self._record}\n{'   '.join(keys)}".strip())


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
        self._cards: list[ResultCard] = []
        self.report: Report | None = None
        self.running = False
        self._stopped = False
        self._torch = False
        self.clock: Callable[[], float] = time.monotonic
        self._began = 0.0
        self._step = 0
        self._losses: list[float | None] = []
        # Not looked up in the tree: the learner may leave while the screen is being built.
        self._text = Static(id="results-text")
        self._printed = Static(id="results-printed")
        self._printed.display = False
        self._fault: FaultCard | None = None
        self.record = ""
        self.pass_card = PassCard(lesson, id="pass")

    def compose(self) -> ComposeResult:
        yield self._printed
        yield self.pass_card
        yield self._text

    def on_mount(self) -> None:
        self.show()

    def begin(self) -> None:
        """Start a run. The old results stay on the screen until `show`."""
        self._results = []
        self.report = None
        self.running = True
        self._torch = False
        self._began = self.clock()
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
        ended = self.running
        self.report = report
        self.running = False
        self._stopped = report is None
        self.show()
        if ended and report is not None and report.passed:  # what comes next is at the top
            self.call_after_refresh(self.scroll_home, animate=False)

    @property
    def summary(self) -> str:
        """The state of the run in a few words."""
        count = len(self._lesson.checks)
        if self.running:
            torch = " · PyTorch runs, once" if self._torch else ""
            training = f" · {self._training}" if self._losses else ""
            # The clock runs on a busy machine, too; the limit counts processor time.
            limit = f"limit {self._lesson.limits.seconds:g} s of CPU time"
            seconds = f"{self.clock() - self._began:.1f} s, {limit}"
            stop = f"{key_of('stop')} stops"
            return f"▶ {len(self._results)} of {count} · {seconds}{torch}{training} · {stop}"
        if self.report is None:
            return "stopped" if self._stopped else "Results"
        if self.report.skipped:
            return "– skipped"
        if self.report.verdict == "internal":
            return "? could not be judged"
        passed = sum(check.status == "pass" for check in self.report.checks)
        if self._unfinished:
            rest = to_answer(self.report.checks) or "the rest is still to be written"
            return f"○ {passed} of {count} checks pass · {rest}"
        mark = "✓" if self.report.passed else "✗"
        hint = f" · {key_of('hint')}: a hint for this" if self._offers_hint else ""
        weak = " · weak isolation" if render.weakness(self.report) else ""
        return f"{mark} {passed} of {count} checks pass{hint}{weak}"

    @property
    def _offers_hint(self) -> bool:
        """Whether the lesson has a hint for the failure of the last run."""
        return self.report is not None and self._lesson.failure_hint(self.report) > 0

    @property
    def _unfinished(self) -> bool:
        """Whether nothing is wrong but that functions are still to be written."""
        if self.report is None or self.report.fault is not None:
            return False
        wrong = [one for one in self.report.checks if one.status not in ("pass", "skipped")]
        return bool(wrong) and all(map(render.unwritten, wrong))

    @property
    def marked_lines(self) -> list[int]:
        """The lines of the code, from 1, to which failures point."""
        found = [one.line for one in self._results if not render.unwritten(one)]
        if self.report is not None and self.report.fault is not None:
            found.append(self.report.fault.line or 0)
        return [line for line in found if line]

    def focus_first(self) -> None:
        """Focus the card of a pass, of a fault, or the first that is open; or else the pane."""
        opened = next((card for card in self._cards if card.opened and card.display), None)
        passed = self.pass_card if self.pass_card.display else None
        self.screen.set_focus(passed or self._fault or opened or self)

    def show(self) -> None:
        """Show the results so far."""
        if self.running and not self._results:
            self.scroll_home(animate=False)
        self.border_title = self.summary
        report = self.report
        self.set_class(report is not None and report.passed, "-passed")
        failed = report is not None and report.verdict in ("fail", "error")
        self.set_class(failed and not self._unfinished, "-failed")
        self._show_cards()
        parts: list[RenderableType] = []
        if self.running:
            waiting = self._lesson.checks[len(self._results) :]
            if waiting:
                parts.append(Text(f"… {waiting[0].title}"))
            if waiting and self._losses:
                parts.append(render.indented(self._training, LOSSES))
        elif report is not None and report.skipped:
            parts.append(Text(f"Skipped: the lesson {report.skipped}"))
        elif report is not None:
            if not report.passed:
                parts += render.output(report)
            parts += render.closing(report)
            if self._offers_hint:
                parts.append(Text(f"Stuck here? {key_of('hint')} shows a hint for this.", "dim"))
        elif self._stopped:
            parts.append(Text(f"Stopped. Press {key_of('run')} to check again.", "dim"))
        else:
            parts.append(Text(f"Press {key_of('run')} to check your code.", "dim"))
        self._text.update(Group(*parts))
        self._printed.display = False
        if not self.running and report is not None and report.passed:
            if printed := render.output(report):  # else it is below a page of passes
                self._printed.update(Group(*printed))
                self._printed.display = True
            self.pass_card.show(self.record, render.race(report))
        else:
            self.pass_card.display = False
        self._show_fault(report.fault if report is not None and not report.skipped else None)

    def _show_fault(self, fault: Fault | None) -> None:
        if self._fault is not None:
            self._fault.remove()
            self._fault = None
        if fault is not None:
            self._fault = FaultCard(fault, self._others)
            self.mount(self._fault, before=self._text)

    def _show_cards(self) -> None:
        """Show a card for each result. The first failure is open and in view."""
        wrong = [one.status in ("fail", "error", "internal") for one in self._results]
        quiet = [render.unwritten(one) for one in self._results]
        first = next(
            (n for n, bad in enumerate(wrong) if bad and not quiet[n]),
            -1,
        )
        for number, result in enumerate(self._results):
            told = number == first or (result.status == "pass" and _has_more(result))
            if number < len(self._cards):
                card = self._cards[number]
                if card.result is not result:
                    card.show(result, opened=told)
                card.display = True
            else:
                card = ResultCard(result, self._others)
                card.show(result, opened=told)
                self._cards.append(card)
                self.mount(card, before=self._text)
        for card in self._cards[len(self._results) :]:
            card.display = False
        if not self.running and first >= 0:
            self.call_after_refresh(self._cards[first].scroll_visible, animate=False, top=True)

    @property
    def _training(self) -> str:
        """The losses of the training that runs, as a picture and the last as a number."""
        last = self._losses[-1]
        shown = "NaN" if last is None else f"{last:.4g}"
        return f"{spark_line(self._losses, LOSS_COLUMNS)} step {self._step}: loss {shown}"


def _has_more(result: CheckResult) -> bool:
    """Return whether a card has more than its first line."""
    failed = result.status in ("fail", "error", "internal")
    return failed or result.curves is not None or bool(result.afterword)
