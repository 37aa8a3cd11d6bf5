"""The ways a run can break, told apart: a stable code and a sentence for each.

The sentences are for the learner (or, for `internal`, `broken-pack` and `no-sandbox`, for
whoever runs jaxtutor). Nothing here decides a verdict; it names what already happened.
"""

import re
import signal

from tutor.plain_text import inert
from tutor.report import INTERNAL, Fault, Frame
from tutor.sandbox.allowance import Allowance, Overrun
from tutor.sandbox.protocol import Broken, Raised
from tutor.sandbox.stacks import Stopped

__all__ = ["INTERNAL", "OVERTIME", "SENTENCES"]

OVERTIME = frozenset({"timeout", "waited", "rendezvous", "busy-machine"})
"""Codes of faults that have cost all the time there was: another try would cost as much again."""

SENTENCES = {
    "syntax-error": "your code is not valid Python",
    "import-error": "an import in your code failed",
    "missing-name": "your code does not define a name that the lesson asks for",
    "wrong-signature": "a function could not be called the way the lesson says",
    "not-written": "this part is still to be written",
    "exception": "your code raised an exception",
    "timeout": "your code computed for too long",
    "waited": "your code waited for too long without computing",
    "out-of-memory": "your code ran out of memory",
    "killed": "your code was killed by a signal",
    "exited": "your code ended the process",
    "too-much-output": "your code printed too much",
    "too-many-threads": "your code started too many threads",
    "too-much-disk": "your code wrote too much",
    "malformed": "the answer could not be read",
    "rendezvous": "the devices waited for each other",
    "bad-source": "the file could not be read as Python source",
    "broken-pack": "the lesson itself is broken",
    "no-sandbox": "the sandbox could not be started",
    "busy-machine": "this machine was too busy to run your code",
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


def overran(
    overrun: Overrun,
    allowance: Allowance,
    running: str,
    stopped: Stopped,
    *,
    source: str = "",
    stderr: str = "",
    devices: int = 1,
    accelerators: bool = False,
) -> Fault:
    """Time is up.

    **Arguments:** `stopped`: where the code was, as far as that is known; `source`: of its module;
    `stderr`: what it has printed, for XLA writes there what it waits for; `devices`: how many
    there are, and whether they are `accelerators`.
    """
    where = f" in {running}" if running else ""
    code = "timeout"
    match overrun:
        case "starved":
            return Fault(
                "busy-machine",
                f"this machine is too busy: the code got {allowance.processor:.1f} s of processor "
                f"time in {allowance.wall:.0f} s{where}; run it again when less is running",
                running=running,
            )
        case "waited" if _COLLECTIVE in stderr:
            return rendezvous(running)
        case "waited":
            code = "waited"
            did = f"waited for {allowance.idle:.3g} s without computing"
            if accelerators:
                did = f"left the processor idle for {allowance.idle:.3g} s"
            limit = allowance.idle_seconds
        case "lingered":
            code = "waited"
            did = f"took {allowance.wall:.3g} s, and computed for {allowance.processor:.2g} s of it"
            limit = allowance.wall_seconds
        case "computed":
            did = f"used {allowance.processor:.3g} s of processor time"
            limit = allowance.seconds
        case "clock":
            did = f"took {allowance.wall:.3g} s"
            limit = allowance.seconds
    line = stopped.frames[-1].line if stopped.frames else None
    return Fault(
        code,
        f"{did}{where} and was stopped{_place(stopped)} "
        f"(limit {limit:g} s for all checks together)"
        + _compiling(allowance, overrun)
        + _hint(overrun, stopped, source, devices, accelerators),
        frames=stopped.frames,
        line=line,
        running=running,
    )


def _place(stopped: Stopped) -> str:
    at = ""
    if stopped.frames:
        last = stopped.frames[-1]
        at = f"at line {last.line}" + (f": `{last.source}`" if last.source else "")
    match stopped.doing:
        case "compiling":
            return f" while JAX was compiling{at and f', {at}'}"
        case "program":
            return f" while a compiled program ran{at and f', called {at}'}"
    return at and f" {at}"


def _compiling(allowance: Allowance, overrun: Overrun) -> str:
    """Say what was spent on compiling. The worker says how much, so it is no more than a hint."""
    spent = min(allowance.compiling, allowance.spent)
    if overrun in ("waited", "lingered") or spent < max(0.1, allowance.seconds / 20):
        return ""
    return f"; before that, compiling took {spent:.1f} s"


def _hint(overrun: Overrun, stopped: Stopped, source: str, devices: int, accelerators: bool) -> str:
    """Ask about what is in the code, and about nothing else."""
    if overrun in ("waited", "lingered"):
        if stopped.doing == "program" and devices > 1:
            return ". Does every device reach the same collectives (psum, pmean)?"
        if stopped.frames or accelerators:
            return ""
        return ". Look for a sleep, an input(), a lock, or a thread that does not end"
    if stopped.doing == "program":
        for name, question in _LOOPS.items():
            if re.search(rf"\b{name}\b", source):
                return f". {question}"
    return ""


_COLLECTIVE = "rendezvous.cc"
"""The file of XLA's that says so on standard error when devices wait for each other."""

_LOOPS = {
    "while_loop": "Does the condition of the lax.while_loop ever become false?",
    "fori_loop": "How many steps does the lax.fori_loop take?",
    "scan": "How many steps does the lax.scan take?",
}


def used_up(cpu_seconds: int, running: str) -> Fault:
    where = f" in {running}" if running else ""
    return Fault(
        "timeout",
        f"used up the processor time of its process{where} and was stopped "
        f"(limit {cpu_seconds} s, of all cores together)",
        running=running,
    )


def rendezvous(running: str) -> Fault:
    where = f" in {running}" if running else ""
    return Fault(
        "rendezvous",
        f"the devices waited for each other{where} and were stopped: "
        "a collective (pmean, psum) was not reached by every device, or too many steps were "
        "in flight; read the loss (float(loss)) once per step",
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
    if _COLLECTIVE in stderr:
        return rendezvous(running)
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
        case _ if _GONE.search(message) and (donating := _donating(lines)):
            text = f"an array was used after it was given away{place}: {donating}"
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


_GONE = re.compile(r"[Bb]uffer has been deleted or donated|Array has been deleted")


def _donating(lines: list[str]) -> str:
    """The line that gives arrays away: where one is missed is not where it went."""
    for number, text in enumerate(lines, start=1):
        if "donate_arg" in text and not text.lstrip().startswith("#"):
            return f"line {number} donates it (`{text.strip()}`), so nobody may use it again"
    return ""


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
