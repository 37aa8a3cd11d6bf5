"""Which editor opens a learner's file, and how it is told the line."""

import os
import stat
from pathlib import Path

import pytest

from tests.stopwatch import until
from tutor.learner.editors import Editor, NoEditor, find_editor

FILE = Path("/files of/double.py")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory for programs: each writes its arguments next to itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def add(folder: Path, *names: str, then: str = "exit 0") -> None:
    for name in names:
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "$0.said.new"\n'
                           f'/bin/mv "$0.said.new" "$0.said"\n{then}\n')  # fmt: skip
        program.chmod(program.stat().st_mode | stat.S_IXUSR)


def found(folder: Path, line: int = 7, **environment: str) -> tuple[str, list[str], str]:
    editor = find_editor(FILE, line, {"PATH": str(folder), **environment})
    assert Path(editor.command[0]).parent == folder
    return editor.name, list(editor.command[1:]), editor.where


def test_in_the_terminal_of_vs_code_it_is_vs_code(programs: Path):
    add(programs, "code", "zellij", "vim")
    wanted = ("code", ["-g", f"{FILE}:7"], "window")
    inside = {"TERM_PROGRAM": "vscode", "EDITOR": "vim", "ZELLIJ": "0", "TMUX": "x"}
    assert found(programs, **inside) == wanted
    assert found(programs, VISUAL="code --wait")[1] == ["--wait", "-g", f"{FILE}:7"]


def test_in_zellij_it_is_a_pane(programs: Path):
    add(programs, "zellij", "vi")
    wanted = ("zellij", ["edit", "--line-number", "7", str(FILE)], "pane")
    assert found(programs, ZELLIJ="0") == wanted


def test_in_tmux_it_is_a_pane_with_the_chosen_editor(
    programs: Path, monkeypatch: pytest.MonkeyPatch
):
    add(programs, "tmux", "vim", "nano")
    for columns, beside in (("200", "-h"), ("80", "-v")):
        monkeypatch.setenv("COLUMNS", columns)
        inside = {"TMUX": "/tmp/tmux-0/default,1,0", "EDITOR": "vim"}
        name, (*split, command), where = found(programs, **inside)
        assert (name, split, where) == ("tmux", ["split-window", beside], "pane")
    assert command == f"{programs}/vim +7 '{FILE}'"
    assert found(programs, TMUX="x", VISUAL="", EDITOR="")[1][-1].startswith(f"{programs}/nano ")


def test_an_editor_with_a_window_needs_no_pane(programs: Path):
    add(programs, "tmux", "zellij", "code")
    assert found(programs, TMUX="x", ZELLIJ="0", VISUAL="code")[2] == "window"


def test_elsewhere_it_is_the_chosen_one_then_a_usual_one(programs: Path):
    add(programs, "nvim", "helix", "nano", "vi", "editor")
    assert found(programs, VISUAL="nvim -u x", EDITOR="vi")[:2] == (
        "nvim",
        ["-u", "x", "+7", str(FILE)],
    )
    assert found(programs, EDITOR="helix") == ("helix", [str(FILE)], "terminal")
    for name in ("editor", "nano", "vi"):
        assert found(programs, 1) == (name, [str(FILE)], "terminal")
        (programs / name).unlink()
    with pytest.raises(NoEditor, match="no editor found; set EDITOR, for example"):
        found(programs)


@pytest.mark.parametrize(
    ("value", "told"),
    [("gone -w", "'gone -w', which was not found"), ("vim '", "No closing quotation")],
)
def test_a_chosen_editor_that_cannot_be_run_is_reported(programs: Path, value: str, told: str):
    add(programs, "vi")
    with pytest.raises(NoEditor, match=told):
        found(programs, EDITOR=value)


def test_a_pane_that_cannot_be_opened_is_reported(programs: Path):
    add(programs, "zellij", then="echo 'no  such\nsession' >&2; exit 2")
    with pytest.raises(NoEditor, match=r"^zellij failed: no such session$"):
        find_editor(FILE, 1, {"PATH": str(programs), "ZELLIJ": "0"}).open()
    gone = Editor((str(programs / "gone"), "x"), "window")
    with pytest.raises(NoEditor, match="gone could not be started"):
        gone.open()


def test_a_window_is_not_waited_for(programs: Path):
    os.mkfifo(programs / "closed")
    add(programs, "code", then=f"read closed < '{programs}/closed'")
    find_editor(FILE, 3, {"PATH": str(programs), "VISUAL": "code --wait"}).open()
    said = programs / "code.said"
    until(said.exists)
    assert said.read_text().splitlines() == ["--wait", "-g", f"{FILE}:3"]
    (programs / "closed").write_text("now\n")  # returns once the editor, still open, reads it
