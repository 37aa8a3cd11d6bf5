"""The very first start: what jaxtutor found on this machine, three keys, and the first lesson."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich.table import Table
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Label, Static
from textual.worker import get_current_worker

from tutor.engine.first_look import NAMES, look
from tutor.ui.actions import actions, bindings, key_of, letter_bindings
from tutor.ui.desk import Desk

if TYPE_CHECKING:
    from tutor.engine.machine import Diagnostic
    from tutor.sandbox.process import Sandbox

Look: TypeAlias = "Callable[[Path, Callable[[Sandbox], None]], Iterable[Diagnostic]]"

KEYS = {
    "run": "check your code",
    "hint": "take the next hint",
    "menu": "see everything else that you can do, each with a letter",
}
"""The actions of a lesson to know from the start."""


class FirstRunScreen(Screen[str | None]):
    """Shown once. It ends with the lesson to open, or with None.

    **Arguments:** `look` returns what was found, one after the other; it is called in a thread.
    """

    ACTIONS = actions("begin", "look_around", "help", "quit")
    BINDINGS = [*bindings(ACTIONS), *letter_bindings(ACTIONS)]  # noqa: RUF012
    CSS_PATH = "first_run.tcss"

    class Looked(Message):
        """The thread that looks has found something."""

        def __init__(self, found: "Diagnostic") -> None:
            super().__init__()
            self.found = found

    def __init__(self, desk: Desk, look: Look = look) -> None:
        super().__init__()
        self._desk = desk
        self._look_at = look
        self._first = next(iter(desk.pack.lessons))
        self._found: dict[str, Diagnostic] = {}
        self._sandbox: Sandbox | None = None

    def compose(self) -> ComposeResult:
        yield Label("jaxtutor  ·  learn JAX by translating PyTorch", classes="title")
        with VerticalScroll(id="first-run", can_focus=False):
            machine = Static(id="machine", classes="box")
            machine.border_title = "This machine"
            yield machine
            keys = Static(keys_to_know(), id="keys", classes="box")
            keys.border_title = "Three keys in a lesson"
            yield keys
            yield Static(self._next_steps(), id="next-steps")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._show()
        self._look()

    def on_unmount(self) -> None:
        if self._sandbox is not None:
            self._sandbox.kill()  # nobody reads the rest

    # --- the machine ---------------------------------------------------------------------------

    @work(thread=True, exit_on_error=False)
    def _look(self) -> None:
        worker = get_current_worker()

        def on_start(started: "Sandbox") -> None:
            self._sandbox = started
            if worker.is_cancelled:  # the screen was closed meanwhile
                started.kill()

        for found in self._look_at(self._desk.workspace.folder, on_start):
            if worker.is_cancelled:
                return
            self.post_message(self.Looked(found))

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        self._found[message.found.name] = message.found
        self._show()

    def _show(self) -> None:
        self.query_one("#machine", Static).update(findings(self._found))

    # --- what to do next -----------------------------------------------------------------------

    def _next_steps(self) -> Content:
        title = self._desk.catalogue.title(self._first)
        return Content.assemble(
            (f"{key_of('begin')}  ", "bold $accent"),
            ("begin with ", "$text-muted"),
            title,
            (f"      {key_of('look_around')}  ", "bold $accent"),
            ("all lessons", "$text-muted"),
        )

    def action_begin(self) -> None:
        self.dismiss(self._first)

    def action_look_around(self) -> None:
        self.dismiss(None)


def findings(found: "dict[str, Diagnostic]") -> Table:
    """Return a line for each thing that is looked at, and what helps where something is missing.

    **Arguments:** `found`: what was found so far, by name.
    """
    rows = Table.grid(padding=(0, 1))
    for ratio in (None, None, 1):
        rows.add_column(ratio=ratio)
    for name in NAMES:
        one = found.get(name)
        if one is None:
            rows.add_row(Text("…", "dim"), name, Text("looking", "dim"))
            continue
        mark = ("!", "yellow") if one.warning else ("✓", "green") if one.ok else ("✗", "red")
        rows.add_row(Text(*mark), name, Text(one.detail, "" if mark[0] != "✓" else "dim"))
        if mark[0] != "✓":
            rows.add_row("", "", Text(one.advice, "bold"))
    return rows


def keys_to_know() -> Table:
    """Return the keys to know from the start, and what they do."""
    rows = Table.grid(padding=(0, 2))
    for name, does in KEYS.items():
        rows.add_row(Text(key_of(name), "bold"), does)
    return rows
