"""`jaxtutor watch`: check a file every time it is saved; in a terminal, also follow single keys."""

from collections.abc import Callable
from contextlib import closing

from tutor import render
from tutor.cli.inbox import Inbox
from tutor.cli.keys import Keys, readable
from tutor.cli.watch_keys import Keyboard
from tutor.cli.watch_output import Output, Screen
from tutor.cli.watched_lesson import INTERVAL, WatchedLesson
from tutor.engine.background import RunEvent, Runner
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.pool import Pool


def watch(
    pack: Pack,
    lesson: Lesson,
    seed: int,
    command: Callable[..., str],
    *,
    editor: bool = True,
    fresh: bool = False,
) -> None:
    """Check now and after every save, until Ctrl-C, or until a key quits. A save cancels the run in
    progress.

    **Arguments:** `command`: returns a command to run next, as `next_command` does; `editor`:
    whether to open each lesson in VS Code, Zellij or tmux, if this terminal belongs to one;
    `fresh`: whether to use nothing that earlier runs left.
    """
    with (
        Pool(fresh=fresh) as pool,
        closing(Inbox[RunEvent]()) as inbox,
        closing(Runner(pool, pool.ran)) as runner,
    ):

        def watched(output: Output) -> WatchedLesson:
            return WatchedLesson(output, lesson, seed, pool, runner, inbox)

        if readable():
            screen = Screen(pack, lesson, render.console(), command)
            with Keys() as keys:
                Keyboard(keys, watched(screen), screen, inbox, editor=editor).follow()
            return
        plain = watched(Output(pack, lesson, render.console(), command))
        while True:
            plain.check_if_changed()
            for event in inbox.wait([], INTERVAL)[0]:
                plain.handle(event)
