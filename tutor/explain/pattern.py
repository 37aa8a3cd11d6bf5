"""Patterns of rules: plain text with fields, and texts that fields are filled into.

`got an unexpected keyword argument '{argument}'` finds that text anywhere and calls what stands at
the place of the field `argument`. Messages and sources are foreign, so these are no regular
expressions that go back and try again: a field ends where the text behind it is found first. A
search costs at most the length of what is searched, times that of the fields.
"""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

MAX_FIELD = 200
"""Characters that a field stands for at most."""

MAX_TEXT = 4_000
"""Characters that are searched."""

KINDS = {
    "text": f".{{1,{MAX_FIELD}}}",
    "name": rf"[^\W\d]\w{{0,{MAX_FIELD}}}",
    "dotted": rf"[^\W\d][\w.]{{0,{MAX_FIELD}}}",
    "int": r"-?\d{1,20}",
    "shape": rf"[(\[][\w, -]{{0,{MAX_FIELD}}}[)\]]{{1}}",
    "array": rf"~?\w{{1,30}}\[[\w, ]{{0,{MAX_FIELD}}}\]{{1}}",
    "argument": rf"[^\s,;()\[\]{{}}'\"]{{1,{MAX_FIELD}}}",
}
"""What `{x:int}` may stand for, as regular expressions that end in a quantifier. `shape` is
`(3, 4)` or `[3,4]`, `array` is `float32[3,4]`, `argument` has no spaces, commas, quotes and
brackets. `{x}` is `{x:text}`, anything; `{}` is anything or nothing, and has no name."""

_FIELD = re.compile(r"\{(\w*)(?::(\w*))?\}")
_USE = re.compile(r"\{([a-z]\w*)\}")


class BadPattern(ValueError):
    """A pattern that cannot be read; `column` counts from 1 within it."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


class Pattern(Struct, frozen=True, eq=False):
    """A compiled pattern. `weight`: how many characters it insists on, spaces not counted."""

    expression: re.Pattern[str]
    fields: tuple[str, ...]
    weight: int

    def search(self, text: str) -> dict[str, str] | None:
        """What the fields stand for where the pattern is first found in `text`; None if it is not.

        **Arguments:** `text`: as `flat` gives it.
        """
        found = self.expression.search(text)
        return None if found is None else found.groupdict()


def flat(text: str, limit: int = MAX_TEXT) -> str:
    """`text` on one line and cut short, as patterns want it."""
    return " ".join(text[: 2 * limit].split())[:limit]


@cache
def compile_pattern(text: str) -> Pattern:
    """Read a pattern.

    Raises:
        BadPattern: a field of no known kind, a name given twice, fields with nothing between them,
            or nothing but fields.
    """
    text = " ".join(text.split())
    literals, parts, names = [], [], []
    end = 0
    fields = list(_FIELD.finditer(text))
    for number, field in enumerate(fields):
        name, kind, column = field[1], field[2] or "text", field.start() + 1
        literals.append(text[end : field.start()])
        if number and not literals[-1]:
            raise BadPattern("two fields with nothing between them", column)
        if kind not in KINDS:
            raise BadPattern(f"no field is of kind {kind!r}; known are {', '.join(KINDS)}", column)
        if name in names:
            raise BadPattern(f"a second field {name!r}", column)
        names += [name] if name else []
        parts.append(f"(?P<{name}>{KINDS[kind]}" if name else f"(?:.{{0,{MAX_FIELD}}}")
        end = field.end()
    literals.append(text[end:])
    weight = sum(len(literal.replace(" ", "")) for literal in literals)
    if not weight:
        raise BadPattern("expected some text beside the fields", 1)
    if not literals[0] and fields[0][2] in ("name", "dotted"):
        expression = r"(?<![\w.])"  # a whole name, and no part of a longer one
    else:
        expression = (r"(?<!\w)" if _starts_word(text) else "") + re.escape(literals[0])
    for part, literal in zip(parts, literals[1:], strict=True):
        # Atomic, so that a field that has found its end keeps it; and as short as can be, but for
        # one at the very end.
        expression += f"(?>{part}?){re.escape(literal)})" if literal else f"{part})"
    if _starts_word(literals[-1][-1:]):
        expression += r"(?!\w)"
    return Pattern(re.compile(expression), tuple(names), weight)


def _starts_word(text: str) -> bool:
    return text[:1] == "_" or text[:1].isalnum()


def uses(text: str) -> list[tuple[str, int]]:
    """The fields that a text wants filled in, each with its offset."""
    return [(found[1], found.start()) for found in _USE.finditer(text)]


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with `{name}` replaced where there is such a value. Other braces stay: it may be
    code."""
    return _USE.sub(lambda found: values.get(found[1], found[0]), text)
