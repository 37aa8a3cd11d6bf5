"""Reading the summary of a lesson, which lists show, without reading the whole lesson.

A whole lesson takes ten times as long. Its problems are reported when it is opened.
"""

from typing import Any

import msgspec
import yaml

from tutor.lesson import LessonSummary
from tutor.pack.yaml_nodes import CONTROL, LOADER, resolve

_FIELDS = LessonSummary.__struct_fields__


def read_summary(data: bytes) -> LessonSummary | None:
    """Return the summary of a lesson's file; None if it cannot be read."""
    try:
        summary = msgspec.convert(_fields(data), LessonSummary)
    except (yaml.YAMLError, UnicodeDecodeError, msgspec.ValidationError):
        return None
    return None if CONTROL.search(summary.title) else summary


def _fields(data: bytes) -> dict[str, Any]:
    """Return the top-level entries of a summary: scalars, and lists of them."""
    found: dict[str, Any] = {}
    depth, key, items = 0, None, None
    for event in yaml.parse(data.decode("utf-8-sig"), Loader=LOADER):
        if isinstance(event, yaml.ScalarEvent):
            if depth > 2 or (depth == 2 and items is None):
                continue
            value = event.value if event.style or event.tag else resolve(event.value)
            if items is not None:
                items.append(value)
            elif key is None:
                key = event.value
            else:
                if key in _FIELDS:
                    found[key] = value
                key = None
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth == 2 and key in _FIELDS and isinstance(event, yaml.SequenceStartEvent):
                items = found[key] = []
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == 1:
                key = items = None
    return found
