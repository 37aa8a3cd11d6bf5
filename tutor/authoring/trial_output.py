"""Render the results of `pack test` as text, as JSON and as JUnit XML."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Any

import msgspec
import yaml
from rich.console import Group, RenderableType
from rich.text import Text

from tutor.authoring.pack_test import LessonResult
from tutor.authoring.strength import STRONG, Strength
from tutor.authoring.trial import Outcome
from tutor.foreign.plain_text import inert
from tutor.render import indented

# --- for people ------------------------------------------------------------------------------


def lesson(result: LessonResult) -> RenderableType:
    """Return one lesson: a line about its trials, then everything that does not hold."""
    if result.skipped:
        skipped = f"  skipped: {result.skipped}"
        return Text.assemble(("– ", "yellow"), (result.lesson, "bold"), skipped)
    mark, style = ("✓", "green") if result.holds else ("✗", "red")
    parts: list[RenderableType] = [
        Text.assemble((f"{mark} ", style), (result.lesson, "bold"), f"  {tried_line(result)}"),
        indented(used_line(result), "dim"),
    ]
    parts += [
        indented(f"{'?' if outcome.ours else '✗'} {outcome_text(outcome)}", "red")
        for outcome in result.outcomes
        if not outcome.holds
    ]
    parts += [
        indented(f"· {offered_line(outcome)}", "dim")
        for outcome in result.outcomes
        if outcome.offered
    ]
    if result.strength is not None:
        parts += _strength(result.strength)
    parts += _marks(result)
    parts += [indented(f"· {remark}", "yellow") for remark in result.remarks]
    return Group(*parts)


def tried_line(result: LessonResult) -> str:
    """Return `solution under 20 seeds, starter, 5 mistakes, 6 variants, 18 idle answers, …`."""
    kinds: list[str] = [outcome.kind for outcome in result.outcomes]
    seeds = max((o.tried for o in result.outcomes if o.kind == "solution"), default=0)
    words = [f"solution under {_counted(seeds, 'seed')}" if seeds else "no solution", "starter"]
    words += [
        _counted(number, word)
        for kind, word in (("mistake", "mistake"), ("variant", "variant"), ("idle", "idle answer"))
        if (number := kinds.count(kind))
    ]
    if (counted := result.strength) is not None:
        words.append(f"{counted.killed} of {_counted(counted.wrong, 'mutant')} killed")
    return ", ".join(words)


def used_line(result: LessonResult) -> str:
    """Return the time and memory used, with the lesson's limits."""
    memory = "memory not measured on this system"
    if result.memory_mb is not None:
        memory = f"{result.memory_mb} of {result.memory_limit_mb} MiB"
    return f"at most {result.seconds:.1f} of {result.seconds_limit:g} s of processor time, {memory}"


def outcome_text(outcome: Outcome) -> str:
    """Return where to look, what does not hold, and under which seeds."""
    name = outcome.name if outcome.name == outcome.kind else f"{outcome.kind} {outcome.name!r}"
    seeds = ""
    if outcome.seeds:
        listed = ", ".join(map(str, outcome.seeds[:10])) + (", …" if outcome.seeds[10:] else "")
        seeds = f" (seed{'s' if outcome.seeds[1:] else ''} {listed})"
    place = f"{outcome.place}: " if outcome.place else ""
    return inert(f"{place}{name}: {outcome.problem}{seeds}")


def offered_line(outcome: Outcome) -> str:
    """Return which failure hints learners who make a mistake are offered."""
    hints = [f"failure hint {n}" if n else "no failure hint" for n in outcome.offered]
    return inert(f"mistake {outcome.name!r}: {' or '.join(hints)}")


def _strength(counted: Strength) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if counted.mutants:
        weak = counted.rate < STRONG
        line = (
            f"{'✗' if weak else '·'} mutants: {counted.rate:.1%} killed, {counted.broke} by an "
            f"exception; {len(counted.survivors)} survived, {counted.equivalent} equivalent"
        )
        if counted.stopped:
            line += f", {counted.stopped} took too long and are not counted"
        if weak:
            line += f"; {STRONG:.0%} must be killed"
        parts.append(indented(line, "red" if weak else "dim"))
    for survivor in counted.survivors:
        parts.append(indented(f"survived: {survivor.mutant}  (line {survivor.line})", "yellow"))
        parts += [indented(inert(f"  {line}"), "dim") for line in survivor.diff.splitlines()[2:]]
    parts += [indented(inert(f"✗ {stale}"), "red") for stale in counted.stale]
    return parts


def _marks(result: LessonResult) -> list[RenderableType]:
    """Return the entries of `equivalent` that answers which passed would need if they were right,
    ready to be pasted."""
    survivors = result.strength.survivors if result.strength is not None else ()
    names = [outcome.name for outcome in result.outcomes if outcome.passed_idly]
    names += [survivor.mutant for survivor in survivors]
    if not names:
        return []
    marks = [{"mutant": inert(name), "reason": "…"} for name in names]
    text = yaml.safe_dump(
        {"equivalent": marks}, sort_keys=False, allow_unicode=True, width=10_000
    ).rstrip()
    intro = "· where such an answer is right, say so in the lesson, with the reason:"
    return [indented(intro, "dim"), *(indented(f"    {line}", "dim") for line in text.split("\n"))]


def summary(results: Sequence[LessonResult], pack: str) -> str:
    """Return the last line: how many lessons hold, and what to run next."""
    bad = [result.lesson for result in results if not result.holds]
    skipped = sum(bool(result.skipped) for result in results)
    tried = _counted(len(results) - skipped, "lesson")
    more = f", {skipped} skipped" if skipped else ""
    if not bad:
        return f"✓ {tried} held{more}"
    return (
        f"✗ {len(bad)} of {tried} did not hold{more}. "
        f"Fix the above, then run: jaxtutor pack test {pack} {' '.join(bad)}"
    )


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


# --- for programs ----------------------------------------------------------------------------


def as_json(results: Sequence[LessonResult], pack: str) -> bytes:
    """Return all results as JSON, with `holds` for the pack, each lesson and each outcome."""
    lessons = []
    for result in results:
        data: dict[str, Any] = msgspec.to_builtins(result)
        data["holds"] = result.holds
        for outcome, original in zip(data["outcomes"], result.outcomes, strict=True):
            outcome["holds"] = original.holds
        if result.strength is not None:
            data["strength"] |= {"rate": result.strength.rate, "holds": result.strength.holds}
        lessons.append(data)
    held = all(result.holds for result in results)
    return msgspec.json.encode({"pack": pack, "holds": held, "lessons": lessons})


def as_junit(results: Sequence[LessonResult], pack: str) -> bytes:
    """Return a test suite for each lesson, with a case for each trial and one for all mutants."""
    root = ElementTree.Element("testsuites", name=inert(pack))
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", name=result.lesson)
        if result.skipped:
            case = _case(suite, pack, result.lesson, "requires", 0.0)
            ElementTree.SubElement(case, "skipped", message=inert(result.skipped))
        for outcome in result.outcomes:
            name = (
                outcome.name if outcome.name == outcome.kind else f"{outcome.kind}: {outcome.name}"
            )
            case = _case(suite, pack, result.lesson, name, outcome.seconds)
            if not outcome.holds:
                kind = "error" if outcome.ours else "failure"
                ElementTree.SubElement(case, kind, message=outcome_text(outcome))
        if (counted := result.strength) is not None:
            case = _case(suite, pack, result.lesson, "mutants", 0.0)
            survived = [f"{one.mutant}\n{one.diff}" for one in counted.survivors]
            if not counted.holds:
                message = f"{counted.rate:.1%} of the mutants are killed; {STRONG:.0%} must be"
                failure = ElementTree.SubElement(
                    case, "failure", message=inert("; ".join([message, *counted.stale]))
                )
                failure.text = inert("\n\n".join(survived))
        suite.set("tests", str(len(suite)))
        counts = {"failure": "failures", "error": "errors", "skipped": "skipped"}
        for kind, count in counts.items():
            suite.set(count, str(len(suite.findall(f"*/{kind}"))))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(
    suite: ElementTree.Element, pack: str, lesson_id: str, name: str, seconds: float
) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase",
        classname=f"{pack}.{lesson_id}", name=inert(name), time=f"{seconds:.3f}",
    )  # fmt: skip
