"""How lines of Python are indented and commented, for the editor. Pure functions over lines."""

import keyword
import re
from collections.abc import Sequence

INDENT = 4

_OPEN, _CLOSE = "([{", ")]}"
_LEAVES = ("return", "raise", "pass", "break", "continue")
"""Statements after which a block ends."""

_CONTINUES = {
    "else": ("if", "elif", "for", "while", "try", "except"),
    "elif": ("if", "elif"),
    "except": ("try", "except"),
    "finally": ("try", "except", "else"),
    "case": ("case",),
}
"""Keywords that go on with a statement, and those that may begin it or its parts."""

_TOKEN = re.compile(
    r"""
    (?P<triple>[A-Za-z]{0,2}(?:\"{3}|'{3}))  # a string over several lines may begin
    | (?P<string>[A-Za-z]{0,2}(?:"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)))
    | (?P<comment>\#.*)
    | (?P<bracket>[()\[\]{}])
    | \w+ | .
    """,
    re.VERBOSE,
)


class _Scan:
    """What is open at the end of some lines: brackets, each with its place, and a string."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.brackets: list[tuple[int, int, str]] = []
        self.quotes = ""
        self.code: list[str] = []
        """Each line without comments and strings."""
        self.first: list[int] = []
        """For each line, the one in which its statement begins."""
        for row, line in enumerate(lines):
            go_on = bool(self.brackets or self.quotes) or (row > 0 and self.code[-1].endswith("\\"))
            self.first.append(self.first[-1] if go_on and self.first else row)
            self.code.append(self._line(row, line))

    def _line(self, row: int, line: str) -> str:
        at, code = 0, ""
        while at < len(line):
            if self.quotes:
                end = line.find(self.quotes, at)
                if end < 0:
                    return code
                at, self.quotes = end + 3, ""
                code += '""'
                continue
            token = _TOKEN.match(line, at)
            assert token is not None, "some alternative matches any character"
            at = token.end()
            if token["triple"]:
                self.quotes = token["triple"][-3:]
            elif token["string"]:
                code += '""'
            elif not token["comment"]:
                code += token[0]
                self._bracket(row, token)
        return code.rstrip()

    def _bracket(self, row: int, token: re.Match[str]) -> None:
        bracket = token["bracket"]
        if not bracket:
            return
        if bracket in _OPEN:
            self.brackets.append((row, token.start(), bracket))
        elif self.brackets:
            self.brackets.pop()


def depth(line: str) -> int:
    """Return the number of blanks at the beginning of a line."""
    return len(line) - len(line.lstrip(" "))


def next_depth(lines: Sequence[str]) -> int:
    """Return the indentation of a new line after `lines`, the last of which ends at the cursor."""
    scan = _Scan(lines)
    last = lines[-1]
    if scan.quotes:
        return depth(last)
    if scan.brackets:
        row, column, _ = scan.brackets[-1]
        after = lines[row][column + 1 :].split("#", 1)[0].strip()
        if row == len(lines) - 1 and after:
            # The arguments begin in the line of the bracket: align with the first of them.
            return column + 1 + depth(lines[row][column + 1 :])
        return depth(last) if row < len(lines) - 1 else depth(lines[row]) + INDENT
    statement = depth(lines[scan.first[-1]])
    code = scan.code[-1]
    if code.endswith(":"):
        return statement + INDENT
    if _first_word(scan.code[scan.first[-1]]) in _LEAVES:
        return max(0, statement - INDENT)
    return statement


def closing_depth(lines: Sequence[str]) -> int | None:
    """Return the indentation that the last of `lines` should have, None if it may stay.

    It changes when the line has just become the beginning of a clause, such as `else:`, or a
    closing bracket.
    """
    last = lines[-1]
    scan = _Scan(lines[:-1])
    if scan.quotes:
        return None
    if scan.brackets:
        row, _, _ = scan.brackets[-1]
        return depth(lines[row]) if last.strip() in (*_CLOSE,) else None
    word = _first_word(last)
    if not last.rstrip().endswith(":") or word not in _CONTINUES:
        return None
    limit = depth(last)
    for row in range(len(lines) - 2, -1, -1):
        if scan.first[row] != row or not scan.code[row].strip():
            continue
        here = depth(lines[row])
        if here > limit:
            continue
        if _first_word(scan.code[row]) in _CONTINUES[word]:
            return here
        limit = min(limit, here)
    return None


def _first_word(code: str) -> str:
    word = re.match(r"\s*(\w+)", code)
    return word[1] if word and (keyword.iskeyword(word[1]) or word[1] == "case") else ""


def toggled_comments(lines: Sequence[str]) -> list[str]:
    """Return lines with `# ` in front, or without it if all of them have it."""
    some = [line for line in lines if line.strip()]
    if some and all(line.lstrip(" ").startswith("#") for line in some):
        return [re.sub(r"^( *)# ?", r"\1", line) for line in lines]
    column = min(map(depth, some), default=0)
    return [f"{line[:column]}# {line[column:]}" if line.strip() else line for line in lines]


def indented(lines: Sequence[str]) -> list[str]:
    return [" " * INDENT + line if line.strip() else line for line in lines]


def dedented(lines: Sequence[str]) -> list[str]:
    """Return lines moved left to the previous multiple of `INDENT`, each as far as it can be."""
    return [line[min(depth(line), (depth(line) - 1) % INDENT + 1) :] for line in lines]
