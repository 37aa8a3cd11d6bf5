"""Where the names in a failing line were set: the statements to look at if the mistake is not in
the line itself.

The code is untrusted, and may not be Python, so it is scanned by line and not parsed: parsers can
be crashed. What is found is a statement that sets the name, the nearest one above; another may have
run.
"""

import builtins
import keyword
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from tutor.explain.statement import MAX_LINES as STATEMENT
from tutor.explain.statement import statement_at
from tutor.report import Explanation, Origin

MAX_NAMES = 4
"""Names of a line to follow."""

MAX_STEPS = 3
"""Statements to show for each name."""

MAX_SHOWN = 6
"""Statements to show in all."""

MAX_FRAMES = 12
"""Frames to follow arguments through, the innermost ones."""

MAX_RETURNS = 20
"""Statements of a function to look at for the last `return`."""

MAX_CALLS = 4
"""Calls in a statement to look at."""

MAX_DEFINITIONS = 2
"""Functions of one name, such as methods of several classes, of which to show what they return."""

MAX_LINES = 3_000
"""Lines of a file to search; no larger file is."""

MAX_LINE = 300
"""Characters of a line; longer ones are not read."""

MAX_CODE = 100
"""Characters of a statement to show."""

_TEXT = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_NAMES = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*(?!\s*=(?!=))")
_DEF = re.compile(r"^(\s*)(?:async\s+)?def\s+(\w+)\s*\(")
_LAMBDA = re.compile(r"\blambda\b([^:]{0,80}):")
_MAPPED = re.compile(r"\bmap\(\s*lambda\s+([\w, ]{1,80}):")
_IMPORTED = re.compile(r"^\s*(?:from\s+[\w.]+\s+)?import\s+(.+)$")
_PARAMETER = re.compile(r"^\*{0,2}(\w+)")
_RETURN = re.compile(r"^\s*return\b\s*\S")
_SIMPLE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[[^\[\]()]{1,40}\])*")
_CALL = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\(")
_FIT = re.compile(r"shape|dtype|structure|broadcast|tree|carry")
_EQUALS = re.compile(r"(?<![=!<>+\-*/%&|^@:])=(?!=)")
_NO_TARGET = ("def ", "class ", "return ", "if ", "elif ", "while ", "assert ", "lambda ")
_BUILTIN = frozenset((*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "self", "cls"))


class Frame(Struct, frozen=True):
    """A line of the learner's code in a traceback, in the lines of its file; `number` counts from
    1."""

    lines: Sequence[str]
    number: int


class _Function(Struct, frozen=True):
    """A function: the row of its `def`, from 0, its indentation, name and parameters."""

    row: int
    indent: int
    name: str
    parameters: tuple[str, ...]


def origins_of(frames: Sequence[Frame], part: str) -> tuple[Origin, ...]:
    """Return the statements that set the names in a failing line.

    **Arguments:** `frames`: the outermost first; `part`: what failed of the innermost line.
    """
    frames = frames[-MAX_FRAMES:]
    if not frames or any(len(frame.lines) > MAX_LINES for frame in frames):
        return ()
    found: list[Origin] = []
    for name in _names(part, frames[-1].lines):
        found += _chain(name, list(frames))
    itself = _origin("", frames[-1].lines, _start(frames[-1])).code
    names: dict[tuple[int, str], dict[str, None]] = {}
    for one in found:
        if one.code != itself:
            names.setdefault((one.line, one.code), {}).setdefault(one.name)
    each = [Origin(", ".join(those), *place) for place, those in names.items()]
    return tuple(each[:MAX_SHOWN])


def worth_showing(explained: Explanation | None, message: str) -> bool:
    """Return whether to show where names were set: if the cause is not sure, or two values do not
    fit each other, it may be there."""
    unsure = explained is None or explained.likely or bool(explained.alternatives)
    return unsure or _FIT.search(message) is not None


def _names(part: str, lines: Sequence[str]) -> list[str]:
    """Return the names in a part of a line: those of values, and of functions defined in the file
    as `f(`."""
    bare = _lambdas_last(_TEXT.sub('""', part[:MAX_LINE]))
    inner = _parameters_of_lambdas(bare)
    modules = _imported(lines)
    names: dict[str, None] = {}
    for found in _NAMES.finditer(bare):
        name = found[0]
        head, _, rest = name.partition(".")
        called = bare[found.end() :].lstrip().startswith("(")
        if called and (head == "self" or not rest) and _definitions(lines, name.split(".")[-1]):
            names.setdefault(f"{name.split('.')[-1]}(")
        elif head == "self" and rest:
            names.setdefault(f"self.{rest.split('.')[0]}" if not called or "." in rest else "")
        elif head not in _BUILTIN | modules | inner and (rest or not called):
            names.setdefault(head)
    return [name for name in names if name][:MAX_NAMES]


def _parameters_of_lambdas(code: str) -> set[str]:
    found = (name for one in _LAMBDA.finditer(code) for name in one[1].split(","))
    return {name.partition("=")[0].strip().lstrip("*") for name in found}


def _lambdas_last(part: str) -> str:
    """Return a call with the arguments that are functions behind the others: what they use is less
    often what does not fit."""
    head, bracket, rest = part.partition("(")
    arguments: list[str] = []
    for one in _split(_inner(rest)) if bracket else ():
        last = arguments[-1] if arguments else ""
        if last.lstrip().startswith("lambda") and ":" not in last:  # split at its parameters
            arguments[-1] = f"{last},{one}"
        else:
            arguments.append(one)
    ordered = sorted(arguments, key=lambda one: one.lstrip().startswith("lambda"))
    return f"{head}({', '.join(ordered)}){rest[len(_inner(rest)) + 1 :]}" if bracket else part


def _imported(lines: Sequence[str]) -> set[str]:
    """Return the names under which a file imports modules and functions."""
    found: set[str] = set()
    for line in lines:
        if (one := _IMPORTED.match(line[:MAX_LINE])) is not None:
            parts = one[1].strip("()\\ ").split(",")
            found |= {part.split(" as ")[-1].strip().partition(".")[0] for part in parts}
    return found


def _chain(name: str, frames: list[Frame]) -> Iterator[Origin]:
    """Yield the statement that sets a name, and those that set what it was made from."""
    row, steps = _start(frames[-1]), 0
    while steps < MAX_STEPS:
        lines = frames[-1].lines
        if name.endswith("("):
            yield from _returned(lines, name[:-1])
            return
        if (mapped := _mapped(_statement(lines, row), name)) is not None:
            name = mapped
        found = _setting(lines, name, row)
        if found is None:
            yield from _returned(lines, name)
            return
        if isinstance(found, int):
            row = found
            yield _origin(name, lines, row)
            following = _made_from(_statement(lines, row), name, lines)
        else:  # an argument: go on where the function was called
            frames.pop()
            if not frames:
                return
            lines, row = frames[-1].lines, _start(frames[-1])
            following = _argument(_statement(lines, row), found, name, lines)
            if following == name:
                continue  # it is passed on under the same name
            if following in _parameters_of_lambdas(_statement(lines, row)):
                return
            yield _origin(name, lines, row)
        if not following:
            return
        name, steps = following, steps + 1


def _setting(lines: Sequence[str], name: str, row: int) -> "int | _Function | None":
    """Return the row that sets a name which another row uses, or the function of which it is a
    parameter."""
    if name.startswith("self."):
        pattern = re.compile(rf"^\s*{re.escape(name)}\s*(?::[^=]+)?=(?!=)")
        rows = (at for at, line in enumerate(lines) if pattern.match(line[:MAX_LINE]))
        return next(rows, None)
    inside = _enclosing(lines, row)
    while True:
        start = inside.row + 1 if inside is not None else 0
        for number in range(row - 1, start - 1, -1):
            if _sets(lines[number], name):
                return number
        if inside is None:
            return None
        if name in inside.parameters:
            return inside
        row, inside = inside.row, _enclosing(lines, inside.row)


def _mapped(statement: str, name: str) -> str | None:
    """Return what `tree.map(lambda a, b: …, x, y)` passes for a parameter of the lambda."""
    found = _MAPPED.search(statement)
    names = [one.strip() for one in found[1].split(",")] if found is not None else []
    if found is None or name not in names:
        return None
    trees = _split(_inner(statement[found.start(1) :]))
    # The lambda's parameters are split at their commas, too.
    at = len(names) + names.index(name)
    return _followed(trees[at].strip()) if at < len(trees) else None


def _sets(line: str, name: str) -> bool:
    """Return whether a statement that begins on a line sets a name."""
    line = line[:MAX_LINE].split("#")[0].strip()
    if "=" not in line and not line.startswith(("for ", "async ", "with ")):
        return False
    if not re.search(rf"\b{re.escape(name)}\b", line):
        return False
    if line.startswith(("for ", "async for ")):
        line = line.partition(" in ")[0]
        return re.search(rf"\b{re.escape(name)}\b", line) is not None
    if line.startswith("with "):
        return re.search(rf"\bas\s+\(?[\w, ]*\b{re.escape(name)}\b", line) is not None
    equals = _EQUALS.search(line)
    target = line[: equals.start()] if equals is not None else ""
    if target.count("(") != target.count(")") or line.startswith(_NO_TARGET):
        return False  # it is an argument
    names = re.split(r"[,()\s]+", target.partition(":")[0])
    return name in {one.lstrip("*") for one in names}


def _enclosing(lines: Sequence[str], row: int) -> _Function | None:
    """Return the function that a row is in."""
    indent = _indent(lines[row])
    for number in range(row - 1, -1, -1):
        line = lines[number]
        if not line.strip() or _indent(line) >= indent or line.lstrip().startswith((")", "#")):
            continue
        indent = _indent(line)
        if found := _DEF.match(line[:MAX_LINE]):
            text = _statement(lines, number)
            inner = text.partition("(")[2].rpartition(")")[0]
            each = [_PARAMETER.match(one.strip()) for one in _split(inner)]
            names = tuple(one[1] for one in each if one is not None)
            return _Function(number, len(found[1]), found[2], names)
        if indent == 0:
            return None
    return None


def _argument(statement: str, function: _Function, name: str, lines: Sequence[str]) -> str:
    """Return what is passed for a parameter: a name, `f(` for the result of a function, or an empty
    text for another expression."""
    found = _call_of(function.name, statement, lines)
    method = function.parameters[:1] in (("self",), ("cls",))
    if found is None and method and function.name == "__call__" and ".apply(" not in statement:
        found = next((one for one in _CALL.finditer(statement) if one[1] not in _BUILTIN), None)
    if found is None:
        return name if re.search(rf"(?<![\w.]){re.escape(name)}\b", statement) else ""
    arguments = _split(_inner(statement[found.end() :]))
    names = [one for one in function.parameters if not (method and one in ("self", "cls"))]
    passed = ""
    for position, one in enumerate(arguments):
        key, equals, value = one.partition("=")
        if equals and key.strip() == name and not value.startswith("="):
            passed = value
        elif not equals and position < len(names) and names[position] == name:
            passed = one
    return _followed(passed.strip())


def _call_of(function: str, statement: str, lines: Sequence[str]) -> re.Match[str] | None:
    """Return where a statement calls a function, also through `jax.grad(f)(`, or through a name
    for such a function: `grad_fn(` after `grad_fn = jax.grad(f)`."""
    called = rf"\b{re.escape(function)}"
    found = re.search(rf"{called}\(", statement)
    if found is not None or "partial" in statement:
        return found
    if (found := re.search(rf"{called}(?:,[^()]{{0,80}})?\)\(", statement)) is not None:
        return found
    for call in islice(_CALL.finditer(statement), MAX_CALLS):
        set_to = re.compile(rf"^\s*{re.escape(call[1])}\s*=\s*[\w.]+\({called}\b(?!\()")
        if any(set_to.match(line[:MAX_LINE]) and "partial" not in line for line in lines):
            return call
    return None


def _followed(expression: str) -> str:
    """Return the name to follow from an expression, or `f(` if it calls a function."""
    if _SIMPLE.fullmatch(expression) and not expression[0].isdigit():
        head, _, rest = expression.partition(".")
        if head == "self" and rest:
            return f"self.{re.split(r'[.[]', rest)[0]}"
        base = re.split(r"[.[]", expression)[0]
        return base if base not in _BUILTIN else ""
    if (found := _CALL.match(expression)) is not None:
        return f"{found[1].split('.')[-1]}("
    return ""


def _made_from(statement: str, name: str, lines: Sequence[str]) -> str:
    """Return what to follow from a statement that sets a name: a function of the file that returns
    it, or another name."""
    value = re.split(r"(?<![=!<>])=(?!=)", statement, maxsplit=1)[-1].strip()
    following = _followed(value)
    if following.endswith("(") and not _definitions(lines, following[:-1]):
        return ""
    return following if following != name else ""


def _returned(lines: Sequence[str], function: str) -> Iterator[Origin]:
    """Yield what a function of the file returns last."""
    for row in _definitions(lines, function)[:MAX_DEFINITIONS]:
        yield from _last_return(lines, row, function)


def _last_return(lines: Sequence[str], row: int, function: str) -> Iterator[Origin]:
    indent = _indent(lines[row])
    returns: list[int] = []
    for number in range(row + 1, len(lines)):
        line = lines[number]
        if line.strip() and _indent(line) <= indent and not line.lstrip().startswith(")"):
            break
        if _RETURN.match(line[:MAX_LINE]):
            returns.append(number)
    for number in reversed(returns[-MAX_RETURNS:]):
        inner = _enclosing(lines, number)
        if inner is not None and inner.row == row:  # not one of a function inside
            yield _origin(f"{function}(…)", lines, number)
            return


def _definitions(lines: Sequence[str], function: str) -> list[int]:
    """Return the rows at which functions of this name are defined."""
    return [
        row
        for row, line in enumerate(lines)
        if (found := _DEF.match(line[:MAX_LINE])) is not None and found[2] == function
    ]


def _split(text: str) -> list[str]:
    """Split arguments at their commas."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]] if text[start:].strip() else parts


def _inner(text: str) -> str:
    """Return what comes before the bracket that closes an open one."""
    depth = 1
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return text[:at]
    return text


def _start(frame: Frame) -> int:
    """Return the row at which the statement begins that a frame's line is in."""
    row = frame.number - 1
    depth, start = 0, row
    for number in range(row - 1, max(row - STATEMENT, -1), -1):
        bare = _TEXT.sub("", frame.lines[number][:MAX_LINE]).partition("#")[0]
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        if depth > 0:
            start, depth = number, 0
    return start


def _statement(lines: Sequence[str], row: int) -> str:
    return statement_at(lines, row + 1)[: 4 * MAX_LINE]


def _origin(name: str, lines: Sequence[str], row: int) -> Origin:
    code = _statement(lines, row)
    return Origin(name, row + 1, code if len(code) <= MAX_CODE else f"{code[: MAX_CODE - 1]}…")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
