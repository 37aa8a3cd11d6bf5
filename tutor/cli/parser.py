"""The parser of the command `jaxtutor`. It is built at every start, so the modules that add
commands import what these need only when one is called."""

from tutor import __version__
from tutor.cli import (
    certificate,
    check,
    completion,
    doctor,
    explain,
    grade,
    history,
    learner,
    listing,
    override,
    pack,
)
from tutor.cli.usage import PACK_HELP, Commands, Parser


def build_parser() -> Parser:
    parser = Parser(
        prog="jaxtutor",
        description="Learn JAX by translating PyTorch. Without a command, the app starts; "
        "`jaxtutor LESSON` starts it on a lesson.",
        epilog="Exit codes: 0 passed, 1 not passed, 2 wrong usage or a broken pack or file, "
        "3 internal error.",
    )
    parser.add_argument("--version", action="version", version=f"jaxtutor {__version__}")
    parser.add_argument("--pack", metavar="PACK", help=PACK_HELP)
    parser.set_defaults(
        command=learner.run_app, lesson=None, word=None, fresh=False, verbose=False, logged=True
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", action=Commands)
    listing.add_to(commands)
    check.add_to(commands)
    learner.add_to(commands)
    history.add_to(commands)
    certificate.add_to(commands)
    override.add_to(grade.add_to(commands))
    pack.add_to(commands)
    explain.add_to(commands)
    doctor.add_to(commands)
    completion.add_to(commands)
    return parser
