"""Run all benchmarks, write the results, and compare their ratios with the committed ones.

    python -m benchmarks [--quick] [--out FOLDER]

Writes `results.json`, `results.md` and `results.svg`. Exits with 1 if a ratio fell by more than a
fifth, or a verdict was wrong. Takes an hour or two on an otherwise idle machine; `--quick` takes a
few minutes and gives rough figures.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import (
    breakdown,
    check,
    cold,
    grading,
    growth,
    markdown,
    nbgrader,
    plot,
    screen,
    start,
    warm,
)
from benchmarks.answers import TRAINING, Answer, right, starter
from benchmarks.results import Graded, JudgedAnswer, Point, Profile, Results, fallen, targets
from benchmarks.samples import Summary, summary
from tutor.engine.versions import installed_versions
from tutor.manifest import Pack
from tutor.pack import load_pack

HERE = Path(__file__).parent


class Effort(Struct, frozen=True):
    """Sizes and repetitions of each measurement."""

    lessons: int | None
    variants: bool
    warm: int
    cold: int
    starts: int
    batch: int
    alternatives: int
    sizes: tuple[int, ...]
    checks: tuple[int, ...]
    batches: tuple[int, ...]


FULL = Effort(
    lessons=None, variants=True, warm=5, cold=1, starts=15, batch=200, alternatives=100,
    sizes=growth.SIZES, checks=growth.TIMES, batches=(25, 50, 100),
)  # fmt: skip
QUICK = Effort(
    lessons=2, variants=False, warm=2, cold=1, starts=3, batch=14, alternatives=4,
    sizes=(50,), checks=(1, 2), batches=(7, 14),
)  # fmt: skip


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure jaxtutor.")
    parser.add_argument("--quick", action="store_true", help="a few minutes, for rough figures")
    parser.add_argument("--out", type=Path, default=HERE, metavar="FOLDER")
    options = parser.parse_args()
    known = HERE / "results.json"
    before = msgspec.json.decode(known.read_bytes(), type=Results) if known.exists() else None
    with _home():
        results = measure(QUICK if options.quick else FULL)
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


def write(results: Results, worse: dict[str, tuple[float, float]], out: Path) -> None:
    """Write `results.json`, `results.md` and `results.svg`."""
    out.mkdir(parents=True, exist_ok=True)
    data = msgspec.json.format(msgspec.json.encode(results), indent=1)
    (out / "results.json").write_bytes(data + b"\n")
    (out / "results.md").write_text(markdown.page(results, worse), encoding="utf-8")
    plot.draw(results, out / "results.svg")


def measure(effort: Effort) -> Results:
    """Run all benchmarks, with progress on standard error."""
    pack = load_pack()
    names = list(pack.lessons)[: effort.lessons]
    solutions = {name: right(pack, pack.lesson(name))[0] for name in names}
    judged, wrong = _judged(pack, names, effort)
    _log("the screen, memory")
    shown = screen.measure(effort.warm, names)
    wholes = {one.lesson: one.warm.median for one in judged if one.kind == "solution"}
    _log("profiles")
    profiles = [
        Profile(name, breakdown.measure(answer.lesson), wholes[name])
        for name, answer in solutions.items()
    ]
    graded, points = list(_graded(pack, effort)), list(_growth(pack, effort))
    _log("starts")
    first = solutions[names[0]]
    return Results(
        machine=_machine(),
        judged=judged,
        screen={name: summary(seconds) for name, seconds in shown.seconds.items()},
        starts=dict(_starts(effort)),
        check={
            what: summary(seconds) for what, seconds in check.measure(first, effort.starts).items()
        },
        graded=graded,
        memory=shown.memory,
        growth=points,
        profiles=profiles,
        fork=summary(breakdown.forks(first.lesson, effort.starts)),
        wrong=[*wrong, *(f"{g.by}: {label}" for g in graded[:1] for label in g.misjudged)],
    )


def _judged(pack: Pack, names: list[str], effort: Effort) -> tuple[list[JudgedAnswer], list[str]]:
    answers: list[Answer] = []
    for name in names:
        rights = right(pack, pack.lesson(name))
        answers += [*(rights if effort.variants else rights[:2]), starter(pack.lesson(name))]
    seconds: dict[tuple[str, str], list[float]] = {}
    wrong: list[str] = []

    def record(run: warm.Sample, how: str) -> None:
        seconds.setdefault((run.answer.label, how), []).append(run.seconds)
        if not run.correct:
            wrong.append(f"{how}: {run.answer.label}: {run.report.verdict}")

    with warm.desk(pack) as desk:
        for name in names:
            _log(f"warm: {name}")
            mine = [answer for answer in answers if answer.lesson.id == name]
            for run in warm.measure(desk, mine, effort.warm):
                record(run, "warm")
    variants = [answer for answer in answers if answer.kind == "variant"]
    _log(f"unseen: {len(variants)}")
    for run in warm.unseen(pack, variants, 1):
        record(run, "unseen")
    with tempfile.TemporaryDirectory(prefix="jaxtutor-bench-") as folder:
        prepared = [cold.prepare(Path(folder), answer) for answer in answers]
        for how in cold.COMMANDS:
            _log(f"cold: {how}")
            for sample in cold.measure(prepared, how, effort.cold):
                seconds.setdefault((sample.answer.label, how), []).append(sample.seconds)
                if not sample.correct:
                    wrong.append(f"{how}: {sample.answer.label}")
    return [
        JudgedAnswer(
            answer.lesson.id, answer.name, answer.kind,
            warm=summary(seconds[answer.label, "warm"]),
            unseen=summary(seconds[answer.label, "unseen"]) if answer in variants else None,
            script=summary(seconds[answer.label, "script"]),
            pytest=summary(seconds[answer.label, "pytest"]),
        )
        for answer in answers
    ], wrong  # fmt: skip


def _graded(pack: Pack, effort: Effort) -> Iterator[Graded]:
    mixed = grading.mixed(pack, effort.batch)
    _log(f"grading: {len(mixed)} submissions")
    batch = grading.ours(pack, mixed, seed=1)
    yield Graded("jaxtutor", len(mixed), batch.seconds, batch.misjudged)
    few = mixed[: effort.alternatives]
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
    _log("growth")
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
