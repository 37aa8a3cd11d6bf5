"""HTML pages: one style sheet, no scripts, no external resources.

Templates escape everything they are given (Jinja's autoescape; PyTorch already depends on Jinja)
and show control characters as visible ones. Should some text get through all the same, the pages'
content security policy stops a browser from loading or running anything.
"""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from msgspec import Struct

from tutor import curves
from tutor.foreign.plain_text import inert
from tutor.grading.outputs.grouping import format_number, total
from tutor.report import WANTS, looks_text

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
    """A bar of a chart. `value` is its length, from 0 to 1; `text` stands at its end."""

    label: str
    value: float
    text: str


def bars(counts: Sequence[tuple[str, int]]) -> list[Bar]:
    """Return the bars of a distribution; the longest is as wide as the chart."""
    largest = max((count for _, count in counts), default=0) or 1
    return [Bar(label, count / largest, str(count)) for label, count in counts]


def load_template(name: str) -> Template:
    return _ENVIRONMENT.get_template(name)


def format_points(value: float | None) -> str:
    """Return a score with at most two decimals, or a question mark if there is none yet."""
    return "?" if value is None else format_number(round(value, 2))


def svg_path(
    curve: Sequence[float | None], left: float, top: float, width: float, height: float
) -> str:
    """Return a curve of values from 0 to 1 as the path of an SVG, with a gap at each None."""
    parts, pen = [], "M"
    for number, value in enumerate(curve):
        if value is None:
            pen = "M"
            continue
        x = left + width * number / max(1, len(curve) - 1)
        parts.append(f"{pen}{x:.1f} {top + height * (1 - value):.1f}")
        pen = "L"
    return " ".join(parts)


def _inert(value: Any) -> Any:
    # Markup comes from templates and has been escaped.
    return inert(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_inert,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.globals |= {
    "style": Markup(_STYLE),  # noqa: S704 - a file of this package
    "policy": _POLICY,
    "marks": MARKS,
    "expects": f" {WANTS} ",
}
_ENVIRONMENT.filters |= {
    "points": format_points,
    "total": total,
    "svg_path": svg_path,
    "loss_plot": curves.loss_plot,
    "difference_plot": curves.difference_plot,
    "curves_in_words": curves.in_words,
    "looks_text": looks_text,
}
