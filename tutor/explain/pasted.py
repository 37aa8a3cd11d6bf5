"""Undoing what people's tools wrap around a traceback: quotes, log prefixes, fences, JSON."""

import json
import re
from collections.abc import Iterator
from itertools import groupby

_COLOUR = re.compile(r"\x1b\[[\d;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_FENCE = re.compile(r"^\s*(?:```+|~~~+)\s*\w*\s*$")
_QUOTE = re.compile(r"^\s*(?:> ?)+")
_OTHER_MARK = re.compile(r"^(?:>>>|E {3})")
"""What lines begin with where `>` is Python's or pytest's."""
_NUMBER = re.compile(r"^\d+: ?")
_GROUP = re.compile(r"^\s*(?:\+-)?[|+](?:-[-+ \d.]*$| ?)")

_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|EXCEPTION)"
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIXES = [
    re.compile(text)
    for text in (
        rf"{_TIME} std(?:out|err) [FP] ",
        r"\[(?:rank ?|default|worker |proc(?:ess)? ?)\d+\](?::|\[stderr\]:)? ?",
        r"\((?:[\w.]+ )?pid=\d+(?:, ip=[\w.:]+)?\) ?",
        r"[\w.-]{1,40} +\| ",
        rf"{_LEVEL}:{_TIME}:[\w.]+:\d+: ?",
        r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\] ?",
        rf"{_TIME}: [IWEF] [\w./-]+:\d+\] ?",
        (
            rf"\[?{_TIME}\]?(?:\[[\w./-]+\])?(?:\[{_LEVEL}\])?(?: *[:|-])?(?: +\d+)?"
            rf"(?: \[?[\w.<>]{{1,40}}\]? -(?= ))?(?: *\[?{_LEVEL}\]?(?: *[:|-])?)?"
            r"(?: [\w.<>]{1,40}:\w+:\d+ -)? ?"
        ),
        r"\[\d\d:\d\d:\d\d(?:[.,]\d+)?\](?: \w+ +)? ?",
        rf"{_LEVEL}:[\w.]+: ?",
        rf"\[?{_LEVEL}\]?(?: *[:|-])? (?=\S)",
        r"stderr: ?",
    )
]
_QUIET = re.compile(r"\b(?:INFO|DEBUG)\b|^I\d{4} |: I ")
_DOCTEST = re.compile(r"^Trying:\n(?:[ \t].*\n|Expecting:\n|Expecting nothing\n)*ok$", re.MULTILINE)
"""What doctest tried with success, which may be an exception."""

_INDENT = re.compile(r"^[ \t]*")
_PYTHON = re.compile(r"Traceback|Error|Exception|File \"")

END = "=" * 20
"""A line that ends a message."""

MOSTLY = 0.8
"""Share of the lines from which a quotation is one."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a pasted text without what surrounds them."""
    text = _COLOUR.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _DOCTEST.sub("", "\n".join(_unwrapped(text)))
    if "\\n" in text and text.count("\\n") > text.count("\n"):
        text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
    lines = [line.rstrip() for line in text.split("\n")]
    lines = _without_fences(_without_quotes(_without_fences(lines)))
    lines = [_without_prefixes(line) for line in lines]
    lines = [_GROUP.sub("", line) if _in_group(line) else line for line in lines]
    lines = [_without_backticks(line) for line in lines]
    return _dedented(lines)


def _unwrapped(text: str) -> Iterator[str]:
    """Yield lines; of those that are JSON objects, the texts in them."""
    stripped = text.strip()
    if stripped.startswith(("{", "[")) and (whole := _parsed(stripped)) is not None:
        yield from _texts(whole)
        return
    for line in text.split("\n"):
        start = line.find("{")
        found = _parsed(line[start:].strip()) if 0 <= start <= 60 and '"' in line else None
        texts = [*_texts(found)] if isinstance(found, dict) else []
        yield from texts or [line]  # a dict in a line of code has none


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts in JSON that may hold an exception."""
    if isinstance(value, str):
        if _PYTHON.search(value) or "\n" in value or value.count(" ") > 3:
            yield value
    elif isinstance(value, dict) and depth < 8:
        yield from (text for child in value.values() for text in _texts(child, depth + 1))
    elif isinstance(value, list) and depth < 8:
        if value and all(isinstance(child, str) for child in value):
            yield from map(str, value)  # lines of a traceback
        else:
            yield from (text for child in value for text in _texts(child, depth + 1))


def _without_fences(lines: list[str]) -> list[str]:
    """Return lines without the fences around code; what follows a block is not part of it."""
    found: list[str] = []
    open_ = False
    for line in lines:
        if not _FENCE.match(line):
            found.append(line)
            continue
        if open_:
            found.append(END)
        open_ = not open_
    return found


def _without_quotes(lines: list[str]) -> list[str]:
    """Return lines without what most begin with: marks of a quotation, or a process's number; and
    without those of an exception quoted in other text."""
    filled = [line for line in lines if line.strip() and line != END]
    for mark in (_QUOTE, _NUMBER):
        if sum(mark.match(line) is not None for line in filled) > MOSTLY * len(filled):
            return [mark.sub("", line) for line in lines]
    if any(_OTHER_MARK.match(line) for line in lines):
        return lines
    found: list[str] = []
    for quoted, group in groupby(lines, lambda line: _QUOTE.match(line) is not None):
        block = [*group]
        if quoted and any(_PYTHON.search(line) for line in block):
            block = [*(_QUOTE.sub("", line) for line in block), END]
        found += block
    return found


def _without_prefixes(line: str) -> str:
    """Return a line of a log without the prefixes that loggers and launchers write."""
    for _ in range(4):
        before = line
        for prefix in _PREFIXES:
            if found := prefix.match(line):
                line = line[found.end() :]
                break
        if line == before:
            break
    return line


def quiet_lines(text: str) -> set[str]:
    """Return the lines of a log that report no failure by their level, without their prefixes."""
    found = set()
    for line in _COLOUR.sub("", text).splitlines():
        rest = _without_prefixes(line.rstrip())
        if rest and _QUIET.search(line[: len(line.rstrip()) - len(rest)]):
            found.add(rest.strip())
    return found


def _in_group(line: str) -> bool:
    """Return whether a line is drawn inside an exception group."""
    return bool(re.match(r"^\s+(?:\| |\|$|\+ Exception Group|\+-[-+])", line))


def _without_backticks(line: str) -> str:
    stripped = line.strip()
    if len(stripped) > 2 and stripped[0] == stripped[-1] == "`" and "`" not in stripped[1:-1]:
        return stripped[1:-1]
    return line


def _dedented(lines: list[str]) -> list[str]:
    filled = [line for line in lines if line.strip()]
    common = min((len(_INDENT.match(line)[0]) for line in filled), default=0)  # type: ignore[index]
    return [line[common:] for line in lines]
