"""What a run found, as plain frozen data that survives JSON both ways.

A `Report` is the only thing a run produces. The terminal, `--json` and every later format are
pure functions of it. Numbers that JSON cannot hold (NaN, infinities) appear as text.
"""

from typing import Literal

import msgspec
from msgspec import Struct

Status = Literal["pass", "fail", "error", "skipped", "internal"]
"""Of one check. `fail`: the answer is wrong. `error`: the learner's code broke. `skipped`: not
run, because something it stands on did not pass. `internal`: jaxtutor or the pack broke; never
counted against the learner."""

Verdict = Literal["pass", "fail", "error", "internal"]


class Explanation(Struct, frozen=True):
    """What went wrong, to somebody who thinks in PyTorch: what happened, why JAX does it so, code
    to write instead, and the lesson (of the course) that teaches it. `id` is that of the rule;
    `likely` where it is a guess."""

    id: str
    what: str
    why: str
    instead: str
    lesson: str
    likely: bool = False


class Frame(Struct, frozen=True):
    """One line of the learner's own code on the way to an exception."""

    line: int
    function: str
    source: str = ""


class Fault(Struct, frozen=True):
    """Why something could not be run to its end.

    `code` is stable and meant for programs; the codes are listed in `tutor.sandbox.faults`.
    `message` is a sentence for the learner. `detail` is the exception's own text, as far as it
    says more than `message`; `exception` is its class, without the module.
    """

    code: str
    message: str
    detail: str = ""
    frames: tuple[Frame, ...] = ()
    line: int | None = None
    column: int | None = None
    running: str = ""
    exception: str = ""
    explanation: Explanation | None = None


class Entry(Struct, frozen=True):
    """One element of an array diff; numbers as text (`%.6g`)."""

    index: tuple[int, ...]
    expected: str
    actual: str
    error: str


class Side(Struct, frozen=True):
    """One side of a comparison: what kind of thing stood at the path."""

    type: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""


MismatchKind = Literal["structure", "type", "shape", "dtype", "value", "nan"]


class Mismatch(Struct, frozen=True):
    """The first place where an answer differs from what was expected.

    `path` leads into the pytree (`""` is the whole answer, `"['w'][0]"` an entry of it).
    `where` is the index of the largest difference, `first` that of the first element out of
    tolerance; `max_error` and `tolerance` are absolute. `pattern` says in a few words how the
    numbers differ, where that can be said, and is worth more than the numbers then.
    """

    kind: MismatchKind
    path: str
    expected: Side
    actual: Side
    max_error: float | None = None
    tolerance: float | None = None
    where: tuple[int, ...] | None = None
    first: tuple[int, ...] | None = None
    wrong: int = 0
    total: int = 0
    entries: tuple[Entry, ...] = ()
    pattern: str = ""


class Timing(Struct, frozen=True):
    """Seconds. `compile` is tracing, lowering and XLA; `run` is the rest of the first call;
    `torch` is the reference doing the same work once warm. All of it is advisory."""

    compile: float = 0.0
    run: float = 0.0
    torch: float | None = None


WANTS = "This check expects:"


class CheckResult(Struct, frozen=True):
    """What one check found. `case` says which inputs it was (`"x float32[7, 5]"`); `wants` is what
    the author says of the check, which need not be what went wrong. That of a fault is explained
    there, that of a wrong answer here; `explained` is either."""

    name: str
    kind: str
    status: Status
    message: str = ""
    mismatch: Mismatch | None = None
    fault: Fault | None = None
    case: str = ""
    notes: tuple[str, ...] = ()
    timing: Timing = Timing()
    explanation: Explanation | None = None
    wants: str = ""

    @property
    def text(self) -> str:
        """What was found and what the check wants, as one text."""
        if not self.wants:
            return self.message
        stop = "" if self.message.endswith((".", "?", "!")) else "."
        return f"{self.message}{stop} {WANTS} {self.wants}"

    @property
    def explained(self) -> Explanation | None:
        return self.explanation or (self.fault.explanation if self.fault is not None else None)


class Race(Struct, frozen=True):
    """The learner's translation and the PyTorch original on the same inputs, in seconds:
    JAX's first call under `jit` (it compiles), JAX warm, PyTorch warm. Medians."""

    expression: str
    jax_first: float
    jax: float
    torch: float | None = None


class Timings(Struct, frozen=True):
    """Seconds of wall clock: `start` until the sandbox could take code, `load` to import the
    learner's module, `checks` for all checks, `reference` of these waiting for PyTorch (0 if its
    answers were remembered), `total` for everything but the race, which follows a pass.

    `processor` is what counts against the lesson's `limits.seconds`: seconds of processor time of
    the learner's code, in the sandbox that used most (where it cannot be measured, wall clock)."""

    start: float = 0.0
    load: float = 0.0
    checks: float = 0.0
    reference: float = 0.0
    total: float = 0.0
    race: Race | None = None
    processor: float = 0.0


class Protection(Struct, frozen=True):
    """One layer between the learner's code and the machine, and whether it was on."""

    name: str
    active: bool
    detail: str = ""


class Report(Struct, frozen=True):
    """Everything one run found."""

    lesson: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]
    stdout: str = ""
    stderr: str = ""
    fault: Fault | None = None
    timings: Timings = Timings()
    versions: dict[str, str] = {}
    seed: int = 0
    devices: str = ""
    isolation: tuple[Protection, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @staticmethod
    def from_json(data: bytes | str) -> "Report":
        """Read a report back.

        Raises:
            msgspec.DecodeError: not JSON, or not a report.
        """
        return msgspec.json.decode(data, type=Report)


def verdict_of(checks: tuple[CheckResult, ...], fault: Fault | None) -> Verdict:
    """The verdict that follows from the results. Our own fault outweighs the learner's, for a
    verdict that may be wrong is no verdict; nothing run at all is never a pass."""
    statuses = {check.status for check in checks}
    if "internal" in statuses or (fault is not None and fault.code in INTERNAL):
        return "internal"
    if fault is not None or "error" in statuses:
        return "error"
    if "fail" in statuses or "skipped" in statuses or not statuses:
        return "fail"
    return "pass"


INTERNAL = frozenset({"internal", "broken-pack", "no-sandbox", "busy-machine"})
"""Codes of faults that are ours, the pack's or the machine's. None of them counts against the
learner."""
