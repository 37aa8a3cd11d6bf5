"""A share as a bar, with a mark at the least that is expected."""

from math import ceil, floor

COLUMNS = 20


def gauge(name: str, reached: float, goal: float | None) -> str:
    """Return `accuracy 0.512 ██████████░░░░│░░░░░░ goal 0.7`.

    **Arguments:** `reached` and `goal`: from 0 to 1. The bar touches the mark if, and only if, the
    goal is reached.
    """
    filled = floor(reached * COLUMNS)
    mark = COLUMNS if goal is None else ceil(goal * COLUMNS)
    if goal is not None and reached >= goal:
        filled = max(filled, mark)
    bar = "█" * filled + "░" * (COLUMNS - filled)
    if goal is None:
        return f"{name} {reached:.3f} {bar}"
    return f"{name} {reached:.3f} {bar[:mark]}│{bar[mark:]} goal {goal:g}"
