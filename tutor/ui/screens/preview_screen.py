"""The preview of a lesson for its author, with a pane of what learners do not see."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import yaml
from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from tutor.lesson import Lesson
from tutor.manifest import Pack, solution_folders
from tutor.pack import BadPack, Problem, open_pack
from tutor.pack.data_folder import data_file, data_names
from tutor.pack.folder import MANIFEST, Stamp
from tutor.pack.shared_texts import file_of_text, text_names
from tutor.ui.actions import ACTIONS, actions, bindings, key_of
from tutor.ui.desk import Desk
from tutor.ui.screens.lesson_screen import PANES, LessonScreen
from tutor.ui.screens.problems_screen import ProblemsScreen

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

RELOAD_EVERY = 0.5
"""Seconds between two checks whether a file of the lesson has been saved."""

WIDTH = 60
"""Columns after which the YAML shown of a lesson is folded."""


def preview(desk: Desk, lesson_id: str) -> Screen[None]:
    """Return the screen of a lesson, or of its problems until they are fixed."""
    try:
        version = read(desk.pack.root, lesson_id)
    except BadPack as error:
        return WaitingScreen(desk, lesson_id, error)
    desk.take(version.pack)
    return PreviewScreen(desk, version)


class Version(NamedTuple):
    """A lesson as saved on disk, and its solution if there is one."""

    pack: Pack
    lesson: Lesson
    solution: str | None


class PreviewScreen(LessonScreen):
    """The lesson with one more pane. It reloads when one of the lesson's files is saved."""

    ACTIONS = actions("hidden") + LessonScreen.ACTIONS
    BINDINGS = bindings(actions("hidden"))
    PANES = (*PANES, "hidden")

    def __init__(self, desk: Desk, version: Version, pane: str = "hidden") -> None:
        super().__init__(desk, version.lesson)
        self._pane = pane
        self._solution = version.solution
        self._stamps = stamps(self.pack.root, self.lesson.id)
        self._error: BadPack | None = None
        self._hidden = Static(id="hidden-text")

    def compose_left(self) -> ComposeResult:
        yield from super().compose_left()
        hidden = VerticalScroll(self._hidden, id="hidden", classes="pane")
        hidden.border_title = ACTIONS["hidden"].label
        yield hidden

    def on_mount(self) -> None:
        self._show_hidden()
        self.set_interval(RELOAD_EVERY, self._reload)

    @property
    def first_pane(self) -> str:
        return self._pane

    @property
    def summary(self) -> str:
        if self._error is None:
            return super().summary
        return (
            f"✗ {counted(self._error)} in the saved files ({key_of('hidden')})  {super().summary}"
        )

    def action_hidden(self) -> None:
        self.show_pane("hidden")

    def action_solution(self) -> None:
        self._show_solution(True)

    def _show_hidden(self) -> None:
        self._hidden.update(Group(*problems(self._error), *hidden(self.lesson, self._solution)))

    def _reload(self) -> None:
        if not self.is_current:
            return
        now = stamps(self.pack.root, self.lesson.id)
        if now == self._stamps:
            return
        self._stamps = now
        try:
            version = read(self.pack.root, self.lesson.id)
        except BadPack as error:
            self._error = error
            self._show_hidden()
            self._show_state()
            return
        self._switch_to(version)

    def _switch_to(self, version: Version) -> None:
        """Show the lesson as it was saved now."""
        lesson = version.lesson
        self.editor.save()
        if self.editor.code == self.lesson.starter != lesson.starter:
            with suppress(OSError):  # then the old starter stays until it is reset
                self.desk.workspace.save(lesson, lesson.starter)
        self.desk.take(version.pack)
        pane = next(name for name in self.PANES if self.has_class(f"show-{name}"))
        self.notify("reloaded: the lesson was saved", timeout=3)
        self.app.switch_screen(PreviewScreen(self.desk, version, pane))


class WaitingScreen(ProblemsScreen):
    """The problems of a lesson, until they are fixed; then the lesson."""

    ADVICE = "Fix the lesson and save the file; the lesson then opens by itself."

    def __init__(self, desk: Desk, lesson_id: str, error: BadPack) -> None:
        super().__init__(lesson_id, error)
        self.error = error
        self._desk = desk
        self._lesson_id = lesson_id
        self._stamps = stamps(desk.pack.root, lesson_id)

    def on_mount(self) -> None:
        self.set_interval(RELOAD_EVERY, self._reload)

    def _reload(self) -> None:
        now = stamps(self._desk.pack.root, self._lesson_id)
        if now == self._stamps:
            return
        self._stamps = now
        screen = preview(self._desk, self._lesson_id)
        if isinstance(screen, WaitingScreen):
            self.show(screen.error)
        else:
            self.app.switch_screen(screen)


# --- the pack on disk ------------------------------------------------------------------------


def read(root: Path, lesson_id: str) -> Version:
    """Return a lesson as it is on disk now.

    Raises:
        BadPack: it has problems, or is not listed.
    """
    pack = open_pack(root)
    if lesson_id not in pack.lessons:
        message = f"the lesson {lesson_id!r} is no longer listed"
        raise BadPack([Problem(MANIFEST, 1, 1, message, "list it again")])
    lesson = pack.lesson(lesson_id)
    try:
        return Version(pack, lesson, pack.solution(lesson_id))
    except (OSError, UnicodeDecodeError) as error:
        what = f"the solution cannot be read: {error}"
        file = f"solutions/{lesson.track}/{lesson_id}.py"
        raise BadPack([Problem(file, 1, 1, what, "save it as UTF-8")]) from None


def stamps(root: Path, lesson_id: str) -> dict[Path, Stamp]:
    """Return a stamp for each file of a lesson, and for the texts and data of its pack. It changes
    when the file is saved."""
    lessons = root.glob(f"*/{lesson_id}.yaml")
    solutions = (path for base in solution_folders(root) for path in base.glob(f"*/{lesson_id}.py"))
    found: dict[Path, Stamp] = {}
    texts = (root / file_of_text(name) for name in text_names(root))
    data = (root / data_file(name) for name in data_names(root))
    for path in [root / MANIFEST, *lessons, *solutions, *texts, *data]:
        with suppress(OSError):  # the file is being replaced
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_ctime_ns, status.st_size
    return found


# --- what learners do not see ----------------------------------------------------------------


def problems(error: BadPack | None) -> Iterator[RenderableType]:
    """Yield the problems of the saved files."""
    if error is not None:
        yield Text(f"{counted(error)} in the saved files", "bold red")
        yield Text(f"{error}\n")
        yield Text("This is the last valid version:\n", "dim")


def counted(error: BadPack) -> str:
    count = len(error.problems)
    return f"{count} problem" if count == 1 else f"{count} problems"


def hidden(lesson: Lesson, solution: str | None) -> "Iterator[ConsoleRenderable]":
    """Yield everything that decides a verdict, and the solution."""
    yield from _section("Checks", {"checks": [_fields(check) for check in lesson.checks]})
    data = {name: _fields(file) for name, file in lesson.data.items()}
    written = {"data": data, "sizes": lesson.sizes, "inputs": _written(lesson.inputs)}
    yield from _section("Inputs", written)
    yield from _section("Mistakes", {"mistakes": [_fields(one) for one in lesson.mistakes]})
    hints = [_fields(hint) for hint in lesson.failure_hints]
    yield from _section("Hints for failures", {"failure_hints": hints})
    if lesson.harness is not None:
        yield from _source("More PyTorch for the reference", lesson.harness)
    if lesson.jax_harness is not None:
        yield from _source("JAX for the expressions", lesson.jax_harness)
    if solution is None:
        yield Text("There is no solution.", "dim")
    else:
        yield from _source("Solution", solution)


def _section(title: str, data: dict[str, Any]) -> "Iterator[ConsoleRenderable]":
    wanted = {name: value for name, value in data.items() if value}
    if wanted:
        data = msgspec.to_builtins(wanted)
        text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
        yield Text(title, "bold")
        yield _coloured(text, "yaml")


class _Dumper(yaml.SafeDumper):
    """Write lists of plain values in brackets, as authors do."""


def _list(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.Node:
    short = not any(isinstance(value, dict | list) for value in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=short)


_Dumper.add_representer(list, _list)


def _source(title: str, text: str) -> "Iterator[ConsoleRenderable]":
    yield Text(title, "bold")
    yield _coloured(text.rstrip() + "\n", "python")


def _coloured(text: str, language: str) -> Syntax:
    return Syntax(text, language, theme="monokai", background_color="default", word_wrap=True)


def _fields(struct: msgspec.Struct) -> dict[str, Any]:
    """Return the fields that differ from their defaults, by their names in a lesson."""
    return {
        field.encode_name: _written(value)
        for field in msgspec.structs.fields(struct)
        if (value := getattr(struct, field.name)) != field.default
        and value != {}
        and field.name not in getattr(struct, "NOT_IN_YAML", ())
    }


def _written(value: Any) -> Any:
    """Return a value with draws replaced by their text."""
    from tutor.inputs.draws import Draw

    if isinstance(value, Draw):
        return value.text
    if isinstance(value, dict):
        return {key: _written(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_written(child) for child in value]
    return value
