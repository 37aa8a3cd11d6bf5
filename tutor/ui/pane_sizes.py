"""The sizes of a lesson's panes, which a learner can change and which are remembered."""

from textual.widget import Widget

from tutor.learner.settings import Settings

SETTING = "panes"

DEFAULTS = {"torch": 9, "results": 38, "left": 44}
"""Rows of the PyTorch above the code; share of the results below it, and of the left column, in
percent."""

LEAST = {"torch": 3, "results": 15, "left": 20}
MOST = {"torch": 30, "results": 80, "left": 75}
STEP = {"torch": 2, "results": 6, "left": 5}


class PaneSizes:
    """Sizes by name, as in `DEFAULTS`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._sizes = dict(DEFAULTS)
        for part in (self._settings.get(SETTING) or "").split():
            name, _, number = part.partition("=")
            if name in DEFAULTS and number.isdecimal():
                self._sizes[name] = self._within(name, int(number))

    def __getitem__(self, name: str) -> int:
        return self._sizes[name]

    def change(self, pane: str, by: int, *, columns: bool) -> None:
        """Make a pane larger or smaller, and remember that.

        **Arguments:** `pane`: the one in use; `by`: 1 or -1; `columns`: whether the PyTorch and
        the brief are beside the code.
        """
        on_the_left = pane in ("torch", "brief", "hidden")
        if pane == "results":
            name = "results"
        elif columns:
            name, by = "left", by if on_the_left else -by
        else:
            name, by = "torch", by if on_the_left else -by
        self._sizes[name] = self._within(name, self._sizes[name] + by * STEP[name])
        text = " ".join(f"{one}={size}" for one, size in self._sizes.items())
        self._settings.set(SETTING, text)

    def apply(
        self, torch: Widget, results: Widget, left: Widget, right: Widget, *, layout: str
    ) -> None:
        """Give panes their sizes.

        **Arguments:** `layout`: `narrow`, `wide`, `huge`; or empty for panes that fill the screen.
        """
        torch.styles.max_height = self["torch"] if layout == "narrow" else None
        results.styles.max_height = f"{self['results']}%" if layout in ("narrow", "wide") else None
        # With the results in a third column, the left one is narrower by as much.
        share = round(0.7 * self["left"]) if layout == "huge" else self["left"]
        for column, width in ((left, share), (right, 100 - share)):
            column.styles.width = f"{width}fr" if layout in ("wide", "huge") else None

    @staticmethod
    def _within(name: str, size: int) -> int:
        return max(LEAST[name], min(MOST[name], size))
