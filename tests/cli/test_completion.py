"""Completion in bash, zsh and fish, as these shells themselves complete a line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import called
from tests.conftest import MINI
from tests.stopwatch import GUARD
from tests.terminal.screen import Terminal

PROGRAM = Path(sys.executable).parent / "jaxtutor"

LINES = [
    ("com", ["compiling-review", "completion"]),
    (f"hint --pack {MINI} ", ["double", "tall"]),
    ("certificate grad", ["gradients"]),
    ("reset --pack cor", ["core"]),
    ("pack ins", ["install"]),
    ("check vmap-cond --js", ["--json"]),
    ("check vmap-cond answ", ["answer.py"]),
    ("completion z", ["zsh"]),
]
"""What is typed after `jaxtutor`, and what completes its last word."""


def script(shell: str) -> str:
    done = called("completion", shell, pack=None)
    assert done.returncode == 0
    return done.stdout.decode()


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one file, and `jaxtutor` on the path."""
    made = tmp_path / "here"
    made.mkdir()
    (made / "answer.py").write_text("")
    monkeypatch.chdir(made)
    monkeypatch.setenv("PATH", f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}")
    return made


def run(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=GUARD, check=True, env=os.environ
    )
    assert done.stderr == ""
    return done.stdout


@needs("bash")
def test_bash(folder: Path, tmp_path: Path):
    (tmp_path / "script").write_text(
        script("bash")
        + """
t() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _jaxtutor jaxtutor
  echo "${COMPREPLY[*]}"
}
"""
        # A word that is begun is a word of the line; an empty one, too.
        + "\n".join(
            f"t jaxtutor {line}{'' if line[-1] != ' ' else chr(39) * 2}" for line, _ in LINES
        )
    )
    for (line, wanted), found in zip(
        LINES, run("bash", "--norc", str(tmp_path / "script")).splitlines(), strict=True
    ):
        assert sorted(found.split()) == wanted, line


@needs("fish")
def test_fish(folder: Path, tmp_path: Path):
    (tmp_path / "script").write_text(
        script("fish") + "".join(f"\ncomplete -C 'jaxtutor {line}'; echo ====" for line, _ in LINES)
    )
    *answers, _ = run("fish", "--no-config", str(tmp_path / "script")).split("====\n")
    for (line, wanted), found in zip(LINES, answers, strict=True):
        assert sorted(one.partition("\t")[0] for one in found.splitlines()) == wanted, line


@needs("zsh")
def test_zsh(folder: Path, tmp_path: Path):
    """It completes only at a prompt. With one candidate, the word is completed there."""
    (tmp_path / "_jaxtutor").write_text(script("zsh"))
    with Terminal("zsh", "-f", "-i", columns=160, PS1="$ ") as terminal:
        terminal.press(f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D", "enter")
        terminal.press("setopt no_list_ambiguous; echo rea''dy", "enter")
        terminal.until("\nready")
        for line, wanted in LINES:
            terminal.press(f"\x15jaxtutor {line}\t")
            whole = [f"jaxtutor {line.rpartition(' ')[0]} {wanted[0]}".replace("  ", " ")]
            rows = whole if len(wanted) == 1 else wanted
            terminal.until(lambda text, rows=rows: all(row in text for row in rows))
            terminal.press("\x15\x0c")
        terminal.press("exit", "enter")
        terminal.wait()


def test_a_pack_that_cannot_be_opened_has_no_names():
    done = called("completion-names", "lessons", "jaxtutor", "check", "--pack", "gone", pack=None)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_directory_of_a_pack_is_the_pack():
    done = called("completion-names", "lessons", "jaxtutor", "pack", "test", str(MINI), "",
                  pack=None)  # fmt: skip
    assert done.stdout == b"double\ntall\n"


def test_an_unknown_shell_is_answered_with_the_known_ones():
    done = called("completion", "tcsh", pack=None)
    assert done.returncode == 2
    assert b"bash" in done.stderr and b"fish" in done.stderr
