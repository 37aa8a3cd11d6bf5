"""`jaxtutor grade`: grade many submissions."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.output import print_error
from tutor.cli.selection import add_pack_option
from tutor.cli.stopping import exit_code_of
from tutor.cli.usage import Parser, UsageError, parse_count, parse_seed, usage_errors

if TYPE_CHECKING:
    from tutor.grading.executors import Executor
    from tutor.grading.journal import Head, Journal
    from tutor.grading.result import Result
    from tutor.grading.submissions import Submissions
    from tutor.manifest import Pack

GRADED, NEEDS_REVIEW = 0, 3


def add_to(commands: Any) -> Parser:
    """Add `grade` to the commands of `jaxtutor`; return its parser."""
    sub: Parser = commands.add_parser(
        "grade", help="grade many submissions",
        description="Grade many submissions. `jaxtutor grade override` sets a score by hand; to "
        "grade a directory of that name, write ./override.",
        epilog="Exit codes: 0 graded, whatever the scores; 2 wrong usage or a broken pack; "
        "3 something could not be graded, or looks at the interpreter and needs review.",
    )  # fmt: skip
    sub.set_defaults(command=grade)
    sub.add_argument("submissions", nargs="?", metavar="SUBMISSIONS",
                     help="a directory of files or of directories, a zip (also one exported from "
                     "Gradescope or Moodle), or a CSV with the columns "
                     "submission,lesson,path")  # fmt: skip
    sub.add_argument("--lesson", metavar="ID", nargs="+", action="extend", default=[],
                     help="lessons to grade; all lessons of the pack by default")  # fmt: skip
    add_pack_option(sub)
    sub.add_argument("--out", metavar="DIR", type=Path,
                     help="directory for results; SUBMISSIONS-grades by default")  # fmt: skip
    sub.add_argument("--format", metavar="LIST", default="",
                     help="also write these, separated by commas: gradebook.csv, junit.xml, "
                     "report.html, students, gradescope, export; or all")  # fmt: skip
    sub.add_argument("--jobs", type=parse_count, metavar="N",
                     help="run N submissions at a time; by default as many as cores and memory "
                     "allow")  # fmt: skip
    sub.add_argument("--scheduler", metavar="ADDRESS",
                     help="run on a Dask cluster, such as tcp://10.0.0.1:8786")  # fmt: skip
    sub.add_argument("--seed", type=parse_seed, metavar="N",
                     help="use the inputs of an earlier batch; random by default")  # fmt: skip
    sub.add_argument("--repeat", type=parse_count, metavar="N",
                     help="run each submission N times with different inputs; all must "
                     "pass")  # fmt: skip
    sub.add_argument("--resume", action="store_true",
                     help="continue the batch in --out: grade what is new or changed")  # fmt: skip
    sub.add_argument("--only", metavar="NAME", action="append", default=[],
                     help="grade only this submission; may be repeated")  # fmt: skip
    sub.add_argument("--no-wrapper", dest="wrapper", action="store_false",
                     help="treat each directory in SUBMISSIONS as a student's, even if there is "
                     "only one")  # fmt: skip
    sub.add_argument("--late", metavar="CSV", type=Path,
                     help="times, with the columns submission,lesson,due,submitted_at")  # fmt: skip
    sub.add_argument("--isolation", choices=("require", "warn"), default="require",
                     help="what to do if submissions cannot be fully sandboxed: refuse (require, "
                     "the default) or run them with a warning (warn)")  # fmt: skip
    sub.add_argument("--gradescope-bundle", metavar="FILE",
                     help="grade nothing; write a Gradescope autograder to FILE")  # fmt: skip
    output = sub.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print only the summary, as JSON")
    output.add_argument("--quiet", action="store_true", help="print only problems")
    return sub


def grade(options: argparse.Namespace) -> int:
    from tutor.cli import grade_setup as setup
    from tutor.cli.grade_summary import print_summary
    from tutor.grading.batch_results import BatchResults
    from tutor.grading.executors import Unavailable
    from tutor.grading.journal import BadJournal, Journal
    from tutor.grading.late import Times
    from tutor.grading.outputs import BadFormat, parse_formats
    from tutor.grading.outputs.code_reader import SubmissionCodeReader
    from tutor.grading.result import Batch
    from tutor.grading.results_file import write_results
    from tutor.grading.submission_files import Unusable
    from tutor.grading.submissions import Submissions

    pack, lessons = setup.select_lessons(options)
    if options.gradescope_bundle is not None:
        return _write_bundle(options, pack, lessons)
    if options.submissions is None:
        raise UsageError("nothing to grade; try: jaxtutor grade SUBMISSIONS --lesson ID…")
    out = options.out or setup.default_out(options.submissions)
    unusable = usage_errors(Unusable, BadJournal, BadFormat, Unavailable)
    resume = "; fix this, then run the same command with --resume"
    try:
        with unusable, usage_errors(where=out, after=resume):
            formats = parse_formats(options.format)
            times = Times(options.late, pack.lessons)
            source = Path(options.submissions)
            with Submissions(source, lessons, pack.lessons, options.wrapper) as submissions:
                setup.check_names(options.only, submissions)
                setup.check_out(out, resume=options.resume)
                with setup.open_executor(pack, options) as executor:
                    setup.check_isolation(executor, lessons[0], options)
                    with Journal(out) as journal:
                        head = setup.begin(journal, pack, lessons, options)
                        graded, seconds = _run(pack, head, options, submissions, journal, executor)
                        unknown = setup.unknown_names(times, submissions)
                        problems = [*submissions.problems, *unknown]
                        results = BatchResults(pack, lessons, submissions, journal, times)
                        sources = SubmissionCodeReader(pack, submissions)
                        batch = Batch(
                            head.pack,
                            head.pack_version,
                            head.seed,
                            head.lessons,
                            problems=tuple(problems),
                            started=head.started,
                            lang=pack.manifest.lang,
                        )
                        summary = write_results(batch, results, out, formats, sources)
    except KeyboardInterrupt as interrupt:
        print_error(
            f"\njaxtutor: stopped. What was graded is kept in {out}; to continue, run the same "
            "command with --resume"
        )
        return exit_code_of(interrupt)
    print_summary(options, head, out, summary, problems, graded, seconds)
    review = summary.not_graded or summary.looking or submissions.problems
    return NEEDS_REVIEW if review else GRADED


def _write_bundle(options: argparse.Namespace, pack: "Pack", lessons: tuple[str, ...]) -> int:
    """Write the zip from which Gradescope builds an autograder; return the exit code."""
    from tutor.grading.outputs.gradescope_bundle import build_bundle
    from tutor.storage.files import write_atomically

    path = Path(options.gradescope_bundle)
    if options.submissions is not None:
        raise UsageError("--gradescope-bundle takes no SUBMISSIONS: Gradescope has them")
    arguments = ["--lesson", *lessons, "--isolation", options.isolation]
    if options.repeat is not None:
        arguments += ["--repeat", str(options.repeat)]
    try:
        data = build_bundle(pack, arguments, lessons)
        if path.exists() and path.read_bytes() != data:
            raise UsageError(f"{path} exists and differs; choose another name")
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(f"{path} was not written: {error.strerror}") from None
    print(f"{path}: {', '.join(lessons)} of {pack.id}, {len(data) >> 10} KiB")
    print("Upload it on Gradescope: Configure Autograder, Zip file upload.")
    return 0


def _run(
    pack: "Pack",
    head: "Head",
    options: argparse.Namespace,
    submissions: "Submissions",
    journal: "Journal",
    executor: "Executor",
) -> tuple[int, float]:
    """**Returns:** how many submissions were graded now, and the seconds that took."""
    import time

    from rich.console import Console

    from tutor.cli.progress_bar import progress_bar
    from tutor.grading.batch import BatchOptions, BatchRunner
    from tutor.grading.student_names import normalize_name

    lessons = tuple(name for name in head.lessons if not options.lesson or name in options.lesson)
    only = frozenset(map(normalize_name, options.only))
    order = BatchOptions(lessons, head.seed, head.repeat, options.resume, only)
    total = sum(not only or one.name in only for one in submissions.all)
    graded = 0
    began = time.monotonic()
    with progress_bar(Console(stderr=True, quiet=options.quiet or options.json)) as bar:
        task = bar.add_task("grading", total=total)

        def on_result(result: "Result", known: bool) -> None:
            nonlocal graded
            graded += not known
            bar.advance(task)

        reasons = set[str]()

        def on_stall(reason: str) -> None:
            if reason not in reasons:
                print(f"jaxtutor: {reason}", file=sys.stderr, flush=True)
                reasons.add(reason)

        BatchRunner(pack, order, submissions, journal, executor, on_result, on_stall).run()
    return graded, time.monotonic() - began
