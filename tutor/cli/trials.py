"""`jaxtutor pack test`: whether every lesson of a pack holds."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.output import print_json
from tutor.cli.pack import add, is_own, recorded_message
from tutor.cli.usage import UsageError, parse_count, usage_errors

if TYPE_CHECKING:
    from tutor.authoring.pack_test import LessonResult, TrialOptions
    from tutor.manifest import Pack

HELD, NOT_HELD, OUR_FAULT = 0, 1, 3


def add_to(packs: Any) -> None:
    """Add `test` to the commands of `pack`."""
    sub = add(packs, "test", _test, "try every right and wrong answer of a pack")
    sub.add_argument("folder", metavar="DIR", help="the directory with pack.yaml")
    sub.add_argument("lessons", nargs="*", metavar="LESSON", help="lesson ids (default: all)")
    sub.add_argument("--seeds", type=parse_count, default=20, metavar="N",
                     help="draw the hidden inputs N times (20)")  # fmt: skip
    sub.add_argument("--jobs", type=parse_count, metavar="N",
                     help="run N trials at a time (default: one per core)")  # fmt: skip
    sub.add_argument("--mutate", action="store_true",
                     help="also count the mutants of the solution that checks catch")  # fmt: skip
    sub.add_argument("--variants", action="store_true",
                     help="also try the other right answers")  # fmt: skip
    sub.add_argument("--unproven", action="store_true",
                     help="skip lessons with a current proof in proofs.json")  # fmt: skip
    sub.add_argument("--json", action="store_true", help="print the results as JSON only")
    sub.add_argument("--junit", metavar="FILE", help="write the results to FILE as JUnit XML")


def _test(options: argparse.Namespace) -> int:
    from rich.console import Console

    from tutor.authoring import trial_output as output
    from tutor.authoring.pack_test import PackTest, TrialOptions
    from tutor.authoring.proofs import read_proofs, unproven
    from tutor.cli.progress_bar import progress_bar
    from tutor.pack.problems import BadSource
    from tutor.pool.capacity import usual_jobs
    from tutor.render import console
    from tutor.storage.files import write_atomically

    pack, lessons = _chosen(options)
    if options.mutate:
        _need_libcst()
    trial_options = TrialOptions(
        seeds=options.seeds,
        jobs=options.jobs or usual_jobs(),
        mutate=options.mutate,
        variants=options.variants,
        record=is_own(options.folder),
    )
    if options.unproven:
        count = len(lessons)
        with usage_errors(BadSource):
            lessons = unproven(pack, lessons, read_proofs(pack.root))
        print(f"{count - len(lessons)} of {count} lessons skipped: proved already", file=sys.stderr)
    proofs = _Proofs(pack, trial_options, options.folder, lessons)
    out = console()
    results: list[LessonResult] = []
    with progress_bar(Console(stderr=True)) as progress:
        bar = progress.add_task("trying")
        with PackTest(pack, lessons, trial_options, lambda n: progress.advance(bar, n)) as test:
            progress.update(bar, total=test.steps)
            for result in test.results():
                results.append(result)
                proofs.record(result)
                if not options.json:
                    out.print(output.lesson(result))
    if options.json:
        print_json(output.as_json(results, pack.id))
    else:
        out.print(output.summary(results, options.folder), markup=False)
    if test.written:
        print(recorded_message(test.written, options.folder), file=sys.stderr)
    if message := proofs.message:
        print(message, file=sys.stderr)
    if options.junit is not None:
        try:
            write_atomically(Path(options.junit), output.as_junit(results, pack.id))
        except OSError as error:
            raise UsageError(f"{options.junit} was not written: {error.strerror}") from None
    if any(outcome.ours for result in results for outcome in result.outcomes):
        print("jaxtutor: some trials could not run. Run `jaxtutor doctor`.", file=sys.stderr)
        return OUR_FAULT
    return HELD if all(result.holds for result in results) else NOT_HELD


class _Proofs:
    """Records proofs, if the options are full and the pack is the author's own.

    **Arguments:** `lessons`: those that are tried.
    """

    def __init__(
        self, pack: "Pack", options: "TrialOptions", folder: str, lessons: list[str]
    ) -> None:
        from tutor.authoring.proofs import FILE, fingerprint, is_full, read_proofs
        from tutor.pack.problems import BadSource

        self._pack = pack
        self._options = options
        self._file = Path(folder, FILE)
        self._fingerprints: dict[str, str] = {}
        self._recorded = 0
        self._failure = ""
        if is_own(folder) and is_full(options):
            with usage_errors(BadSource):
                read_proofs(pack.root)  # fails now if it cannot be read, not after an hour
            self._fingerprints = {name: fingerprint(pack, name) for name in lessons}

    def record(self, result: "LessonResult") -> None:
        """Record a lesson if it holds."""
        from tutor.authoring.proofs import record
        from tutor.pack.problems import BadSource

        before = self._fingerprints.get(result.lesson)
        if before is None or result.skipped or not result.holds:
            return
        try:
            record(self._pack, result, self._options, before)
            self._recorded += 1
        except BadSource as error:
            self._failure = str(error)
        except OSError as error:
            self._failure = f"{self._file} was not written: {error.strerror}"

    @property
    def message(self) -> str:
        """The closing message to the author."""
        if self._failure or not self._recorded:
            return self._failure
        lessons = f"{self._recorded} lesson{'' if self._recorded == 1 else 's'}"
        return f"Recorded the proof of {lessons} in {self._file}"


def _chosen(options: argparse.Namespace) -> "tuple[Pack, list[str]]":
    from tutor.pack import load_pack
    from tutor.suggestions import nearest

    pack = load_pack(options.folder)
    for name in options.lessons:
        if name not in pack.lessons:
            hint = nearest(name, pack.lessons) or f"; available: {', '.join(pack.lessons)}"
            raise UsageError(f"there is no lesson {name!r} in {options.folder}{hint}")
    chosen = set(options.lessons or pack.lessons)
    return pack, [name for name in pack.lessons if name in chosen]


def _need_libcst() -> None:
    try:
        import libcst  # noqa: F401 - only whether it is installed
    except ImportError:
        raise UsageError("--mutate needs LibCST. Run: pip install 'jaxtutor[authors]'") from None
