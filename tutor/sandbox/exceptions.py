"""Faults for exceptions that untrusted code raised."""

import re

from tutor.foreign.plain_text import cut, inert, one_line, quoted_code
from tutor.foreign.source_lines import source_lines
from tutor.report import Called, Fault, Frame, LibraryFrame
from tutor.sandbox.faults import SENTENCES
from tutor.sandbox.protocol import (
    MAX_CODE,
    MAX_EXCEPTION_TEXT,
    MAX_HELP,
    MAX_INSIDE,
    MAX_NAME,
    MAX_RUNNING,
    MAX_STEPS,
    Raised,
)

MAX_VALUES, MAX_VALUE = 8, 130
"""Values of names to show, and characters of each."""


def from_raised(raised: Raised, source: str) -> Fault:
    """Return the fault for an exception, with the lines of `source` that it passed through."""
    # A sandbox may send more than it should.
    message = inert(raised.message[:MAX_EXCEPTION_TEXT]).strip()
    steps = raised.steps[-MAX_STEPS:]
    lines = source_lines(source)

    def line(number: int | None) -> str:
        return lines[number - 1].strip() if number and 0 < number <= len(lines) else ""

    def part(number: int, start: int, end: int) -> str:
        shown = (
            lines[number - 1].encode("utf-8", "replace")[start:end]
            if 0 < number <= len(lines)
            else b""
        )
        return shown.decode("utf-8", "replace").strip() if 0 <= start < end else ""

    frames = tuple(
        Frame(
            step.line,
            inert(step.function[:MAX_NAME]),
            line(step.line),
            part(step.line, step.start, step.end),
            tuple(
                LibraryFrame(
                    inert(one.file[:MAX_CODE]),
                    one.line,
                    inert(one.function[:MAX_NAME]),
                    inert(one.source[:MAX_CODE]),
                )
                for one in step.inside[-MAX_INSIDE:]
            ),
        )
        for step in steps
    )
    kind = inert(raised.kind[:MAX_NAME]).rpartition(".")[2]
    running = inert(cut(raised.running, MAX_RUNNING))
    code = raised.code if raised.code in SENTENCES else "exception"
    at = f" (line {raised.line}: `{line(raised.line)}`)" if line(raised.line) else ""
    first = headline(message)
    match code:
        case "syntax-error":
            column = f", column {raised.column}" if raised.column else ""
            text = f"line {raised.line}{column}: {kind}: {first}"
            if raised.line and line(raised.line):
                # Not stripped, so that the column can be shown below it.
                shown = inert(lines[raised.line - 1].expandtabs(1).rstrip())[:MAX_LINE]
                frames = (Frame(raised.line, "", shown),)
        case "missing-name":
            name = _quoted(message)
            text = f"your code does not define `{name}`" if name else first
        case "wrong-signature":
            text = f"calling `{running}`: {first}"
        case "exception" | "unusable-result" if _DELETED.search(message) and (
            donating := _donating(lines)
        ):
            text = f"an array was used after it was donated{at}: {donating}"
        case "unusable-result":
            uses = quoted_code(running)
            text = f"{uses} cannot use what your code returned: {kind}: {first}".removesuffix(": ")
        case "not-written":
            function = frames[-1].function if frames else "this part"
            text = f"`{function}` is still to be written: it raises NotImplementedError{at}"
        case "exited":
            text = f"your code ended the process ({kind}){at}: remove the call to exit or quit"
        case "out-of-memory":
            text = f"ran out of memory in `{running}`{first and f': {first}'}{at}"
        case "malformed":
            text = first
        case _:
            text = f"{kind}: {first}{at}" if first else f"{kind}{at}"
    return Fault(
        code,
        text,
        detail=message if message != first else "",
        frames=frames,
        line=raised.line,
        column=raised.column,
        running=running,
        exception=kind,
        values=tuple(
            one_line(f"{name[:MAX_VALUE]} {text[:MAX_VALUE]}")[:MAX_VALUE]
            for name, text in raised.values[:MAX_VALUES]
        ),
        called=_called(raised.called),
    )


def _called(called: Called | None) -> Called | None:
    """Return what a sandbox says of a function, cut to what it may say."""
    if called is None:
        return None
    texts = (called.name, called.signature, called.about)
    return Called(*(one_line(text[:MAX_HELP]) for text in texts))


MAX_LINE = 200
"""Characters of a line that are kept to show where its syntax breaks."""

_DELETED = re.compile(r"[Bb]uffer has been deleted or donated|Array has been deleted")


def _donating(lines: list[str]) -> str:
    """Describe the line that donates arrays: the exception names only the line that used one."""
    for number, text in enumerate(lines, start=1):
        if "donate_arg" in text and not text.lstrip().startswith("#"):
            return f"line {number} donates it (`{text.strip()}`), so it cannot be used again"
    return ""


_NOISE = re.compile(
    r"\(?See (also )?https?://\S+|: https?://\S+|\(https?://\S+\)|\(/\S+\.py\)"
    r"|The error occurred while tracing the function .*? for \w+\. "
)
"""Parts of messages that do not help in a lesson: URLs, paths of installed files, names of our own
functions. `Fault.detail` keeps them."""


def headline(message: str, limit: int = 400) -> str:
    """Return the first paragraph of an exception's message on one line."""
    first = " ".join(_NOISE.sub("", message.split("\n\n", 1)[0]).split())
    return cut(first, limit)


def _quoted(message: str) -> str:
    parts = message.split("'")
    return parts[1] if len(parts) > 2 else ""
