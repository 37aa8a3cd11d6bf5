"""Results as a page to read."""

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.results import JudgedAnswer, Results, ratios, targets
from benchmarks.samples import Summary


def page(results: Results, fallen: dict[str, tuple[float, float]]) -> str:
    """The whole page.

    **Arguments:** `fallen`: ratios that are worse than the ones committed, those and these.
    """
    sections = [
        ("Targets", _targets(results)),
        ("From save to verdict", _verdicts(results)),
        ("Where the time goes", _profile(results)),
        ("Grading", _grading(results)),
        ("Starting", _starts(results)),
        ("Memory", _memory(results)),
        ("Growth", _growth(results)),
        ("Ratios", _ratios(results, fallen)),
    ]
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    parts = [
        "# How fast jaxtutor is",
        "",
        f"Measured by `make bench` on one machine: {machine}.",
        "Times are medians in milliseconds unless stated otherwise, with the 5th to the 95th",
        "percentile in parentheses. `results.json` has the same data.",
        "",
        "![Seconds to the verdict, and submissions per second](results.svg)",
    ]
    for title, lines in sections:
        parts += ["", f"## {title}", "", *lines]
    if results.wrong:
        parts += ["", "## Judged wrongly", "", *(f"- {one}" for one in results.wrong)]
    return "\n".join([*parts, ""])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table, its first column text and the others numbers."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def ms(summary: Summary | None) -> str:
    """`52 (49–61)`: milliseconds."""
    if summary is None:
        return "–"
    low, high = (f"{1e3 * value:,.0f}" for value in (summary.p5, summary.p95))
    middle = f"{1e3 * summary.median:,.0f}"
    return middle if summary.n == 1 else f"{middle} ({low}–{high})"


def _targets(results: Results) -> Iterator[str]:
    yield from table(
        ["", "target", "measured", ""],
        [[t.what, t.goal, t.measured, "met" if t.met else "**not met**"] for t in targets(results)],
    )


def _verdicts(results: Results) -> Iterator[str]:
    yield "`warm` is what the app does: a sandbox is waiting. `script` and `pytest` run the same"
    yield "checks in a cold process without a sandbox, with PyTorch's answers precomputed."
    yield "`unseen` is `warm` for a variant that the pack does not have: the waiting sandbox was"
    yield "primed with the other right answers only. The last column is `pytest` divided by"
    yield "`warm`."
    yield ""
    yield from table(
        ["", "warm", "unseen", "script", "pytest", "pytest / warm"], map(_verdict, results.judged)
    )
    if results.screen:
        yield ""
        yield "From starting a run to the verdict on the screen, in the whole app, headless:"
        yield ""
        yield from table(["", "ms"], [[name, ms(one)] for name, one in results.screen.items()])


def _verdict(one: JudgedAnswer) -> list[str]:
    over = f"{one.pytest.median / one.warm.median:.0f} ×" if one.pytest else "–"
    return [one.label, ms(one.warm), ms(one.unseen), ms(one.script), ms(one.pytest), over]


def _profile(results: Results) -> Iterator[str]:
    yield "A warm run of each lesson's solution: tracing, lowering and XLA as reported by JAX"
    yield "(XLA only reads back programs compiled while the sandbox was waiting); the rest of"
    yield "JAX, most of it Python, including running the programs; importing the submission; and"
    yield "everything outside the sandbox: taking it over, planning, communicating, comparing,"
    yield "reporting. Forking a sandbox and preparing it, while nobody is waiting, takes"
    yield f"{ms(results.fork)} ms."
    yield ""
    parts = ("tracing", "lowering", "xla", "rest", "loading")
    rows = []
    for one in results.profiles:
        inside = [f"{1e3 * getattr(one.inside, part):,.1f}" for part in parts]
        outside = f"{1e3 * max(0.0, one.whole - one.inside.total):,.1f}"
        rows.append([one.lesson, *inside, outside, f"{1e3 * one.whole:,.1f}"])
    head = ["", "tracing", "lowering", "XLA", "rest of JAX", "import", "outside", "whole"]
    yield from table(head, rows)


def _grading(results: Results) -> Iterator[str]:
    rows = [
        [one.by, str(one.submissions), f"{one.seconds:,.1f}", f"{one.per_second:.2f}"]
        for one in results.graded
    ]
    yield from table(["", "submissions", "seconds", "per second"], rows)
    yield ""
    yield "All use one process per core. Two in three submissions are right; the others contain"
    yield "typical mistakes, are unfinished, or are not Python. jaxtutor runs each in its own"
    yield "sandbox under a new seed, computes PyTorch's answers, and has nothing cached; pytest"
    yield "and nbgrader have no sandbox, and PyTorch's answers precomputed."
    for one in results.graded:
        for wrong in one.misjudged:
            yield f"- {one.by} misjudges {wrong}"


def _starts(results: Results) -> Iterator[str]:
    yield from table(["", "ms"], [[name, ms(one)] for name, one in results.starts.items()])
    if results.check:
        yield ""
        yield "`jaxtutor check` from a cold shell:"
        yield ""
        yield from table(["", "ms"], [[name, ms(one)] for name, one in results.check.items()])


def _memory(results: Results) -> Iterator[str]:
    yield "While a lesson and the next one are ready: each process's proportional set size (PSS),"
    yield "in MiB."
    yield ""
    rows = [[name, f"{value:,.0f}"] for name, value in results.memory.items()]
    rows.append(["together", f"{sum(results.memory.values()):,.0f}"])
    yield from table(["", "MiB"], rows)


def _growth(results: Results) -> Iterator[str]:
    rows = [
        [
            f"{point.of}, {point.size:,} {point.what}",
            f"{ms(point.value)} ms" if point.of == "verdict" else f"{point.value.median:.1f} / s",
        ]
        for point in results.growth
    ]
    yield from table(["", ""], rows)


def _ratios(results: Results, fallen: dict[str, tuple[float, float]]) -> Iterator[str]:
    rows = [
        [name, f"{ratio:.2f}", f"**fell** from {fallen[name][0]:.2f}" if name in fallen else ""]
        for name, ratio in ratios(results).items()
    ]
    yield "How many times as long the alternative takes. A ratio that falls by more than a fifth"
    yield "is a regression."
    yield ""
    yield from table(["", "ratio", ""], rows)
