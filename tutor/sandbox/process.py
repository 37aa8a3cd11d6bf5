"""The main process's end of a sandbox: send requests, enforce limits, kill the worker."""

import logging
import os
import select
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NoReturn, Self

from tutor.report import Fault, Protection
from tutor.sandbox import faults, stacks
from tutor.sandbox.allowance import Allowance, Overrun
from tutor.sandbox.launch import Launched, LaunchError, Spec, launch
from tutor.sandbox.limits import EXIT_SECONDS, MAX_LEFTOVER_OUTPUT, START_SECONDS
from tutor.sandbox.output import Capture
from tutor.sandbox.private_folder import exceeds, remove
from tutor.sandbox.protocol import (
    CLOSED,
    MAX_NOTICES,
    MAX_PROGRESS,
    MAX_PROGRESS_BYTES,
    Answer,
    Load,
    Noticed,
    Progress,
    Ready,
    Reply,
    Request,
    read_notice,
    read_reply,
)
from tutor.sandbox.watchdog import NOTHING, Usage, active, asleep, peak_mb, usage
from tutor.sandbox.wire import Frame, Reader, WireError, encode
from tutor.sandbox.zygotes import Zygotes
from tutor.tree import Tree

_POLL_SECONDS = 0.05

_logger = logging.getLogger(__name__)

OnProgress = Callable[[Progress], None]


class Failed(Exception):
    """The worker failed and has been killed; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Lost(Failed):
    """The worker died with its zygote. Retry in a new sandbox."""


class Cancelled(Exception):
    """`kill` was called."""


class Sandbox:
    """A running worker. Call `start`, `ready`, `ask` any number of times, and `close`.

    Only `kill` may be called from another thread.
    """

    def __init__(self, spec: Spec, launched: Launched) -> None:
        process, self._folder, self._requests, self._replies, self._cgroup = launched
        self.spec = spec
        self.pure = True
        """Nothing of a learner's has been in it: neither code nor programs compiled for it."""
        self.stdout = Capture()
        self.stderr = Capture()
        self.protections: list[Protection] = []
        self.noticed: list[Noticed] = []
        """What the module that was loaded last has looked at. A worker may lie about itself."""
        self._process = process
        self._ready: Ready | None = None
        self._loaded = Load("", "", "")
        self._reader = Reader()
        self._frames: list[Frame] = []
        self._outgoing = memoryview(b"")
        self._bounded = False  # whether the kernel limits the private directory
        self._used = NOTHING  # when last seen alive, for the log
        self._fault = ""
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

        **Arguments:** `zygotes`: fork the worker from one of these if possible.

        Raises:
            Failed: the worker could not be started.
        """
        try:
            launched = launch(spec, zygotes)
        except LaunchError as error:
            _logger.info("not started: %s: %r", error, spec)
            raise Failed(Fault("no-sandbox", str(error))) from None
        return cls(spec, launched)

    def ready(self) -> Ready:
        """Wait until the worker has imported its libraries; later calls return the same.

        Raises:
            Failed: the worker did not start; never because of the learner's code.
            Cancelled: `kill` was called.
        """
        if self._ready is not None:
            return self._ready
        _logger.info("pid %d: %s, %r", self.pid, type(self._process).__name__.lower(), self.spec)
        try:
            # Reading the libraries from disk can be idle time throughout.
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
            raise Failed(Fault("internal", "the sandbox did not report that it is ready"))
        counted = Protection(
            "cgroup",
            self._cgroup is not None,
            "memory and threads counted by the kernel" if self._cgroup else "unavailable here",
        )
        self.protections = [*_OUTER_PROTECTIONS, counted, *reply[0].protections]
        on = ", ".join(p.name for p in self.protections if p.active)
        off = ", ".join(p.name for p in self.protections if not p.active)
        _logger.info("pid %d: ready, protections on: %s; off: %s", self.pid, on, off or "none")
        self._bounded = any(p.name == "bounded folder" and p.active for p in self.protections)
        self.forget_output()  # of importing the libraries
        self._ready = reply[0]
        return self._ready

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the worker can still answer."""
        # A dying worker's end of the pipe closes before its exit status is available.
        hung_up = select.poll()
        hung_up.register(self._replies, 0)
        return self._process.poll() is None and not hung_up.poll(0)

    @property
    def peak_mb(self) -> int | None:
        """Peak resident memory so far, in MiB; None if unknown or the worker has exited."""
        return peak_mb(self._process.pid)

    def forget_output(self) -> None:
        """Discard the output so far."""
        self._drain()
        self.stdout, self.stderr = Capture(), Capture()
        out, err = self._streams
        self._streams = {out: self.stdout, err: self.stderr}

    def ask(
        self,
        request: Request,
        tree: Tree,
        allowance: Allowance,
        running: str,
        on_progress: OnProgress = lambda progress: None,
    ) -> tuple[Reply, Tree]:
        """Send a request and wait for its reply.

        **Arguments:** `allowance`: the time left to the run, shared by all its requests;
        `running`: the expression that faults name; `on_progress`: called while a training runs.

        Raises:
            Failed: no valid reply came; the worker has been killed.
            Cancelled: `kill` was called.
        """
        match self._read_replies(running):
            case "data":
                self._fail(faults.malformed("it sent a reply before the request", running))
            case "end":
                self._exited(running)
        if isinstance(request, Load):
            self._loaded = request
            self.noticed.clear()  # of priming
        self._outgoing = memoryview(encode(request, tree))
        self._selector.register(self._requests, selectors.EVENT_WRITE)
        allowance.begin(usage(self.pid))
        reply, answer = self._next_reply(allowance, running)
        shown = 0
        while isinstance(reply, Progress) and reply.case == request.case and shown < MAX_PROGRESS:
            shown += 1
            on_progress(reply)
            reply, answer = self._next_reply(allowance, running)
        if self._frames or self._reader.partial:
            self._fail(faults.malformed("it sent more than one reply", running))
        if isinstance(reply, Ready | Progress) or reply.case != request.case:
            kind = "ready" if isinstance(reply, Ready) else reply.case
            self._fail(
                faults.malformed(f"expected a reply to {request.case!r}, got {kind!r}", running)
            )
        if isinstance(reply, Answer):
            allowance.compiling += reply.compile
        return reply, answer

    def kill(self) -> None:
        """Kill the worker, from any thread; a waiting `ask` raises `Cancelled`."""
        self._cancelled.set()
        self._process.kill()

    def close(self) -> None:
        """Kill what is left of the worker and remove its directory."""
        with self._closed:
            if not self._open:
                return
            self._open = False
            ended, used, peak = self._process.poll(), usage(self.pid), self.peak_mb
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
            self._log_end(ended, used, peak)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # --- the conversation ------------------------------------------------------------------

    def _receive(self, allowance: Allowance, running: str) -> tuple[Reply, Tree]:
        """Return the only reply."""
        allowance.begin(usage(self.pid))
        reply, tree = self._next_reply(allowance, running)
        if self._frames or self._reader.partial:
            self._fail(faults.malformed("it sent more than one reply", running))
        return reply, tree

    def _next_reply(self, allowance: Allowance, running: str) -> tuple[Reply, Tree]:
        while not self._frames:
            self._step(allowance, running)
        frame = self._frames.pop(0)
        try:
            reply = read_reply(frame)
        except WireError as error:
            self._fail(faults.malformed(str(error), running))
        # What is only shown must not take memory or time.
        if isinstance(reply, Progress) and (
            len(frame.message) > MAX_PROGRESS_BYTES or frame.tree is not None
        ):
            self._fail(faults.malformed("a message of progress is too large", running))
        return reply, frame.tree

    def _step(self, allowance: Allowance, running: str) -> None:
        """Wait for the next event or tick, handle it, and check every limit."""
        if self._cancelled.is_set():
            self._kill_and_drain()
            raise Cancelled
        ended = False
        for key, _ in self._selector.select(min(_POLL_SECONDS, allowance.patience)):
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
        if used.resident_mb:
            self._used = used
        self._check_usage(used, running)
        overrun = allowance.look(used, self._active)
        if self._frames:
            return
        if ended or self._process.poll() is not None:
            self._exited(running)
        elif overrun is not None:
            self._stop(overrun, allowance, running)

    def _check_usage(self, used: Usage, running: str) -> None:
        """Kill the worker if it uses too much memory, threads or disk."""
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
            self._outgoing = memoryview(b"")  # reading will notice that the worker is gone
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
            for frame in self._reader.feed(data):
                notice = read_notice(frame)
                if notice is None:
                    self._frames.append(frame)
                elif len(self.noticed) < MAX_NOTICES:
                    self.noticed.append(notice)
                else:
                    self._fail(faults.malformed("it sent too many notices", running))
        except WireError as error:
            self._fail(faults.malformed(str(error), running))
        return "data" if self._frames or self._reader.partial else "nothing"

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
        """Read what is already in the output pipes."""
        for descriptor in self._streams:
            while descriptor in self._selector.get_map() and self._read_stream(descriptor):
                pass

    def _leftover_stderr(self) -> bytes:
        """Read what is left in the worker's standard error."""
        text = b""
        with suppress(BlockingIOError):
            while (data := os.read(self._process.stderr, 1 << 16)) and (
                len(text) < MAX_LEFTOVER_OUTPUT
            ):
                text += data
        return text

    def _exited(self, running: str) -> None:
        """Handle a worker that closed its pipe or exited by itself."""
        code = self._exit_code()
        if code is None:
            self._fail(faults.malformed("the pipe for replies was closed", running))
        # Its last reply may have arrived together with the end of the pipe.
        while self._replies in self._selector.get_map():
            if self._read_replies(running) != "data":
                break
        if self._frames:
            return
        if self._process.lost:
            self._kill_and_drain()
            raise Cancelled if self._cancelled.is_set() else Lost(faults.lost(running))
        if code == CLOSED:
            self._fail(faults.malformed("your code closed the pipe for replies", running))
        self._drain()
        stderr = self.stderr.text()
        if self._cgroup is not None and self._cgroup.out_of_memory(code):
            self._fail(faults.out_of_memory(self.spec.limits.memory_mb, running))
        if code == -signal.SIGXCPU:
            self._fail(faults.used_up(self.spec.limits.cpu_seconds, running))
        self._fail(faults.ended(code, running, stderr))

    def _exit_code(self) -> int | None:
        """Wait for the worker to exit, longer on a busy machine; None if it does not."""
        allowance = Allowance(EXIT_SECONDS)
        allowance.begin(usage(self.pid))
        while allowance.look(usage(self.pid), self._active) is None:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(_POLL_SECONDS)
        return None

    def _stop(self, overrun: Overrun, allowance: Allowance, running: str) -> NoReturn:
        """Record where the code is, kill it, and fail with the limit that it exceeded."""
        dump = b""
        waits = overrun == "computed" and asleep(self.pid)
        if self._ready is not None and overrun != "starved" and stacks.SIGNAL is not None:
            self._drain()
            self._process.send(stacks.SIGNAL)
            dump = stacks.read(self._process.stderr, self.pid)
        self._process.kill()
        self._process.wait()
        threads, printed = stacks.split(dump + self._leftover_stderr())
        self.stderr.add(printed)
        load, spec = self._loaded, self.spec
        position = stacks.position(threads, load.filename, load.source, waits=waits)
        self._fail(
            faults.overran(
                overrun, allowance, running, position, source=load.source,
                stderr=self.stderr.text(), devices=spec.devices, accelerators=spec.accelerators,
            )
        )  # fmt: skip

    def _fail(self, fault: Fault) -> NoReturn:
        self._fault = fault.code
        self._kill_and_drain()
        # Whatever a cancelled worker did last, `kill` was the cause.
        raise Cancelled if self._cancelled.is_set() else Failed(fault)

    def _log_end(self, code: int | None, used: Usage, peak: int | None) -> None:
        """Log how the process ended.

        **Arguments:** its exit code and usage before `close` killed it.
        """
        how = "closed" if code is None else f"exit code {code}" if code >= 0 else f"signal {-code}"
        how += ", cancelled" if self._cancelled.is_set() else ""
        how += f", fault {self._fault}" if self._fault else ""
        memory = f"peak {peak}" if peak is not None else f"last {self._used.resident_mb}"
        seconds = used.processor or self._used.processor or 0.0
        _logger.info("pid %d: %s, %.2f s of processor time, %s MiB", self.pid, how, seconds, memory)

    def _kill_and_drain(self) -> None:
        self._process.kill()
        self._process.wait()
        self._drain()


_OUTER_PROTECTIONS = (
    Protection("own process", True, "submissions never run in jaxtutor's own process"),
    Protection("environment", True, "only what the libraries need"),
    Protection("own session", True, "killed as a group when time is up"),
    Protection("private folder", True, "removed when the run ends"),
    Protection("output", True, "bounded; first and last part kept"),
    Protection(
        "watchdog", sys.platform == "linux", "time, memory, threads and files watched from outside"
    ),
)
"""Protections that the main process provides."""
