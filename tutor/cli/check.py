"""`jaxtutor check`: check a translation once, and suggest what to do next."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.certificate import unfinished
from tutor.cli.output import (
    INTERNAL,
    NOT_PASSED,
    PASSED,
    REPORT_BUG,
    USAGE,
    print_error,
    print_json,
    print_notices,
)
from tutor.cli.selection import add_command, add_fresh, next_command, open_lesson
from tutor.cli.usage import UsageError, parse_seed, usage_errors

if TYPE_CHECKING:
    from tutor.engine.sandboxes import Sandboxes
    from tutor.lesson import Lesson
    from tutor.manifest import Pack
    from tutor.report import Report
    from tutor.sandbox.zygotes import Zygotes


def add_to(commands: Any) -> None:
    sub = add_command(commands, "check", check, "check your translation of a lesson")
    sub.add_argument("file", nargs="?", metavar="FILE",
                     help="the file to check instead of your own; - is standard input")  # fmt: skip
    sub.add_argument("--json", action="store_true", help="print only a report, as JSON")
    sub.add_argument("--report", metavar="FILE", type=Path,
                     help="also write the result as an HTML page, with the code")  # fmt: skip
    sub.add_argument("--seed", type=parse_seed, default=0, metavar="N", help="draw other inputs")
    add_fresh(sub)


def check(options: argparse.Namespace) -> int:
    from tutor.sandbox.launch import zygotes

    # It imports JAX while this process imports the engine and reads the lesson.
    early = zygotes(quick=True)
    early.start("learner")
    try:
        return _check(options, early)
    finally:
        early.close()


def _check(options: argparse.Namespace, early: "Zygotes") -> int:
    from tutor import render
    from tutor.engine import session as engine
    from tutor.engine.sandboxes import FreshSandboxes
    from tutor.learner.workspace import Workspace

    pack, lesson = open_lesson(options)
    own = Workspace(pack).path(lesson)
    code = read_code(pack, lesson, options.file)
    # A stranger's file neither gets what the learner's own runs left, nor leaves anything.
    sandboxes: Sandboxes = FreshSandboxes(early)
    if options.file is None and not options.fresh:
        from tutor.pool.kept import KeepingSandboxes

        known = pack.sample_submissions(lesson.id)
        sandboxes = KeepingSandboxes(known, options.seed, early)
    if options.json:
        report = engine.run(lesson, code, seed=options.seed, sandboxes=sandboxes)
        print_json(report.to_json())
        if options.file is None:
            _record(pack, report, code)
    else:
        out = render.console()
        others = pack.others(lesson.id)
        with engine.Session(lesson, code, sandboxes=sandboxes) as session:
            report = session.check(
                options.seed, lambda result: out.print(render.check(result, others))
            )
            out.print(render.rest(report, others))
            if options.file is None:
                _record(pack, report, code)
            report = session.add_race(report)
        if report.timings.race is not None:
            out.print(render.race(report), style="dim", markup=False)
        if report.passed and lesson.after_pass is not None:
            out.print()
            out.print(render.PackText(lesson.after_pass, indent=0))
            out.print()
        for step in _suggest_next_steps(options, pack, lesson, report, own):
            out.print(step, style="dim", markup=False)
    if options.report is not None:
        _write_page(options.report, pack, lesson, report, code)
    return _exit_code(report)


def _write_page(path: Path, pack: "Pack", lesson: "Lesson", report: "Report", code: str) -> None:
    from tutor.grading.outputs.own_page import own_page
    from tutor.storage.files import write_atomically

    with usage_errors(where=path):
        write_atomically(path, own_page(pack, lesson, report, code))
    print_error(f"Wrote {path}")


def _record(pack: "Pack", report: "Report", code: str) -> None:
    from tutor.learner.progress import Progress

    with Progress() as progress:
        progress.opened(pack.id, report.lesson)
        progress.record(pack.id, report, code)
        print_notices(progress.notices)


def read_code(pack: "Pack", lesson: "Lesson", file: str | None) -> str:
    """Read the code to check: a file, `-` for standard input, or None for the learner's own file,
    which is created from the starter if there is none."""
    from tutor.foreign.plain_text import one_line
    from tutor.foreign.source_text import MAX_BYTES, BadFile, decode_source, read_source
    from tutor.learner.workspace import Workspace
    from tutor.storage.files import ELSEWHERE

    workspace = Workspace(pack)
    try:
        if file == "-":
            return decode_source(sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>")
        if file is not None:
            return read_source(Path(file))
        if workspace.path(lesson).exists():
            return workspace.open(lesson)
        try:
            text = workspace.open(lesson)
        except OSError as error:
            print_error(
                f"jaxtutor: {workspace.path(lesson)} could not be created ({error.strerror}); "
                f"checking the starter. Name a FILE, or {ELSEWHERE}"
            )
            return lesson.starter
        print(f"Created your file {workspace.path(lesson)}", file=sys.stderr)
        return text
    except BadFile as error:
        raise UsageError(one_line(str(error))) from None
    except OSError as error:
        raise UsageError(one_line(f"{error.filename or file}: {error.strerror}")) from None


def _suggest_next_steps(
    options: argparse.Namespace, pack: "Pack", lesson: "Lesson", report: "Report", own: Path
) -> list[str]:
    from tutor.engine.versions import INSTALL_TORCH
    from tutor.foreign.plain_text import one_line
    from tutor.learner.progress import Progress
    from tutor.pack.catalogue import Catalogue
    from tutor.pack.places import locate, pack_fault

    if (fault := pack_fault(report)) is not None:
        location = locate(pack, lesson, report, fault)
        return [f"The fault is in the pack: {location}. Fix it there, or report it to its author."]
    if report.skipped:
        return []  # the verdict says what to run
    if report.verdict == "internal":
        codes = report.fault_codes
        if "no-torch" in codes:
            return [f"Run: {INSTALL_TORCH}"]
        if "no-sandbox" in codes:
            return ["Run `jaxtutor doctor` to find out why."]
        return [] if "busy-machine" in codes else [REPORT_BUG]
    if report.passed:
        following = pack.next_after(lesson.id)
        command = partial(next_command, options)
        steps = steps_after_pass(pack, lesson, command, recorded=options.file is None)
        if following is not None:
            title = Catalogue(pack).title(following)
            steps.append(f"Next: {next_command(options, 'check', following)}  ({title})")
        return steps
    with Progress() as progress:
        taken = progress.hints(pack.id, lesson.id)
    left = len(lesson.hints) - taken
    steps = []
    if options.file != "-":
        named = [] if options.file is None else [options.file]
        again = next_command(options, "check", lesson.id, *named)
        steps.append(one_line(f"Edit {options.file or own}, then run: {again}"))
    if number := lesson.failure_hint(report):
        steps.append(offer(partial(next_command, options), lesson.id, number))
    if left:
        steps.append(f"Stuck? {next_command(options, 'hint', lesson.id)}  ({left} left)")
    return steps


def steps_after_pass(
    pack: "Pack", lesson: "Lesson", command: Callable[..., str], *, recorded: bool = True
) -> list[str]:
    """Return what to do with a pass besides going on, a line each.

    **Arguments:** `command`: returns a command to run next, as `next_command` does; `recorded`:
    whether the pass counts as the learner's.
    """
    steps = []
    if pack.solution(lesson.id) is not None:
        steps.append(f"Compare with the solution: {command('solution', lesson.id)}")
    track = pack.track_of(lesson.id)
    if recorded and not unfinished(pack, track):
        made = command("certificate", track.id)
        steps.append(f"You have finished this track. For a certificate: {made}")
    return steps


def offer(command: Callable[..., str], lesson_id: str, number: int) -> str:
    """Return a line that offers a failure hint of a lesson.

    **Arguments:** `command`: returns a command to run next, as `next_command` does.
    """
    return f"Stuck here? {command('hint', lesson_id, '--failure', str(number))}"


def _exit_code(report: "Report") -> int:
    if report.verdict == "pass":
        return PASSED
    if report.verdict != "internal":
        return NOT_PASSED
    from tutor.pack.places import pack_fault

    return USAGE if pack_fault(report) is not None else INTERNAL
