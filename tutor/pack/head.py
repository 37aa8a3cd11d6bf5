"""The head of a lesson: what a list of lessons shows, read without looking at the rest.

A whole lesson costs ten times as much to read. What is wrong with it is told when it is opened;
here it is only not known.
"""

from typing import Any

import msgspec
import yaml

from tutor.lesson import Card
from tutor.pack.yaml_nodes import CONTROL, LOADER, resolve

_FIELDS = Card.__struct_fields__


def read_card(data: bytes) -> Card | None:
    """The card of a lesson's file; None if it cannot be made out."""
    try:
        card = msgspec.convert(_fields(data), Card)
    except (yaml.YAMLError, UnicodeDecodeError, msgspec.ValidationError):
        return None
    return None if CONTROL.search(card.title) else card


def _fields(data: bytes) -> dict[str, Any]:
    """The values of the top level's entries that a card has: scalars, and lists of them."""
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
