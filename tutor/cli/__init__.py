"""The command `jaxtutor`: parses, calls, prints.

Nothing heavy is imported before it is known to be needed: `jaxtutor list` gets by without
NumPy and without the app, and no command ever imports JAX or PyTorch into this process.

Exit codes: 0 all checks pass, 1 the learner's code does not pass, 2 wrong usage or a broken
pack or file, 3 jaxtutor's own fault.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import __version__
from tutor.cli.explain import add_to as add_explain
from tutor.cli.grade import add_to as add_grade
from tutor.cli.grade import joined
from tutor.cli.pack import add_to as add_pack_commands
from tutor.cli.stopping import code_of, code_of_app, stopping, tell
from tutor.cli.usage import UsageError, seed

if TYPE_CHECKING:
    from tutor.lesson import Card, Lesson
    from tutor.manifest import Pack
    from tutor.pack import Problem
    from tutor.report import Report

PASSED, NOT_PASSED, USAGE, OUR_FAULT = 0, 1, 2, 3
_PACK = "another pack than the course: its folder, or its id if it is installed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show ✓ shows ?
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        with stopping():
            code = command(options)
        _tell_unkept()
        return code
    except UsageError as error:
        from tutor.plain_text import inert

        # It may name a file, or a student, of any name.
        print(f"jaxtutor: {inert(str(error))}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt as interrupt:
        tell()
        return code_of(interrupt)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain again at exit.
        sys.stderr.close()
        return NOT_PASSED
    except Exception as error:  # noqa: BLE001 - the last door: no traceback of ours reaches a user
        return _own_fault(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jaxtutor",
        description="Learn JAX by translating PyTorch. Without a command, the app starts.",
        epilog="Exit codes: 0 passed, 1 not passed, 2 wrong usage or a broken pack or file, "
        "3 jaxtutor's own fault.",
    )
    parser.add_argument("--version", action="version", version=f"jaxtutor {__version__}")
    parser.add_argument("--pack", metavar="PACK", help=_PACK)
    parser.set_defaults(command=_app)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], help_: str,
            lesson: bool = True) -> argparse.ArgumentParser:  # fmt: skip
        sub = commands.add_parser(name, help=help_, description=help_[0].upper() + help_[1:] + ".")
        sub.set_defaults(command=command)
        if lesson:
            sub.add_argument("lesson", metavar="LESSON", help="a lesson's id, as `list` shows it")
        if name != "doctor":
            # Suppressed where it is absent, or it would undo one given before the command.
            sub.add_argument("--pack", metavar="PACK", default=argparse.SUPPRESS, help=_PACK)
        return sub

    lister = add("list", _list, "list the lessons and how far you are", lesson=False)
    lister.add_argument("--json", action="store_true", help="as JSON")
    check = add("check", _check, "check your translation of a lesson")
    check.add_argument(
        "file", nargs="?", metavar="FILE", help="your own file if left out; - is standard input"
    )
    check.add_argument("--json", action="store_true", help="print one report as JSON, no more")
    check.add_argument("--seed", type=seed, default=0, metavar="N", help="draw other inputs")
    watch = add("watch", _watch, "check your file every time it is saved")
    watch.add_argument("--seed", type=seed, default=0, metavar="N", help="draw other inputs")
    add("hint", _hint, "take the next hint of a lesson")
    add("reset", _reset, "start a lesson anew; your code is kept as a backup")
    solution = add("solution", _solution, "show the solution of a lesson that you have passed")
    solution.add_argument("--anyway", action="store_true", help="show it even so")
    add_grade(commands, _PACK)
    add_pack_commands(commands)
    add_explain(commands).add_argument("--pack", metavar="DIR", default=argparse.SUPPRESS,
                                       help="a pack other than the built-in course")  # fmt: skip
    doctor = add("doctor", _doctor, "see whether this machine has all it takes", lesson=False)
    doctor.add_argument("--json", action="store_true", help="as JSON")
    return parser


# --- packs and lessons -----------------------------------------------------------------------


def _pack(options: argparse.Namespace) -> "Pack":
    from tutor.pack import BadPack, open_pack

    try:
        return open_pack(options.pack)
    except BadPack as error:
        raise UsageError(error.text) from None


def _lesson(options: argparse.Namespace, pack: "Pack") -> "Lesson":
    from tutor.pack import BadPack

    name = options.lesson
    if name not in pack.lessons:
        from tutor.suggestions import nearest

        hint = nearest(name, pack.lessons) or f". Run `{_command(options, 'list')}` to see all"
        raise UsageError(f"there is no lesson {name!r}{hint}")
    try:
        return pack.lesson(name)
    except BadPack as error:
        raise UsageError(error.text) from None


# --- commands --------------------------------------------------------------------------------


def _app(options: argparse.Namespace) -> int:
    from tutor.ui.app import TutorApp
    from tutor.ui.desk import Desk

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the app needs a terminal; try `jaxtutor list` or `jaxtutor --help`")
    with Desk(_pack(options)) as desk:
        app = TutorApp(desk)
        app.run()
    return code_of_app(app.return_code)


def _list(options: argparse.Namespace) -> int:
    from tutor.learner.progress import Progress

    pack = _pack(options)
    cards = _cards(pack)
    with Progress() as progress:
        statuses = progress.statuses(pack.id)
        _warn(progress.notices)
    if options.json:
        import msgspec

        lessons = [
            {
                "id": name,
                "title": cards[name].title,
                "track": track.id,
                "status": statuses.get(name, "new"),
                "minutes": cards[name].minutes,
                "needs": list(cards[name].needs),
            }
            for track in pack.manifest.tracks
            for name in track.lessons
        ]
        _print_json(msgspec.json.encode({"lessons": lessons}))
        return PASSED
    marks = {"new": " ", "started": "·", "passed": "✓"}
    width = max(len(name) for name in pack.lessons)
    for track in pack.manifest.tracks:
        print(track.title)
        for name in track.lessons:
            mark = marks[statuses.get(name, "new")]
            print(f"  {mark} {name:<{width}}  {cards[name].title}")
    return PASSED


def _cards(pack: "Pack") -> "dict[str, Card]":
    """What the list tells of every lesson."""
    from tutor.pack import BadPack
    from tutor.pack.catalogue import Catalogue

    catalogue = Catalogue(pack)
    cards: dict[str, Card] = {}
    problems: list[Problem] = []
    for name in pack.lessons:
        try:
            cards[name] = catalogue.card(name)
        except BadPack as error:
            problems += error.problems
    catalogue.keep()
    if problems:
        raise UsageError(BadPack(problems).text)
    return cards


def _check(options: argparse.Namespace) -> int:
    from tutor import render
    from tutor.engine import session as engine
    from tutor.learner.progress import Progress
    from tutor.learner.workspace import Workspace

    pack = _pack(options)
    lesson = _lesson(options, pack)
    own = Workspace(pack).path(lesson)
    code = _source(pack, lesson, options.file)
    if options.json:
        report = engine.run(lesson, code, seed=options.seed)
        _print_json(report.to_json())
    else:
        out = render.console()
        others = pack.others(lesson.id)
        with engine.Session(lesson, code) as session:
            report = session.check(
                options.seed, lambda result: out.print(render.check(result, others))
            )
            out.print(render.rest(report, others))
            report = session.add_race(report)
        if report.timings.race is not None:
            out.print(render.race(report), style="dim", markup=False)
        for step in _next_steps(options, pack, lesson, report, own):
            out.print(step, style="dim", markup=False)
    if options.file is None:
        with Progress() as progress:
            progress.record(pack.id, report)
            _warn(progress.notices)
    return _exit_code(report)


def _source(pack: "Pack", lesson: "Lesson", file: str | None) -> str:
    """The code to check: a named file, standard input, or the learner's own file."""
    from tutor.files import ELSEWHERE
    from tutor.learner.workspace import Workspace
    from tutor.plain_text import one_line
    from tutor.source_text import MAX_BYTES, BadFile, decode_source, read_source

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
            what = f"{workspace.path(lesson)} could not be made ({error.strerror})"
            tell(f"jaxtutor: {what}, so this is the starter; name a FILE, or {ELSEWHERE}")
            return lesson.starter
        print(f"Your file is {workspace.path(lesson)}; it was just made.", file=sys.stderr)
        return text
    except BadFile as error:
        raise UsageError(one_line(str(error))) from None
    except OSError as error:
        raise UsageError(one_line(f"{error.filename or file}: {error.strerror}")) from None


def _command(options: argparse.Namespace, command: str, *arguments: str) -> str:
    """A command to run next, on the same pack."""
    import shlex

    pack = [] if options.pack is None else ["--pack", options.pack]
    return shlex.join(["jaxtutor", command, *arguments, *pack])


def _next_steps(
    options: argparse.Namespace, pack: "Pack", lesson: "Lesson", report: "Report", own: Path
) -> list[str]:
    from tutor.learner.progress import Progress
    from tutor.pack.catalogue import Catalogue
    from tutor.pack.fault_location import pack_fault, place_of
    from tutor.plain_text import one_line

    if (fault := pack_fault(report)) is not None:
        place = place_of(pack, lesson, report, fault)
        return [f"The fault is the pack's: {place}. Mend it there, or tell the pack's author."]
    if report.verdict == "internal":
        busy = "busy-machine" in _fault_codes(report)
        return [] if busy else ["Run `jaxtutor doctor` to see what is wrong."]
    if report.passed:
        following = pack.next_after(lesson.id)
        steps = []
        if pack.solution(lesson.id) is not None:
            solution = _command(options, "solution", lesson.id)
            steps.append(f"Compare with the solution: {solution}")
        if following is not None:
            title = Catalogue(pack).title(following)
            steps.append(f"Next: {_command(options, 'check', following)}  ({title})")
        return steps
    with Progress() as progress:
        taken = progress.hints(pack.id, lesson.id)
    left = len(lesson.hints) - taken
    named = [] if options.file in (None, "-") else [options.file]
    again = _command(options, "check", lesson.id, *named)
    steps = [one_line(f"Edit {options.file or own}, then run: {again}")]
    if options.file == "-":
        steps = []  # it came through a pipe, and is nowhere to be edited
    if left:
        steps.append(f"Stuck? {_command(options, 'hint', lesson.id)}  ({left} left)")
    return steps


def _exit_code(report: "Report") -> int:
    if report.verdict == "pass":
        return PASSED
    if report.verdict != "internal":
        return NOT_PASSED
    from tutor.pack.fault_location import pack_fault

    return USAGE if pack_fault(report) is not None else OUR_FAULT


def _fault_codes(report: "Report") -> set[str]:
    found = [report.fault, *(check.fault for check in report.checks)]
    return {fault.code for fault in found if fault is not None}


def _watch(options: argparse.Namespace) -> int:
    from tutor.cli.watch import watch

    pack = _pack(options)
    lesson = _lesson(options, pack)
    _source(pack, lesson, None)  # so that there is a file to watch, and it can be read
    watch(pack, lesson, options.seed)
    return PASSED


def _hint(options: argparse.Namespace) -> int:
    from tutor.learner.progress import Progress

    pack = _pack(options)
    lesson = _lesson(options, pack)
    with Progress() as progress:
        before = progress.hints(pack.id, lesson.id)
        taken = progress.take_hint(pack.id, lesson.id, len(lesson.hints))
        _warn(progress.notices)
    print(f"Hint {taken} of {len(lesson.hints)}\n")
    print(lesson.hints[taken - 1].rstrip())
    if taken == before and pack.solution(lesson.id) is not None:
        solution = _command(options, "solution", lesson.id, "--anyway")
        print(f"\nThat was the last one. The solution: {solution}")
    return PASSED


def _reset(options: argparse.Namespace) -> int:
    from tutor.learner.workspace import Workspace

    pack = _pack(options)
    lesson = _lesson(options, pack)
    workspace = Workspace(pack)
    try:
        kept = workspace.reset(lesson)
    except OSError as error:
        raise UsageError(f"nothing was changed: {error.filename}: {error.strerror}") from None
    print(f"{workspace.path(lesson)} holds the starter again.")
    if kept is not None:
        print(f"What was there is kept: {kept}")
    return PASSED


def _solution(options: argparse.Namespace) -> int:
    from tutor.learner.progress import Progress

    pack = _pack(options)
    lesson = _lesson(options, pack)
    with Progress() as progress:
        allowed = options.anyway or progress.passed(pack.id, lesson.id)
    if not allowed:
        hint = _command(options, "hint", lesson.id)
        anyway = _command(options, "solution", lesson.id, "--anyway")
        print(
            f"You have not passed {lesson.id} yet. Try `{hint}`; to see the solution all the same: "
            f"{anyway}",
            file=sys.stderr,
        )
        return NOT_PASSED
    solution = pack.solution(lesson.id)
    if solution is None:
        raise UsageError("this pack comes without solutions")
    print(solution.rstrip())
    return PASSED


def _doctor(options: argparse.Namespace) -> int:
    from tutor.cli.doctor import examine

    diagnosis = examine()
    if options.json:
        _print_json(diagnosis.to_json())
        return PASSED if diagnosis.ok else NOT_PASSED
    for finding in diagnosis.findings:
        print(f"{'✓' if finding.ok else '✗'} {finding.name}: {finding.detail}")
        if not finding.ok:
            print(f"    {finding.advice}")
    print(f"Devices: {diagnosis.devices}")
    print("Between your code and this machine:")
    for protection in diagnosis.protections:
        detail = f": {protection.detail}" if protection.detail else ""
        print(f"  {'✓' if protection.active else '·'} {protection.name}{detail}")
    print("All is well." if diagnosis.ok else "Something is missing; see above.")
    return PASSED if diagnosis.ok else NOT_PASSED


# --- printing --------------------------------------------------------------------------------


def _print_json(data: bytes) -> None:
    sys.stdout.write(data.decode() + "\n")
    sys.stdout.flush()


def _warn(notices: list[str]) -> None:
    for notice in notices:
        print(f"jaxtutor: {notice}", file=sys.stderr)


def _tell_unkept() -> None:
    """Say what could not be kept for the next time."""
    cache = sys.modules.get("tutor.cache")  # imported by now if anything was to be cached
    for notice in cache.notices if cache is not None else ():
        tell(f"jaxtutor: {notice}")


def _own_fault(error: Exception) -> int:
    """Say that it is our fault, and keep what a maintainer needs."""
    import time
    import traceback

    from tutor import paths

    log = paths.data() / "errors.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} jaxtutor {__version__}\n")
            file.write("".join(traceback.format_exception(error)))
        where = f"Details are in {log}."
    except OSError:
        where = ""
    print(
        f"jaxtutor: our fault, not yours: {type(error).__name__}: {error}. {where} "
        "Run `jaxtutor doctor`.",
        file=sys.stderr,
    )
    return OUR_FAULT
