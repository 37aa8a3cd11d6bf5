"""`jaxtutor grade`: marks for many submissions; `jaxtutor grade override`: a person's word.

Each command imports what it needs when it is called: the parser is built at every start.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.stopping import code_of, tell
from tutor.cli.usage import UsageError, number, seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutor.grading.batch_results import BatchResults
    from tutor.grading.executors import Executor
    from tutor.grading.journal import Head, Journal
    from tutor.grading.late import Times
    from tutor.grading.outputs.code_reader import SubmissionCodeReader
    from tutor.grading.result import Result
    from tutor.grading.results_file import Summary
    from tutor.grading.submissions import Submissions
    from tutor.manifest import Pack

GRADED, USAGE, NOT_GRADED = 0, 2, 3
OVERRIDE = "grade override"


def add_to(commands: Any, pack_help: str) -> None:
    """Add `grade` and `grade override` to the commands of `jaxtutor`."""
    sub = commands.add_parser(
        "grade", help="give marks to many submissions",
        description="Give marks to many submissions.",
        epilog="Exit codes: 0 graded, whatever the marks; 2 wrong usage or a broken pack; "
        "3 something could not be graded.",
    )  # fmt: skip
    sub.set_defaults(command=_grade)
    sub.add_argument("submissions", nargs="?", metavar="SUBMISSIONS",
                     help="a folder of files or of folders, a zip (of Gradescope or Moodle, too), "
                     "or a CSV with the columns submission,lesson,path")  # fmt: skip
    sub.add_argument("--lesson", metavar="ID", nargs="+", action="extend", default=[],
                     help="what to grade; all lessons of the pack if left out")  # fmt: skip
    sub.add_argument("--pack", metavar="PACK", default=argparse.SUPPRESS, help=pack_help)
    sub.add_argument("--out", metavar="DIR", type=Path,
                     help="where results go; SUBMISSIONS-grades if left out")  # fmt: skip
    sub.add_argument("--format", metavar="LIST", default="",
                     help="also write these, with commas between them: gradebook.csv, junit.xml, "
                     "report.html, students, gradescope, similarity, export; all")  # fmt: skip
    sub.add_argument("--jobs", type=number, metavar="N",
                     help="run N at a time; as many as there are cores if left out")  # fmt: skip
    sub.add_argument("--scheduler", metavar="ADDRESS",
                     help="run them on a Dask cluster, such as tcp://10.0.0.1:8786")  # fmt: skip
    sub.add_argument("--seed", type=seed, metavar="N",
                     help="draw the inputs of an earlier batch; new ones if left out")  # fmt: skip
    sub.add_argument("--repeat", type=number, metavar="N",
                     help="run each N times, with inputs of its own; a pass needs all")  # fmt: skip
    sub.add_argument("--resume", action="store_true",
                     help="go on with the batch in --out: what is new or changed")  # fmt: skip
    sub.add_argument("--only", metavar="NAME", action="append", default=[],
                     help="grade this submission alone; may be given more than once")  # fmt: skip
    sub.add_argument("--no-wrapper", dest="wrapper", action="store_false",
                     help="each folder in SUBMISSIONS is a student's, an only one too")  # fmt: skip
    sub.add_argument("--late", metavar="CSV", type=Path,
                     help="times, with the columns submission,lesson,due,submitted_at")  # fmt: skip
    sub.add_argument("--isolation", choices=("require", "warn"), default="require",
                     help="what to do where strangers' code is not held: refuse (require), or "
                     "run it all the same")  # fmt: skip
    sub.add_argument("--gradescope-bundle", metavar="FILE",
                     help="grade nothing; write the zip that Gradescope grades with")  # fmt: skip
    shown = sub.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the summary as JSON, no more")
    shown.add_argument("--quiet", action="store_true", help="print nothing but what went wrong")

    override = commands.add_parser(
        OVERRIDE, help="set a score that no later run changes", prog=f"jaxtutor {OVERRIDE}",
        description="Set a score by a person's word. No later run changes it.",
    )  # fmt: skip
    override.set_defaults(command=_override)
    override.add_argument("out", metavar="OUT", type=Path, help="where the batch's results are")
    override.add_argument("submission", metavar="SUBMISSION", help="whose, as in results.jsonl")
    override.add_argument("lesson", metavar="LESSON", help="a lesson's id")
    override.add_argument("score", metavar="SCORE", type=_points, help="the points it gets")
    override.add_argument("--reason", required=True, help="why; students are shown it")
    override.add_argument("--by", help="who says so; your user name if left out")


def joined(arguments: "Sequence[str]") -> list[str]:
    """`grade override` as the one command that it is to argparse."""
    first, rest = list(arguments[:2]), list(arguments[2:])
    return [OVERRIDE, *rest] if first == OVERRIDE.split() else [*first, *rest]


def _points(text: str) -> float:
    import math

    try:
        points = float(text)
    except ValueError:
        points = -1.0
    if not (math.isfinite(points) and points >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of points; write one such as 2.5")
    return points


# --- grade -----------------------------------------------------------------------------------


def _grade(options: argparse.Namespace) -> int:
    from tutor.grading.batch_results import BatchResults
    from tutor.grading.executors import Unavailable
    from tutor.grading.journal import BadJournal, Journal
    from tutor.grading.late import Times
    from tutor.grading.outputs import BadFormat, parse_formats
    from tutor.grading.outputs.code_reader import SubmissionCodeReader
    from tutor.grading.submission_files import Unusable
    from tutor.grading.submissions import Submissions

    pack, lessons = _chosen(options)
    if options.gradescope_bundle is not None:
        from tutor.cli.gradescope import build

        return build(options, pack, lessons)
    if options.submissions is None:
        raise UsageError("say what to grade: jaxtutor grade SUBMISSIONS --lesson ID…")
    out = options.out or _usual_out(options.submissions)
    try:
        formats = parse_formats(options.format)
        times = Times(options.late, pack.lessons)
        handed_in = Path(options.submissions)
        with Submissions(handed_in, lessons, pack.lessons, options.wrapper) as submissions:
            _look_at_names(options.only, submissions)
            _look_at_out(out, options.resume)
            with _executor(pack, options) as executor:
                _look_at_isolation(executor, lessons[0], options)
                with Journal(out) as journal:
                    head = _begun(journal, pack, lessons, options)
                    done = _run(pack, head, options, submissions, journal, executor)
                    problems = [*submissions.problems, *_strangers(times, submissions)]
                    results = BatchResults(pack, lessons, submissions, journal, times)
                    sources = SubmissionCodeReader(pack, submissions)
                    summary = _write(head, problems, results, sources, out, formats)
    except (Unusable, BadJournal, BadFormat, Unavailable) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{error.filename or out}: {error.strerror}; see to it, then run it "
                         "again with --resume") from None  # fmt: skip
    except KeyboardInterrupt as interrupt:
        tell(
            f"\njaxtutor: stopped. What was graded is kept in {out}; to go on, run the same again "
            "with --resume"
        )
        return code_of(interrupt)
    _tell(options, head, out, summary, problems, done)
    return NOT_GRADED if summary.not_graded or submissions.problems else GRADED


def _chosen(options: argparse.Namespace) -> "tuple[Pack, tuple[str, ...]]":
    """The pack, and which of its lessons to grade."""
    from tutor.pack import BadPack, load_pack, open_pack
    from tutor.suggestions import nearest

    if not options.lesson and options.pack is None:
        raise UsageError("say what to grade: --lesson ID…, or --pack DIR for all lessons of a pack")
    try:
        pack = open_pack(options.pack) if options.lesson else load_pack(options.pack)
        for name in options.lesson:
            if name not in pack.lessons:
                hint = nearest(name, pack.lessons) or ". Run `jaxtutor list` to see all"
                raise UsageError(f"there is no lesson {name!r}{hint}")
            pack.lesson(name)
    except BadPack as error:
        raise UsageError(error.text) from None
    wanted = set(options.lesson or pack.lessons)
    return pack, tuple(name for name in pack.lessons if name in wanted)


def _usual_out(submissions: str) -> Path:
    path = Path(submissions).resolve()
    return Path(f"{path.stem if path.is_file() else path.name}-grades")


def _look_at_names(only: "Sequence[str]", submissions: "Submissions") -> None:
    from tutor.grading.student_names import normalize_name
    from tutor.suggestions import nearest

    names = {submission.name for submission in submissions.all}
    for name in map(normalize_name, only):
        if name not in names:
            raise UsageError(f"--only: there is no submission {name!r}{nearest(name, names)}")
    if not names and not submissions.problems:
        raise UsageError("there is nothing to grade: no Python file and no notebook")


def _look_at_out(out: Path, resume: bool) -> None:
    """Nothing that is there is overwritten without being asked."""
    from tutor.grading.journal import NAME

    if out.is_dir() and not any(out.iterdir()):
        return
    if (out / NAME).is_file():
        if not resume and (out / NAME).stat().st_size:
            raise UsageError(
                f"{out} holds a batch; go on with it by --resume, or give another --out"
            )
    elif out.exists():
        raise UsageError(f"{out} is there, and no batch of jaxtutor's; give another --out")


def _begun(
    journal: "Journal", pack: "Pack", lessons: tuple[str, ...], options: argparse.Namespace
) -> "Head":
    """What this batch is: as the journal has it, or new."""
    import secrets
    from datetime import UTC, datetime

    from tutor.grading.batch import SEED_LIMIT
    from tutor.grading.journal import FORMAT, Head

    manifest, before = pack.manifest, journal.head
    if before is None:
        drawn = options.seed if options.seed is not None else secrets.randbelow(SEED_LIMIT)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        head = Head(FORMAT, pack.id, manifest.version, drawn, options.repeat or 1, lessons, started)
    else:
        if before.pack != pack.id:
            raise UsageError(
                f"{journal.path}: a batch of the pack {before.pack}, not {pack.id}; "
                "give another --out"
            )
        if options.seed not in (None, before.seed):
            raise UsageError(
                f"{journal.path}: a batch with the seed {before.seed}; leave --seed out to go on "
                "with it, or give another --out"
            )
        both = {*before.lessons, *lessons}
        head = Head(
            FORMAT,
            pack.id,
            manifest.version,
            before.seed,
            options.repeat or before.repeat,
            tuple(name for name in pack.lessons if name in both),
            before.started,
        )
    journal.begin(head)
    return head


def _executor(pack: "Pack", options: argparse.Namespace) -> "Executor":
    """This machine, or the cluster that is asked for."""
    require = options.isolation == "require"
    if options.scheduler is None:
        from tutor.grading.executors import LocalExecutor
        from tutor.pool.capacity import usual_jobs

        return LocalExecutor(pack, options.jobs or usual_jobs(), require)
    if options.jobs is not None:
        raise UsageError(
            "--jobs is of this machine; with --scheduler every worker runs as many at a time as it "
            "has threads: dask worker --nthreads N"
        )
    try:
        from tutor.grading.cluster import ClusterExecutor
    except ImportError:
        raise UsageError("--scheduler needs Dask. Run: pip install 'jaxtutor[cluster]'") from None
    return ClusterExecutor(pack, options.scheduler, require)


def _look_at_isolation(executor: "Executor", lesson: str, options: argparse.Namespace) -> None:
    from tutor.sandbox.process import Failed

    try:
        names = executor.missing_protections(lesson)
    except Failed as failure:
        raise UsageError(f"{failure.fault.message} Nothing was graded") from None
    if not names:
        return
    where = "this machine" if options.scheduler is None else "every worker"
    what = f"{', '.join(names)} not covered on {where}: strangers' code could do harm"
    if options.isolation == "require":
        raise UsageError(f"{what}. See `jaxtutor doctor`; to run it all the same: --isolation warn")
    print(f"jaxtutor: {what}; it is run all the same", file=sys.stderr)


def _run(
    pack: "Pack",
    head: "Head",
    options: argparse.Namespace,
    submissions: "Submissions",
    journal: "Journal",
    executor: "Executor",
) -> tuple[int, float]:
    """**Returns:** how many were graded now, and the seconds that took."""
    import time

    from rich.console import Console

    from tutor.authoring.trial_output import progress
    from tutor.grading.batch import BatchOptions, BatchRunner
    from tutor.grading.student_names import normalize_name

    lessons = tuple(name for name in head.lessons if not options.lesson or name in options.lesson)
    only = frozenset(map(normalize_name, options.only))
    order = BatchOptions(lessons, head.seed, head.repeat, options.resume, only)
    wanted = sum(not only or one.name in only for one in submissions.all)
    graded = 0
    began = time.monotonic()
    with progress(Console(stderr=True, quiet=options.quiet or options.json)) as bar:
        task = bar.add_task("grading", total=wanted)

        def on_result(result: "Result", known: bool) -> None:
            nonlocal graded
            graded += not known
            bar.advance(task)

        told = set[str]()

        def on_stall(why: str) -> None:
            if why not in told:
                print(f"jaxtutor: {why}", file=sys.stderr, flush=True)
                told.add(why)

        BatchRunner(pack, order, submissions, journal, executor, on_result, on_stall).run()
    return graded, time.monotonic() - began


def _strangers(times: "Times", submissions: "Submissions") -> list[str]:
    """Names in the table of times that nobody has."""
    from tutor.suggestions import nearest

    names = {submission.name for submission in submissions.all}
    return [
        f"--late: there is no submission {name!r}{nearest(name, names)}"
        for name in sorted(times.names - names)
    ]


def _write(
    head: "Head",
    problems: list[str],
    results: "BatchResults",
    sources: "SubmissionCodeReader",
    out: Path,
    formats: list[str],
) -> "Summary":
    from tutor.grading.result import Batch
    from tutor.grading.results_file import write_results

    batch = Batch(
        head.pack,
        head.pack_version,
        head.seed,
        head.lessons,
        problems=tuple(problems),
        started=head.started,
    )
    return write_results(batch, results, out, formats, sources)


def _tell(
    options: argparse.Namespace,
    head: "Head",
    out: Path,
    summary: "Summary",
    problems: list[str],
    done: tuple[int, float],
) -> None:
    graded, seconds = done
    if options.json:
        import msgspec

        told = {
            "pack": head.pack,
            "pack_version": head.pack_version,
            "seed": head.seed,
            "repeat": head.repeat,
            "lessons": head.lessons,
            "out": str(out),
            "graded": graded,
            "seconds": round(seconds, 3),
            **msgspec.structs.asdict(summary),
            "problems": problems,
        }
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
        sys.stdout.flush()
        return
    from tutor.plain_text import one_line

    for one in summary.waiting:
        line = f"{one.submission}: {one.lesson}: {one.verdict}: {one.why}"
        print(f"for you to look at: {one_line(line)[:400]}", file=sys.stderr)
    if (more := summary.unsettled - len(summary.waiting)) > 0:
        print(f"… and {more} more, see results.jsonl", file=sys.stderr)
    for problem in problems:
        print(f"nobody's: {one_line(problem)[:400]}", file=sys.stderr)
    if options.quiet:
        return
    verdicts = ", ".join(f"{count} {name}" for name, count in sorted(summary.verdicts.items()))
    rate = f" ({graded / seconds:.1f}/s)" if graded and seconds > 1 else ""
    print(
        f"{summary.results} results of {summary.submissions} submissions: {verdicts or 'none'}\n"
        f"{graded} graded now in {seconds:.1f} s{rate}, with the seed {head.seed}\n"
        f"They are in {out / 'results.jsonl'}"
    )
    if summary.unsettled:
        first = summary.waiting[0]
        print(f"To set a score: jaxtutor grade override {_quoted(str(out))} "
              f"{_quoted(first.submission)} {first.lesson} POINTS --reason WHY")  # fmt: skip


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


# --- override --------------------------------------------------------------------------------


def _override(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from tutor.grading.journal import NAME, BadJournal, Journal
    from tutor.grading.result import Override
    from tutor.grading.results_file import record_override
    from tutor.grading.student_names import normalize_name
    from tutor.suggestions import nearest

    if not (options.out / NAME).is_file():
        raise UsageError(f"{options.out}: no batch of jaxtutor's; give the --out of `grade`")
    if not options.reason.strip():
        raise UsageError("--reason: say why in some words")
    name, lesson = normalize_name(options.submission), options.lesson
    now = datetime.now(UTC).isoformat(timespec="seconds")
    override = Override(options.score, options.reason.strip(), options.by or _user(), now)
    try:
        with Journal(options.out) as journal:
            result = journal.result(name, lesson)
            if result is None:
                theirs = {one for one, other in journal if other == lesson}
                lessons = {other for one, other in journal if one == name}
                if lessons:
                    raise UsageError(
                        f"{name} has no result for {lesson!r}{nearest(lesson, lessons)}"
                    )
                raise UsageError(f"there is no submission {name!r}{nearest(name, theirs)}")
            journal.override(name, lesson, override)
            record_override(options.out, name, lesson, override)
    except BadJournal as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{error.filename or options.out}: {error.strerror}") from None
    was = "none" if result.score is None else f"{result.score:g}"
    print(
        f"{name} has {options.score:g} of {result.max_score:g} points for {lesson} (graded: {was})."
    )
    if options.score > result.max_score:
        print("jaxtutor: that is more than the lesson is worth", file=sys.stderr)
    print("It is in results.jsonl; other files have it after `jaxtutor grade … --resume`.")
    return GRADED


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
