"""Results as data that round-trips through JSON, their ratios, and the targets."""

import statistics
from collections.abc import Iterator

from msgspec import Struct

from benchmarks.answers import OWN_OPERATIONS, TRAINING, Kind
from benchmarks.breakdown import Parts
from benchmarks.samples import Summary, quantiles

FELL = 0.8
"""A ratio below this fraction of the committed one is a regression."""


class JudgedAnswer(Struct, frozen=True):
    """Seconds to the verdict on one answer: in a waiting sandbox; the same if the pack lacks this
    variant; and in cold processes."""

    lesson: str
    name: str
    kind: Kind
    warm: Summary
    unseen: Summary | None = None
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
    """A warm run of a lesson's solution: the parts inside the sandbox, and the whole run."""

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

    def of(self, *kinds: Kind, training: bool = False) -> list[JudgedAnswer]:
        """Return the answers of these kinds, to `TRAINING` or to all other lessons."""
        return [
            one for one in self.judged if one.kind in kinds and (one.lesson == TRAINING) == training
        ]

    def rate(self, by: str) -> float | None:
        """Return the submissions graded per second."""
        return next((one.per_second for one in self.graded if one.by == by), None)


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
        found["verdict, median of all: pytest"] = statistics.median(over)
    for by in ("pytest", "nbgrader"):
        ours, theirs = results.rate("jaxtutor"), results.rate(by)
        if ours and theirs:
            found[f"grading: {by}"] = ours / theirs
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
    right = [one.warm.median for one in results.of("solution", "starter")]
    for styles, seconds in (
        ("a known variant", _typical(results, "warm")),
        ("an unseen variant", _typical(results, "unseen")),
    ):
        if right and seconds:
            together = sorted([*right, *seconds])
            what = f"save → verdict, each lesson's solution, starter and {styles}"
            yield _most(f"{what}: median", together, 0.120)
            yield _most(f"{what}: 95th percentile", [quantiles(together)[-1]], 0.700)
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
    if (rate := results.rate("jaxtutor")) is not None:
        yield Target("grading, submissions per second", "≥ 4", f"{rate:.1f}", rate >= 4)
        for by, least in (("nbgrader", 10), ("pytest", 5)):
            if (theirs := results.rate(by)) is not None:
                yield _least(f"grading against {by}", rate / theirs, least)
    few, many = (results.starts.get(f"app, {size} lessons, later") for size in (50, 5000))
    if few and many:
        ratio = many.median / few.median
        yield Target(
            "the app's start with 5,000 lessons against 50",
            "as fast: ≤ 1.1 ×", f"{ratio:.2f} ×", ratio <= 1.1,
        )  # fmt: skip


def _typical(results: Results, how: str) -> list[float]:
    """Return the median over each lesson's variants."""
    found: dict[str, list[float]] = {}
    for one in results.of("variant"):
        if (seconds := getattr(one, how)) is not None:
            found.setdefault(one.lesson, []).append(seconds.median)
    return [statistics.median(seconds) for seconds in found.values()]


def _most(what: str, seconds: list[float], most: float) -> Target:
    found = statistics.median(seconds)
    return Target(what, f"≤ {most * 1e3:,.0f} ms", f"{found * 1e3:,.0f} ms", found <= most)


def _least(what: str, ratio: float, least: float) -> Target:
    return Target(what, f"≥ {least} ×", f"{ratio:.1f} ×", ratio >= least)


def _over_pytest(results: Results) -> Iterator[float]:
    for one in results.of("solution", "variant", "starter"):
        if one.pytest is not None:
            yield one.pytest.median / one.warm.median


def _check_ratio(results: Results) -> float:
    """Return the time of a cold `check` divided by that of its unavoidable parts."""
    needed = results.check["import jax"].median + results.check["the run itself"].median
    return results.check["verdict"].median / needed
