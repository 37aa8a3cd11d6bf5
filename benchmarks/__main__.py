"""Run all benchmarks, write the results, and compare their ratios with the committed ones.

    python -m benchmarks [--quick] [--out FOLDER]

Writes `results.json`, `results.md` and `results.svg`. Exits with 1 if a ratio fell by more than a
fifth, or a verdict was wrong. Takes about half an hour on two otherwise idle cores; `--quick` takes
ten minutes and gives rough figures.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import (
    breakdown,
    check,
    cold,
    failures,
    grading,
    growth,
    markdown,
    nbgrader,
    plot,
    screen,
    start,
    styles,
    warm,
)
from benchmarks.answers import CLASS, KNOWN, TRAINING, Answer, right
from benchmarks.held_out import answers as held_out_answers
from benchmarks.held_out import held_out
from benchmarks.held_out import names as held_out_names
from benchmarks.results import (
    UNKNOWN,
    Graded,
    JudgedAnswer,
    Point,
    Profile,
    Results,
    fallen,
    targets,
)
from benchmarks.samples import Summary, summary
from tutor.engine.versions import installed_versions
from tutor.manifest import Pack
from tutor.pack import load_pack

HERE = Path(__file__).parent


class Effort(Struct, frozen=True, kw_only=True):
    """Sizes and repetitions of each measurement."""

    lessons: Sequence[str] = tuple(held_out_names())
    """Lessons with answers in unknown styles."""

    ahead_every: int = 3
    """One in so many of them is also measured with running ahead."""

    cold_every: int = 2
    """One in so many of them is checked cold."""

    mistakes_every: int = 12
    """One in so many of their mistakes is measured."""

    known: Sequence[str] = KNOWN
    screens: int = 3
    """Of the known lessons, on the screen."""

    warm: int = 2
    starts: int = 7
    batch: int = 63
    """Submissions by known variants; of unknown styles there are twice as many."""

    alternatives: int = 9
    sizes: tuple[int, ...] = (50, 5_000)
    checks: tuple[int, ...] = (1, 4)
    batches: tuple[int, ...] = (14,)


USUAL = Effort()
QUICK = Effort(
    lessons=KNOWN[:4], ahead_every=2, cold_every=4, mistakes_every=24, known=KNOWN[:2], screens=1,
    warm=1, starts=2, batch=14, alternatives=4, sizes=(50,), checks=(1, 2), batches=(7,),
)  # fmt: skip


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure jaxtutor.")
    parser.add_argument("--quick", action="store_true", help="ten minutes, for rough figures")
    parser.add_argument("--out", type=Path, default=HERE, metavar="FOLDER")
    options = parser.parse_args()
    known = HERE / "results.json"
    before = read(known) if known.exists() else None
    with _home():
        results = measure(QUICK if options.quick else USUAL)
    worse = fallen(before, results) if before is not None else {}
    write(results, worse, options.out)
    for target in targets(results):
        mark = "met    " if target.met else "NOT MET"
        print(f"{mark} {target.what}: {target.measured} (target {target.goal})")
    for name, (old, new) in worse.items():
        print(f"FELL    {name}: {old:.2f} → {new:.2f}")
    for wrong in results.wrong:
        print(f"WRONG   {wrong}")
    return 1 if worse or results.wrong else 0


def read(file: Path) -> Results | None:
    """Return earlier results; None, with a message, if they cannot be compared with new ones."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Results)
    except msgspec.DecodeError as error:
        print(f"nothing to compare with: {file} has another form ({error})", file=sys.stderr)
        return None


def write(results: Results, worse: dict[str, tuple[float, float]], out: Path) -> None:
    """Write `results.json`, `results.md` and `results.svg`."""
    out.mkdir(parents=True, exist_ok=True)
    data = msgspec.json.format(msgspec.json.encode(results), indent=1)
    (out / "results.json").write_bytes(data + b"\n")
    (out / "results.md").write_text(markdown.page(results, worse), encoding="utf-8")
    plot.draw(results, out / "results.svg")


class _Clock:
    """Measures how long each part takes, with progress on standard error."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        _log(name)
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - began


def measure(effort: Effort) -> Results:
    """Run all benchmarks."""
    clock = _Clock()
    pack = load_pack()
    solutions = {name: right(pack, pack.lesson(name))[0] for name in effort.known}
    few = list(effort.known)[: effort.screens]
    with clock.part("unknown styles"):
        unknown = styles.measure(pack, effort.lessons, effort.ahead_every)
    wrong = list(unknown.wrong)
    with clock.part("mistakes"):
        shown_failures = [*failures.measure(pack, effort.lessons, effort.mistakes_every)]
    with clock.part("grading"):
        graded = list(_graded(pack, effort))
    with clock.part("cold checks"):
        cold_checks = list(_cold(pack, effort, wrong))
    with clock.part("known solutions"):
        judged = _judged(pack, list(solutions.values()), effort, wrong)
    with clock.part("screen, memory"):
        shown = screen.measure(effort.warm, few)
    with clock.part("profiles"):
        profiles = [
            Profile(
                style.lesson,
                breakdown.measure(pack.lesson(style.lesson), held_out(style.lesson).code),
                style.first,
            )
            for style in unknown.styles
        ]
        first = solutions[few[0]]
        fork = breakdown.forks(first.lesson, effort.starts)
    with clock.part("growth"):
        points = list(_growth(pack, effort))
    with clock.part("starts"):
        starts = dict(_starts(effort))
        checked = check.measure(first, effort.starts)
    return Results(
        machine=_machine(),
        judged=judged,
        screen={name: summary(seconds) for name, seconds in shown.seconds.items()},
        starts=starts,
        check={what: summary(seconds) for what, seconds in checked.items()},
        graded=graded,
        memory=shown.memory,
        growth=points,
        profiles=profiles,
        fork=summary(fork),
        wrong=[
            *wrong,
            *(
                f"{one.by}: {label}"
                for one in graded
                if one.by in ("jaxtutor", UNKNOWN)
                for label in one.misjudged
            ),
        ],
        styles=unknown.styles,
        failures=shown_failures,
        cold=cold_checks,
        ahead=shown.ahead,
        seconds=clock.seconds,
    )


def _judged(
    pack: Pack, answers: list[Answer], effort: Effort, wrong: list[str]
) -> list[JudgedAnswer]:
    """**Arguments:** `answers`: solutions; `wrong`: gets the answers with wrong verdicts."""
    seconds: dict[tuple[str, str], list[float]] = {}
    with warm.desk(pack) as desk:
        for answer in answers:
            _log(f"warm: {answer.lesson.id}")
            for run in warm.measure(desk, [answer], effort.warm, uncounted=0):
                seconds.setdefault((answer.label, "warm"), []).append(run.seconds)
                if not run.correct:
                    wrong.append(f"warm: {answer.label}: {run.report.verdict}")
    with tempfile.TemporaryDirectory(prefix="jaxtutor-bench-") as folder:
        prepared = [cold.prepare(Path(folder), answer) for answer in answers]
        for how in cold.COMMANDS:
            _log(f"cold: {how}")
            for sample in cold.measure(prepared, how, 1):
                seconds.setdefault((sample.answer.label, how), []).append(sample.seconds)
                if not sample.correct:
                    wrong.append(f"{how}: {sample.answer.label}")
    return [
        JudgedAnswer(
            answer.lesson.id, answer.name, answer.kind,
            warm=summary(seconds[answer.label, "warm"]),
            script=summary(seconds[answer.label, "script"]),
            pytest=summary(seconds[answer.label, "pytest"]),
        )
        for answer in answers
    ]  # fmt: skip


def _cold(pack: Pack, effort: Effort, wrong: list[str]) -> Iterator[check.ColdCheck]:
    """**Arguments:** `wrong`: gets the lessons that could not be measured."""
    for name in effort.lessons[:: effort.cold_every]:
        _log(f"cold check: {name}")
        try:
            yield check.against_pytest(pack, right(pack, pack.lesson(name))[0])
        except AssertionError as error:
            wrong.append(f"cold check: {name}: {error}")


def _graded(pack: Pack, effort: Effort) -> Iterator[Graded]:
    unknown = grading.mixed(pack, 2 * effort.batch, names=CLASS, right_ones=held_out_answers)
    for by, mixed in (
        (UNKNOWN, unknown),
        ("jaxtutor", grading.mixed(pack, effort.batch, names=CLASS)),
    ):
        _log(f"grading: {len(mixed)} submissions by {by}")
        batch = grading.ours(pack, mixed, seed=1)
        yield Graded(by, len(mixed), batch.seconds, batch.misjudged)
    few = unknown[: effort.alternatives]
    _log(f"grading: {len(few)} by pytest")
    batch = grading.pytest(few, seed=1)
    yield Graded("pytest", len(few), batch.seconds, batch.misjudged)
    python = os.environ.get("NBGRADER_PYTHON")
    if python:
        _log(f"grading: {len(few)} by nbgrader")
        # A notebook has a single process, so the lesson that needs two is left out.
        fit = [answer for answer in few if answer.lesson.id != TRAINING]
        yield Graded("nbgrader", len(fit), nbgrader.seconds_for(Path(python), fit))


def _growth(pack: Pack, effort: Effort) -> Iterator[Point]:
    solution = right(pack, pack.lesson(growth.LESSON))[0]
    for points in (
        growth.checks(pack, effort.warm, effort.checks),
        growth.lessons(solution, effort.warm, effort.sizes),
        growth.submissions(pack, effort.batches),
    ):
        for point in points:
            yield Point(point.what, point.of, point.size, summary(point.samples))


def _starts(effort: Effort) -> Iterator[tuple[str, Summary]]:
    for series in start.bare(effort.starts):
        yield series.name.removeprefix("python -c ").strip("'"), summary(series.seconds)
    with start.courses(effort.sizes) as made:
        for course in made:
            for series in start.starts(course, effort.starts):
                yield series.name, summary(series.seconds)


@contextmanager
def _home() -> Iterator[None]:
    """Use a new `JAXTUTOR_HOME`: no caches, and no access to the learner's files."""
    home = tempfile.mkdtemp(prefix="jaxtutor-home-")
    os.environ["JAXTUTOR_HOME"] = home
    try:
        yield
    finally:
        shutil.rmtree(home)


def _machine() -> dict[str, str]:
    versions = installed_versions()
    kept = {name: versions[name] for name in ("jaxtutor", "python", "jax", "flax", "torch")}
    return {"cores": str(os.cpu_count()), "system": platform.system(), **kept}


def _log(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
