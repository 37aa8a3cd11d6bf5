"""The next hint of a lesson, for `hint` and for `watch`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tutor.cli.output import print_notices
from tutor.learner.progress import Progress

if TYPE_CHECKING:
    from tutor.lesson import Lesson
    from tutor.manifest import Pack


def next_hint(pack: "Pack", lesson: "Lesson", command: Callable[..., str]) -> str:
    """Take the next hint, and return it; after the last, return the last again.

    **Arguments:** `command`: returns a command to run next, as `next_command` does.
    """
    with Progress() as progress:
        progress.opened(pack.id, lesson.id)
        before = progress.hints(pack.id, lesson.id)
        taken = progress.take_hint(pack.id, lesson.id, len(lesson.hints))
        print_notices(progress.notices)
    text = f"Hint {taken} of {len(lesson.hints)}\n\n{lesson.hints[taken - 1].rstrip()}"
    if taken == before and pack.solution(lesson.id) is not None:
        solution = command("solution", lesson.id, "--anyway")
        text += f"\n\nThat was the last hint. For the solution, run: {solution}"
    return text
