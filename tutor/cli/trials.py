"""`jaxtutor pack test`: whether every lesson of a pack holds what it promises."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.usage import UsageError, parse_count

if TYPE_CHECKING:
    from tutor.authoring.pack_test import LessonResult
    from tutor.manifest import Pack

HELD, NOT_HELD, OUR_FAULT = 0, 1, 3


def add_to(packs: Any) -> None:
    """Add `test` to the commands of `pack`."""
    from tutor.cli.pack import add

    sub = add(packs, "test", _test, "try every answer that a pack knows, right and wrong")
    sub.add_argument("folder", metavar="DIR", help="the folder with pack.yaml")
    sub.add_argument("lessons", nargs="*", metavar="LESSON", help="ids of lessons; all if left out")
    sub.add_argument("--seeds", type=parse_count, default=20, metavar="N",
                     help="draw the hidden inputs N times (20)")  # fmt: skip
    sub.add_argument("--jobs", type=parse_count, metavar="N",
                     help="run N at a time; as many as there are cores if left out")  # fmt: skip
    sub.add_argument("--mutate", action="store_true",
                     help="also count how many small wrong changes the checks notice")  # fmt: skip
    sub.add_argument("--variants", action="store_true",
                     help="also try the right answers beside the solutions")  # fmt: skip
    sub.add_argument("--json", action="store_true", help="print the results as JSON, no more")
    sub.add_argument("--junit", metavar="FILE", help="write the results to FILE as JUnit XML")


def _test(options: argparse.Namespace) -> int:
    from rich.console import Console

    from tutor.authoring import trial_output as output
    from tutor.authoring.pack_test import PackTest, TrialOptions
    from tutor.cli.progress_bar import progress_bar
    from tutor.files import write_atomically
    from tutor.pool.capacity import usual_jobs
    from tutor.render import console

    pack, lessons = _chosen(options)
    if options.mutate:
        _need_libcst()
    asked = TrialOptions(
        seeds=options.seeds,
        jobs=options.jobs or usual_jobs(),
        mutate=options.mutate,
        variants=options.variants,
    )
    out = console()
    results: list[LessonResult] = []
    with progress_bar(Console(stderr=True)) as progress:
        bar = progress.add_task("trying")
        with PackTest(pack, lessons, asked, lambda n: progress.advance(bar, n)) as test:
            progress.update(bar, total=test.steps)
            for result in test.results():
                results.append(result)
                if not options.json:
                    out.print(output.lesson(result))
    if options.json:
        sys.stdout.write(output.as_json(results, pack.id).decode() + "\n")
        sys.stdout.flush()
    else:
        out.print(output.summary(results, options.folder), markup=False)
    if options.junit is not None:
        try:
            write_atomically(Path(options.junit), output.as_junit(results, pack.id))
        except OSError as error:
            raise UsageError(f"{options.junit} was not written: {error.strerror}") from None
    if any(outcome.ours for result in results for outcome in result.outcomes):
        print("jaxtutor: some could not be tried. Run `jaxtutor doctor`.", file=sys.stderr)
        return OUR_FAULT
    return HELD if all(result.holds for result in results) else NOT_HELD


def _chosen(options: argparse.Namespace) -> "tuple[Pack, list[str]]":
    from tutor.pack import BadPack, load_pack
    from tutor.suggestions import nearest

    try:
        pack = load_pack(options.folder)
    except BadPack as error:
        raise UsageError(error.text) from None
    for name in options.lessons:
        if name not in pack.lessons:
            hint = nearest(name, pack.lessons) or f"; available: {', '.join(pack.lessons)}"
            raise UsageError(f"there is no lesson {name!r} in {options.folder}{hint}")
    wanted = set(options.lessons or pack.lessons)
    return pack, [name for name in pack.lessons if name in wanted]


def _need_libcst() -> None:
    try:
        import libcst  # noqa: F401 - only whether it is there
    except ImportError:
        raise UsageError("--mutate needs LibCST. Run: pip install 'jaxtutor[authors]'") from None
