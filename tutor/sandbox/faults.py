"""The ways a run can break, told apart: a stable code and a sentence for each.

The sentences are for the learner (or, for `internal`, `broken-pack` and `no-sandbox`, for
whoever runs jaxtutor). Nothing here decides a verdict; it names what already happened.
"""

import re
import signal

from tutor.report import INTERNAL, Fault, Frame
from tutor.sandbox.output import inert
from tutor.sandbox.protocol import Broken, Raised

__all__ = ["INTERNAL", "SENTENCES"]

SENTENCES = {
    "syntax-error": "your code is not valid Python",
    "import-error": "an import in your code failed",
    "missing-name": "your code does not define a name that the lesson asks for",
    "wrong-signature": "a function could not be called the way the lesson says",
    "not-written": "this part is still to be written",
    "exception": "your code raised an exception",
    "timeout": "your code took too long",
    "out-of-memory": "your code ran out of memory",
    "killed": "your code was killed by a signal",
    "exited": "your code ended the process",
    "too-much-output": "your code printed too much",
    "too-many-threads": "your code started too many threads",
    "too-much-disk": "your code wrote too much",
    "malformed": "the answer could not be read",
    "rendezvous": "the devices waited for each other for ever",
    "bad-source": "the file could not be read as Python source",
    "broken-pack": "the lesson itself is broken",
    "no-sandbox": "the sandbox could not be started",
    "internal": "jaxtutor itself failed",
}
"""Every code, with what it means in general; a `Fault` says it more exactly."""

_SIGNALS = {
    "SIGSEGV": "it touched memory that is not its own (a crash in native code)",
    "SIGABRT": "a library gave up (abort)",
    "SIGKILL": "something killed it outright",
    "SIGFPE": "an arithmetic fault in native code",
    "SIGBUS": "it touched memory that does not exist",
    "SIGXCPU": "it used up its processor time",
    "SIGXFSZ": "it wrote a file that is too large",
}


def timed_out(seconds: float, running: str) -> Fault:
    where = f" in {running}" if running else ""
    return Fault(
        "timeout",
        f"took longer than {seconds:g} s{where} and was stopped. "
        "Is there a loop that never ends, perhaps inside lax.while_loop, or something that waits?",
        running=running,
    )


def out_of_memory(limit_mb: int, running: str, detail: str = "") -> Fault:
    where = f" in {running}" if running else ""
    return Fault(
        "out-of-memory",
        f"ran out of memory{where} (limit {limit_mb} MiB)",
        detail=detail,
        running=running,
    )


def lost(running: str) -> Fault:
    where = f" in {running}" if running else ""
    return Fault(
        "internal",
        f"the sandbox ended{where} because the process that had started it was killed; run again",
        running=running,
    )


def too_much_output(limit_kb: int, running: str) -> Fault:
    return Fault(
        "too-much-output",
        f"printed more than {limit_kb} KiB and was stopped; what it printed first and last is kept",
        running=running,
    )


def too_many_threads(limit: int, running: str) -> Fault:
    return Fault(
        "too-many-threads",
        f"started more than {limit} threads and was stopped",
        running=running,
    )


def too_much_disk(limit_mb: int, limit_files: int, running: str) -> Fault:
    return Fault(
        "too-much-disk",
        f"wrote more than {limit_mb} MiB or {limit_files} files and was stopped",
        running=running,
    )


def ended(returncode: int, running: str, stderr: str) -> Fault:
    """The process is gone though nobody asked it to end.

    **Arguments:** `returncode` as `subprocess` gives it: negative is a signal.
    """
    where = f" while running {running}" if running else ""
    if returncode >= 0:
        return Fault(
            "exited",
            f"your code ended the process{where} (exit code {returncode}): "
            "take out the call of exit, quit or os._exit",
            running=running,
        )
    if "rendezvous.cc" in stderr:
        return Fault(
            "rendezvous",
            f"the devices waited for each other for ever{where} and XLA gave up: "
            "a collective (pmean, psum) was not reached by every device, or too many steps were "
            "in flight; read the loss (float(loss)) once per step",
            running=running,
        )
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    what = _SIGNALS.get(name, "it was stopped from outside")
    return Fault("killed", f"your code was killed by {name}{where}: {what}", running=running)


def malformed(what: str, running: str) -> Fault:
    return Fault("malformed", f"the answer could not be read: {inert(what)}", running=running)


def unsaid(reply: object, running: str) -> Fault:
    """The worker says that it could not answer, after foreign code was let into it.

    It may be right, and the fault ours; but it may as well be made to say so, and then nobody
    could ever be told that an answer is wrong. So it is no answer, like any other.
    """
    what = inert(reply.message) if isinstance(reply, Broken) else "an unexpected reply"
    return Fault(
        "malformed",
        f"what {running} gave could not be read: {what[:300]}. If it does nothing unusual, the "
        "fault is jaxtutor's: please report it",
        running=running,
    )


def from_raised(raised: Raised, source: str) -> Fault:
    """An exception in foreign code, told with its own lines of `source`."""
    lines = source.splitlines()

    def line(number: int | None) -> str:
        return lines[number - 1].strip() if number and 0 < number <= len(lines) else ""

    frames = tuple(Frame(step.line, inert(step.function), line(step.line)) for step in raised.steps)
    kind = inert(raised.kind).rpartition(".")[2]
    message = inert(raised.message).strip()
    code = raised.code if raised.code in SENTENCES else "exception"
    place = f" (line {raised.line}: `{line(raised.line)}`)" if line(raised.line) else ""
    first = headline(message)
    match code:
        case "syntax-error":
            column = f", column {raised.column}" if raised.column else ""
            text = f"line {raised.line}{column}: {kind}: {first}"
        case "missing-name":
            name = _quoted(message)
            text = f"your code does not define `{name}`" if name else first
        case "wrong-signature":
            text = f"calling `{inert(raised.running)}`: {first}"
        case "not-written":
            function = frames[-1].function if frames else "this part"
            text = f"`{function}` is still to be written: it raises NotImplementedError{place}"
        case "exited":
            text = f"your code ended the process ({kind}){place}: take out the call of exit or quit"
        case "out-of-memory":
            text = f"ran out of memory in `{inert(raised.running)}`{first and f': {first}'}{place}"
        case "malformed":
            text = first
        case _:
            text = f"{kind}: {first}{place}" if first else f"{kind}{place}"
    return Fault(
        code,
        text,
        detail=message if message != first else "",
        frames=frames,
        line=raised.line,
        column=raised.column,
        running=inert(raised.running),
        exception=kind,
    )


_NOISE = re.compile(
    r"\(?See (also )?https?://\S+|: https?://\S+|\(https?://\S+\)|\(/\S+\.py\)"
    r"|The error occurred while tracing the function .*? for \w+\. "
)
"""What an exception's message says to somebody who is not in the middle of a lesson: addresses
of pages, paths of installed files, names of our own functions. All of it stays in `detail`."""


def headline(message: str, limit: int = 400) -> str:
    """The first paragraph of an exception's message, on one line."""
    first = " ".join(_NOISE.sub("", message.split("\n\n", 1)[0]).split())
    return first if len(first) <= limit else first[: limit - 1] + "…"


def _quoted(message: str) -> str:
    parts = message.split("'")
    return parts[1] if len(parts) > 2 else ""
