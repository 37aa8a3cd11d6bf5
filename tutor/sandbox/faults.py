"""The ways a run can break: a stable code and a message for each.

Messages are for the learner; those of `INTERNAL` codes for the person who
runs jaxtutor. Nothing here decides a verdict. `exceptions` does the same for exceptions.
"""

import re
import signal

from tutor.foreign.plain_text import cut, inert
from tutor.report import INTERNAL, SKIPPED, Fault
from tutor.sandbox.allowance import Allowance, Overrun
from tutor.sandbox.protocol import Broken
from tutor.sandbox.stacks import Position

__all__ = ["INTERNAL", "OVERTIME", "SENTENCES"]

OVERTIME = frozenset({"timeout", "waited", "rendezvous", "busy-machine"})
"""Codes of runs that took all their time: a retry would take as long."""

SENTENCES = {
    "syntax-error": "your code is not valid Python",
    "import-error": "an import in your code failed",
    "missing-name": "your code does not define a name that the lesson asks for",
    "wrong-signature": "a function cannot be called as the lesson calls it",
    "unusable-result": "the lesson cannot use what a function returned",
    "not-written": "this part is still to be written",
    "exception": "your code raised an exception",
    "timeout": "your code used too much processor time",
    "waited": "your code waited for too long without computing",
    "out-of-memory": "your code ran out of memory",
    "killed": "your code was killed by a signal",
    "exited": "your code ended the process",
    "too-much-output": "your code printed too much",
    "too-many-threads": "your code started too many threads",
    "too-much-disk": "your code wrote too much to disk",
    "malformed": "the answer could not be read",
    "rendezvous": "the devices waited for each other",
    "bad-source": "the file could not be read as Python source",
    "broken-pack": "the lesson itself is broken",
    "no-sandbox": "the sandbox could not be started",
    "no-torch": "PyTorch is needed, and does not run here",
    SKIPPED: "the lesson needs a package that is not installed here",
    "busy-machine": "this machine was too busy to run your code",
    "internal": "jaxtutor itself failed",
}
"""Every code and its general meaning; the message of a `Fault` is more exact."""

_SIGNALS = {
    "SIGSEGV": "native code accessed memory that is not its own",
    "SIGABRT": "a library called abort",
    "SIGKILL": "something killed the process",
    "SIGFPE": "an arithmetic error in native code",
    "SIGBUS": "native code accessed memory that does not exist",
    "SIGXCPU": "it used up its processor time",
    "SIGXFSZ": "it wrote too large a file",
}


def overran(
    overrun: Overrun,
    allowance: Allowance,
    running: str,
    position: Position,
    *,
    source: str = "",
    stderr: str = "",
    devices: int = 1,
    accelerators: bool = False,
) -> Fault:
    """Return the fault of code that exceeded a limit on time.

    **Arguments:** `position`: where the code was, if known; `source`: the source of its module;
    `stderr`: what it printed, where XLA reports a stuck collective; `devices`: their number;
    `accelerators`: whether they are real.
    """
    where = _in(running)
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
            did = f"took {allowance.wall:.3g} s, {allowance.processor:.2g} s of it computing,"
            limit = allowance.wall_seconds
        case "computed":
            did = f"used {allowance.processor:.3g} s of processor time"
            limit = allowance.seconds
        case "clock":
            did = f"took {allowance.wall:.3g} s"
            limit = allowance.seconds
    line = position.frames[-1].line if position.frames else None
    return Fault(
        code,
        f"{did}{where} and was stopped{_at(position)} "
        f"(limit {limit:g} s for all checks together)"
        + _compiling(allowance, overrun)
        + _hint(overrun, position, source, devices, accelerators),
        frames=position.frames,
        line=line,
        running=running,
    )


def _in(running: str) -> str:
    return f" in {running}" if running else ""


def _at(position: Position) -> str:
    at = ""
    if position.frames:
        last = position.frames[-1]
        at = f"at line {last.line}" + (f": `{last.source}`" if last.source else "")
    match position.activity:
        case "compiling":
            return f" while JAX was compiling{at and f', {at}'}"
        case _ if position.waits:
            return f" while it waited for a result{at and f' {at}'}"
        case "program":
            return f" while a compiled program ran{at and f', called {at}'}"
    return at and f" {at}"


def _compiling(allowance: Allowance, overrun: Overrun) -> str:
    """Say how long compiling took, as a hint: the number is the worker's own."""
    spent = min(allowance.compiling, allowance.spent)
    if overrun in ("waited", "lingered") or spent < max(0.1, allowance.seconds / 20):
        return ""
    return f"; before that, compiling took {spent:.1f} s"


def _hint(
    overrun: Overrun, position: Position, source: str, devices: int, accelerators: bool
) -> str:
    """Return advice about what is really in the code, if there is any."""
    if overrun in ("waited", "lingered"):
        if position.activity == "program" and devices > 1:
            return ". Does every device reach the same collectives (psum, pmean)?"
        if position.frames or accelerators:
            return ""
        return ". Look for a sleep, an input(), a lock, or a thread that does not end"
    loops = ""
    if position.activity == "program":
        found = (q for name, q in _LOOPS.items() if re.search(rf"\b{name}\b", source))
        loops = next((f". {question}" for question in found), "")
    if position.waits and position.activity != "compiling":
        return (
            ". Other threads were computing, as JAX does in the background: an earlier line may "
            f"have started this{loops}"
        )
    return loops


_COLLECTIVE = "rendezvous.cc"
"""The file of XLA that reports a stuck collective on standard error."""

_LOOPS = {
    "while_loop": "Does the condition of the lax.while_loop ever become false?",
    "fori_loop": "How many steps does the lax.fori_loop take?",
    "scan": "How many steps does the lax.scan take?",
}


def used_up(cpu_seconds: int, running: str) -> Fault:
    return Fault(
        "timeout",
        f"used up the sandbox's processor time{_in(running)} and was stopped "
        f"(limit {cpu_seconds} s over all cores)",
        running=running,
    )


def rendezvous(running: str) -> Fault:
    return Fault(
        "rendezvous",
        f"the devices waited for each other{_in(running)} and were stopped: not every device "
        "reached a collective (pmean, psum), or too many steps were in flight; read the loss "
        "(float(loss)) once per step",
        running=running,
    )


def out_of_memory(limit_mb: int, running: str, detail: str = "") -> Fault:
    message = f"ran out of memory{_in(running)} (limit {limit_mb} MiB)"
    return Fault("out-of-memory", message, detail, running=running)


def lost(running: str) -> Fault:
    message = f"the sandbox ended{_in(running)} because its parent process was killed; run it again"
    return Fault("internal", message, running=running)


def too_much_output(limit_kb: int, running: str) -> Fault:
    message = f"printed more than {limit_kb} KiB and was stopped; the start and the end are kept"
    return Fault("too-much-output", message, running=running)


def too_many_threads(limit: int, running: str) -> Fault:
    message = f"started more than {limit} threads and was stopped"
    return Fault("too-many-threads", message, running=running)


def too_much_disk(limit_mb: int, limit_files: int, running: str) -> Fault:
    message = f"wrote more than {limit_mb} MiB or {limit_files} files and was stopped"
    return Fault("too-much-disk", message, running=running)


def ended(returncode: int, running: str, stderr: str) -> Fault:
    """Return the fault of a worker that exited by itself.

    **Arguments:** `returncode`: as in `subprocess`; negative for a signal.
    """
    where = f" while running {running}" if running else ""
    if returncode >= 0:
        return Fault(
            "exited",
            f"your code ended the process{where} (exit code {returncode}): "
            "remove the call to exit, quit or os._exit",
            running=running,
        )
    if _COLLECTIVE in stderr:
        return rendezvous(running)
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    cause = _SIGNALS.get(name, "it was stopped from outside")
    return Fault("killed", f"your code was killed by {name}{where}: {cause}", running=running)


def malformed(reason: str, running: str) -> Fault:
    return Fault("malformed", f"the answer could not be read: {inert(reason)}", running=running)


def unreadable(reply: object, running: str) -> Fault:
    """Return the fault of a worker that reports, after it loaded untrusted code, that it failed.

    The bug may be ours, but the code can also fake this reply, to turn every wrong answer into an
    internal error. So it counts as malformed.
    """
    reason = inert(reply.message) if isinstance(reply, Broken) else "an unexpected reply"
    return Fault(
        "malformed",
        f"the result of {running} could not be read: {cut(reason, 300)}. "
        "This may be a bug in jaxtutor: run `jaxtutor doctor --report`",
        running=running,
    )
