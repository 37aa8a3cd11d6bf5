"""Set up `jaxtutor grade` before the first submission runs: select, check, open."""

import argparse
import secrets
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tutor.cli.usage import UsageError
from tutor.grading.batch import SEED_LIMIT
from tutor.grading.executors import Executor, LocalExecutor
from tutor.grading.journal import FORMAT, NAME, Head, Journal
from tutor.grading.late import Times
from tutor.grading.student_names import normalize_name
from tutor.grading.submissions import Submissions
from tutor.manifest import Pack
from tutor.pack import load_pack, open_pack
from tutor.pool.capacity import usual_jobs
from tutor.sandbox.process import Failed
from tutor.suggestions import nearest


def select_lessons(options: argparse.Namespace) -> tuple[Pack, tuple[str, ...]]:
    """Return the pack, and the ids of the lessons to grade."""
    if not options.lesson and options.pack is None:
        raise UsageError("give --lesson ID…, or --pack PACK to grade all lessons of a pack")
    pack = open_pack(options.pack) if options.lesson else load_pack(options.pack)
    for name in options.lesson:
        if name not in pack.lessons:
            hint = nearest(name, pack.lessons) or ". Run `jaxtutor list` to see all"
            raise UsageError(f"there is no lesson {name!r}{hint}")
        pack.lesson(name)
    selected = set(options.lesson or pack.lessons)
    return pack, tuple(name for name in pack.lessons if name in selected)


def default_out(submissions: str) -> Path:
    path = Path(submissions).resolve()
    return Path(f"{path.stem if path.is_file() else path.name}-grades")


def check_names(only: Sequence[str], submissions: Submissions) -> None:
    names = {submission.name for submission in submissions.all}
    for name in map(normalize_name, only):
        if name not in names:
            raise UsageError(f"--only: there is no submission {name!r}{nearest(name, names)}")
    if not names and not submissions.problems:
        raise UsageError("there is nothing to grade: no Python file and no notebook")


def check_out(out: Path, *, resume: bool) -> None:
    """Overwrite nothing unless asked to."""
    if out.is_dir() and not any(out.iterdir()):
        return
    if (out / NAME).is_file():
        if not resume and (out / NAME).stat().st_size:
            raise UsageError(
                f"{out} already holds a batch; continue it with --resume, or choose another --out"
            )
    elif out.exists():
        raise UsageError(f"{out} exists and is not a graded batch; choose another --out")


def open_executor(pack: Pack, options: argparse.Namespace) -> Executor:
    """Return an executor for this machine, or for the cluster that `--scheduler` names."""
    require = options.isolation == "require"
    if options.scheduler is None:
        return LocalExecutor(pack, options.jobs or usual_jobs(), require)
    if options.jobs is not None:
        raise UsageError(
            "--jobs is for this machine only; with --scheduler each worker runs as many "
            "submissions at a time as it has threads: dask worker --nthreads N"
        )
    try:
        from tutor.grading.cluster import ClusterExecutor
    except ImportError:
        raise UsageError("--scheduler needs Dask. Run: pip install 'jaxtutor[cluster]'") from None
    return ClusterExecutor(pack, options.scheduler, require)


def check_isolation(executor: Executor, lesson: str, options: argparse.Namespace) -> None:
    try:
        names = executor.missing_protections(lesson)
    except Failed as failure:
        raise UsageError(f"{failure.fault.message} Nothing was graded") from None
    if not names:
        return
    where = "this machine" if options.scheduler is None else "every worker"
    weakness = f"{', '.join(names)} not covered on {where}: submissions could do harm"
    if options.isolation == "require":
        raise UsageError(f"{weakness}. See `jaxtutor doctor`; to run anyway: --isolation warn")
    print(f"jaxtutor: {weakness}; running them anyway", file=sys.stderr)


def begin(
    journal: Journal, pack: Pack, lessons: tuple[str, ...], options: argparse.Namespace
) -> Head:
    """Write the head of a new batch to the journal, or of the one that continues; return it."""
    manifest, before = pack.manifest, journal.head
    if before is None:
        seed = options.seed if options.seed is not None else secrets.randbelow(SEED_LIMIT)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        head = Head(FORMAT, pack.id, manifest.version, seed, options.repeat or 1, lessons, started)
    else:
        if before.pack != pack.id:
            raise UsageError(
                f"{journal.path}: this batch is of the pack {before.pack}, not {pack.id}; "
                "choose another --out"
            )
        if options.seed not in (None, before.seed):
            raise UsageError(
                f"{journal.path}: this batch has the seed {before.seed}; leave out --seed to "
                "continue it, or choose another --out"
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


def unknown_names(times: Times, submissions: Submissions) -> list[str]:
    """Return a problem for each name in the table of times that is not a submission's."""
    names = {submission.name for submission in submissions.all}
    return [
        f"--late: there is no submission {name!r}{nearest(name, names)}"
        for name in sorted(times.names - names)
    ]
