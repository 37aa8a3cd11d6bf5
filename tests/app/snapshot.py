"""Compare a screen with its snapshot, a text file in `snapshots/`.

A snapshot has the text of the screen, a letter for the style of each cell, and the style that each
letter stands for. The last letter of a row holds to the right edge.
"""

import os
import re
from difflib import unified_diff
from pathlib import Path
from string import ascii_letters

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "JAXTUTOR_UPDATE_SNAPSHOTS"


def compare(name: str, screen: list[Strip]) -> None:
    """Fail if the rows of a screen differ from its snapshot; write that if `UPDATE` is set."""
    file = FOLDER / f"{name}.txt"
    now = as_text(screen)
    if os.environ.get(UPDATE):
        file.write_text(now, encoding="utf-8")
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if diff := [
        *unified_diff(before.splitlines(), now.splitlines(), file.name, "now", lineterm="")
    ]:
        advice = f"If you want this change, run the test with {UPDATE}=1."
        pytest.fail("\n".join([*diff, advice]), pytrace=False)


def as_text(screen: list[Strip]) -> str:
    letters: dict[str, str] = {}
    styles = []
    for strip in screen:
        row = ""
        for segment in strip:
            style = visible_style(segment)
            if style not in letters:
                letters[style] = ascii_letters[len(letters)]
            row += letters[style] * segment.cell_length
        styles.append(re.sub(r"(.)\1+$", r"\1", row))
    text = [strip.text.rstrip() for strip in screen]
    legend = [f"{letter} {style}" for style, letter in letters.items()]
    return "\n".join([*text, "", *styles, "", *legend, ""])


def visible_style(segment: Segment) -> str:
    style = segment.style or Style()
    if segment.text.isspace() and not (style.reverse or style.underline):
        style = style.background_style
    return re.sub(r"not \w+ ", "", str(style))
