"""Names that can continue what stands before the cursor: of the learner's file and of libraries.

Nothing is imported, and nothing of the learner's runs: the libraries' names come from
`tutor.engine.library`.
"""

import re
from collections.abc import Iterator
from keyword import iskeyword

from msgspec import Struct

from tutor.engine.library import Library
from tutor.report import Called

ARRAY = "jax.Array"
"""The entry of the table for what an array has."""

USUAL = {"jax": "jax", "jnp": "jax.numpy", "np": "numpy", "optax": "optax"}
"""Modules by the names that people give them, for files that do not import them yet."""

_BEFORE = re.compile(r"(?:([A-Za-z_][\w.]*|[)\]}\"'])\s*\.\s*)?([A-Za-z_]\w*)?$")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CALLED = re.compile(r"[A-Za-z_][\w.]*$")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"(?<=\.)[A-Za-z_]\w*")
_TEXT = re.compile(r"(\"\"\"|''')(?:.|\n)*?\1|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")
_IMPORT = re.compile(r"^[ \t]*import +([^\n;#]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from +([\w.]+) +import +(\([^)]*\)|[^\n;#]+)", re.MULTILINE)


class Completion(Struct, frozen=True):
    """A name, and how to call it if that is known."""

    name: str
    signature: str = ""


class Completions(Struct, frozen=True):
    """What can stand from a column of the cursor's line up to the cursor, the likeliest first."""

    column: int
    found: tuple[Completion, ...]


MAX_ROWS = 30
"""Lines before the cursor to search for the call that it is in."""

NO_LIBRARY = Library({})


def completions(code: str, row: int, column: int, library: Library | None = None) -> Completions:
    """Return the names that continue what stands before a place in a file.

    After a module's name and a dot these are the module's names; after another dot, what arrays
    have and what the file uses in that way; elsewhere the names in the file.

    **Arguments:** `row` and `column` count from 0, as a `TextArea` does; `library`: the libraries'
    names, if they are known yet.
    """
    lines = code.split("\n")
    line = lines[row][:column]
    match = _BEFORE.search(line)
    base, begun = (match[1] or "", match[2] or "") if match else ("", "")
    if not base and line[: column - len(begun)].endswith("."):
        return Completions(column, ())  # a number
    others = "\n".join([*lines[:row], line[: column - len(begun)], lines[row][column:]])
    others += "\n" + "\n".join(lines[row + 1 :])
    plain = _TEXT.sub(" ", others)
    if base:
        found = _members(base, plain, library or NO_LIBRARY)
    else:
        used = {*_NAME.findall(plain), *_modules(plain)}
        found = dict.fromkeys(sorted(name for name in used if not iskeyword(name)), "")
    return Completions(column - len(begun), _ordered(found, begun))


def function_at(code: str, row: int, column: int, library: Library) -> tuple[str, Called | None]:
    """Return the dotted name at a place in a file, and the library's function that it stands for:
    in full, as in `jnp.dot`, or imported by its name. If it stands for none, those of the innermost
    call around the place for which there is one."""
    lines = code.split("\n")
    modules = {**USUAL, **_modules(_TEXT.sub(" ", code))}

    def meant(name: str) -> Called | None:
        first, dot, rest = name.partition(".")
        return library.function(f"{modules.get(first, first)}{dot}{rest}")

    names = _DOTTED.finditer(lines[row])
    at = next((one[0] for one in names if one.start() <= column <= one.end()), "")
    before = "\n".join([*lines[max(0, row - MAX_ROWS) : row], lines[row][:column]])
    for name in (at, *_calls_around(before)):
        if name and (function := meant(name)) is not None:
            return name, function
    return at, None


def _calls_around(before: str) -> Iterator[str]:
    """Yield the dotted names before brackets that are still open, the innermost first."""
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        depth += (before[place] in ")]}") - (before[place] in "([{")
        if depth < 0:
            depth = 0
            if before[place] == "(" and (found := _CALLED.search(before[:place])):
                yield found[0]


def _members(base: str, code: str, library: Library) -> dict[str, str]:
    module = _module(base, code, library)
    if module is not None:
        return _signatures(library, module)
    used = dict.fromkeys(_ATTRIBUTE.findall(code), "")
    return dict(sorted({**used, **_signatures(library, ARRAY)}.items()))


def _signatures(library: Library, module: str) -> dict[str, str]:
    names = library.modules.get(module, {})
    return {name: signature for name, (signature, _) in names.items()}


def _module(base: str, code: str, library: Library) -> str | None:
    """Return the library's module that an expression such as `jax.lax` stands for."""
    first, _, rest = base.partition(".")
    start = {**USUAL, **_modules(code)}.get(first)
    path = ".".join(filter(None, (start, rest)))
    return path if start is not None and path in library.modules else None


def _modules(code: str) -> dict[str, str]:
    """Return the modules that a file imports, by the names that it gives them."""
    found: dict[str, str] = {}
    for (listed,) in (match.groups() for match in _IMPORT.finditer(code)):
        for name, other in _pairs(listed):
            found[other or name.partition(".")[0]] = name if other else name.partition(".")[0]
    for module, listed in (match.groups() for match in _FROM.finditer(code)):
        for name, other in _pairs(listed.strip("()")):
            found[other or name] = f"{module}.{name}"
    return found


def _pairs(listed: str) -> list[tuple[str, str]]:
    """Return the names and the new names in `a.b as c, d`."""
    pairs = (part.split(" as ") for part in re.sub(r"\s+", " ", listed).split(","))
    return [(one[0].strip(), one[1].strip() if len(one) > 1 else "") for one in pairs if one[0]]


def _ordered(found: dict[str, str], begun: str) -> tuple[Completion, ...]:
    """Return names that begin so, then names that contain it; capitals do not count."""
    low = begun.lower()
    fitting = [name for name in found if low in name.lower() and name != begun]
    fitting.sort(key=lambda name: (not name.startswith(begun), not name.lower().startswith(low)))
    return tuple(Completion(name, found[name]) for name in fitting)
