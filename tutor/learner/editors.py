"""The learner's editor: how to open a file at a line, from the terminal that they are in."""

import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

HOW = "set EDITOR, for example: export EDITOR=vim"

_USUAL = ("editor", "nano", "vi")

_PLUS_LINE = ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "joe", "kak", "gvim")
"""Editors that open a file at the line given as `+N` before it."""

_VSCODE = ("code", "code-insiders", "codium", "cursor", "windsurf")
"""Editors that open a file at the line given as `-g FILE:N`."""

_WINDOWS = (*_VSCODE, "gedit", "gnome-text-editor", "gvim", "kate", "mate", "subl", "xed", "zed")
"""Editors that open a window and leave the terminal alone."""

_LAUNCHER_SECONDS = 20


class NoEditor(Exception):
    """No editor was found, or it could not be started; the message says what to do."""


SIDE_BY_SIDE = 160
"""Columns of a terminal from which an editor opens beside jaxtutor in tmux, and not below it."""


class Editor(Struct, frozen=True):
    """A command that opens a file, and where: in this terminal, which it needs until it ends; in
    another pane; or in a window, as long as which the command may run. `around` says whether this
    terminal belongs to it: VS Code's, or one of Zellij or tmux."""

    command: tuple[str, ...]
    where: Literal["terminal", "pane", "window"]
    around: bool = False

    @property
    def name(self) -> str:
        return Path(self.command[0]).stem

    def open(self) -> None:
        """Open the file. Wait for the editor only if it needs this terminal.

        Raises:
            NoEditor: it could not be started.
        """
        try:
            if self.where == "terminal":
                subprocess.run(self.command, check=False)  # noqa: S603 - the learner's own editor
            elif self.where == "window":
                # In its own session, so that Ctrl-C here does not close it.
                process = subprocess.Popen(  # noqa: S603
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                threading.Thread(target=process.wait, name="editor", daemon=True).start()  # reap it
            else:
                self._open_pane()
        except (OSError, ValueError) as error:
            raise NoEditor(f"{self.name} could not be started: {error}") from None

    def _open_pane(self) -> None:
        try:
            done = subprocess.run(  # noqa: S603
                self.command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LAUNCHER_SECONDS,
                check=False,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise NoEditor(f"{self.name} did not answer in {_LAUNCHER_SECONDS} s") from None
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[:300]
            raise NoEditor(f"{self.name} failed: {said or f'exit code {done.returncode}'}")


def find_editor(path: Path, line: int = 1, environment: Mapping[str, str] | None = None) -> Editor:
    """Return how to open a file: in VS Code from its terminal; else with $VISUAL or $EDITOR (or
    `editor`, `nano` or `vi`), in a new pane inside Zellij or tmux.

    **Arguments:** `environment`: by default this process's.

    Raises:
        NoEditor: there is none.
    """
    known = os.environ if environment is None else environment
    search = known.get("PATH")
    if known.get("TERM_PROGRAM") == "vscode":
        for name in _VSCODE:
            if found := shutil.which(name, path=search):
                return Editor((found, "-g", f"{path}:{line}"), "window", around=True)
    chosen = _chosen(known)
    if chosen is not None and _name(chosen) in _WINDOWS:
        return Editor(_at_line(chosen, path, line), "window")
    if known.get("ZELLIJ") is not None and (zellij := shutil.which("zellij", path=search)):
        # It uses the editor of Zellij's own settings, else $EDITOR.
        in_pane = (zellij, "edit", "--line-number", str(line), str(path))
        return Editor(in_pane, "pane", around=True)
    if chosen is None:
        raise NoEditor(f"no editor found; {HOW}")
    command = _at_line(chosen, path, line)
    if known.get("TMUX") and (tmux := shutil.which("tmux", path=search)):
        beside = shutil.get_terminal_size().columns >= SIDE_BY_SIDE
        split = "-h" if beside else "-v"
        return Editor((tmux, "split-window", split, shlex.join(command)), "pane", around=True)
    return Editor(command, "terminal")


def _chosen(environment: Mapping[str, str]) -> list[str] | None:
    """Return the command of the editor that the learner has chosen, or of a usual one.

    Raises:
        NoEditor: the chosen one does not exist.
    """
    search = environment.get("PATH")
    for variable in ("VISUAL", "EDITOR"):
        value = environment.get(variable, "").strip()
        if not value:
            continue
        try:
            words = shlex.split(value, posix=os.name != "nt")
        except ValueError as error:
            raise NoEditor(f"${variable} is {value!r}: {error}; {HOW}") from None
        found = shutil.which(words[0], path=search) if words else None
        if found is None:
            raise NoEditor(f"${variable} is {value!r}, which was not found; {HOW}")
        return [found, *words[1:]]
    usual = (shutil.which(name, path=search) for name in _USUAL)
    return next(([found] for found in usual if found is not None), None)


def _name(command: list[str]) -> str:
    return Path(command[0]).stem


def _at_line(command: list[str], path: Path, line: int) -> tuple[str, ...]:
    if _name(command) in _VSCODE:
        return (*command, "-g", f"{path}:{line}")
    if _name(command) in _PLUS_LINE and line > 1:
        return (*command, f"+{line}", str(path))
    return (*command, str(path))
