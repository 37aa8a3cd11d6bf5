"""`jaxtutor certificate`: prove a finished track again, and write down what was proved."""

import argparse
import datetime as dt
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.output import INTERNAL, NOT_PASSED, PASSED, print_error
from tutor.cli.selection import add_command, next_command, open_lesson_named, open_pack
from tutor.cli.usage import UsageError, parse_count, usage_errors

if TYPE_CHECKING:
    from tutor.learner.certificate import Certificate
    from tutor.lesson import Lesson
    from tutor.manifest import Pack, Track
    from tutor.report import Report

SEEDS = 3
LARGEST_SEED = 1_000_000


def add_to(commands: Any) -> None:
    sub = add_command(
        commands,
        "certificate",
        certificate,
        "run your code of a finished track again, and write a certificate of what it passed",
        lesson=False,
    )
    which = sub.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "track", nargs="?", metavar="TRACK", help="the track's id, as `list` shows it"
    )
    which.add_argument("--verify", metavar="FILE", type=Path,
                       help="run the code in a certificate again under other seeds")  # fmt: skip
    sub.add_argument("--name", default="", help="whose certificate it is")
    sub.add_argument("--output", metavar="DIR", type=Path, default=Path(),
                     help="where to write it (default: the current directory)")  # fmt: skip
    sub.add_argument("--seeds", type=parse_count, default=SEEDS, metavar="N",
                     help=f"draw the hidden inputs N times ({SEEDS})")  # fmt: skip


def certificate(options: argparse.Namespace) -> int:
    pack = open_pack(options)
    if options.verify is not None:
        return _verify(options, pack)
    track = _track(options, pack)
    if missing := unfinished(pack, track):
        print_error(f"jaxtutor: {track.id} is not finished; not passed: {', '.join(missing)}")
        print_error(f"Next: {next_command(options, 'check', missing[0])}")
        return NOT_PASSED
    from tutor.storage.files import free_name, write_atomically

    found = _proved(options, pack, track)
    if isinstance(found, int):
        return found
    with usage_errors(where=options.output):
        options.output.mkdir(parents=True, exist_ok=True)
        for suffix, data in ((".md", found.to_markdown().encode()), (".json", found.to_json())):
            path = free_name(options.output / f"certificate-{pack.id}-{track.id}{suffix}")
            write_atomically(path, data)
            print(f"Wrote {path}")
    return PASSED


def _track(options: argparse.Namespace, pack: "Pack") -> "Track":
    tracks = {track.id: track for track in pack.manifest.tracks}
    if options.track not in tracks:
        from tutor.suggestions import nearest

        hint = nearest(options.track, tracks) or f"; the tracks are {', '.join(tracks)}"
        raise UsageError(f"there is no track {options.track!r}{hint}")
    return tracks[options.track]


def unfinished(pack: "Pack", track: "Track") -> list[str]:
    """Return the lessons that are neither passed nor known, and not skipped here."""
    from tutor.learner.placement import placed
    from tutor.learner.progress import Progress
    from tutor.requirements import unmet

    with Progress() as progress:
        statuses = placed(pack.manifest, progress.statuses(pack.id))
    open_ = [name for name in track.lessons if statuses.get(name) not in ("passed", "known")]
    return [name for name in open_ if not unmet(pack.lesson(name).requires)]


def _proved(options: argparse.Namespace, pack: "Pack", track: "Track") -> "Certificate | int":
    """Run the learner's code of each lesson; return the certificate, or an exit code."""
    from tutor.learner.certificate import Certificate, ProvedLesson, digest
    from tutor.learner.progress import Progress
    from tutor.learner.workspace import Workspace
    from tutor.requirements import unmet

    workspace = Workspace(pack)
    with Progress() as progress:
        passed = {name for name in track.lessons if progress.passed(pack.id, name)}
        hints = {name: progress.hints(pack.id, name) for name in passed}
    lessons, skipped = [], []
    versions: dict[str, str] = {}
    for name in track.lessons:
        lesson = pack.lesson(name)
        if unmet(lesson.requires):
            skipped.append(name)
        elif name in passed:
            code = _own_code(workspace.path(lesson))
            reports = _reports(lesson, code, _new_seeds(options.seeds))
            if not reports[-1].passed:
                return _refused(options, lesson, reports[-1])
            versions = reports[-1].versions
            lessons.append(
                ProvedLesson(
                    lesson.id,
                    lesson.title,
                    tuple(check.name for check in reports[0].checks),
                    tuple(report.seed for report in reports),
                    reports[0].devices,
                    hints[name],
                    digest(code),
                    code,
                )
            )
            print(f"✓ {name}: {len(lessons[-1].checks)} checks, {len(reports)} seeds", flush=True)
    return Certificate(
        name=options.name,
        pack=pack.id,
        pack_title=pack.manifest.title,
        pack_version=pack.manifest.version or "",
        track=track.id,
        track_title=track.title,
        issued=dt.datetime.now(dt.UTC).replace(microsecond=0),
        lessons=tuple(lessons),
        known=tuple(n for n in track.lessons if n not in passed and n not in skipped),
        skipped=tuple(skipped),
        versions=versions,
    )


def _verify(options: argparse.Namespace, pack: "Pack") -> int:
    from tutor.learner.certificate import MAX_BYTES, Certificate

    bad = usage_errors(ValueError, before=f"{options.verify}: ")
    with bad, usage_errors(), options.verify.open("rb") as file:
        found = Certificate.from_json(file.read(MAX_BYTES + 1))
    if found.pack != pack.id:
        raise UsageError(
            f"{options.verify} is about the pack {found.pack!r}, not {pack.id!r}; "
            "name that with --pack"
        )
    code = PASSED
    for proved in found.lessons:
        lesson = open_lesson_named(options, pack, proved.id)
        if not proved.intact:
            print(f"✗ {proved.id}: the code is not the one that was proved")
            code = NOT_PASSED
            continue
        report = _reports(lesson, proved.code, _new_seeds(options.seeds))[-1]
        if report.passed:
            print(f"✓ {proved.id}: passes under {options.seeds} other seeds", flush=True)
        else:
            code = max(code, _refused(options, lesson, report))
    return code


def _reports(lesson: "Lesson", code: str, seeds: Sequence[int]) -> "list[Report]":
    """Check code under each seed, up to the first that it does not pass."""
    from tutor.engine.session import Session

    reports: list[Report] = []
    with Session(lesson, code) as session:
        for seed in seeds:
            reports.append(session.check(seed))
            if not reports[-1].passed:
                break
    return reports


def _refused(options: argparse.Namespace, lesson: "Lesson", report: "Report") -> int:
    """Say which check did not pass; return the exit code."""
    from tutor.foreign.plain_text import one_line

    again = next_command(options, "check", lesson.id, "--seed", str(report.seed))
    failure = report.first_failure
    if failure is None:
        fault = report.fault.message if report.fault is not None else "could not be judged"
        print_error(f"? {lesson.id}: {one_line(fault)}")
        return INTERNAL
    print_error(f"✗ {lesson.id}: {failure.names[0]}: {one_line(failure.text)[:300]}")
    if options.verify is None:
        print_error(f"No certificate. Mend it, then run: {again}")
    return NOT_PASSED


def _own_code(path: Path) -> str:
    from tutor.foreign.source_text import BadFile, read_source

    with usage_errors(BadFile, before=f"{path}: "), usage_errors(where=path):
        return read_source(path)


def _new_seeds(count: int) -> list[int]:
    """Return different seeds that nobody can foresee."""
    return secrets.SystemRandom().sample(range(1, LARGEST_SEED + 1), count)
