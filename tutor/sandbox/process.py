"""One sandboxed process and the conversation with it, as the main process sees it.

However the process came to be, afresh or forked from a zygote, nothing else in the program knows
the difference.
"""

import os
import select
import selectors
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Literal, NoReturn, Self

from tutor.report import Fault, Protection
from tutor.sandbox import faults, stacks
from tutor.sandbox.allowance import Allowance, Overrun
from tutor.sandbox.launch import START_SECONDS, Launched, LaunchError, Spec, launch
from tutor.sandbox.output import Capture
from tutor.sandbox.private_folder import exceeds, remove
from tutor.sandbox.protocol import CLOSED, Answer, Load, Ready, Reply, Request, read_reply
from tutor.sandbox.watchdog import Usage, active, peak_mb, usage
from tutor.sandbox.wire import Frame, Reader, WireError, encode
from tutor.sandbox.zygotes import Zygotes
from tutor.tree import Tree

_TICK = 0.05

MOST_OUTPUT = 1 << 20
"""Bytes that are read of what a process has left when it is stopped."""

_LAST_SECONDS = 1.0
"""What a process may take to end once it has closed its pipe."""


class Failed(Exception):
    """The conversation is over: `fault` says why. The process is gone."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Lost(Failed):
    """The process ended because the one that it was forked from did: nobody's fault, and a new
    one may be asked again."""


class Cancelled(Exception):
    """Somebody called `kill`."""


class Sandbox:
    """A running worker. Use `start`; then `ready`, `ask` as often as needed, and `close`.

    All methods but `kill` belong to one thread.
    """

    def __init__(self, spec: Spec, launched: Launched) -> None:
        process, self._folder, self._requests, self._replies, self._cgroup = launched
        self.spec = spec
        self.stdout = Capture()
        self.stderr = Capture()
        self.protections: list[Protection] = []
        self._process = process
        self._ready: Ready | None = None
        self._loaded = Load("", "", "")
        self._reader = Reader()
        self._frames: list[Frame] = []
        self._outgoing = memoryview(b"")
        self._bounded = False  # whether the kernel itself limits what is written
        self._cancelled = threading.Event()
        self._closed = threading.Lock()
        self._open = True
        self._streams = {process.stdout: self.stdout, process.stderr: self.stderr}
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._requests, self._replies, *self._streams):
            os.set_blocking(descriptor, False)
        for descriptor in (self._replies, *self._streams):
            self._selector.register(descriptor, selectors.EVENT_READ)

    @classmethod
    def start(cls, spec: Spec, zygotes: Zygotes | None = None) -> "Sandbox":
        """Start a worker.

        **Arguments:** `zygotes`: where to have it forked, if it can be.

        Raises:
            Failed: the process could not be started.
        """
        try:
            return cls(spec, launch(spec, zygotes))
        except LaunchError as error:
            raise Failed(Fault("no-sandbox", str(error))) from None

    def ready(self) -> Ready:
        """Wait until the worker has imported its libraries. Asked again, says it again.

        Raises:
            Failed: it did not come up; never the learner's fault.
            Cancelled: killed meanwhile.
        """
        if self._ready is not None:
            return self._ready
        try:
            # Reading the libraries from a disk may well be waiting for all of it.
            reply = self._receive(Allowance(START_SECONDS, idle=START_SECONDS), "")
        except Failed as failure:
            if failure.fault.code == "busy-machine":
                raise
            text = self.stderr.text().strip()
            last = text.splitlines()[-1] if text else failure.fault.message
            raise Failed(
                Fault(
                    "no-sandbox",
                    f"the sandbox did not start: {last}. Run `jaxtutor doctor`.",
                    detail=text[-4000:],
                )
            ) from None
        if not isinstance(reply[0], Ready):
            raise Failed(Fault("internal", "the sandbox did not say that it is ready"))
        counted = Protection(
            "cgroup",
            self._cgroup is not None,
            "memory and threads counted by the kernel" if self._cgroup else "not to be had here",
        )
        self.protections = [*OURS, counted, *reply[0].protections]
        self._bounded = any(p.name == "bounded folder" and p.active for p in self.protections)
        self.forget_output()  # whatever libraries said while they were imported
        self._ready = reply[0]
        return self._ready

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can still answer."""
        # Its end of a pipe is closed before anybody can be told that it has ended.
        hung_up = select.poll()
        hung_up.register(self._replies, 0)
        return self._process.poll() is None and not hung_up.poll(0)

    @property
    def peak_mb(self) -> int | None:
        """The most memory it has had so far, in MiB; None where that cannot be told (any more)."""
        return peak_mb(self._process.pid)

    def forget_output(self) -> None:
        """What was printed so far is nobody's business."""
        self._drain()
        self.stdout, self.stderr = Capture(), Capture()
        out, err = self._streams
        self._streams = {out: self.stdout, err: self.stderr}

    def ask(
        self, request: Request, tree: Tree, allowance: Allowance, running: str
    ) -> tuple[Reply, Tree]:
        """Send a request, wait for its reply.

        **Arguments:** `allowance`: the time that it may take, together with what else is asked on
        it; `running`: what to name in a message if it does not come back.

        Raises:
            Failed: no valid reply came; the process has been killed.
            Cancelled: killed meanwhile.
        """
        match self._read_replies(running):
            case "data":
                self._fail(faults.malformed("an answer before the question", running))
            case "end":
                self._gone(running)
        if isinstance(request, Load):
            self._loaded = request
        self._outgoing = memoryview(encode(request, tree))
        self._selector.register(self._requests, selectors.EVENT_WRITE)
        reply, answer = self._receive(allowance, running)
        if isinstance(reply, Ready) or reply.case != request.case:
            found = "ready" if isinstance(reply, Ready) else reply.case
            self._fail(faults.malformed(f"asked {request.case!r}, answered {found!r}", running))
        if isinstance(reply, Answer):
            allowance.compiling += reply.compile
        return reply, answer

    def kill(self) -> None:
        """Stop at once, from any thread; a waiting `ask` raises `Cancelled`."""
        self._cancelled.set()
        self._process.kill()

    def close(self) -> None:
        """Kill whatever is left of the worker and remove its folder."""
        with self._closed:
            if not self._open:
                return
            self._open = False
            self._process.kill()
            self._process.wait()
            self._drain()
            self._selector.close()
            os.close(self._requests)
            os.close(self._replies)
            self._process.close()
            remove(self._folder)
            if self._cgroup is not None:
                self._cgroup.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # --- the conversation ------------------------------------------------------------------

    def _receive(self, allowance: Allowance, running: str) -> tuple[Reply, Tree]:
        allowance.begin(usage(self.pid))
        while not self._frames:
            self._step(allowance, running)
        if len(self._frames) > 1 or self._reader.partial:
            self._fail(faults.malformed("more than one answer to one question", running))
        frame = self._frames.pop()
        try:
            return read_reply(frame), frame.tree
        except WireError as error:
            self._fail(faults.malformed(str(error), running))

    def _step(self, allowance: Allowance, running: str) -> None:
        """Wait a moment for anything to happen, and see to it."""
        if self._cancelled.is_set():
            self._end()
            raise Cancelled
        ended = False
        for key, _ in self._selector.select(min(_TICK, allowance.patience)):
            descriptor = key.fd
            if descriptor == self._requests:
                self._send()
            elif descriptor == self._replies:
                ended = self._read_replies(running) == "end" or ended
            else:
                self._read_stream(descriptor)
        if self.stdout.total + self.stderr.total > self.spec.limits.output_kb << 10:
            self._fail(faults.too_much_output(self.spec.limits.output_kb, running))
        used = usage(self.pid)
        self._watch(used, running)
        overrun = allowance.look(used, self._active)
        if self._frames:
            return
        if ended or self._process.poll() is not None:
            self._gone(running)
        elif overrun is not None:
            self._stop(overrun, allowance, running)

    def _watch(self, used: Usage, running: str) -> None:
        """Stop what uses more than it may."""
        limits = self.spec.limits
        if used.resident_mb > limits.memory_mb:
            detail = f"{used.resident_mb} MiB resident"
            self._fail(faults.out_of_memory(limits.memory_mb, running, detail))
        if used.threads > limits.threads:
            self._fail(faults.too_many_threads(limits.threads, running))
        if not self._bounded and exceeds(self._folder, limits.disk_mb, limits.files):
            self._fail(faults.too_much_disk(limits.disk_mb, limits.files, running))

    def _active(self) -> bool:
        return active(self.pid)

    def _send(self) -> None:
        try:
            self._outgoing = self._outgoing[os.write(self._requests, self._outgoing) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._outgoing = memoryview(b"")  # that it is gone is noticed when reading
        if not self._outgoing:
            self._selector.unregister(self._requests)

    def _read_replies(self, running: str) -> Literal["data", "nothing", "end"]:
        try:
            data = os.read(self._replies, 1 << 20)
        except BlockingIOError:
            return "nothing"
        if not data:
            if self._replies in self._selector.get_map():
                self._selector.unregister(self._replies)
            return "end"
        try:
            self._frames.extend(self._reader.feed(data))
        except WireError as error:
            self._fail(faults.malformed(str(error), running))
        return "data"

    def _read_stream(self, descriptor: int) -> bool:
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return False
        if data:
            self._streams[descriptor].add(data)
            return True
        self._selector.unregister(descriptor)
        return False

    def _drain(self) -> None:
        """Take what is in the pipes already."""
        for descriptor in self._streams:
            while descriptor in self._selector.get_map() and self._read_stream(descriptor):
                pass

    def _rest(self) -> bytes:
        """What is left in its standard error."""
        found = b""
        with suppress(BlockingIOError):
            while (data := os.read(self._process.stderr, 1 << 16)) and len(found) < MOST_OUTPUT:
                found += data
        return found

    def _gone(self, running: str) -> None:
        """The worker closed its pipe or ended although nobody asked it to."""
        code = self._exit_code()
        if code is None:
            self._fail(faults.malformed("the pipe for answers was closed", running))
        # Its last answer may have come together with its end.
        while self._replies in self._selector.get_map():
            if self._read_replies(running) != "data":
                break
        if self._frames:
            return
        if self._process.lost:
            self._end()
            raise Cancelled if self._cancelled.is_set() else Lost(faults.lost(running))
        if code == CLOSED:
            self._fail(faults.malformed("your code closed the pipe for answers", running))
        self._drain()
        stderr = self.stderr.text()
        if self._cgroup is not None and self._cgroup.out_of_memory(code):
            self._fail(faults.out_of_memory(self.spec.limits.memory_mb, running))
        if code == -signal.SIGXCPU:
            self._fail(faults.used_up(self.spec.limits.cpu_seconds, running))
        self._fail(faults.ended(code, running, stderr))

    def _exit_code(self) -> int | None:
        """Wait for its end, as long as it takes on a busy machine; None if it does not end."""
        last = Allowance(_LAST_SECONDS)
        last.begin(usage(self.pid))
        while last.look(usage(self.pid), self._active) is None:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(_TICK)
        return None

    def _stop(self, overrun: Overrun, allowance: Allowance, running: str) -> NoReturn:
        """Time is up: see where the code is, and end it."""
        dump = b""
        if self._ready is not None and overrun != "starved" and stacks.SIGNAL is not None:
            self._drain()
            self._process.send(stacks.SIGNAL)
            dump = stacks.read(self._process.stderr, self.pid)
        self._process.kill()
        self._process.wait()
        threads, rest = stacks.split(dump + self._rest())
        self.stderr.add(rest)
        load, spec = self._loaded, self.spec
        stopped = stacks.stopped(threads, load.filename, load.source)
        self._fail(
            faults.overran(
                overrun, allowance, running, stopped, source=load.source,
                stderr=self.stderr.text(), devices=spec.devices, accelerators=spec.accelerators,
            )
        )  # fmt: skip

    def _fail(self, fault: Fault) -> NoReturn:
        self._end()
        # However it shows, a process that we have killed has not failed.
        raise Cancelled if self._cancelled.is_set() else Failed(fault)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._drain()


OURS = (
    Protection("own process", True, "foreign code never runs in jaxtutor's own process"),
    Protection("environment", True, "only what the libraries need"),
    Protection("own session", True, "killed as a group when time is up"),
    Protection("private folder", True, "removed when the run ends"),
    Protection("output", True, "bounded; first and last part kept"),
    Protection(
        "watchdog", sys.platform == "linux", "time, memory, threads and files seen from outside"
    ),
)
"""What this module itself does and does not see to, as reports tell it."""
