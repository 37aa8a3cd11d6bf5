"""`jaxtutor completion`: a script that completes commands, options, lessons, tracks and packs.

shtab writes it from the parser, once, so that it costs nothing when `jaxtutor` starts. For names
that change, the script calls `jaxtutor completion-names`.
"""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tutor.cli.output import PASSED
from tutor.cli.usage import Parser

SHELLS = ("bash", "zsh", "fish")

NAMES = "completion-names"
"""The command that a script calls for names."""

_DESTINATIONS = {"lesson": "lessons", "lessons": "lessons", "track": "tracks", "pack": "packs"}
"""What completes an argument, by the name of its value."""

_FILES = ("FILE", "CSV", "SUBMISSIONS", "FILE|DIR|NAME")
_DIRECTORIES = ("DIR", "OUT")

_BASH = """
_jaxtutor_names() {
  "${COMP_WORDS[0]/#\\~\\//$HOME/}" completion-names "$1" "${COMP_WORDS[@]}" 2>/dev/null
}
_jaxtutor_lessons() { compgen -W "$(_jaxtutor_names lessons)" -- "$1"; }
_jaxtutor_tracks() { compgen -W "$(_jaxtutor_names tracks)" -- "$1"; }
_jaxtutor_packs() { compgen -W "$(_jaxtutor_names packs)" -- "$1"; compgen -d -- "$1"; }
"""

_BASH_END = """
# A lesson may stand in place of a command.
_jaxtutor() {
  _shtab_jaxtutor "$@"
  if [[ $COMP_CWORD = 1 && "${COMP_WORDS[1]}" != -* ]]; then
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
      _jaxtutor_lessons "${COMP_WORDS[1]}")
  fi
}
complete -o bashdefault -F _jaxtutor jaxtutor
"""

_ZSH = """
# Subcommands see only a part of the line in `words`.
functions[_jaxtutor_root]=$functions[_shtab_jaxtutor]
_shtab_jaxtutor() {
  local -a _jaxtutor_line=("${words[@]}")
  _jaxtutor_root "$@"
}
_jaxtutor_names() {
  local -a found=(${(f)"$(${~_jaxtutor_line[1]} completion-names $1 \
"${_jaxtutor_line[@]}" 2>/dev/null)"})
  compadd -a found
}
_jaxtutor_lessons() { _jaxtutor_names lessons }
_jaxtutor_tracks() { _jaxtutor_names tracks }
_jaxtutor_packs() { _jaxtutor_names packs; _files -/ }

# A lesson may stand in place of a command.
functions[_jaxtutor_commands]=$functions[_shtab_jaxtutor_commands]
_shtab_jaxtutor_commands() { _jaxtutor_commands; _jaxtutor_lessons }
"""

_FISH = """
function _jaxtutor_names
  set -l line (commandline -opc)
  $line[1] completion-names $argv[1] $line 2>/dev/null
end
"""

_FISH_END = """
# A lesson may stand in place of a command.
complete -c jaxtutor -n '_shtab_jaxtutor_using; and test $_shtab_jaxtutor_npos -eq 0' \
-ka '(_jaxtutor_names lessons)'
"""

_PREAMBLES = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_ENDS = {"bash": _BASH_END, "zsh": "", "fish": _FISH_END}


def add_to(commands: Any) -> None:
    sub: Parser = commands.add_parser(
        "completion", help="print a script that completes commands and lessons in your shell",
        description="Print a script that completes commands, options, lessons, tracks and packs in "
        "your shell. Write it where the shell looks for it; new shells use it.",
    )  # fmt: skip
    sub.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
    sub.set_defaults(command=_print_script, logged=False)
    names: Parser = commands.add_parser(NAMES)  # without help, so that it is not listed
    names.add_argument("kind", choices=("lessons", "tracks", "packs"))
    names.add_argument("line", nargs=argparse.REMAINDER)
    names.set_defaults(command=_print_names, logged=False)


def _print_script(options: argparse.Namespace) -> int:
    print(_script(options.shell))
    return PASSED


def _print_names(options: argparse.Namespace) -> int:
    """Print the names that can be typed; none if the pack that the line names cannot be opened."""
    from tutor.pack import BadPack, open_pack
    from tutor.pack.installed import known

    names: Iterable[str] = ()
    if options.kind == "packs":
        names = [pack.id for pack in known()]
    else:
        with suppress(BadPack):
            pack = open_pack(_pack_named(options.line))
            tracks = [one.id for one in pack.manifest.tracks]
            names = pack.lessons if options.kind == "lessons" else tracks
    for name in names:
        print(name)
    return PASSED


def _script(shell: str) -> str:
    import shtab

    from tutor.cli.parser import build_parser

    parser = build_parser()
    for action in _arguments(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif words := _DESTINATIONS.get(action.dest):
            function = f"_jaxtutor_{words}"
            fish = f"(_jaxtutor_names {words})"
            if words == "packs":
                fish = f"{fish} (__fish_complete_directories)"
            action.complete = {  # type: ignore[attr-defined]
                "bash": function, "zsh": function, "fish": fish,
            }  # fmt: skip
    return shtab.complete(parser, shell, preamble=_PREAMBLES[shell]) + _ENDS[shell]


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _arguments(command)
        else:
            yield action


def _pack_named(line: list[str]) -> str | None:
    """Return the pack that a line being typed is about: after `--pack`, or a pack's directory."""
    from tutor.pack.folder import MANIFEST

    for word, following in zip(line, [*line[1:], None], strict=True):
        if word == "--pack":
            return following
        if word.startswith("--pack="):
            return word.removeprefix("--pack=")
    return next((word for word in line[1:-1] if (Path(word) / MANIFEST).is_file()), None)
