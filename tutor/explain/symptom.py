"""What went wrong, as rules look at it."""

from collections.abc import Sequence

from msgspec import Struct, field

from tutor.check import Case, Check, Finding
from tutor.explain.reach import reachable
from tutor.expressions import texts
from tutor.lesson import Lesson
from tutor.report import Fault
from tutor.tree import Tree


class Symptom(Struct, frozen=True, kw_only=True):
    """What is known of it.

    **Arguments:** `exception`: its class, without the module; `fault`: a code of
    `tutor.sandbox.faults`; `message`: the exception's, or what a check has found; `line`: the
    learner's own line, or what was running; `source`: their code, as far as it counts; `torch`: the
    lesson's PyTorch, as far as it counts; `check`: the kind of the check that did not pass;
    `asked`: its name, its expressions and its `why`; `causes`: what a comparison of arrays
    suggests, each with its fields.
    """

    exception: str = ""
    fault: str = ""
    message: str = ""
    line: str = ""
    source: str = ""
    torch: str = ""
    check: str = ""
    asked: str = ""
    causes: dict[str, dict[str, str]] = field(default_factory=dict)


def of_fault(fault: Fault, source: str, check: str = "") -> Symptom:
    """The symptom of code that broke."""
    return Symptom(
        exception=fault.exception,
        fault=fault.code,
        message=_message(fault),
        line=fault.frames[-1].source if fault.frames else fault.running,
        source=source,
        check=check,
    )


def of_finding(
    finding: Finding,
    lesson: Lesson,
    check: Check,
    case: Case,
    source: str,
    *,
    devices: int,
    earlier: Sequence[Tree] = (),
) -> Symptom:
    """The symptom of a wrong answer. Takes as long as comparing it has taken, a few times over.

    **Arguments:** `devices`: on how many it was made; `earlier`: what was expected, and came, in
    the cases before.
    """
    asked, referred = list(texts(check.observe())), list(texts(check.refer() or {}))
    source = reachable(source, asked)
    causes = {}
    if finding.mismatch is not None and finding.compared is not None:
        from tutor.explain.causes import causes_of
        from tutor.explain.causes.comparison import comparison

        found = comparison(
            finding.mismatch,
            *finding.compared,
            tolerance=getattr(check, "tol", None),
            inputs=case.inputs,
            sizes=case.sizes,
            devices=devices,
            earlier=earlier,
            source=source,
        )
        causes = causes_of(found) if found is not None else {}
    return Symptom(
        message=finding.message,
        source=source,
        torch=reachable(lesson.reference_code, referred, otherwise=""),
        check=check.kind,
        asked="\n".join([check.name, *asked, *referred, check.why]),
        causes=causes,
    )


def _message(fault: Fault) -> str:
    """The exception's own: what `tutor.sandbox.exceptions.from_raised` has made a sentence of."""
    if fault.detail:
        return fault.detail
    text = fault.message.removeprefix(f"{fault.exception}: ")
    if fault.frames:
        text = text.removesuffix(f" (line {fault.line}: `{fault.frames[-1].source}`)")
    return text
