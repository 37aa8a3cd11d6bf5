"""Results as data that round-trips through JSON, their ratios, and the targets."""

import statistics
from collections.abc import Iterator

from msgspec import Struct

from benchmarks.answers import KNOWN, OWN_OPERATIONS, TRAINING, Kind
from benchmarks.breakdown import Parts
from benchmarks.check import ColdCheck
from benchmarks.failures import Failure
from benchmarks.samples import Summary, quantiles
from benchmarks.styles import Style

FELL = 0.8
"""A ratio below this fraction of the committed one is a regression."""


class JudgedAnswer(Struct, frozen=True):
    """Seconds to the verdict on one answer: in a waiting sandbox, and in cold processes."""

    lesson: str
    name: str
    kind: Kind
    warm: Summary
    script: Summary | None = None
    pytest: Summary | None = None

    @property
    def label(self) -> str:
        return f"{self.lesson}/{self.name}"


class Graded(Struct, frozen=True):
    """A batch graded on all cores."""

    by: str
    submissions: int
    seconds: float
    misjudged: list[str] = []

    @property
    def per_second(self) -> float:
        return self.submissions / self.seconds


class Point(Struct, frozen=True):
    """A summary of a `benchmarks.growth.Point`, in seconds or per second."""

    what: str
    of: str
    size: int
    value: Summary


class Profile(Struct, frozen=True):
    """The first run of an answer in an unknown style: the parts inside the sandbox, and the whole
    run."""

    lesson: str
    inside: Parts
    whole: float


class Results(Struct):
    """All results. Times are in seconds, memory in MiB."""

    machine: dict[str, str]
    judged: list[JudgedAnswer]
    screen: dict[str, Summary]
    starts: dict[str, Summary]
    check: dict[str, Summary]
    graded: list[Graded]
    memory: dict[str, float]
    growth: list[Point]
    profiles: list[Profile]
    fork: Summary
    wrong: list[str]
    """Wrong verdicts; should be empty."""

    # With defaults, so that older results can be read.
    styles: list[Style] = []
    """Answers in unknown styles."""

    failures: list[Failure] = []
    """Of known mistakes."""

    cold: list[ColdCheck] = []
    ahead: dict[str, float] = {}
    """The app's memory with and without running ahead."""

    seconds: dict[str, float] = {}
    """Of each part of the benchmarks."""

    def of(self, *kinds: Kind, training: bool = False) -> list[JudgedAnswer]:
        """Return the answers of these kinds, to `TRAINING` or to all other lessons."""
        return [
            one for one in self.judged if one.kind in kinds and (one.lesson == TRAINING) == training
        ]

    def unknown(self, *, training: bool = False) -> list[Style]:
        """Return the answers in unknown styles to lessons that train, or to the others."""
        return [one for one in self.styles if one.training == training]

    def rate(self, by: str) -> float | None:
        """Return the submissions graded per second."""
        return next((one.per_second for one in self.graded if one.by == by), None)


UNKNOWN = "jaxtutor, unknown styles"
"""In `Graded.by`: the batch with right answers in unknown styles, not with the pack's variants."""


class Target(Struct, frozen=True):
    """A target and the measured value."""

    what: str
    goal: str
    measured: str
    met: bool


def ratios(results: Results) -> dict[str, float]:
    """Return how many times faster jaxtutor is than each alternative, measured in the same run."""
    found: dict[str, float] = {}
    for one in results.judged:
        if one.kind == "solution":
            for how in ("script", "pytest"):
                other: Summary | None = getattr(one, how)
                if other is not None:
                    found[f"verdict, {one.lesson}: {how}"] = other.median / one.warm.median
    if over := list(_over_pytest(results)):
        found["verdict, median of solutions: pytest"] = statistics.median(over)
    for batch, what in ((UNKNOWN, "grading, unknown styles"), ("jaxtutor", "grading")):
        for by in ("pytest", "nbgrader"):
            ours, theirs = results.rate(batch), results.rate(by)
            if ours and theirs:
                found[f"{what}: {by}"] = ours / theirs
    if results.failures:
        verdict = statistics.median(one.verdict for one in results.failures)
        first = statistics.median(one.first for one in results.failures)
        found["first failure of a mistake: its verdict"] = verdict / first
    for cold in results.cold:
        found[f"cold check, {cold.lesson}: pytest"] = cold.pytest / cold.first
    if "import textual" in results.starts:
        base = results.starts["import textual"].median
        for name, summary in results.starts.items():
            if name.endswith("later"):
                found[f"{name}: import textual"] = base / summary.median
    if results.check:
        found["check: import jax and the run"] = 1 / _check_ratio(results)
    return found


def fallen(before: Results, now: Results) -> dict[str, tuple[float, float]]:
    """Return the ratios that fell by more than a fifth: before, and now."""
    old, new = ratios(before), ratios(now)
    return {
        name: (old[name], new[name])
        for name in old.keys() & new.keys()
        if new[name] < FELL * old[name]
    }


def targets(results: Results) -> list[Target]:
    """Return the targets."""
    return list(_targets(results))


def _targets(results: Results) -> Iterator[Target]:
    yield from _unknown_targets(results)
    if known := [one.warm.median for one in results.of("solution")]:
        yield _most("save → verdict, the lesson's own solution: median", known, 0.120)
    own = [one.warm.median for one in results.of("solution") if one.lesson in OWN_OPERATIONS]
    if own:
        yield _most("lessons whose operations are the solution's own", own, 0.040)
    if over := list(_over_pytest(results)):
        yield _least("save → verdict against cold pytest, median", statistics.median(over), 15)
    if training := [one.warm.median for one in results.of("solution", training=True)]:
        yield _most(f"{TRAINING}, solution", training, 4.0)
    if results.check:
        ratio = _check_ratio(results)
        yield Target(
            "`jaxtutor check` against `import jax` and the run",
            "≤ 1.4 ×", f"{ratio:.2f} ×", ratio <= 1.4,
        )  # fmt: skip
    for name, most in (("list, built-in, later", 0.120), ("app, built-in, later", 0.350)):
        if name in results.starts:
            yield _most(f"start: {name}", [results.starts[name].median], most)
    for batch, what in ((UNKNOWN, "grading, unknown styles"), ("jaxtutor", "grading")):
        if (rate := results.rate(batch)) is not None:
            yield Target(f"{what}: submissions per second", "≥ 2.7", f"{rate:.2f}", rate >= 2.7)
            for by, least in (("nbgrader", 10), ("pytest", 5)):
                if (theirs := results.rate(by)) is not None:
                    yield _least(f"{what}: against {by}", rate / theirs, least)
    if results.cold:
        over = [one.pytest / one.first for one in results.cold]
        yield _least(
            "cold `jaxtutor check` against cold pytest, median", statistics.median(over), 2
        )
        yield _least("cold `jaxtutor check` against cold pytest, worst lesson", min(over), 2)
    few, many = (results.starts.get(f"app, {size} lessons, later") for size in (50, 5000))
    if few and many:
        ratio = many.median / few.median
        yield Target(
            "the app's start with 5,000 lessons against 50",
            "as fast: ≤ 1.1 ×", f"{ratio:.2f} ×", ratio <= 1.1,
        )  # fmt: skip


def _unknown_targets(results: Results) -> Iterator[Target]:
    if styles := results.unknown():
        first = sorted(one.first for one in styles)
        yield _most("unknown style, first run: median", first, 0.400)
        yield _most("unknown style, first run: 95th percentile", [quantiles(first)[-1]], 1.500)
        yield _most("unknown style, after an edit: median", [one.edited for one in styles], 0.150)
    if ahead := sorted(one.ahead for one in results.unknown() if one.ahead is not None):
        what = "unknown style, with running ahead: 95th percentile"
        yield _most(what, [quantiles(ahead)[-1]], 0.050)


def _most(what: str, seconds: list[float], most: float) -> Target:
    found = statistics.median(seconds)
    return Target(what, f"≤ {most * 1e3:,.0f} ms", f"{found * 1e3:,.0f} ms", found <= most)


def _least(what: str, ratio: float, least: float) -> Target:
    return Target(what, f"≥ {least} ×", f"{ratio:.1f} ×", ratio >= least)


def _over_pytest(results: Results) -> Iterator[float]:
    for one in results.of("solution"):
        # Older results have other lessons, too.
        if one.pytest is not None and one.lesson in KNOWN:
            yield one.pytest.median / one.warm.median


def _check_ratio(results: Results) -> float:
    """Return the time of a cold `check` divided by that of its unavoidable parts."""
    needed = results.check["import jax"].median + results.check["the run itself"].median
    return results.check["verdict"].median / needed
