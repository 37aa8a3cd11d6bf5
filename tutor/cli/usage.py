"""Shared by all commands: the parser class, types of arguments, the error for wrong usage."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PACK_HELP = "another pack than the course: its directory, or its id if it is installed"


class UsageError(Exception):
    """A command cannot do what its arguments ask for; the message says what to do instead."""


@contextmanager
def usage_errors(
    *kinds: type[Exception], where: object = "", before: str = "", after: str = ""
) -> Iterator[None]:
    """Raise errors of these kinds, and of files, as `UsageError` in this block.

    **Arguments:** `where`: the file, for an error that names none; `before`, `after`: around the
    message.
    """
    try:
        yield
    except kinds as error:
        raise UsageError(f"{before}{error}{after}") from None
    except OSError as error:
        raise UsageError(f"{before}{error.filename or where}: {error.strerror}{after}") from None


class Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The commands of `jaxtutor`. A word that is none of them may be a lesson: it goes to `open`,
    which can open the pack and say what is similar to it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if values[0] in self.choices:
            super().__call__(parser, namespace, values, option_string)
            return
        options, rest = self.choices["open"].parse_known_args(values)
        vars(namespace).update(vars(options), word=values[0], rest=rest, names=self.choices)


class Parser(argparse.ArgumentParser):
    """The parser of every command. It takes `--verbose`, and notes in `invocation` which command
    and options were given: names only, for the log. Its help ends with examples.

    With `add_command` it can have commands and positional arguments at the same time. argparse
    itself hands the first positional argument to its subparsers, whatever it is; here only one that
    names a command goes to that command's parser.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._commands: dict[str, Parser] = {}
        # Suppressed, or a command's default would undo what was given before the command.
        self.add_argument("-v", "--verbose", action="store_true", default=argparse.SUPPRESS,
                          help="print the log to standard error")  # fmt: skip

    def add_command(self, name: str, **options: Any) -> "Parser":
        """Add a command to a parser that has positional arguments as well."""
        self._commands[name] = Parser(prog=f"{self.prog} {name}", **options)
        return self._commands[name]

    def format_help(self) -> str:
        from tutor.cli.examples import examples

        return super().format_help() + examples(self.prog)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, Commands):
            return
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            from tutor.suggestions import choice

            hint = choice(value, action.choices, "")
            raise argparse.ArgumentError(None, f"there is no command {value!r}; {hint}")
        super()._check_value(action, value)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        if args and args[0] in self._commands:
            return self._commands[args[0]].parse_known_args(args[1:], namespace)
        options, rest = super().parse_known_args(args, namespace)
        values = vars(options)
        given = [
            action.option_strings[-1]
            for action in self._actions
            if action.option_strings and values.get(action.dest, action.default) != action.default
        ]
        command, inner = values.get("invocation", (self.prog, []))
        options.invocation = (command, list(dict.fromkeys([*given, *inner])))
        return options, rest


def parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"must be an integer from 1 to 100000, got {text!r}")
    return int(text)


def parse_seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"must be an integer from 0 to 2**64 - 1, got {text!r}")
    return int(text)
