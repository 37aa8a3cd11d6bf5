"""Patterns of rules: plain text with fields, and templates that use the fields.

`got an unexpected keyword argument '{argument}'` matches anywhere in a text and captures
`argument`. Messages and sources are untrusted, so patterns do not backtrack: a field ends at the
first occurrence of the text after it. A search takes at most the product of the lengths of the text
and of the fields.
"""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

MAX_FIELD = 600
"""Maximum length of a field."""

MAX_TEXT = 4_000
"""Characters of a text to search."""

KINDS = {
    "text": f".{{1,{MAX_FIELD}}}",
    "name": rf"[^\W\d]\w{{0,{MAX_FIELD}}}",
    "dotted": rf"[^\W\d][\w.]{{0,{MAX_FIELD}}}",
    "int": r"-?\d{1,20}",
    "shape": rf"[(\[][\w, -]{{0,{MAX_FIELD}}}[)\]]{{1}}",
    "array": rf"~?\w{{1,30}}\[[\w, ]{{0,{MAX_FIELD}}}\]{{1}}",
    "argument": rf"[^\s,;()\[\]{{}}'\"]{{1,{MAX_FIELD}}}",
}
"""Kinds of fields (`{x:int}`), as regular expressions that end in a quantifier. `shape` is `(3, 4)`
or `[3,4]`, `array` is `float32[3,4]`, `argument` has no spaces, commas, quotes and brackets. `{x}`
is `{x:text}`, anything; `{}` is anything or nothing, and not captured."""

_FIELD = re.compile(r"\{(\w*)(?::(\w*))?\}")
_USE = re.compile(r"\{([a-z]\w*)\}")


class BadPattern(ValueError):
    """An invalid pattern; `column` counts from 1 within it."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


class Pattern(Struct, frozen=True, eq=False):
    """A compiled pattern. `weight`: number of literal characters, without spaces."""

    expression: re.Pattern[str]
    fields: tuple[str, ...]
    weight: int

    def search(self, text: str) -> dict[str, str] | None:
        """Return the fields of the first match in `text`, which `flat` has prepared; else None."""
        found = self.expression.search(text)
        return None if found is None else found.groupdict()


def flat(text: str, limit: int = MAX_TEXT) -> str:
    """Return `text` on one line, for `Pattern.search`; of a long one its beginning and its end,
    where a message that quotes a traceback says what happened."""
    if len(text) > 4 * limit:
        text = f"{text[: 2 * limit]} … {text[-2 * limit :]}"
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit // 2]} … {line[-limit // 2 :]}"


@cache
def compile_pattern(text: str) -> Pattern:
    """Read a pattern.

    Raises:
        BadPattern: an unknown kind of field, a duplicate name, adjacent fields, or no literal text.
    """
    text = " ".join(text.split())
    literals, parts, names = [], [], []
    end = 0
    fields = list(_FIELD.finditer(text))
    for number, field in enumerate(fields):
        name, kind, column = field[1], field[2] or "text", field.start() + 1
        literals.append(text[end : field.start()])
        if number and not literals[-1]:
            raise BadPattern("adjacent fields need text between them", column)
        if kind not in KINDS:
            raise BadPattern(f"unknown kind {kind!r}; available: {', '.join(KINDS)}", column)
        if name in names:
            raise BadPattern(f"duplicate field {name!r}", column)
        names += [name] if name else []
        parts.append(f"(?P<{name}>{KINDS[kind]}" if name else f"(?:.{{0,{MAX_FIELD}}}")
        end = field.end()
    literals.append(text[end:])
    weight = sum(len(literal.replace(" ", "")) for literal in literals)
    if not weight:
        raise BadPattern("must contain text besides the fields", 1)
    if not literals[0] and fields[0][2] in ("name", "dotted"):
        expression = r"(?<![\w.])"  # a whole name, not part of a longer one
    else:
        expression = (r"(?<!\w)" if _starts_word(text) else "") + re.escape(literals[0])
    for part, literal in zip(parts, literals[1:], strict=True):
        # Atomic, so a field keeps its first end; and lazy, except at the very end.
        expression += f"(?>{part}?){re.escape(literal)})" if literal else f"{part})"
    if _starts_word(literals[-1][-1:]):
        expression += r"(?!\w)"
    return Pattern(re.compile(expression), tuple(names), weight)


def _starts_word(text: str) -> bool:
    return text[:1] == "_" or text[:1].isalnum()


def uses(text: str) -> list[tuple[str, int]]:
    """Return the fields that a template uses, each with its offset."""
    return [(found[1], found.start()) for found in _USE.finditer(text)]


def known(pattern: str, fields: Mapping[str, str]) -> str:
    """Return a pattern with the fields that are captured already as text, where they are names: in
    `class {type:name}:`, the `type` of the message is meant."""
    return _FIELD.sub(
        lambda found: value if (value := fields.get(found[1], "")).isidentifier() else found[0],
        pattern,
    )


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` if there is such a value. Other braces stay, because `text` may be code."""
    return _USE.sub(lambda found: values.get(found[1], found[0]), text)
