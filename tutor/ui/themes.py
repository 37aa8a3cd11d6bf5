"""The app's themes: the colours of screens, of code, and of the sixteen names that reports use.

Green, red and amber are verdicts and nothing else; `accent` is the focus and the key to press now.
The panes of both languages have an edge of their own: `$torch-edge`, `$jax-edge`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.theme import Theme
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

if TYPE_CHECKING:
    from rich.syntax import SyntaxTheme


class Palette(NamedTuple):
    """The colours of a theme. The first three surfaces lie one above the other."""

    dark: bool
    background: str
    surface: str
    raised: str
    text: str
    muted: str
    accent: str
    good: str
    bad: str
    amber: str
    torch: str
    jax: str
    keyword: str
    string: str
    number: str
    function: str


PALETTES: Mapping[str, Palette] = {
    "jaxtutor-dark": Palette(
        True, "#14161b", "#191c22", "#252a33", "#d6d9e0", "#8b93a5", "#8fb4ff", "#86d08a",
        "#ff7b85", "#e8bd63", "#c9794b", "#3f9d9d", "#c3a6ff", "#a5cf90", "#e0a97a", "#8fc7ff",
    ),
    "jaxtutor-light": Palette(
        False, "#f4f2ed", "#fbfaf7", "#e6e3db", "#22252b", "#62676f", "#2f55c8", "#1f7a37",
        "#b3261e", "#8a5a00", "#b5562a", "#0f7b7b", "#7a3ba8", "#3a6b1f", "#8f4a12", "#1b5da8",
    ),
    "jaxtutor-contrast": Palette(
        True, "#000000", "#000000", "#262626", "#ffffff", "#d0d0d0", "#5fd7ff", "#5fff87",
        "#ff8787", "#ffd75f", "#ff9f5f", "#5fffff", "#d7afff", "#afff87", "#ffd7af", "#87d7ff",
    ),
    "jaxtutor-blue-orange": Palette(
        True, "#14161b", "#191c22", "#252a33", "#d6d9e0", "#8b93a5", "#e5e9f0", "#62b0ff",
        "#ff9f43", "#f0e442", "#b98a70", "#6f97b5", "#c3a6ff", "#b9c4d6", "#d9c79a", "#a9cbee",
    ),
}  # fmt: skip
"""The last one is safe for colour-blind people: blue is right, orange is wrong."""

DEFAULT = "jaxtutor-dark"


def theme(name: str) -> Theme:
    """Return one of our themes."""
    colours = PALETTES[name]
    return Theme(
        name,
        primary=colours.accent,
        secondary=colours.jax,
        warning=colours.amber,
        error=colours.bad,
        success=colours.good,
        accent=colours.accent,
        foreground=colours.text,
        background=colours.background,
        surface=colours.surface,
        panel=colours.raised,
        boost=colours.raised,
        dark=colours.dark,
        text_alpha=1.0,
        variables={
            "muted": colours.muted,
            "torch-edge": colours.torch,
            "jax-edge": colours.jax,
            "edge": colours.raised,
            "text-muted": colours.muted,
            "border": colours.accent,
            "border-blurred": colours.raised,
            "footer-background": colours.background,
            "footer-key-foreground": colours.accent,
            "footer-description-foreground": colours.muted,
            "block-cursor-background": colours.raised,
            "block-cursor-foreground": colours.text,
            "block-cursor-blurred-background": colours.surface,
            "input-cursor-background": colours.accent,
            "input-selection-background": f"{colours.accent} 35%",
            "scrollbar": colours.raised,
            "scrollbar-hover": colours.muted,
            "scrollbar-active": colours.accent,
            "scrollbar-background": colours.surface,
            "scrollbar-background-hover": colours.surface,
            "scrollbar-background-active": colours.surface,
            "scrollbar-corner-color": colours.surface,
        },
    )


def code_theme(name: str) -> TextAreaTheme:
    """Return the colours of code under a theme; those of our default under one of Textual's."""
    colours = PALETTES.get(name, PALETTES[DEFAULT])
    function = Style(color=colours.function)
    styles = {
        "string": Style(color=colours.string),
        "string.documentation comment": Style(color=colours.muted, italic=True),
        "keyword keyword.function keyword.return keyword.operator conditional repeat exception "
        "include": Style(color=colours.keyword),
        "operator": Style(color=colours.muted),
        "number float boolean constant.builtin": Style(color=colours.number),
        "function function.call method method.call type type.builtin": function,
        "class type.class": function + Style(bold=True),
    }
    return TextAreaTheme(
        f"code-{name}",
        base_style=Style(color=colours.text, bgcolor=colours.surface),
        gutter_style=Style(color=colours.muted, bgcolor=colours.surface),
        cursor_style=Style(color=colours.background, bgcolor=colours.accent),
        cursor_line_style=Style(bgcolor=colours.raised),
        cursor_line_gutter_style=Style(color=colours.text, bgcolor=colours.raised, bold=True),
        bracket_matching_style=Style(bgcolor=colours.raised, bold=True, underline=True),
        selection_style=Style(bgcolor=_blend(colours.accent, colours.surface, 0.3)),
        syntax_styles={name: style for names, style in styles.items() for name in names.split()},
    )


def syntax_theme(name: str) -> "SyntaxTheme":
    """Return the colours of code in reports and differences: the same as in the editor."""
    # Not needed for the first frame.
    from pygments import style as pygments_style  # type: ignore[import-untyped]
    from pygments import token
    from rich.syntax import PygmentsSyntaxTheme

    colours = PALETTES.get(name, PALETTES[DEFAULT])
    styles = {
        token.Token: colours.text,
        token.Comment: f"italic {colours.muted}",
        token.Keyword: colours.keyword,
        token.Operator: colours.muted,
        token.Operator.Word: colours.keyword,
        token.Name.Function: colours.function,
        token.Name.Class: f"bold {colours.function}",
        token.Name.Decorator: colours.function,
        token.String: colours.string,
        token.String.Doc: f"italic {colours.muted}",
        token.Number: colours.number,
        token.Keyword.Constant: colours.number,
    }
    made = type("Code", (pygments_style.Style,), {"styles": styles})
    return PygmentsSyntaxTheme(made)


def report_colours(name: str) -> TerminalTheme:
    """Return what the names of colours in reports mean under a theme, as `green` for a pass."""
    colours = PALETTES.get(name, PALETTES[DEFAULT])
    names = (
        colours.muted, colours.bad, colours.good, colours.amber, colours.accent, colours.keyword,
        colours.jax, colours.text,
    )  # fmt: skip
    rgb = [_rgb(colour) for colour in names]
    return TerminalTheme(_rgb(colours.background), _rgb(colours.text), rgb, rgb)


def _rgb(colour: str) -> tuple[int, int, int]:
    triplet = Color.parse(colour).triplet
    assert triplet is not None, "every colour here is written as #rrggbb"
    return (triplet.red, triplet.green, triplet.blue)


def _blend(colour: str, other: str, share: float) -> str:
    pairs = zip(_rgb(colour), _rgb(other), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def colour_code(area: TextArea) -> None:
    """Give code the colours of the app's theme, now and whenever that changes."""

    def recolour(theme: Theme) -> None:
        area.register_theme(code_theme(theme.name))
        area.theme = f"code-{theme.name}"

    recolour(area.app.current_theme)
    area.app.theme_changed_signal.subscribe(area, recolour)
