"""Every action of the app, once: bindings, messages, footer, palette, help and docs use this table.

No other code contains keys. A test compares those in the documentation.
"""

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct
from textual.binding import Binding

Bindings: TypeAlias = "list[Binding | tuple[str, str] | tuple[str, str, str]]"


class Action(Struct, frozen=True):
    """Something a learner can do.

    `keys` are comma-separated; the first one is shown. `letter` does the same after the key of the
    menu, and with Alt, which terminals send as Escape and the letter. `method` is Textual's name
    for what to call, `action_<id>` of the screen by default. Bindings with `priority` work while
    the editor has the focus.
    """

    id: str
    keys: str
    label: str
    help: str
    footer: bool = True
    method: str = ""
    priority: bool = True
    letter: str = ""

    @property
    def key(self) -> str:
        """A key that does it, as Textual names it."""
        return self.all_keys.partition(",")[0]

    @property
    def all_keys(self) -> str:
        alt = f"alt+{letter_key(self.letter)}" if self.letter else ""
        return ",".join(filter(None, (self.keys, alt)))

    @property
    def command(self) -> str:
        return self.method or self.id

    def binding(self, *opened_by: str) -> Binding:
        """Return the binding; the keys of the actions `opened_by` do the same."""
        return Binding(
            ",".join([self.all_keys, *(ACTIONS[name].all_keys for name in opened_by)]),
            self.command,
            self.label,
            tooltip=self.help,
            show=self.footer,
            priority=self.priority,
            key_display=key_of(self.id),
            id=self.id,
        )


def letter_key(letter: str) -> str:
    """Return Textual's name of the key of a letter."""
    names = {"?": "question_mark", "/": "slash", "+": "plus", "-": "minus"}
    return names.get(letter, letter)


def _inner(id: str, keys: str, label: str, help: str, method: str = "", letter: str = "") -> Action:  # noqa: A002
    """Return an action of a dialog or widget: not in the footer, and without priority."""
    return Action(id, keys, label, help, False, method, False, letter)


def _letter(id: str, key: str, label: str, help: str) -> Action:  # noqa: A002
    """Return an action of a list, which has no menu: a letter does it, except where one types."""
    return Action(id, key, label, help, priority=False)


def _more(id: str, keys: str, label: str, help: str, letter: str, method: str = "") -> Action:  # noqa: A002
    """Return an action of a lesson that is not in the footer."""
    return Action(id, keys, label, help, footer=False, letter=letter, method=method)


_ALL = (
    # Everywhere
    Action("help", "f1,ctrl+backslash", "Keys", "Show every key that works here.",
           method="app.help_keys", letter="?"),
    Action("quit", "ctrl+q", "Quit", "Quit. Your code and your position are saved.",
           method="app.quit", letter="q"),
    _more("palette", "ctrl+p", "Palette", "Search all actions and lessons by name.", "x",
          "app.command_palette"),
    _inner("interrupt", "ctrl+c", "How to quit", "Show which key quits.", "app.help_quit"),
    # The first start
    Action("begin", "enter", "Begin", "Open the first lesson."),
    Action("look_around", "escape", "All lessons", "Go to the list of lessons."),
    # The list of lessons
    Action("open", "enter", "Open", "Open the selected lesson."),
    _letter("go_on", "c", "Go on", "Open the lesson where you left off, or the next one."),
    _letter("search", "slash", "Search", "Find lessons by title, and by PyTorch or JAX words."),
    Action("close_search", "escape", "All lessons", "Close the search and show all lessons.",
           priority=False),
    # The map of a track
    Action("leave", "escape", "Back", "Go back.", priority=False),
    # A lesson
    Action("run", "ctrl+r,f5", "Run", "Check your code. A new run replaces the current one.",
           letter="r"),
    Action("stop", "escape", "Stop", "Stop the current run.", footer=False),
    Action("hint", "ctrl+t,f6", "Hint", "Show the next hint.", letter="h"),
    Action("brief", "ctrl+b,f2", "Brief", "Read the lesson, its hints and its notes.", letter="b"),
    Action("next", "f8", "Next", "Go to the next lesson.", letter="n"),
    _more("course", "ctrl+l,f10", "Lessons", "Go to the list of lessons.", "l"),
    Action("menu", "escape", "Menu", "Show what a letter does now."),
    _more("solution", "f7", "Solution", "Compare your code with the solution, once you pass.", "s"),
    _more("editor", "ctrl+o,f9", "Editor",
          "Edit in $VISUAL, $EDITOR, or an editor that is installed.", "e"),
    _more("torch", "", "PyTorch", "Go to the PyTorch to translate.", "p"),
    _more("code", "f3", "Code", "Go to your code.", "c"),
    _more("results", "f4", "Results", "Go to the results.", "v"),
    _more("zoom", "", "Zoom", "Show the pane with the focus alone, or all again.", "z"),
    _more("history", "", "History", "Show your attempts, and restore the code of one.", "o"),
    _more("larger", "", "Larger", "Give the pane with the focus more room.", "+", "resize(1)"),
    _more("smaller", "", "Smaller", "Give it less.", "-", "resize(-1)"),
    _more("notes", "", "Notes", "Write notes on this lesson.", "t"),
    _more("map", "", "Map", "Show the map of this track.", "m"),
    _more("reset", "f12", "Reset", "Restore the starter. Your code is backed up.", "w"),
    # A lesson's preview
    Action("hidden", "f11", "Hidden", "Show what learners do not see.", letter="i"),
    # Dialogs, and the solution
    _inner("close", "escape,enter,q", "Close", "Close the dialog."),
    Action("back", "escape,q", "Back", "Go back to your code.", priority=False),
    Action("onward", "n,f8", "Next", "Go to the next lesson.", priority=False),
    _inner("yes", "y", "Yes", "Yes.", "answer(True)"),
    _inner("no", "n,escape,enter", "No", "No.", "answer(False)"),
    # Hints
    Action("close_hint", "escape", "Close", "Close the hint.", footer=False),
    _inner("earlier", "left", "Earlier", "Show the previous hint."),
    _inner("later", "right", "Later", "Show the following hint."),
    # History
    Action("restore", "r,enter", "Restore", "Restore this attempt.", priority=False),
    # Notes
    _inner("close_notes", "escape", "Close", "Save your notes, and close them."),
    # After a pass
    _inner("next_lesson", "enter", "Next", "Go to the next lesson.", "screen.next"),
    _inner("compare", "d", "Compare", "Compare with the solution.", "screen.solution"),
    _inner("read_map", "m", "Map", "Show the map of the track.", "screen.map"),
    # Finding
    _inner("close_bar", "escape", "Close", "Go back to your code."),
    _inner("replace_all", "alt+enter,ctrl+a", "All", "Replace all.", "replace_all"),
    # The brief
    _inner("to_code", "enter", "Code", "Go to your code.", "screen.code"),
    # Results
    _inner("fold", "space", "Fold", "Open or fold this result."),
    _inner("go_to", "enter", "Line", "Go to the line of this result."),
    _inner("slice_before", "left,h", "Slice before", "Show the slice before this one."),
    _inner("slice_after", "right,l", "Next slice", "Show the slice after this one."),
    _inner("copy_result", "y", "Copy", "Copy this result."),
    _inner("explain_result", "x", "Explain", "Read the explanation of this failure whole."),
    _inner("result_up", "up,k", "Up", "Go to the result above."),
    _inner("result_down", "down,j", "Down", "Go to the result below."),
    # The editor
    _inner("first_line", "ctrl+home", "First line", "Go to the first line."),
    _inner("last_line", "ctrl+end", "Last line", "Go to the last line."),
    _inner("line_start", "home,ctrl+a", "Start of the line",
           "Go to the start of the text, then of the line; there, select all."),
    _inner("indent", "tab", "Indent", "Indent the selected lines, or to the next stop."),
    _inner("dedent", "shift+tab", "Dedent", "Dedent the selected lines."),
    _inner("comment", "ctrl+underscore,ctrl+slash", "Comment",
           "Make lines comments, or code again.", letter="/"),
    _inner("select_all", "", "Select all", "Select all of your code.", letter="a"),
    _inner("duplicate", "alt+shift+down", "Duplicate", "Duplicate the selected lines.", letter="d"),
    _inner("line_up", "alt+up", "Line up", "Move the selected lines up.", letter="k"),
    _inner("line_down", "alt+down", "Line down", "Move the selected lines down.", letter="j"),
    _inner("complete", "ctrl+@,ctrl+space", "Names", "Complete a name, or list those that fit.",
           letter="u"),
    _inner("look_up", "", "Look up", "Say what the function at the cursor needs.", letter="y"),
    _inner("find", "ctrl+f", "Find", "Find and replace in your code.", letter="f"),
    _inner("go_to_line", "ctrl+g", "Line", "Go to a line of your code.", letter="g"),
)  # fmt: skip

ACTIONS = {action.id: action for action in _ALL}
assert len(ACTIONS) == len(_ALL), "two actions have one id"

EDITING = (
    "first_line", "last_line", "line_start", "indent", "dedent", "comment", "select_all",
    "duplicate", "line_up", "line_down", "complete", "look_up", "find", "go_to_line",
)  # fmt: skip
"""The editor's actions."""


def actions(*ids: str) -> tuple[Action, ...]:
    return tuple(ACTIONS[name] for name in ids)


def bindings(chosen: Iterable[Action]) -> Bindings:
    return [action.binding() for action in chosen]


def letter_bindings(chosen: Iterable[Action]) -> Bindings:
    """Return bindings of the letters of actions, and of the palette, for a screen without a menu:
    nothing is typed there."""
    return [
        Binding(letter_key(action.letter), action.command, show=False)
        for action in (*chosen, ACTIONS["palette"])
        if action.letter
    ]


# --- how keys are shown ----------------------------------------------------------------------

_SHOWN = {
    "escape": "Esc",
    "ctrl+underscore": "^/",
    "ctrl+backslash": "^\\",
    "ctrl+@": "Ctrl+Space",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "slash": "/",
}


def shown_key(key: str) -> str:
    """Return a key as people write it: `F5`, `^R`, `Enter`, `Alt+Up`."""
    if key in _SHOWN:
        return _SHOWN[key]
    if key.startswith("ctrl+") and len(key) == len("ctrl+x"):
        return f"^{key[-1].upper()}"
    return key if len(key) == 1 else "+".join(part.capitalize() for part in key.split("+"))


def _letter_shown(action: Action) -> list[str]:
    return [f"{shown_key(MENU)} {action.letter}"] if action.letter else []


MENU = ACTIONS["menu"].key


def shown_keys(action: Action) -> str:
    """Return all keys of an action: `^R, F5, Esc r`."""
    # Some terminals send the same key in two ways.
    keys = dict.fromkeys(shown_key(key) for key in action.keys.split(",") if key)
    return ", ".join([*keys, *_letter_shown(action)])


def key_of(name: str) -> str:
    """Return a key of an action, as it is shown: one that is no F-key, if there is one."""
    action = ACTIONS[name]
    plain = [key for key in action.keys.split(",") if key and not _is_function_key(key)]
    shown = [*map(shown_key, plain), *_letter_shown(action)]
    return shown[0] if shown else shown_key(action.key)


def _is_function_key(key: str) -> bool:
    return key[0] == "f" and key[1:].isdigit()
