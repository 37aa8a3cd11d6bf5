"""`jaxtutor explain`: explain any traceback from JAX in PyTorch's terms."""

import argparse
import sys
from pathlib import Path
from typing import Any

from tutor.cli.output import print_json
from tutor.cli.selection import add_pack_option
from tutor.cli.usage import Parser, UsageError

EXPLAINED, UNKNOWN = 0, 1


def add_to(commands: Any) -> None:
    sub: Parser = commands.add_parser(
        "explain", help="explain a JAX traceback in PyTorch's terms",
        description="Explain a JAX traceback in PyTorch's terms.",
        epilog="Exit codes: 0 explained, 1 no explanation known, 2 wrong usage.",
    )  # fmt: skip
    sub.add_argument("file", metavar="FILE", help="a file with it; - is standard input")
    sub.add_argument("--json", action="store_true", help="print JSON; null if not explained")
    add_pack_option(sub, "the pack whose lessons to suggest; the course by default")
    sub.set_defaults(command=explain_traceback)


def explain_traceback(options: argparse.Namespace) -> int:
    from tutor.explain import explain
    from tutor.explain.traceback import read_traceback

    symptom = read_traceback(_read(options.file))
    if symptom is None:
        raise UsageError(
            "no traceback found; expected at least its last line, such as "
            "`TypeError: …`. Try: python train.py 2>&1 | jaxtutor explain -"
        )
    explanation = explain(symptom)
    if options.json:
        import msgspec

        print_json(msgspec.json.encode(explanation))
        return EXPLAINED if explanation is not None else UNKNOWN
    from tutor import render
    from tutor.foreign.plain_text import inert
    from tutor.sandbox.exceptions import headline

    out = render.console()
    message = headline(symptom.message)
    shown = f"{symptom.exception}: {message}" if symptom.exception else message
    out.print(inert(shown), markup=False)
    if explanation is None:
        out.print("No explanation known.", style="dim")
        return UNKNOWN
    out.print(render.explanation(explanation, _list_lessons(options.pack)))
    return EXPLAINED


def _read(file: str) -> str:
    from tutor.explain.traceback import MAX_TEXT

    try:
        if file == "-":
            data = sys.stdin.buffer.read(4 * MAX_TEXT)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(4 * MAX_TEXT)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{file}: {reason}; expected a text file, or - for standard input"
        ) from None
    return data.decode("utf-8", "replace")


def _list_lessons(pack: str | None) -> set[str]:
    """Return the lessons that an explanation may point to: none if the pack cannot be read."""
    from tutor.pack import BadPack, open_pack

    try:
        return set(open_pack(pack).lessons)
    except BadPack:
        return set()
