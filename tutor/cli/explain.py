"""`jaxtutor explain`: a traceback from anywhere, in the words of somebody who thinks in PyTorch."""

import argparse
import sys
from pathlib import Path
from typing import Any

from tutor.cli.usage import UsageError

EXPLAINED, UNKNOWN = 0, 1


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Add `explain` to the commands of `jaxtutor`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help="explain a traceback of JAX's to somebody who knows PyTorch",
        description="Explain a traceback of JAX's to somebody who knows PyTorch. "
        "Exit codes: 0 explained, 1 no explanation known, 2 wrong usage.",
    )
    parser.add_argument("file", metavar="FILE", help="a file with it; - is standard input")
    parser.add_argument("--json", action="store_true", help="as JSON; null if there is none")
    parser.set_defaults(command=explain_)
    return parser


def explain_(options: argparse.Namespace) -> int:
    """Run the command."""
    from tutor.explain import explain
    from tutor.explain.traceback import read_traceback

    symptom = read_traceback(_text(options.file))
    if symptom is None:
        raise UsageError(
            "there is no traceback in it; expected its last line at least, such as "
            "`TypeError: …`. Try: python train.py 2>&1 | jaxtutor explain -"
        )
    explanation = explain(symptom)
    if options.json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(explanation).decode() + "\n")
        return EXPLAINED if explanation is not None else UNKNOWN
    from tutor import render
    from tutor.plain_text import inert
    from tutor.sandbox.exceptions import headline

    out = render.console()
    told = headline(symptom.message)
    out.print(inert(f"{symptom.exception}: {told}" if symptom.exception else told), markup=False)
    if explanation is None:
        out.print("No explanation is known for this.", style="dim")
        return UNKNOWN
    out.print(render.explanation(explanation, _lessons(options.pack)))
    return EXPLAINED


def _text(file: str) -> str:
    from tutor.explain.traceback import MAX_TEXT

    try:
        if file == "-":
            data = sys.stdin.buffer.read(4 * MAX_TEXT)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(4 * MAX_TEXT)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{file}: {reason}; expected a text file, or - for input") from None
    return data.decode("utf-8", "replace")


def _lessons(pack: str | None) -> set[str]:
    """Where an explanation may point to; nowhere if the pack cannot be read."""
    from tutor.pack import BadPack, open_pack

    try:
        return set(open_pack(pack).lessons)
    except BadPack:
        return set()
