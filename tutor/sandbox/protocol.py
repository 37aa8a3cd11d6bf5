"""Messages between the main process and a worker.

The worker sends `Ready`, and then exactly one reply per request, with the request's case ID. While
it trains, `Progress` may come before the reply, and `Noticed` may come at any time.
Requests hold no expected value, tolerance or label: they ask for the value of an expression, never
whether it is right.
"""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from tutor.report import Called, LibraryFrame, LookKind, Protection
from tutor.sandbox.wire import Frame, WireError, describe

MAX_PROGRESS, MAX_PROGRESS_BYTES = 10_000, 500
"""Messages of progress that a worker may send before a reply, and the size of each."""

MAX_EXCEPTION_TEXT = 8_000
"""Characters of an exception's message that a worker sends. What a sandbox says may be longer than
it should be: the main process cuts it to these limits, too."""

MAX_NAME, MAX_RUNNING, MAX_STEPS = 200, 500, 20
"""Characters of a class's or a function's name, and of the running expression; and frames."""

MAX_INSIDE, MAX_CODE = 8, 120
"""Frames of libraries below each of the module, and characters of each of their texts."""

MAX_HELP = 500
"""Characters of a function's name, its signature, and its docstring's first paragraph."""

MAX_NOTICES, MAX_NOTICE_BYTES = 40, 500
"""Notices of a worker, and the size of each."""

CLOSED = 74
"""Exit code of a worker whose pipes were closed (`EX_IOERR`)."""


HARNESS = "<jax_harness>"
"""File name of a lesson's `jax_harness` in tracebacks."""


class Load(Struct, frozen=True, tag="load"):
    """Import this source as the module of user code, after undoing what an earlier one changed,
    such as JAX's configuration.

    `harness`: import it as the lesson's own functions for expressions instead. That comes first, so
    that its reply cannot be a submission's. `inside`: modules that will be asked, to be imported
    before.
    """

    case: str
    source: str
    filename: str
    harness: bool = False
    inside: list[str] = []


class Observe(Struct, frozen=True, tag="observe"):
    """Run `observe` (or `refer`, with PyTorch) of the module `inside` on `args` and the input sets
    in the frame's tree: a list of dicts by input name."""

    case: str
    inside: str
    args: dict[str, Any]


class Give(Struct, frozen=True, tag="give"):
    """Accept the compiled programs in the frame's tree: bytes by key. Sent only before `Load`."""

    case: str


class Collect(Struct, frozen=True, tag="collect"):
    """Return the compiled programs that were needed since the last time, in the form of `Give`.

    `unload`: forget the module that was imported. Once a submission was loaded, its programs cannot
    be trusted: only its author's own runs may get them (`tutor.pool.kept`)."""

    case: str
    unload: bool = True


Request = Load | Observe | Give | Collect


class Ready(Struct, frozen=True, tag="ready"):
    """The libraries are imported, and the worker accepts requests."""

    versions: dict[str, str]
    devices: int
    platform: str
    protections: list[Protection]


class Loaded(Struct, frozen=True, tag="loaded"):
    """The module has been imported."""

    case: str


Seconds = Annotated[float, Meta(ge=0, le=1e6)]


class Answer(Struct, frozen=True, tag="answer"):
    """The observation is in the frame's tree. `compile` and `run` are seconds."""

    case: str
    compile: Seconds
    run: Seconds


class Step(Struct, frozen=True):
    """A traceback's frame in the module of user code. `start` and `end` are the place of what was
    being computed, in bytes of the line; both 0 if it is not known or in several lines. `inside`
    are the frames of libraries that it called, before the module's next."""

    line: int
    function: str
    start: int = 0
    end: int = 0
    inside: list[LibraryFrame] = []


class Raised(Struct, frozen=True, tag="raised"):
    """User code raised. `code` is one of `tutor.sandbox.faults`; `column` counts from 1; `values`
    says what names in the line stand for; `called` is the library's function whose call raised."""

    case: str
    code: str
    kind: str
    message: str
    running: str
    steps: list[Step]
    line: int | None = None
    column: int | None = None
    values: list[tuple[str, str]] = []
    called: Called | None = None


class Progress(Struct, frozen=True, tag="progress"):
    """A training has reached this step, counted from 0. Only shown, never judged."""

    case: str
    step: Annotated[int, Meta(ge=0, le=1_000_000_000)]
    loss: float | None  # None if it is NaN or infinite, which JSON cannot hold


class Noticed(Struct, frozen=True, tag="noticed"):
    """The submission looked at the interpreter: see `tutor.report.Look`."""

    kind: LookKind
    name: Annotated[str, Meta(max_length=60)]
    line: Annotated[int, Meta(ge=0, le=1_000_000_000)]


class Broken(Struct, frozen=True, tag="broken"):
    """The worker's own code failed."""

    case: str
    message: str


Reply = Ready | Loaded | Answer | Raised | Broken | Progress

Message = TypeVar("Message")
_REPLY: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)
_NOTICE: msgspec.json.Decoder[Noticed] = msgspec.json.Decoder(Noticed)
_REQUEST: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)


def read_reply(frame: Frame) -> Reply:
    """Decode a reply. Raises: WireError: it is not one of the replies above."""
    return _read(frame, _REPLY)


def read_notice(frame: Frame) -> Noticed | None:
    """Return a notice; None if the frame holds something else."""
    if len(frame.message) > MAX_NOTICE_BYTES or frame.tree is not None:
        return None
    try:
        return _read(frame, _NOTICE)
    except WireError:
        return None


def read_request(frame: Frame) -> Request:
    """Decode a request. Raises: WireError: it is not one of the requests above."""
    return _read(frame, _REQUEST)


def _read(frame: Frame, decoder: "msgspec.json.Decoder[Message]") -> Message:
    try:
        return decoder.decode(frame.message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"unexpected message: {describe(error)}") from None
