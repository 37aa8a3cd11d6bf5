"""What a run of the benchmarks measures of all that there is: another part in each turn."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")


def turn_of_today() -> int:
    """Return the turn of a run that names none: it changes with the day."""
    return datetime.now(UTC).date().toordinal()


def part(items: Sequence[T], turn: int, parts: int) -> list[T]:
    """Return one of `parts` equal parts of the items. As many turns in a row cover all."""
    return list(items[turn % parts :: parts])


def shuffled(items: Sequence[T], turn: int) -> list[T]:
    """Return the items in this turn's order, so that a run with too little time for all leaves out
    others in each turn."""
    return random.Random(turn).sample(items, len(items))
