"""Results as a page to read."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from benchmarks.results import UNKNOWN, JudgedAnswer, Results, ratios, targets
from benchmarks.samples import Summary, quantiles


def page(results: Results, fallen: dict[str, tuple[float, float]]) -> str:
    """The whole page.

    **Arguments:** `fallen`: ratios that are worse than the ones committed, those and these.
    """
    sections = [
        ("Targets", _targets(results)),
        *([("Styles that were not known", _styles(results))] if results.styles else []),
        *([("What running ahead costs", _ahead(results))] if results.ahead else []),
        *([("Mistakes", _failures(results))] if results.failures else []),
        ("Solutions that were known", _verdicts(results)),
        ("Where the time goes", _profile(results)),
        ("Grading", _grading(results)),
        *([("Cold checks", _cold(results))] if results.cold else []),
        ("Starting", _starts(results)),
        ("Memory", _memory(results)),
        ("Growth", _growth(results)),
        ("Ratios", _ratios(results, fallen)),
        *([("How long this took", _durations(results))] if results.seconds else []),
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


def _styles(results: Results) -> Iterator[str]:
    yield "Right answers in styles that no sandbox is primed with, and that nobody has tuned to."
    yield "`first`: the first run, with nothing of a learner's kept. `edited`: one line was"
    yield "changed, and all sandboxes are ready again, with what the first run compiled. `ahead`: a"
    yield "second edit was run in a pause from typing, before the key was pressed; measured for"
    yield "some of the lessons. Lessons that train, or take more than two seconds with their own"
    yield "solution, are apart."
    yield ""
    rows = []
    for title, training in (("all others", False), ("training", True)):
        styles = results.unknown(training=training)
        if styles:
            ahead = [one.ahead for one in styles if one.ahead is not None]
            columns = ([one.first for one in styles], [one.edited for one in styles], ahead)
            lessons = len({one.lesson for one in styles})
            rows.append([f"{title}, {lessons}", *(_p50_p95(column) for column in columns)])
    yield from table(["lessons: p50, p95", "first", "edited", "ahead"], rows)
    yield ""
    rows = []
    for one in results.styles:
        seconds = [_milliseconds(each) for each in (one.first, one.edited, one.ahead)]
        rows.append([f"{one.lesson}/{one.name}", *seconds, "training" if one.training else ""])
    yield from table(["", "first", "edited", "ahead", ""], rows)


def _p50_p95(seconds: list[float]) -> str:
    if not seconds:
        return "–"
    last = quantiles(sorted(seconds))[-1]
    return f"{_milliseconds(median(seconds))}, {_milliseconds(last)}"


def _milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.01 else f"{1e3 * seconds:.1f}"


def _ahead(results: Results) -> Iterator[str]:
    yield "Processor seconds for each pause in which code is run ahead: the run itself, of a second"
    yield "edit, and preparing the sandbox that replaces the one it used."
    yield ""
    for title, training in (("all others", False), ("training", True)):
        pauses = [one.pause for one in results.unknown(training=training) if one.pause is not None]
        if pauses:
            parts = {
                "the run": [pause.running for pause in pauses],
                "the replacement": [pause.replacing for pause in pauses],
                "together": [pause.together for pause in pauses],
            }
            rows = [
                [what, f"{median(all_of):.2f}", f"{quantiles(sorted(all_of))[-1]:.2f}"]
                for what, all_of in parts.items()
            ]
            yield from table([f"{title}, {len(pauses)}", "p50", "p95"], rows)
            yield ""
    yield "Memory (PSS) of the app and all its sandboxes, in MiB, while a lesson and the next one"
    yield "are ready; and the most of it while that lesson's code is run ahead:"
    yield ""
    rows = [[what, f"{value:,.0f}"] for what, value in results.ahead.items()]
    yield from table(["", "MiB"], rows)


def _cold(results: Results) -> Iterator[str]:
    yield "Each solution as the learner's own file, in new processes: `jaxtutor check` until the"
    yield "verdict, the first time and the second, when what the first compiled is kept; and"
    yield "pytest, without a sandbox and with PyTorch's answers precomputed. The last columns are"
    yield "`pytest` divided by `first` and by `second`."
    yield ""
    rows = []
    for one in results.cold:
        seconds = [_milliseconds(each) for each in (one.first, one.second, one.pytest)]
        times = [f"{one.pytest / each:.1f} ×" for each in (one.first, one.second)]
        rows.append([one.lesson, *seconds, *times])
    yield from table(["", "first", "second", "pytest", "", ""], rows)


def _durations(results: Results) -> Iterator[str]:
    rows = [[what, f"{seconds:,.0f}"] for what, seconds in results.seconds.items()]
    rows.append(["together", f"{sum(results.seconds.values()):,.0f}"])
    yield from table(["", "seconds"], rows)


def _verdicts(results: Results) -> Iterator[str]:
    yield "`warm` is what the app does: a sandbox is waiting, primed with the pack's right answers,"
    yield "this one among them. `script` and `pytest` run the same checks in a cold process"
    yield "without a sandbox, with PyTorch's answers precomputed. The last column is `pytest`"
    yield "divided by `warm`."
    yield ""
    yield from table(
        ["", "warm", "script", "pytest", "pytest / warm"], map(_verdict, results.judged)
    )
    if results.screen:
        yield ""
        yield "From starting a run to the verdict on the screen, in the whole app, headless:"
        yield ""
        yield from table(["", "ms"], [[name, ms(one)] for name, one in results.screen.items()])


def _verdict(one: JudgedAnswer) -> list[str]:
    over = f"{one.pytest.median / one.warm.median:.0f} ×" if one.pytest else "–"
    return [one.label, ms(one.warm), ms(one.script), ms(one.pytest), over]


def _profile(results: Results) -> Iterator[str]:
    yield "The first run of the answers in unknown styles: tracing, lowering and XLA as reported by"
    yield "JAX; the rest of JAX, most of it Python, including running the programs; importing the"
    yield "submission; and everything outside the sandbox: taking it over, planning,"
    yield "communicating, comparing, reporting. The parts inside are from another process than the"
    yield "whole. Forking a sandbox and preparing it, while nobody is waiting, takes"
    yield f"{ms(results.fork)} ms."
    yield ""
    parts = ("tracing", "lowering", "xla", "rest", "loading")
    rows = []
    for one in results.profiles:
        inside = [f"{1e3 * getattr(one.inside, part):,.0f}" for part in parts]
        outside = f"{1e3 * max(0.0, one.whole - one.inside.total):,.0f}"
        whole = f"{1e3 * one.whole:,.0f}"
        rows.append([one.lesson, str(one.inside.programs), *inside, outside, whole])
    head = ["", "programs", "tracing", "lowering", "XLA", "rest of JAX", "import", "outside"]
    yield from table([*head, "whole"], rows)


def _failures(results: Results) -> Iterator[str]:
    yield "Known mistakes, until the first failure is shown and until the verdict. A sandbox is"
    yield "primed with the solution; what is compiled is the mistake's own."
    yield ""
    rows = []
    for lesson in dict.fromkeys(one.lesson for one in results.failures):
        of_lesson = [one for one in results.failures if one.lesson == lesson]
        firsts = _p50_p95([one.first for one in of_lesson])
        rows.append([lesson, firsts, _p50_p95([one.verdict for one in of_lesson])])
    firsts = _p50_p95([one.first for one in results.failures])
    verdicts = _p50_p95([one.verdict for one in results.failures])
    rows.append([f"all, {len(results.failures)}", firsts, verdicts])
    yield from table(["p50, p95", "first failure", "verdict"], rows)


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
    if results.rate(UNKNOWN) is not None:
        yield "In the batch of unknown styles, right answers that no lesson has take the place of"
        yield "the pack's variants; pytest and nbgrader grade the first of this batch."
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
