"""What `--help` shows: every command has examples, and they are right."""

import argparse
import shlex
from collections.abc import Iterator

from tests.cases import for_each
from tests.command import called
from tutor.cli.examples import EXAMPLES, examples
from tutor.cli.parser import build_parser
from tutor.cli.usage import Parser
from tutor.pack import open_pack

COLUMNS = 100

LESSONS = open_pack().lessons


def parsers(parser: Parser) -> Iterator[Parser]:
    """The parser and those of its commands, except what scripts call."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._get_subactions():
                yield from parsers(action.choices[listed.dest])
    yield from parser._commands.values()


def test_every_command_has_examples_and_no_other():
    assert {one.prog for one in parsers(build_parser())} == set(EXAMPLES)


@for_each("program", EXAMPLES)
def test_each_example_is_of_the_command_and_can_be_parsed(program: str):
    for command, _ in EXAMPLES[program]:
        words = shlex.split(command, comments=True)
        words = words[words.index("jaxtutor") + 1 :]
        for shell in ("|", ">"):
            words = words[: words.index(shell)] if shell in words else words
        if "--help" in words:
            continue
        options = build_parser().parse_args(words)
        ran = options.invocation[0]
        assert f"{ran} ".startswith(f"{program} ") or options.word in LESSONS, command
        for named in ("lesson", "word"):
            name = getattr(options, named, None)
            if isinstance(name, str) and "cosine" not in words:
                assert name in LESSONS, command


def test_a_help_ends_with_the_examples():
    done = called("check", "--help", pack=None)
    assert done.returncode == 0
    assert done.stdout.decode().endswith(examples("jaxtutor check"))
    assert b"examples:\n  jaxtutor check    " in done.stdout
    for program in EXAMPLES:
        for line in examples(program).splitlines():
            assert len(line) <= COLUMNS, line
