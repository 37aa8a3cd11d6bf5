"""Reports: results of runs as plain frozen data that can be converted to JSON and back.

A `Report` is the only result of a run; the terminal output, `--json` and all other formats are pure
functions of it. Numbers that JSON cannot represent (NaN, infinities) are strings.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

Status = Literal["pass", "fail", "error", "skipped", "internal"]
"""Status of a check. `fail`: the answer is wrong. `error`: the learner's code failed to run.
`skipped`: not run, because a check it depends on did not pass. `internal`: a fault of jaxtutor or
the pack, never counted against the learner."""

Verdict = Literal["pass", "fail", "error", "internal"]


class Alternative(Struct, frozen=True):
    """Another mistake that fails in the same way, and code to write instead."""

    what: str
    instead: str


class Explanation(Struct, frozen=True):
    """An explanation of a mistake for PyTorch developers: what happened, why JAX behaves this way,
    code to write instead, and the lesson of the course that teaches it; these three are empty where
    only what the numbers show is known. `id` is the rule's; `likely` marks a guess. `alternatives`
    are other mistakes that fail in the same way; `link` is a page about it."""

    id: str
    what: str
    why: str
    instead: str
    lesson: str
    likely: bool = False
    alternatives: tuple[Alternative, ...] = ()
    link: str = ""

    @property
    def lead(self) -> str:
        """How it begins: it may not be the cause, if it is a guess or there are other mistakes."""
        return "Probably: " if self.likely or self.alternatives else ""


class Called(Struct, frozen=True):
    """What a function of a library says of itself: its name, how to call it, as in `(f, init, xs)`,
    and the first paragraph of its docstring. The last two may be empty."""

    name: str
    signature: str
    about: str


class LibraryFrame(Struct, frozen=True):
    """A line of a library's code in a traceback; `file` is below the folder of packages:
    `flax/nnx/nn/linear.py`."""

    file: str
    line: int
    function: str
    source: str = ""


class Frame(Struct, frozen=True):
    """A line of the learner's code in a traceback, and the part of it that was being computed, if
    that is known. `inside` are the frames of libraries that it called, the innermost last."""

    line: int
    function: str
    source: str = ""
    part: str = ""
    inside: tuple[LibraryFrame, ...] = ()


class Fault(Struct, frozen=True):
    """Why code could not run to completion.

    `code` is stable, for programs; `tutor.sandbox.faults` lists the codes. `message` is a sentence
    for the learner. `detail` is the exception's text beyond `message`, `exception` its class
    without the module. `values` says what names in the innermost line stand for:
    `x float32[3, 2]`. `called` is the library's function whose call raised, if it is known.
    """

    code: str
    message: str
    detail: str = ""
    frames: tuple[Frame, ...] = ()
    line: int | None = None
    column: int | None = None
    running: str = ""
    exception: str = ""
    values: tuple[str, ...] = ()
    explanation: Explanation | None = None
    called: Called | None = None

    @property
    def help(self) -> Called | None:
        """What is shown of the function whose call raised: nothing if an explanation is sure."""
        sure = self.explanation is not None and not self.explanation.lead
        return None if sure else self.called


class Entry(Struct, frozen=True):
    """An element of an array diff; numbers are strings (`%.6g`)."""

    index: tuple[int, ...]
    expected: str
    actual: str
    error: str


class Side(Struct, frozen=True):
    """One side of a comparison: the type of the value at the path."""

    type: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""


class ErrorSlice(Struct, frozen=True):
    """A matrix of an array: the `index` of its leading axes, and for each row a level per cell: `0`
    right, `1` to `4` the size of the error (see `tutor.checks.error_map`), `5` NaN or infinite."""

    index: tuple[int, ...]
    rows: tuple[str, ...]


class ErrorMap(Struct, frozen=True):
    """Where an array is wrong, and how much, in at most 2.5 KB of JSON.

    A cell stands for `step` rows and columns of elements, and has the level of the worst. An array
    of one axis is a single row. Of more matrices than fit, `slices` has the worst, by index.
    """

    step: tuple[int, int]
    slices: tuple[ErrorSlice, ...]


class Branch(Struct, frozen=True):
    """A line about an entry of a pytree: its key, how deep it is, and its shape or what is wrong.
    Entries that are right are folded."""

    depth: int
    name: str
    right: bool
    text: str = ""


MismatchKind = Literal["structure", "type", "shape", "dtype", "value", "nan"]


class Mismatch(Struct, frozen=True):
    """The first difference between an answer and the expected one.

    `path` is the position in the pytree (`""` is the whole answer, `"['w'][0]"` an entry). `where`
    is the index of the largest difference, `first` that of the first element out of tolerance;
    `max_error` and `tolerance` are absolute. `pattern` describes how the numbers differ, if a
    pattern was found; it is then shown instead of `entries`. `errors` is there if an array of
    several elements has wrong ones. `tree` are the lines of the whole answer, if it is a pytree; at
    most 1.5 KB of JSON.
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
    errors: ErrorMap | None = None
    tree: tuple[Branch, ...] = ()


class Timing(Struct, frozen=True):
    """Seconds, for information only. `compile` is tracing, lowering and XLA; `run` the rest of the
    first call; `torch` a warm call of the reference."""

    compile: float = 0.0
    run: float = 0.0
    torch: float | None = None


class Curves(Struct, frozen=True):
    """The losses of a training and those of PyTorch at some of its `steps`, ascending. A loss is
    None if it is NaN or infinite. Both have as many losses as there are steps."""

    steps: tuple[int, ...]
    losses: tuple[float | None, ...]
    reference: tuple[float | None, ...]


class Accuracy(Struct, frozen=True):
    """The share of held-out examples whose classes a training predicts, and the least that the
    check accepts; None if it accepts any."""

    reached: float
    goal: float | None = None


WANTS = "This check expects:"

LOAD = "load"
"""What lessons call the import of the learner's code, where they name a check."""


class CheckResult(Struct, frozen=True):
    """The result of a check. `case` describes its inputs (`"x float32[7, 5]"`); `wants` is the
    author's `why`, which need not be the cause. A fault has its own explanation, a wrong answer's
    is here; `explained` is either. `afterword` is the author's Markdown about the question that the
    learner answered, whether right or wrong. `curves` and `accuracy` are a training's, right or
    wrong. `unanswered`: it is a question to which the file holds no answer."""

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
    afterword: str = ""
    curves: Curves | None = None
    accuracy: Accuracy | None = None
    unanswered: bool = False

    @property
    def text(self) -> str:
        """The message and the author's `why` as one text."""
        if not self.wants:
            return self.message
        stop = "" if self.message.endswith((".", "?", "!")) else "."
        return f"{self.message}{stop} {WANTS} {self.wants}"

    @property
    def whole_text(self) -> str:
        """All text that the learner is shown about the check, except explanations."""
        detail = self.fault.detail if self.fault is not None else ""
        return f"{self.text}\n{detail}"

    @property
    def line(self) -> int:
        """The line of the learner's code to which this points, from 1; 0 if to none."""
        if self.fault is None:
            return 0
        return self.fault.frames[-1].line if self.fault.frames else self.fault.line or 0

    @property
    def explained(self) -> Explanation | None:
        return self.explanation or (self.fault.explanation if self.fault is not None else None)


class Failure(Struct, frozen=True):
    """Where an answer first failed. `names` are those by which a lesson may refer to it: the name
    and the kind of the check, or `load` for the import. `text` is what the learner is shown."""

    names: tuple[str, ...]
    text: str

    def lacks(self, texts: Iterable[str]) -> list[str]:
        """Return those of `texts` that are not in what the learner is shown."""
        return [text for text in texts if text not in self.text]


class Race(Struct, frozen=True):
    """Median seconds of the translation and the PyTorch original on the same inputs: JAX's first
    call under `jit`, which compiles, JAX warm, and PyTorch warm."""

    expression: str
    jax_first: float
    jax: float
    torch: float | None = None


class Timings(Struct, frozen=True):
    """Seconds of wall clock: `start` until the sandbox was ready, `load` to import the learner's
    module, `checks` for all checks, of which `reference` waiting for PyTorch (0 if cached), `total`
    for everything except the race, which follows a pass.

    `processor` counts against the lesson's `limits.seconds`: processor time of the learner's code,
    in the sandbox that used most (wall clock if it cannot be measured)."""

    start: float = 0.0
    load: float = 0.0
    checks: float = 0.0
    reference: float = 0.0
    total: float = 0.0
    race: Race | None = None
    processor: float = 0.0


class Protection(Struct, frozen=True):
    """A layer of isolation between learner's code and machine, and whether it was active."""

    name: str
    active: bool
    detail: str = ""


LookKind = Literal[
    "stack",
    "code",
    "objects",
    "tracing",
    "memory",
    "text",
    "import",
    "modules",
    "patch",
    "evidence",
]

LOOKS: dict[LookKind, str] = {
    "stack": "reads the call stack",
    "code": "reads the code of functions",
    "objects": "searches the interpreter's objects",
    "tracing": "traces the interpreter",
    "memory": "reaches into memory",
    "text": "runs text as code",
    "import": "imports a module that looks into the interpreter",
    "modules": "reaches into other modules",
    "patch": "changes other modules",
    "evidence": "hides how it computes its answer",
}
"""What code does that looks at the interpreter."""


class Look(Struct, frozen=True, order=True):
    """A line of the learner's code, from 1, that looks at the interpreter instead of at arrays;
    0 if the line is unknown. `name` is what it uses, such as `sys._getframe`. It says nothing about
    the answer, but code that does this can tell how it is checked, so a grader should read it."""

    line: int
    kind: LookKind
    name: str


def looks_text(looks: Iterable[Look]) -> str:
    """Return what code looks at, and where: "reads the call stack at lines 12, 14 (`f_back`)"."""
    by_kind: dict[LookKind, list[Look]] = {}
    for look in looks:
        by_kind.setdefault(look.kind, []).append(look)
    parts = []
    for kind, same in by_kind.items():
        lines = ", ".join(str(line) for line in sorted({look.line for look in same}) if line)
        where = f" at line{'s' if ',' in lines else ''} {lines}" if lines else ""
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(look.name for look in same))
        parts.append(f"{LOOKS[kind]}{where} ({names})")
    return "; ".join(parts)


class Report(Struct, frozen=True):
    """The result of a run. `looks` are ordered by line."""

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
    looks: tuple[Look, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    @property
    def skipped(self) -> str:
        """What the lesson needs that is not installed, so that it was skipped; empty otherwise."""
        skips = self.fault is not None and self.fault.code == SKIPPED
        return self.fault.message if self.fault is not None and skips else ""

    @property
    def fault_codes(self) -> set[str]:
        """The codes of all faults."""
        faults = [self.fault, *(check.fault for check in self.checks)]
        return {fault.code for fault in faults if fault is not None}

    @property
    def first_line(self) -> int:
        """The first line of the learner's code to which a failure points, from 1; 0 if none is
        known."""
        of_load = [self.fault.line or 0] if self.fault is not None else []
        return next((line for line in [*of_load, *(one.line for one in self.checks)] if line), 0)

    @property
    def first_failure(self) -> Failure | None:
        """Where the answer first failed, open questions last; None if it passed, or could not be
        judged."""
        if self.verdict in ("pass", "internal"):
            return None
        if self.fault is not None:
            return Failure((LOAD,), f"{self.fault.message}\n{self.fault.detail}")
        # Other checks are skipped only after one of these.
        wrong = [check for check in self.checks if check.status in ("fail", "error")]
        first = min(wrong, key=lambda check: check.unanswered, default=None)
        return Failure((first.name, first.kind), first.whole_text) if first is not None else None

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @staticmethod
    def from_json(data: bytes | str) -> "Report":
        """Read a report from JSON.

        Raises:
            msgspec.DecodeError: invalid JSON, or not a report.
        """
        return msgspec.json.decode(data, type=Report)


def verdict_of(checks: tuple[CheckResult, ...], fault: Fault | None) -> Verdict:
    """Return the verdict. An internal fault takes precedence over the learner's, because results
    may be wrong; without any check there is no pass."""
    statuses = {check.status for check in checks}
    if "internal" in statuses or (fault is not None and fault.code in INTERNAL):
        return "internal"
    if fault is not None or "error" in statuses:
        return "error"
    if "fail" in statuses or "skipped" in statuses or not statuses:
        return "fail"
    return "pass"


def to_answer(checks: Sequence[CheckResult]) -> str:
    """Return which questions are still to be answered, if nothing else is missing from a pass;
    empty otherwise."""
    statuses = [check.status for check in checks]
    open_questions = [check.name for check in checks if check.unanswered]
    if not open_questions or statuses.count("pass") + len(open_questions) < len(statuses):
        return ""
    noun = "the question" if len(open_questions) == 1 else "the questions"
    too = ", too" if "pass" in statuses else ""
    return f"answer {noun}{too}: {', '.join(open_questions)}"


SKIPPED = "missing-requirement"
"""Code of the fault of a lesson that needs a package which is not installed."""

INTERNAL = frozenset({"internal", "broken-pack", "no-sandbox", "no-torch", "busy-machine", SKIPPED})
"""Codes of faults of jaxtutor, the pack or the machine, never counted against the learner."""
