"""Finding the part of a module that an expression can reach.

The cause of a wrong answer is in the function that returned it, or in functions that it calls;
other code would mislead.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

_NAME = re.compile(r"[^\W\d]\w*")
_DEFINED = re.compile(
    r"(?:async\s+)?(?:def|class)\s+(\w+)|(\w+(?:\s*,\s*\w+)*)\s*(?::[^=\n]*)?=(?!=)"
)
_EXTENDED = re.compile(r"^@(\w+)\.(?:def\w+|register|setter)\b")
"""The name to which a decorated function belongs: `@f.defjvp`."""


def reachable(source: str, expressions: Iterable[str]) -> str:
    """Return the top-level statements that define names used in `expressions`, directly or
    indirectly, and statements that define nothing, such as imports; all of `source` if the
    expressions use no names of the module.

    The source is untrusted, and may not be Python, so it is scanned by line and not parsed: parsers
    can be crashed.
    """
    wanted = {name for expression in expressions for name in _NAME.findall(expression)}
    blocks = _blocks(source)
    defined = defaultdict(list)
    for number, (names, _) in enumerate(blocks):
        for name in names:
            defined[name].append(number)
    if not wanted & defined.keys():
        return source
    kept = [not names for names, _ in blocks]
    # Visit each block once: a chain of definitions may be as long as the file.
    ahead = [*wanted]
    while ahead:
        for number in defined.pop(ahead.pop(), ()):
            if not kept[number]:
                kept[number] = True
                ahead += _NAME.findall(blocks[number][1])
    return "".join(text for keep, (_, text) in zip(kept, blocks, strict=True) if keep)


def _blocks(source: str) -> list[tuple[set[str], str]]:
    """Split a module into statements, each with the names that it defines."""
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
    extended: set[str] = set()
    for line in lines:
        extended.update(_EXTENDED.findall(line))
        if not line.startswith("@") and (found := _DEFINED.match(line)):
            return extended | set(_NAME.findall(found[1] or found[2]))
    return extended
