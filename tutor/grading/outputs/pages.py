"""HTML pages: one style, no scripts, nothing from elsewhere.

Whatever a template is given is escaped (Jinja's autoescape, which PyTorch brings along, so nobody
installs it for this), and control characters are shown, not obeyed. Should some text get through
all the same, the pages' policy lets a browser load and run nothing at all.
"""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from msgspec import Struct

from tutor.grading.outputs.grouping import number, total
from tutor.plain_text import inert

_FOLDER = Path(__file__).parent / "templates"
_STYLE = (_FOLDER / "page.css").read_text(encoding="utf-8")
_POLICY = "; ".join(
    [
        "default-src 'none'",
        f"style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)

MARKS = {
    "pass": "✓",
    "fail": "✗",
    "error": "!",
    "skipped": "–",
    "internal": "?",
    "ungraded": "?",
}


class Bar(Struct, frozen=True):
    """One bar of a chart: how long it is, and what stands before and behind it."""

    label: str
    value: float
    text: str


def bars(counts: Sequence[tuple[str, int]]) -> list[Bar]:
    """For a distribution; the longest bar is as wide as the chart."""
    most = max((count for _, count in counts), default=0) or 1
    return [Bar(label, count / most, str(count)) for label, count in counts]


def template(name: str) -> Template:
    return _ENVIRONMENT.get_template(name)


def points(value: float | None) -> str:
    """A score to read: at most two decimals, and a question mark where there is none yet."""
    return "?" if value is None else number(round(value, 2))


def _harmless(value: Any) -> Any:
    # What templates make themselves is markup, and fit to be shown already.
    return inert(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_harmless,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.globals |= {
    "style": Markup(_STYLE),  # noqa: S704 - our own file
    "policy": _POLICY,
    "marks": MARKS,
}
_ENVIRONMENT.filters |= {"points": points, "total": total}
