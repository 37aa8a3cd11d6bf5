"""The map of a track: what PyTorch code becomes in JAX, and the lessons that teach it."""

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Footer, Input, Label, Static

from tutor.manifest import Track
from tutor.pack.maps import TrackMap, search
from tutor.ui.actions import Action, actions, bindings, key_of
from tutor.ui.desk import Desk, OpenLesson
from tutor.ui.widgets.map_table import MapTable
from tutor.ui.widgets.row_list import MOVING


class MapScreen(Screen[None]):
    """A track's map, and a search in the maps of all tracks.

    **Arguments:** `entering`: whether the learner is about to begin the track. The cursor is then
    on no row at first, and the key that opens a lesson begins the track.
    """

    ACTIONS: tuple[Action, ...] = actions("open", "leave", "help", "quit")
    BINDINGS = [  # noqa: RUF012
        *bindings(actions("open", "leave", "next", "help", "quit")),
        *MOVING,
    ]
    CSS_PATH = "map.tcss"

    def __init__(self, desk: Desk, track: Track, entering: bool = False) -> None:
        super().__init__()
        self.desk = desk
        self.track = track
        self.entering = entering
        if entering:
            self.ACTIONS = actions("open", "next", "leave", "help", "quit")

    def compose(self) -> ComposeResult:
        title = f"{self.track.title}  ·  from PyTorch to JAX"
        yield Label(Text(title), classes="title", id="map-title")
        with Horizontal(id="map-bar"):
            yield Label("Search", id="map-label")
            yield Input(placeholder="the maps of all tracks", id="map-search", compact=True)
        yield MapTable(id="map-rows")
        yield Static(id="map-about")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._search()
        self.set_focus(self.query_one(Input))

    @property
    def _table(self) -> MapTable:
        return self.query_one(MapTable)

    @property
    def _words(self) -> str:
        return self.query_one(Input).value.strip().lstrip("/")

    @property
    def _begins(self) -> bool:
        """Whether opening begins the track: nothing else has been chosen."""
        return self.entering and not self._words and self._table.cursor is None

    # --- searching -----------------------------------------------------------------------------

    @on(Input.Changed)
    def _search(self) -> None:
        if self._words:
            found = search(self.desk.pack.manifest.tracks, self._words)
            self._table.show(found, titles=True, cursor=True)
        else:
            own = [TrackMap(self.track, self.track.map)]
            self._table.show(own, titles=False, cursor=not self.entering)

    @on(MapTable.Highlighted)
    def _describe(self) -> None:
        """Show the row under the cursor in full, and which lesson opens."""
        panel = self.query_one("#map-about", Static)
        panel.update(Text(self._about()))
        panel.border_title = None
        if self._opens is not None:
            does = "begins the track" if self._begins else "opens the lesson"
            title = self.desk.title(self._opens)
            panel.border_title = Text(f" {key_of('open')} {does}: {title} ")

    def _about(self) -> str:
        row = self._table.highlighted
        if row is not None:
            whole = f"{row.torch}  →  {row.jax}"
            parts = [whole if self._table.cut else None, row.note]
            return "\n".join(part for part in parts if part is not None)
        if self._words:
            return "No row contains this. The search covers code, lessons and notes."
        return " ".join(self.track.about.split())

    @property
    def _opens(self) -> str | None:
        """The lesson that opens now."""
        if self._begins:
            return self.track.lessons[0]
        row = self._table.highlighted
        return row.lesson if row is not None else None

    # --- actions -------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next":
            return self.entering
        return True

    def action_move(self, step: int) -> None:
        self._table.action_move(step)

    def action_page(self, step: int) -> None:
        self._table.action_page(step)

    @on(MapTable.Chosen)
    def action_open(self) -> None:
        if self._opens is not None:
            self.post_message(OpenLesson(self._opens))
        elif self._table.highlighted is not None:
            self.notify("No lesson is about this row.")

    def action_next(self) -> None:
        self.post_message(OpenLesson(self.track.lessons[0]))

    def action_leave(self) -> None:
        self.dismiss()
