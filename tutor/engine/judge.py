"""From a sandbox's reply and PyTorch's value to the result of a check. Nothing is run here."""

import logging
import re

import msgspec
from msgspec import Struct

from tutor.check import Case, Check, Finding
from tutor.engine.plan import configuration_of, used_inputs
from tutor.engine.references import Reference
from tutor.engine.sandbox_requests import shown_code
from tutor.engine.second_draw import may_be_rounding
from tutor.engine.submission import Observation
from tutor.explain import explain, of_fault, of_finding
from tutor.expressions import result_names
from tutor.foreign.plain_text import cut, inert
from tutor.lesson import Lesson
from tutor.report import CheckResult, Explanation, Fault, Status
from tutor.sandbox import exceptions, faults
from tutor.sandbox.protocol import Answer, Raised
from tutor.tree import ABSENT, Tree, TreeError, brief

_logger = logging.getLogger(__name__)


class Judged(Struct, frozen=True):
    """The result of one case, and whether it fails by so little that rounding may be the cause.
    Of a pass, `unseen` and `evidence`: see `Check`."""

    result: CheckResult
    may_be_rounding: bool = False
    unseen: bool = False
    evidence: Tree = ABSENT


def judge(
    lesson: Lesson,
    code: str,
    observation: Observation,
    reference: Reference | None,
) -> Judged:
    """Judge one case.

    **Arguments:** `observation`: holds an answer (see `unanswered`); `reference`: PyTorch's value,
    if the check asks for one.

    **Returns:** the result without its timing: a pass, with the check's note if it has one; or
    what is wrong.
    """
    check, case = observation.check, observation.case
    try:
        expected = reference.tree if reference is not None else observation.ahead
        finding = check.judge(observation.tree, expected, case)
        note = check.note(observation.tree, case) if finding is None else ""
        afterword = check.afterword(observation.tree)
        curves = check.curves(observation.tree, expected)
        accuracy = check.scored(observation.tree, case)
        unseen = finding is None and check.unseen(observation.tree, case)
        evidence = check.evidence_of(observation.tree)
    except TreeError as error:
        fault = faults.malformed(str(error), shown_code(check))
        return Judged(faulty(check, fault, shown_inputs(lesson, check, case)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the learner did not cause it
        what = f"judging {check.title}: {type(error).__name__}: {error}"
        return Judged(faulty(check, Fault("internal", what)))
    if finding is None:
        notes = (note,) if note else ()
        passed = CheckResult(
            check.title,
            check.kind,
            "pass",
            notes=notes,
            afterword=afterword,
            curves=curves,
            accuracy=accuracy,
        )
        return Judged(passed, unseen=unseen, evidence=evidence)
    finding = _named(lesson, check, finding)
    failed = CheckResult(
        check.title,
        check.kind,
        "fail",
        inert(finding.message),  # it quotes what the learner's process said
        finding.mismatch,
        case=shown_inputs(lesson, check, case),
        notes=finding.notes,
        wants="" if afterword else check.why,
        afterword=afterword,
        curves=curves,
        accuracy=accuracy,
        explanation=_explanation(finding, lesson, check, case, code),
        unanswered=finding.code == "unanswered",
    )
    return Judged(failed, may_be_rounding(finding))


def unanswered(lesson: Lesson, code: str, observation: Observation) -> CheckResult | None:
    """Return the result of a case whose reply holds no value to judge; None if it does."""
    check, reply = observation.check, observation.reply
    if isinstance(reply, Answer):
        return None
    inputs = shown_inputs(lesson, check, observation.case)
    if isinstance(reply, Raised):
        fault = explained(exceptions.from_raised(reply, code), code, check)
        return faulty(check, fault, inputs)
    return faulty(check, faults.unreadable(reply, shown_code(check)), inputs)


def faulty(check: Check, fault: Fault, case: str = "") -> CheckResult:
    """Return the result of a check that a fault kept from being judged."""
    status: Status = "internal" if fault.code in faults.INTERNAL else "error"
    wants = check.why if status == "error" else ""
    return CheckResult(
        check.title, check.kind, status, fault.message, fault=fault, case=case, wants=wants
    )


def skipped(check: Check, why: str) -> CheckResult:
    """Return the result of a check that was not run."""
    return CheckResult(check.title, check.kind, "skipped", why)


def explained(fault: Fault, code: str, check: Check | None = None) -> Fault:
    """Return the fault, with an explanation if it is the learner's and a rule fits, and with what
    the functions need in which it arose."""
    if fault.code in (*faults.INTERNAL, "not-written"):
        return fault
    try:
        explanation = explain(of_fault(fault, code, check.kind if check is not None else ""))
    except Exception as error:  # a verdict matters more than its explanation
        _logger.error("explaining a fault failed", exc_info=error)
        return fault
    return msgspec.structs.replace(fault, explanation=explanation)


def shown_inputs(lesson: Lesson, check: Check, case: Case) -> str:
    """Return the inputs of a case in a line, as far as they help the learner."""
    names = used_inputs(check, {**lesson.inputs, **check.inputs})
    shown = [f"{name} {brief(tree)}" for name, tree in case.inputs.items() if name in names]
    return cut(", ".join(shown), 300)


def _explanation(
    finding: Finding, lesson: Lesson, check: Check, case: Case, code: str
) -> Explanation | None:
    devices = configuration_of(lesson, check).devices
    try:
        return explain(of_finding(finding, check, case, code, devices=devices))
    except Exception as error:  # a verdict matters more than its explanation
        _logger.error("explaining a wrong answer failed", exc_info=error)
        return None


def _named(lesson: Lesson, check: Check, finding: Finding) -> Finding:
    """Return the finding with parts of a result named as in the lesson: `loss` for `[1]`."""
    path = finding.mismatch.path if finding.mismatch is not None else ""
    index = re.match(r"\[(\d+)\]", path)
    if index is None or not finding.message.startswith(path):
        return finding
    names = result_names(check.expression, lesson.starter, lesson.torch)
    if int(index[1]) >= len(names):
        return finding
    message = f"{names[int(index[1])]} ({path}){finding.message.removeprefix(path)}"
    return msgspec.structs.replace(finding, message=message)
