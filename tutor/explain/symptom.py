"""Symptoms: failures in the form that rules match."""

import re

from msgspec import Struct, field

from tutor.check import Case, Check, Finding
from tutor.explain.bare_code import bare
from tutor.explain.reach import reachable
from tutor.explain.statement import statement_at
from tutor.expressions import texts
from tutor.foreign.source_lines import source_lines
from tutor.report import Fault, Frame

_QUESTIONS = re.compile(r"^#.*\n?", re.MULTILINE)
"""Comments outside of functions: a lesson's questions quote code that is not the learner's."""

_SANDBOX = re.compile(r'^ *File "[^"\n]*/tutor/sandbox/[^"\n]*", line \d+, in \w+\n', re.MULTILINE)
"""The sandbox's frames, in a message that quotes a traceback."""

UNKNOWN = "?"
"""The exception of a message that was pasted without it."""


class Symptom(Struct, frozen=True, kw_only=True):
    """A failure.

    **Arguments:** `exception`: its class, without the module, or `UNKNOWN`; `module`: that module,
    as far as it was shown; `finding`: the code of what a check found; `fault`: a code of
    `tutor.sandbox.faults`; `message`: the exception's; `line`: the learner's line,
    or the running expression; `source`: the relevant part of their code; `around`: code that a
    pasted text shows around the learner's lines; `check`: the kind of the failed check; `causes`:
    possible causes from comparing arrays, each with its fields; `through`: the learner's
    frames and those of libraries, with files and code; `places`: file and number of the learner's
    lines, the innermost last, where they are known; `function`: the one that the innermost line is
    in; `names_jax`: whether the text that the exception was found in names JAX, Flax or Optax.
    """

    exception: str = ""
    finding: str = ""
    module: str = ""
    fault: str = ""
    message: str = ""
    line: str = ""
    source: str = ""
    around: str = ""
    check: str = ""
    causes: dict[str, dict[str, str]] = field(default_factory=dict)
    through: str = ""
    places: tuple[tuple[str, int], ...] = ()
    function: str = ""
    names_jax: bool = True


def of_fault(fault: Fault, source: str, check: str = "") -> Symptom:
    """Return the symptom of code that raised or was stopped."""
    line = fault.running
    if fault.frames:
        line, lines = fault.frames[-1].source, source_lines(source)
        number = fault.frames[-1].line
        if 0 < number <= len(lines) and lines[number - 1].strip() == line:
            line = statement_at(lines, number)
    return Symptom(
        exception=fault.exception,
        fault=fault.code,
        # Without an exception, the message is ours.
        message=_SANDBOX.sub("", _message(fault)) if fault.exception else "",
        line=line,
        source=source,
        check=check,
        through="\n".join(map(_through, fault.frames)),
        function=fault.frames[-1].function if fault.frames else "",
    )


def _through(frame: Frame) -> str:
    """Return a frame, and those of libraries below it, as a traceback shows them."""
    lines = [f"in {frame.function}\n{bare(frame.source)}"]
    lines += [
        f'File "{one.file}", line {one.line}, in {one.function}\n{one.source}'
        for one in frame.inside
    ]
    return "\n".join(lines)


def of_finding(
    finding: Finding,
    check: Check,
    case: Case,
    source: str,
    *,
    devices: int,
) -> Symptom:
    """Return the symptom of a wrong answer. Takes a few times as long as comparing it did."""
    asked = list(texts(check.observe()))
    source = reachable(_QUESTIONS.sub("", source), asked)
    causes = {}
    if finding.mismatch is not None and finding.compared is not None:
        from tutor.explain.causes import causes_of
        from tutor.explain.causes.comparison import comparison

        words = {word for text in asked for word in re.findall(r"\w+", text)}
        found = comparison(
            finding.mismatch,
            *finding.compared,
            tolerance=getattr(check, "tol", None),
            # A lesson's other inputs fit wrong numbers only by chance.
            inputs={name: tree for name, tree in case.inputs.items() if name in words},
            devices=devices,
            source=source,
        )
        causes = causes_of(found) if found is not None else {}
    return Symptom(
        finding=finding.code or "",
        source=source,
        check=check.kind,
        causes=causes,
    )


def _message(fault: Fault) -> str:
    """Return the exception's own message, undoing `tutor.sandbox.exceptions.from_raised`."""
    if fault.detail:
        return fault.detail
    prefix = f"{fault.exception}: "
    text = fault.message.removeprefix(prefix)
    if fault.code == "unusable-result":
        text = fault.message.partition(prefix)[2]
    if fault.frames:
        text = text.removesuffix(f" (line {fault.line}: `{fault.frames[-1].source}`)")
    return text
