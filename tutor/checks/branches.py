"""Two pytrees as lines: entries that differ are open, those that agree folded to their shape."""

from collections.abc import Callable, Iterable
from itertools import groupby

import msgspec

from tutor.foreign.plain_text import cut, one_line
from tutor.report import Branch
from tutor.tree import ABSENT, Tree, brief, leaves, paired

BYTES = 1500
"""Most bytes of all lines as JSON."""

NAME, TEXT = 40, 80
"""Most characters of a key, and of what is said about it."""

SIBLINGS = 3
"""Most neighbours that agree and have a line each."""

Differ = Callable[[Tree, Tree], str]
"""Returns how an entry differs from the expected one, in a few words; "" if it does not."""


def branches(expected: Tree, actual: Tree, differ: Differ) -> tuple[Branch, ...]:
    """Return the lines of two trees that differ; none if one is an array, or there is only one
    entry.

    **Arguments:** `differ`: called for each pair of entries that are not both open.
    """
    lines = _entry("", expected, actual, -1, differ)[1:]
    if len(lines) < 2:
        return ()
    kept: list[Branch] = []
    left = BYTES - 120  # for the last line
    for line in lines:
        left -= len(msgspec.json.encode(line)) + 1
        if left < 0:
            break
        kept.append(line)
    if rest := lines[len(kept) :]:
        wrong = sum(not line.right for line in rest)
        kept.append(Branch(0, f"… {len(rest)} more lines", not wrong, f"{wrong} of them differ"))
    return tuple(kept)


def _entry(name: str, expected: Tree, actual: Tree, depth: int, differ: Differ) -> list[Branch]:
    """Return the line of an entry and, if it differs, those of what is in it."""
    if actual is ABSENT:
        return [_line(depth, name, False, f"missing, expected {brief(expected)}")]
    if expected is ABSENT:
        return [_line(depth, name, False, f"not expected: {brief(actual)}")]
    entries = paired(expected, actual)
    if entries is None:
        difference = differ(expected, actual)
        return [_line(depth, name, not difference, difference or brief(actual))]
    below = [
        line
        for key, pair in entries.items()
        for line in _entry(f"[{key!r}]", *pair, depth + 1, differ)
    ]
    if all(line.right for line in below):
        return [_line(depth, name, True, _contents(actual))]
    return [_line(depth, name, False), *_folded(below, depth + 1)]


def _folded(lines: Iterable[Branch], depth: int) -> list[Branch]:
    """Return the lines with long rows of neighbours that agree in one line."""
    folded: list[Branch] = []
    for agree, group in groupby(lines, lambda line: line.right and line.depth == depth):
        several = list(group)
        if agree and len(several) > SIBLINGS:
            name = f"{several[0].name} … {several[-1].name}"
            several = [_line(depth, name, True, f"{len(several)} entries")]
        folded += several
    return folded


def _contents(tree: Tree) -> str:
    count = sum(1 for _ in leaves(tree))
    if not count:
        return brief(tree)
    return "1 array" if count == 1 else f"{count} arrays"


def _line(depth: int, name: str, right: bool, text: str = "") -> Branch:
    return Branch(depth, _short(name, NAME), right, _short(text, TEXT))


def _short(text: str, most: int) -> str:
    """Return untrusted text on one line."""
    text = one_line(text)
    return cut(text, most)
