"""Rendering reports with rich, for the command line and the app.

All functions are pure. Untrusted text goes into `Text` objects and is never parsed as markup.
"""

import sys
from collections.abc import Collection
from textwrap import indent

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tutor.curves import CurveChart
from tutor.pictures.array_map import ArrayMap
from tutor.pictures.bars import bars
from tutor.pictures.gauge import gauge
from tutor.pictures.tree_view import tree_view
from tutor.report import (
    WANTS,
    Called,
    CheckResult,
    Explanation,
    Fault,
    Mismatch,
    Report,
    Status,
    looks_text,
    to_answer,
)
from tutor.sandbox.isolation import missing

UNWRAPPED = 10_000
"""Columns of output that is not wrapped."""

MARKS: dict[Status, tuple[str, str]] = {
    "pass": ("✓", "green"),
    "fail": ("✗", "red"),
    "error": ("!", "red"),
    "skipped": ("–", "dim"),
    "internal": ("?", "magenta"),
}
"""Mark and style of each status."""


def check(
    result: CheckResult, lessons: Collection[str] = (), *, slice_number: int | None = None
) -> RenderableType:
    """Render a check's result.

    **Arguments:** `lessons`: ids of lessons that an explanation may refer to. `slice_number`: which
    of `mismatch.errors.slices` to draw, if not the worst.
    """
    parts: list[RenderableType] = [headline(result)]
    if result.status in ("fail", "error", "internal"):
        parts.append(indented(result.message))
        if result.mismatch is not None:
            parts += picture(result.mismatch, slice_number)
        if result.fault is not None:
            # The message already contains the innermost frame.
            for frame in result.fault.frames[-4:-1]:
                where = f"called from line {frame.line}, in {frame.function}: {frame.source}"
                parts.append(indented(where, "dim"))
            parts += _values(result.fault)
            if more := beyond(result.fault.detail, result.message):
                parts.append(indented(more, "dim"))
        if result.wants:
            parts.append(indented(f"{WANTS} {result.wants}"))
        if result.case:
            parts.append(indented(f"with {result.case}", "dim"))
        if result.explained is not None:
            parts.append(explanation(result.explained, lessons))
        if result.fault is not None:
            parts += _called(result.fault)
    if result.curves is not None:
        parts.append(CurveChart(result.curves))
    if result.accuracy is not None:
        parts.append(
            indented(gauge("accuracy", result.accuracy.reached, result.accuracy.goal), "dim")
        )
    if result.afterword:
        parts.append(PackText(result.afterword))
    return Group(*parts)


class PackText:
    """Markdown of a pack, indented; as it was written where lines are not wrapped (see `console`).

    **Arguments:** `indent`: columns on the left.
    """

    def __init__(self, text: str, indent: int = 4) -> None:
        self._text = text.strip()
        self._indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= UNWRAPPED:
            yield Text(indent(self._text, " " * self._indent))
            return
        from rich.markdown import Markdown  # late: it takes a while to import

        # Addresses are shown, since a terminal may not follow links.
        yield Padding(Markdown(self._text, hyperlinks=False), (0, 0, 0, self._indent))


def headline(result: CheckResult, *, timed: bool = True) -> Text:
    """Render the first line of a result.

    **Arguments:** `timed`: whether to say how long a check took that passed.
    """
    mark, style = MARKS[result.status]
    line = Text.assemble((f"{mark} ", style), (result.name, "bold" if style == "red" else ""))
    if result.status == "pass":
        line.append("".join(f"  {note}" for note in result.notes), "dim")
        if timed:
            line.append(f"  {timing(result)}".rstrip(), "dim")
    if result.status == "skipped":
        line.append(f"  {result.message}", "dim")
    return line


SIDE_BY_SIDE = 100
"""Columns from which code that fails is shown next to code that does not."""


def explanation(explained: Explanation, lessons: Collection[str] = ()) -> RenderableType:
    """Render an explanation: what happened, why, what to write instead, and where to read more."""
    parts: list[RenderableType] = [
        indented(f"→ {explained.lead}{explained.what}"),
    ]
    if not explained.instead:  # what the numbers show, and no more
        return parts[0]
    parts += [
        indented(explained.why, "dim"),
        indented("Instead:", "dim"),
        _code(explained.instead, 6),
    ]
    for one in explained.alternatives:
        parts += [indented(f"Or: {one.what}"), _code(one.instead, 6)]
    if explained.lesson in lessons:
        parts.append(indented(f"Taught in the lesson {explained.lesson}.", "dim"))
    parts.append(indented(f"More: jaxtutor explain {explained.id}", "dim"))
    return Group(*parts)


def _code(code: str, indent: int) -> RenderableType:
    return Padding(Text(code, "cyan"), (0, 0, 0, indent), expand=False)


def called(function: Called) -> RenderableType:
    """Render what a library's function says of itself."""
    name = Text.assemble((function.name, "cyan"), (function.signature, "dim"))
    parts: list[RenderableType] = [Padding(name, (0, 0, 0, 2), expand=False)]
    if function.about:
        parts.append(indented(function.about, "dim"))
    return Group(*parts)


def _called(fault: Fault) -> list[RenderableType]:
    """Render what the function says of itself whose call failed, where no explanation is sure."""
    return [called(fault.help)] if fault.help is not None else []


def explanation_page(
    explained: Explanation,
    example: str,
    lessons: Collection[str] = (),
    *,
    label: str = "Fails:",
    width: int = 80,
) -> RenderableType:
    """Render an explanation whole.

    **Arguments:** `example`: code that makes the mistake, or the error; `label`: what it is;
    `width`: of the terminal, in columns.
    """
    parts: list[RenderableType] = [Text(explained.id, "bold"), Text(), indented(explained.what)]
    if explained.why:
        parts.append(indented(explained.why, "dim"))
    parts += [Text(), _next_to(label, example.strip("\n"), explained.instead, width)]
    for one in explained.alternatives:
        parts += [Text(), indented(f"Or: {one.what}"), _code(one.instead, 6)]
    parts.append(Text())
    if explained.lesson in lessons:
        parts.append(indented(f"Taught in the lesson {explained.lesson}.", "dim"))
    if explained.link:
        parts.append(indented(explained.link, "dim"))
    return Group(*parts)


def _next_to(label: str, example: str, instead: str, width: int) -> RenderableType:
    """Render the mistake and what to write instead: side by side where there is room."""
    if not instead:
        return Group(indented(label, "dim"), _code(example, 6))
    if width < SIDE_BY_SIDE:
        return Group(
            indented(label, "dim"), _code(example, 6), Text(),
            indented("Instead:", "dim"), _code(instead, 6),
        )  # fmt: skip
    table = Table.grid(padding=(0, 4))
    table.add_row(Text(label, "dim"), Text("Instead:", "dim"))
    table.add_row(Text(example), Text(instead, "cyan"))
    return Padding(table, (0, 0, 0, 4), expand=False)


def timing(result: CheckResult) -> str:
    """Return `0.3 s, 270 ms of it compiling`. `race` shows PyTorch's time, because it compares warm
    calls; here every call is the first."""
    whole = result.timing.compile + result.timing.run
    if whole == 0:
        return ""
    if result.timing.compile < 1e-3:
        return duration(whole)
    return f"{duration(whole)}, {duration(result.timing.compile)} of it compiling"


def picture(mismatch: Mismatch, slice_number: int | None = None) -> list[RenderableType]:
    """Return where and how much an answer is wrong: its tree, how its numbers are made from the
    right ones, or a map with the worst of them."""
    parts: list[RenderableType] = []
    if mismatch.tree:
        parts.append(Padding(tree_view(mismatch.tree), (0, 0, 0, 4), expand=False))
    if not mismatch.pattern:
        parts.append(ArrayMap(mismatch, slice_number))
        return parts
    # The pattern is that of one array, the map's; of a tree, say of which.
    where = f"in {mismatch.path}: " if mismatch.tree and mismatch.path else ""
    parts.append(indented(f"{where}{mismatch.pattern}"))
    if mismatch.wrong < mismatch.total:  # otherwise there is nothing to see
        parts.append(ArrayMap(mismatch, slice_number, numbers=False))
    return parts


def unwritten(result: CheckResult) -> bool:
    """Return whether a check only found a function that is still to be written, or a question
    that is still to be answered."""
    if result.fault is not None:
        return result.fault.exception == NotImplementedError.__name__
    return result.unanswered


def rest(report: Report, lessons: Collection[str] = ()) -> RenderableType:
    """Render the report below its checks: fault, output, verdict and timings.

    **Arguments:** `lessons`: ids of lessons that an explanation may refer to.
    """
    parts: list[RenderableType] = []
    if report.fault is not None and not report.skipped:
        parts += fault(report.fault, lessons)
    parts += output(report)
    parts.append(Text())
    parts += closing(report, verdict_last=True)
    if report.timings.race is not None:
        parts.append(Text(race(report), "dim"))
    return Group(*parts)


def closing(report: Report, *, verdict_last: bool = False) -> list[RenderableType]:
    """Render what is said at the end of a report: warnings, the verdict if it does not stand
    elsewhere, and times."""
    parts: list[RenderableType] = []
    if words := weakness(report):
        parts.append(Text(words, "yellow"))
    if report.looks:
        advice = "No answer needs that, and a grader will review it."
        parts.append(Text(f"Your code {looks_text(report.looks)}. {advice}", "yellow"))
    if verdict_last:
        parts.append(verdict(report))
    if report.timings.reference >= 0.1:
        waited = duration(report.timings.reference)
        parts.append(Text(f"{waited} of it waiting for PyTorch", "dim"))
    return parts


def fault(found: Fault, lessons: Collection[str] = ()) -> list[RenderableType]:
    """Render why code could not be run at all: the message, where its syntax breaks, and what it
    means."""
    parts: list[RenderableType] = [Text.assemble(("! ", "red"), (found.message, "bold"))]
    if found.code == "syntax-error" and found.frames:
        number, source = found.frames[-1].line, found.frames[-1].source
        parts.append(_line_of_code(f"{number} │ ", source))
        if found.column and found.column <= len(source) + 1:
            caret = f"{'':{found.column - 1}}^"
            parts.append(_line_of_code(f"{'':{len(str(number))}} │ ", caret, "red"))
    parts += _values(found)
    if more := beyond(found.detail, found.message):
        parts.append(indented(more, "dim"))
    if found.explanation is not None:
        parts.append(explanation(found.explanation, lessons))
    return [*parts, *_called(found)]


def _values(fault: Fault) -> list[RenderableType]:
    """Render what the names in the line stood for that raised."""
    return [indented(f"where {', '.join(fault.values)}")] if fault.values else []


def _line_of_code(margin: str, text: str, style: str = "") -> RenderableType:
    """Render a line so that it is cut, not wrapped: what stands below it points into it."""
    line = Text.assemble((margin, "dim"), (text, style), no_wrap=True, overflow="ellipsis")
    return Padding(line, (0, 0, 0, 4), expand=False)


def output(report: Report) -> list[RenderableType]:
    """Render what the code printed."""
    parts: list[RenderableType] = []
    for name, text in (("printed", report.stdout), ("printed to stderr", report.stderr)):
        if text.strip():
            parts += [Text(f"── {name} ──", "dim"), Text(text.rstrip("\n"))]
    return parts


def verdict(report: Report) -> Text:
    """Render the verdict and the number of passed checks on one line."""
    passed = sum(check.status == "pass" for check in report.checks)
    counts = f"{passed} of {len(report.checks)} checks pass"
    seconds = duration(report.timings.total)
    if report.verdict == "pass":
        return Text(f"✓ {report.lesson}: {counts} ({seconds})", "bold green")
    if report.skipped:
        return Text(f"– {report.lesson}: skipped: {report.skipped}", "bold yellow")
    if report.verdict == "internal":
        return Text(
            f"? {report.lesson}: could not be judged; this is not your fault ({seconds})",
            "bold magenta",
        )
    if words := to_answer(report.checks):
        counts = f"{words}; {counts}"
    return Text(f"✗ {report.lesson}: {counts} ({seconds})", "bold red")


def weakness(report: Report) -> str:
    """Return a warning that names the missing layers of isolation, or an empty string."""
    names = missing(report.isolation) if report.isolation else []
    if not names:
        return ""
    return f"Weak isolation: {', '.join(names)} not covered on this machine (jaxtutor doctor)"


def race(report: Report) -> str:
    """Return the times of the translation and the original as bars, a line each, or an empty string
    if they are unknown."""
    found = report.timings.race
    if found is None:
        return ""
    times = [("JAX compiles", found.jax_first), ("JAX runs", found.jax)]
    if found.torch is not None:
        times.append(("PyTorch runs", found.torch))
    lines = bars([(name, seconds, duration(seconds)) for name, seconds in times])
    return "\n".join([found.expression, *(f"  {line}" for line in lines)])


def duration(seconds: float) -> str:
    """Return `1.2 s`, `35 ms` or `210 µs`, with at most three digits after rounding."""
    if seconds >= 0.9995:
        return f"{seconds:.1f} s" if seconds >= 1.05 else f"{seconds:.2f} s"
    if seconds >= 0.9995e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} µs"


LINES, COLUMNS = 12, 200
"""Maximum size of an exception's text."""


OURS = "/tutor/checks/inside/"
"""In a line about our own functions, of which a learner knows nothing."""


def beyond(detail: str, message: str) -> str:
    """Return the lines of an exception's text that `message` does not contain, truncated, without
    blank lines and rules."""
    said = "".join(message.split())
    lines = [line.strip() for line in detail.splitlines()]
    new = [
        line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…"
        for line in lines
        if line.strip("-=_~ ") and "".join(line.split()) not in said and OURS not in line
    ]
    if len(new) <= LINES:
        return "\n".join(new)
    return "\n".join([*new[:LINES], f"… {len(new) - LINES} more lines"])


def indented(text: str, style: str = "") -> RenderableType:
    """Render text that stays indented when wrapped."""
    return Padding(Text(text, style), (0, 0, 0, 4), expand=False)


def console() -> Console:
    """Return a console for standard output: wrapped and coloured in a terminal, plain long lines in
    a pipe. rich handles `NO_COLOR`."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=UNWRAPPED)
