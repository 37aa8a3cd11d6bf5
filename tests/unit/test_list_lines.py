"""What fits into a line of a list."""

from rich.cells import cell_len

from tests.cases import for_each
from tutor.ui.widgets.list_lines import Line, fitted

TRACK = Line("Arrays", progress=("●●●○○○○○○○○○", "3 of 12"), right="90 min left")


def shown(line: Line, width: int, column: int = 0) -> str:
    text = "".join(fitted(line, width, column))
    assert cell_len(text) == width
    return text.rstrip()


@for_each(
    ("width", "expected"),
    [
        (40, "Arrays    ●●●○○○○○○○○○       90 min left"),
        (32, "Arrays    3 of 12    90 min left"),
        (29, "Arrays    ●●●○○○○○○○○○"),
        (18, "Arrays    3 of 12"),
        (12, "Arrays"),
        (5, "Arra…"),
    ],
)
def test_a_track_says_as_much_as_has_room(width: int, expected: str):
    assert shown(TRACK, width, column=10) == expected


def test_a_long_text_moves_the_progress():
    assert shown(TRACK, 33, column=3) == "Arrays  ●●●○○○○○○○○○  90 min left"


def test_a_title_is_shown_in_full_rather_than_its_minutes():
    line = Line("Write one example", mark="✓ ", right="12 min")
    assert shown(line, 27) == "✓ Write one example  12 min"
    assert shown(line, 26) == "✓ Write one example"
    assert shown(line, 10) == "✓ Write o…"


def test_wide_characters_count_twice():
    assert shown(Line("配列", right="5 min"), 11) == "配列  5 min"
    assert shown(Line("配列", right="5 min"), 10) == "配列"


def test_a_line_has_no_line_breaks():
    assert shown(Line("one\ntwo"), 10) == "one two"
