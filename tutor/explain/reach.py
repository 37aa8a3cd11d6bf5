"""Which part of a module an expression can reach.

What a wrong answer is due to stands in the function that gave it, or in those that it calls; what
stands elsewhere would only mislead.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

_NAME = re.compile(r"[^\W\d]\w*")
_DEFINED = re.compile(
    r"(?:async\s+)?(?:def|class)\s+(\w+)|(\w+(?:\s*,\s*\w+)*)\s*(?::[^=\n]*)?=(?!=)"
)


def reachable(source: str, expressions: Iterable[str], otherwise: str | None = None) -> str:
    """The statements at the top of a module that define what `expressions` name, and what these
    name in turn; and those that define nothing, imports among them. `otherwise` where they name
    nothing of the module; by default all of it.

    The source is a stranger's, and perhaps no Python at all, so lines are looked at and nothing is
    parsed: a parser can be brought down.
    """
    wanted = {name for expression in expressions for name in _NAME.findall(expression)}
    blocks = _blocks(source)
    defined = defaultdict(list)
    for number, (names, _) in enumerate(blocks):
        for name in names:
            defined[name].append(number)
    if not wanted & defined.keys():
        return source if otherwise is None else otherwise
    kept = [not names for names, _ in blocks]
    # Each block once: a stranger's chain of definitions may be as long as a file can be.
    ahead = [*wanted]
    while ahead:
        for number in defined.pop(ahead.pop(), ()):
            if not kept[number]:
                kept[number] = True
                ahead += _NAME.findall(blocks[number][1])
    return "".join(text for keep, (_, text) in zip(kept, blocks, strict=True) if keep)


def _blocks(source: str) -> list[tuple[set[str], str]]:
    """A module's statements, each with the names that it defines."""
    blocks: list[list[str]] = []
    decorated = False
    for line in source.splitlines(keepends=True):
        begins = line[:1] not in (" ", "\t", "\n", "\r", "#", ")", "]", "}", "") and not decorated
        decorated = line.startswith("@") or (decorated and not line.startswith(("def", "class")))
        if begins or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    return [(_names(lines), "".join(lines)) for lines in blocks]


def _names(lines: list[str]) -> set[str]:
    for line in lines:
        if not line.startswith("@") and (found := _DEFINED.match(line)):
            return set(_NAME.findall(found[1] or found[2]))
    return set()
