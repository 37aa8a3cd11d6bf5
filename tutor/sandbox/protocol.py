"""What the main process and a sandbox say to each other.

One conversation: the worker says `Ready`; then every request is answered by exactly one reply
that repeats its case id. Requests hold no expected value, tolerance or label: a worker is asked
what an expression *is*, never whether it is right.
"""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from tutor.report import Protection
from tutor.sandbox.wire import Frame, WireError, describe

MAX_TEXT = 8_000
"""Characters of an exception's message that are sent on."""

CLOSED = 74
"""Exit code of a worker that finds the pipes of the conversation closed (`EX_IOERR`)."""


class Load(Struct, frozen=True, tag="load"):
    """Import this source as the foreign module. What an earlier one has left behind, in JAX's
    configuration say, is put right before."""

    case: str
    source: str
    filename: str


class Observe(Struct, frozen=True, tag="observe"):
    """Run `observe` (or `refer`, beside PyTorch) of the module `inside` on `args` and the
    inputs in the frame's tree (a list of rounds, each a dict by input name)."""

    case: str
    inside: str
    args: dict[str, Any]


class Give(Struct, frozen=True, tag="give"):
    """Compiled programs, in the frame's tree: bytes by key. Only before foreign code comes."""

    case: str


class Collect(Struct, frozen=True, tag="collect"):
    """Answer with the compiled programs that were needed so far, as `Give` would send them. Only
    before a stranger's code comes: what it compiles is not to be trusted."""

    case: str


Request = Load | Observe | Give | Collect


class Ready(Struct, frozen=True, tag="ready"):
    """The libraries are up; foreign code may come."""

    versions: dict[str, str]
    devices: int
    platform: str
    protections: list[Protection]


class Loaded(Struct, frozen=True, tag="loaded"):
    case: str


Seconds = Annotated[float, Meta(ge=0, le=1e6)]


class Answer(Struct, frozen=True, tag="answer"):
    """The observation is in the frame's tree. Seconds spent compiling, and otherwise."""

    case: str
    compile: Seconds
    run: Seconds


class Step(Struct, frozen=True):
    """A frame of a traceback that lies in the foreign module."""

    line: int
    function: str


class Raised(Struct, frozen=True, tag="raised"):
    """Foreign code raised. `code` is one of `tutor.sandbox.faults`; `column` counts from 1."""

    case: str
    code: str
    kind: str
    message: str
    running: str
    steps: list[Step]
    line: int | None = None
    column: int | None = None


class Broken(Struct, frozen=True, tag="broken"):
    """The worker's own code failed."""

    case: str
    message: str


Reply = Ready | Loaded | Answer | Raised | Broken

Message = TypeVar("Message")
_REPLY: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)
_REQUEST: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)


def read_reply(frame: Frame) -> Reply:
    """Raises: WireError: not one of the replies above."""
    return _read(frame, _REPLY)


def read_request(frame: Frame) -> Request:
    """Raises: WireError: not one of the requests above."""
    return _read(frame, _REQUEST)


def _read(frame: Frame, decoder: "msgspec.json.Decoder[Message]") -> Message:
    try:
        return decoder.decode(frame.message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"unexpected message: {describe(error)}") from None
