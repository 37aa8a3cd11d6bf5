"""Everything that can be done in the app, once: keys, footer, palette and help come from here."""

from collections.abc import Iterable

from msgspec import Struct
from textual.binding import Binding


class Action(Struct, frozen=True):
    """Something a screen can do.

    `name` is its `action_…` method. `keys` are comma-separated, the first one is shown.
    """

    name: str
    keys: str
    label: str
    help: str
    footer: bool = True

    @property
    def binding(self) -> Binding:
        # With priority, because the editor would otherwise take F6 and F7 for selecting text.
        return Binding(
            self.keys,
            self.name,
            self.label,
            tooltip=self.help,
            show=self.footer,
            priority=True,
            key_display=shown_key(self.keys.partition(",")[0]),
            id=self.name,
        )


def shown_key(key: str) -> str:
    """A key as a person calls it: `F5`, `^R`, `Enter`."""
    if key.startswith("ctrl+"):
        return f"^{key.removeprefix('ctrl+').upper()}"
    return key.upper() if key[0] == "f" and key[1:].isdigit() else key.capitalize()


def shown_keys(action: Action) -> str:
    """All keys of an action."""
    return ", ".join(map(shown_key, action.keys.split(",")))


COURSE = (
    Action("open", "enter", "Open", "Open the lesson under the cursor."),
    Action("app.help_keys", "f1", "Keys", "Show every key that works here."),
    Action("app.leave", "ctrl+q", "Quit", "Leave; your code and your place are kept."),
)

LESSON = (
    Action("run", "f5,ctrl+r", "Run", "Check your code. A second run replaces the first."),
    Action("stop", "escape", "Stop", "Stop the run that is going on.", footer=False),
    Action("hint", "f6,ctrl+t", "Hint", "Take a hint; there are several, one by one."),
    Action(
        "solution", "f7", "Solution", "Compare your code with the solution, after you have passed."
    ),
    Action("next", "f8,ctrl+n", "Next", "Go to the next lesson."),
    Action("editor", "f9,ctrl+o", "Editor", "Edit in $VISUAL or $EDITOR.", footer=False),
    Action("course", "f10,ctrl+l", "Lessons", "Go to the list of lessons."),
    Action("brief", "f2", "Brief", "Read the lesson.", footer=False),
    Action("code", "f3", "Code", "Go to your code.", footer=False),
    Action("results", "f4", "ResultsPane", "Look at the results.", footer=False),
    Action("reset", "f12", "Start anew", "Put the starter back; your code is kept.", footer=False),
    Action("app.help_keys", "f1", "Keys", "Show every key that works here."),
    Action("app.leave", "ctrl+q", "Quit", "Leave; your code and your place are kept."),
)

PREVIEW = (
    Action("hidden", "f11,ctrl+g", "Hidden", "Look at what learners do not see."),
    *LESSON,
)


Bindings = list[Binding | tuple[str, str] | tuple[str, str, str]]


def bindings(actions: Iterable[Action]) -> Bindings:
    return [action.binding for action in actions]
