"""Every action of the app, once: bindings, messages, footer, palette, help and docs use this table.

Keys appear nowhere else. `docs/keys.py` writes them into the documentation.
"""

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct
from textual.binding import Binding

Bindings: TypeAlias = "list[Binding | tuple[str, str] | tuple[str, str, str]]"


class Action(Struct, frozen=True):
    """Something a learner can do.

    `keys` are comma-separated; the first one is shown. `method` is Textual's name for what to call,
    `action_<id>` of the screen by default. Bindings with `priority` work while the editor has the
    focus.
    """

    id: str
    keys: str
    label: str
    help: str
    footer: bool = True
    method: str = ""
    priority: bool = True

    @property
    def key(self) -> str:
        """The first key, as Textual names it."""
        return self.keys.partition(",")[0]

    @property
    def command(self) -> str:
        return self.method or self.id

    def binding(self, *opened_by: str) -> Binding:
        """Return the binding; the keys of the actions `opened_by` do the same."""
        return Binding(
            ",".join([self.keys, *(ACTIONS[name].keys for name in opened_by)]),
            self.command,
            self.label,
            tooltip=self.help,
            show=self.footer,
            priority=self.priority,
            key_display=shown_key(self.key),
            id=self.id,
        )


def _inner(id: str, keys: str, label: str, help: str, method: str = "") -> Action:  # noqa: A002
    """Return an action of a dialog or widget: not in the footer, and without priority."""
    return Action(id, keys, label, help, footer=False, method=method, priority=False)


ACTIONS = {
    action.id: action
    for action in (
        # Everywhere
        Action("help", "f1", "Keys", "Show every key that works here.", method="app.help_keys"),
        Action(
            "quit",
            "ctrl+q",
            "Quit",
            "Quit. Your code and your position are saved.",
            method="app.quit",
        ),
        Action("palette", "ctrl+p", "Palette", "Search all actions by name.", footer=False),
        _inner("interrupt", "ctrl+c", "How to quit", "Show which key quits.", "app.help_quit"),
        # The list of lessons
        Action("open", "enter", "Open", "Open the selected lesson."),
        # The map of a track
        Action("leave", "escape", "Back", "Go back.", priority=False),
        # A lesson
        Action("run", "f5,ctrl+r", "Run", "Check your code. A new run replaces the current one."),
        Action("stop", "escape", "Stop", "Stop the current run.", footer=False),
        Action("hint", "f6,ctrl+t", "Hint", "Show the next hint."),
        Action("solution", "f7", "Solution", "Compare your code with the solution, once you pass."),
        Action("next", "f8,ctrl+n", "Next", "Go to the next lesson."),
        Action("editor", "f9,ctrl+o", "Editor", "Edit in $VISUAL or $EDITOR.", footer=False),
        Action("course", "f10,ctrl+l", "Lessons", "Go to the list of lessons."),
        Action("brief", "f2", "Brief", "Read the lesson.", footer=False),
        Action("code", "f3", "Code", "Go to your code.", footer=False),
        Action("results", "f4", "Results", "Go to the results.", footer=False),
        Action(
            "reset", "f12", "Reset", "Restore the starter. Your code is backed up.", footer=False
        ),
        # A lesson's preview
        Action("hidden", "f11,ctrl+g", "Hidden", "Show what learners do not see."),
        # Dialogs, and the solution
        _inner("close", "escape,enter,q", "Close", "Close the dialog."),
        Action("back", "escape,q", "Back", "Go back to your code.", priority=False),
        _inner("yes", "enter,y", "Yes", "Yes.", "answer(True)"),
        _inner("no", "escape,n", "No", "No.", "answer(False)"),
        _inner("earlier", "left", "Earlier", "Show the previous hint."),
        _inner("later", "right", "Later", "Show the following hint."),
        # The editor
        _inner("first_line", "ctrl+home", "First line", "Go to the first line."),
        _inner("last_line", "ctrl+end", "Last line", "Go to the last line."),
    )
}


def actions(*ids: str) -> tuple[Action, ...]:
    return tuple(ACTIONS[name] for name in ids)


def bindings(chosen: Iterable[Action]) -> Bindings:
    return [action.binding() for action in chosen]


# --- how keys are shown ----------------------------------------------------------------------


def shown_key(key: str) -> str:
    """Return a key as people write it: `F5`, `^R`, `Enter`."""
    if key.startswith("ctrl+"):
        return f"^{key.removeprefix('ctrl+').capitalize()}"
    return key if len(key) == 1 else key.capitalize()


def shown_keys(action: Action) -> str:
    """Return all keys of an action: `F5, ^R`."""
    return ", ".join(map(shown_key, action.keys.split(",")))


def key_of(name: str) -> str:
    """Return the first key of an action, as it is shown."""
    return shown_key(ACTIONS[name].key)
