"""`jaxtutor explain`: explain an error in PyTorch's terms, or show what is explained."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.output import print_json
from tutor.cli.selection import add_pack_option
from tutor.cli.usage import Parser, UsageError

if TYPE_CHECKING:
    from tutor.report import Called

EXPLAINED, UNKNOWN = 0, 1


def add_to(commands: Any) -> None:
    sub: Parser = commands.add_parser(
        "explain", help="explain a JAX error in PyTorch's terms",
        description="Explain an error of JAX, Flax or Optax in PyTorch's terms.",
        epilog="Exit codes: 0 explained, 1 no explanation known, 2 wrong usage.",
    )  # fmt: skip
    sub.add_argument(
        "what", nargs="*", metavar="FILE",
        help="a file with the traceback or the message; - is standard input. Or the id of an "
             "explanation, a name of PyTorch such as unsqueeze, or a function such as jax.lax.scan",
    )  # fmt: skip
    sub.add_argument(
        "--list", action="store_true", help="list all explanations, or those that contain all words"
    )
    sub.add_argument("--json", action="store_true", help="print JSON; null if not explained")
    add_pack_option(sub, "the pack whose lessons to suggest; the course by default")
    sub.set_defaults(command=explain)


def explain(options: argparse.Namespace) -> int:
    what: list[str] = options.what
    if options.list:
        return _list(what, options)
    if len(what) != 1:
        raise UsageError(
            "expected a file with a traceback, - for standard input, or the id of an explanation. "
            "Try: python train.py 2>&1 | jaxtutor explain -, or jaxtutor explain --list"
        )
    if what[0] == "-" or Path(what[0]).exists():
        return _explain_text(_read(what[0]), options)
    return _show(what[0], options)


def _list(words: list[str], options: argparse.Namespace) -> int:
    from tutor.explain.index import search

    entries = search(words)
    if options.json:
        import msgspec

        titles = [{"id": entry.id, "title": entry.title} for entry in entries]
        print_json(msgspec.json.encode(titles))
        return EXPLAINED if entries else UNKNOWN
    from rich.table import Table

    from tutor import render

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for entry in entries:
        table.add_row(entry.id, entry.title)
    out = render.console()
    out.print(table if entries else f"No explanation contains {' and '.join(map(repr, words))}.",
              markup=False)  # fmt: skip
    return EXPLAINED if entries else UNKNOWN


def _show(name: str, options: argparse.Namespace) -> int:
    """Show an explanation whole, by its id or by a name that does not exist; or what a function of
    a library says of itself."""
    from tutor.explain.index import entries, entry_named
    from tutor.suggestions import nearest

    entry = entry_named(name)
    if entry is None or ("." in name and name not in entries()):
        # `append` may be PyTorch's; `jax.numpy.append` is a function.
        function = _function(name)
        if function is not None:
            return _show_function(function, options)
    if entry is None:
        raise UsageError(
            f"{name}: expected a text file with an error, - for standard input, the id of an "
            "explanation, or the full name of a function"
            f"{nearest(name, entries()) or '. Try: jaxtutor explain --list'}"
        )
    if options.json:
        import msgspec

        print_json(msgspec.json.encode(entry))
        return EXPLAINED
    from tutor import render

    out = render.console()
    page = render.explanation_page(
        entry.explanation,
        entry.example,
        _list_lessons(options.pack),
        label=entry.label,
        width=out.width,
    )
    out.print(page)
    return EXPLAINED


_SHORT = {"jnp": "jax.numpy", "lax": "jax.lax", "nnx": "flax.nnx", "nn": "flax.linen"}
"""Modules under the names by which people import them."""


def _function(name: str) -> "Called | None":
    """Return what a library's function says of itself, if `name` is its full or usual name."""
    first, dot, rest = name.partition(".")
    full = f"{_SHORT.get(first, first)}{dot}{rest}"
    if full.partition(".")[0] not in ("jax", "flax", "optax", "numpy") or not dot:
        return None
    from tutor.engine.library import library

    known = library()
    return known.function(full) if known is not None else None


def _show_function(function: "Called", options: argparse.Namespace) -> int:
    if options.json:
        import msgspec

        print_json(msgspec.json.encode(function))
        return EXPLAINED
    from tutor import render

    render.console().print(render.called(function))
    return EXPLAINED


def _explain_text(text: str, options: argparse.Namespace) -> int:
    from tutor.explain.traceback import explain_text

    symptom, explanation = explain_text(text)
    if symptom is None:
        raise UsageError(
            "no traceback found; expected at least its last line, such as "
            "`TypeError: …`. Try: python train.py 2>&1 | jaxtutor explain -"
        )
    if options.json:
        import msgspec

        print_json(msgspec.json.encode(explanation))
        return EXPLAINED if explanation is not None else UNKNOWN
    from tutor import render
    from tutor.explain import symptom as symptoms
    from tutor.foreign.plain_text import inert
    from tutor.sandbox.exceptions import headline

    out = render.console()
    known = symptom.exception not in ("", symptoms.UNKNOWN)
    message = headline(symptom.message)
    out.print(inert(f"{symptom.exception}: {message}" if known else message), markup=False)
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
