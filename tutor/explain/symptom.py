"""What went wrong, as rules look at it."""

from msgspec import Struct, field

from tutor.report import Fault
from tutor.sandbox.protocol import Raised


class Symptom(Struct, frozen=True, kw_only=True):
    """What is known of it.

    **Arguments:** `exception`: its class, without the module; `fault`: a code of
    `tutor.sandbox.faults`; `message`: the exception's, or what a check has found; `line`: the
    learner's own line, or what was running; `source`: all of their code; `check`: the kind of the
    check that did not pass; `causes`: what a comparison of arrays suggests, each with its fields.
    """

    exception: str = ""
    fault: str = ""
    message: str = ""
    line: str = ""
    source: str = ""
    check: str = ""
    causes: dict[str, dict[str, str]] = field(default_factory=dict)


def of_exception(raised: Raised, fault: Fault, source: str, check: str = "") -> Symptom:
    """**Arguments:** `fault`: what was made of it."""
    return Symptom(
        exception=raised.kind.rpartition(".")[2],
        fault=fault.code,
        message=raised.message,
        line=fault.frames[-1].source if fault.frames else raised.running,
        source=source,
        check=check,
    )
