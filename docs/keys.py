"""Write the app's keys into the documentation.

    .venv/bin/python docs/keys.py

Two things are replaced: the table of keys, under `| key | action |`, and the key after the name of
an action, as in **Run** (F5).
"""

import re
from pathlib import Path

from tutor.ui.actions import ACTIONS, actions, key_of, shown_keys
from tutor.ui.screens.lesson_screen import LessonScreen

REPOSITORY = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    if page.parent.name != "explanations"  # generated
)

HEADER = "| key | action |\n|---|---|\n"
TABLE = re.compile(re.escape(HEADER) + r"(?:\|.*\n)*")
_BY_LABEL = {action.label: action.id for action in reversed(ACTIONS.values())}
MENTION = re.compile(rf"\*\*({'|'.join(map(re.escape, _BY_LABEL))})\*\* \([^)\n]+\)")


def table() -> str:
    rows = [
        f"| {shown_keys(a)} | {a.help} |\n" for a in [*LessonScreen.ACTIONS, *actions("palette")]
    ]
    return HEADER + "".join(rows)


def with_keys(text: str) -> str:
    """Return the text of a page with the keys of the app as it is now."""
    text = TABLE.sub(lambda _: table(), text)
    return MENTION.sub(lambda m: f"**{m[1]}** ({key_of(_BY_LABEL[m[1]])})", text)


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        if (after := with_keys(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(REPOSITORY))
