"""`jaxtutor history`: the attempts at a lesson, and how to have one back."""

import argparse
from typing import Any

from tutor.cli.output import PASSED, print_notices
from tutor.cli.selection import add_command, next_command, open_lesson
from tutor.cli.usage import UsageError, parse_count, usage_errors

_MARKS = {"pass": "✓", "fail": "✗", "error": "!"}


def add_to(commands: Any) -> None:
    sub = add_command(commands, "history", show_history, "list your attempts at a lesson")
    chosen = sub.add_mutually_exclusive_group()
    chosen.add_argument("--show", type=parse_count, metavar="N", help="print the code of attempt N")
    chosen.add_argument("--restore", type=parse_count, metavar="N",
                        help="make attempt N your code again; your code now is kept")  # fmt: skip


def show_history(options: argparse.Namespace) -> int:
    import time

    from tutor.learner.history import KEPT
    from tutor.learner.progress import Progress

    pack, lesson = open_lesson(options)
    with Progress() as progress:
        attempts = progress.history.attempts(pack.id, lesson.id)
        print_notices(progress.notices)
    if not attempts:
        check = next_command(options, "check", lesson.id)
        print(f"There are no attempts at {lesson.id} yet. To check your code, run: {check}")
        return PASSED
    number = options.show or options.restore
    if number is None:
        for position, attempt in enumerate(attempts, 1):
            at = time.strftime("%Y-%m-%d %H:%M", time.localtime(attempt.at))
            told = f"{attempt.passed} of {attempt.checks} checks pass"
            if attempt.verdict == KEPT:
                told = "not checked; kept when another was restored"
            print(f"{position:4} {_MARKS.get(attempt.verdict, '·')} {at}  {told}")
        command = next_command(options, "history", lesson.id, "--show", str(len(attempts)))
        print(f"For the code of one, run: {command}")
        return PASSED
    if not 1 <= number <= len(attempts):
        raise UsageError(f"there is no attempt {number}; expected 1 to {len(attempts)}")
    code = attempts[number - 1].code
    if options.show is not None:
        print(code, end="" if code.endswith("\n") else "\n")
        return PASSED
    return _restore(options, pack, lesson, code)


def _restore(options: argparse.Namespace, pack: Any, lesson: Any, code: str) -> int:
    import time

    from tutor.cli.check import read_code
    from tutor.learner.history import KEPT, Attempt
    from tutor.learner.progress import Progress
    from tutor.learner.workspace import Workspace

    workspace = Workspace(pack)
    before = read_code(pack, lesson, None)
    with Progress() as progress:
        progress.keep(pack.id, lesson.id, Attempt(at=time.time(), verdict=KEPT, code=before))
        print_notices(progress.notices)
    with usage_errors(before="nothing was changed: "):
        workspace.open(lesson)
        workspace.save(lesson, code)
    listed = next_command(options, "history", lesson.id)
    print(f"Restored into {workspace.path(lesson)}. The code before is the last one of: {listed}")
    return PASSED
