"""Reading a pasted traceback as a symptom.

It may come from Python or IPython, be incomplete at its beginning, and have other text around it.
"""

import re

from tutor.explain.symptom import Symptom

MAX_TEXT = 1 << 20
"""Characters to read, from the end."""

_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_FILE = re.compile(r'^\s*File "(?P<file>[^"]*)", line \d+')
_CELL = re.compile(
    r"^(?:File (?P<file>\S+?\.py)(?::\d+)?\b|(?P<cell>(?:Cell )?In ?\[\d+\]|<ipython-input)|"
    r"(?P<older>[/~]\S+\.py) in )"
)
_ARROW = re.compile(r"^-+> \d+ (?P<line>.*)$")
_EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*(?P<name>[A-Z]\w*)(?:: ?(?P<message>.*))?$")
_WARNING = re.compile(r"^\S+:\d+: (?P<name>\w*Warning): (?P<message>.*)$")
_ERROR = re.compile(r"(?:Error|Exception|Warning|NotFound|Interrupt)$")
_AFTER = re.compile(
    r"^(?:Traceback \(most recent call last\)|During handling of the above|The above exception was|"
    r"The stack trace below excludes|-{15,}|={15,}|In \[\d+\]:)"
)
_LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|<frozen|<string>")


def read_traceback(text: str) -> Symptom | None:
    """Return the last exception with the learner's line that led to it; None if there is none."""
    lines = [_COLOUR.sub("", line).rstrip() for line in text[-MAX_TEXT:].splitlines()]
    own, last = _frames(lines)
    if (head := _head(lines, last)) is not None:
        number, found = head
        message = [found["message"] or "", *_message_lines(lines[number + 1 :])]
        return Symptom(
            exception=found["name"],
            message="\n".join(message).strip(),
            line=own[-1] if own else "",
            source="\n".join(own),
        )
    if "rendezvous.cc" in text:  # the process is aborted, and there is no traceback
        return Symptom(fault="rendezvous", message=text[-MAX_TEXT:])
    return None


def _frames(lines: list[str]) -> tuple[list[str], int]:
    """Return the lines of code of the learner's frames, and the position of the last frame."""
    own: list[str] = []
    last = -1
    library = False
    for number, line in enumerate(lines):
        if found := _FILE.match(line):
            last = number
            code = lines[number + 1].strip() if number + 1 < len(lines) else ""
            if not _LIBRARY.search(found["file"]) and not _FILE.match(code):
                own.append(code)
        elif found := _CELL.match(line):
            last = number
            library = bool(_LIBRARY.search(found["file"] or found["older"] or ""))
        elif found := _ARROW.match(line):
            last = number
            if not library:
                own.append(found["line"].strip())
    return own, last


def _head(lines: list[str], last_frame: int) -> tuple[int, re.Match[str]] | None:
    """Return the line that names the exception: the first match after the last frame, because its
    message may contain more."""
    found = [
        (number, match)
        for number, line in enumerate(lines)
        if number > last_frame and (match := _EXCEPTION.match(line) or _WARNING.match(line))
    ]
    if last_frame < 0:
        # Any line with a colon would match, so require the name of an error.
        found = [each for each in found if _ERROR.search(each[1]["name"]) and each[1]["message"]]
    return found[0] if found else None


def _message_lines(lines: list[str]) -> list[str]:
    message = []
    for line in lines:
        if _AFTER.match(line):
            break
        message.append(line)
    return message
