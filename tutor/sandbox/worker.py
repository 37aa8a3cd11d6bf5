"""The program inside a sandbox, once the protections are on.

It imports its libraries, sends `Ready`, and answers requests one by one until its pipe is closed.
User code first runs at a `Load`.
"""

import os
import pkgutil
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from tutor.report import Protection
from tutor.sandbox import audit, modules, stacks
from tutor.sandbox.calls import Call, Steps, UserCodeError
from tutor.sandbox.environment import Environment, raised
from tutor.sandbox.protocol import (
    CLOSED,
    Answer,
    Broken,
    Collect,
    Give,
    Load,
    Loaded,
    Noticed,
    Observe,
    Progress,
    Raised,
    Ready,
    Reply,
    Request,
    read_request,
)
from tutor.sandbox.wire import Frame, Reader, WireError, encode
from tutor.tree import Tree

LESSONS_USE = ("flax.linen", "flax.nnx", "optax")
"""Imported early: each takes a fraction of a second."""

_TORCH_IMPORTS_LATE = ("torch._dynamo",)
"""Modules that PyTorch imports with the first optimizer, which takes as long as PyTorch itself."""

_JAX_IMPORTS_LATE = (
    "jax.experimental.key_reuse",
    "jax.experimental.multihost_utils",
    "jaxlib.mlir.dialects.builtin",
    "jaxlib.mlir.dialects.mhlo",
)
"""Modules that JAX imports when it first compiles a program or checks keys."""


def work(role: str, requests: int, replies: int, protections: list[Protection]) -> Steps[None]:
    """Import the libraries of a role, send `Ready`, and answer requests until there are no more."""
    for stream in (sys.stdout, sys.stderr):
        # A crash must not lose output in a buffer.
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    stacks.listen()
    channel = Channel(requests, replies)
    env, versions, devices, platform = _open(role)
    if role == "learner":
        channel.watch()
    channel.send(Ready(versions, devices, platform, protections))
    yield from serve(channel, env)


def libraries(role: str, *, all_of_them: bool = True) -> None:
    """Import the libraries of a role, without starting a thread or a backend.

    **Arguments:** `all_of_them`: also those that only some lessons use.
    """
    of_role = import_module(f"tutor.sandbox.{role}")
    inside = import_module("tutor.checks.inside")
    if role == "learner":
        for check in pkgutil.iter_modules(inside.__path__, f"{inside.__name__}."):
            import_module(check.name)
        of_role.jax_internals.random_primitives()
        if all_of_them:
            use(LESSONS_USE)
        for name in _JAX_IMPORTS_LATE:
            with suppress(ImportError):  # another release may have moved it
                import_module(name)
    elif all_of_them:
        for name in _TORCH_IMPORTS_LATE:
            with suppress(ImportError):  # as above
                import_module(name)


def use(names: Sequence[str]) -> None:
    """Import some of `LESSONS_USE`."""
    for name in names:
        if name in LESSONS_USE:
            import_module(name)


def _open(role: str) -> tuple[Environment, dict[str, str], int, str]:
    if role == "learner":
        from tutor.sandbox import learner

        count, platform = learner.devices()
        return learner.LearnerEnvironment(), learner.versions(), count, platform
    from tutor.sandbox import reference

    return reference.ReferenceEnvironment(), reference.versions(), 1, "cpu"


class Channel:
    """The worker's ends of the pipes. The functions of `os` are bound here, before user code can
    replace them.
    """

    def __init__(
        self,
        requests: int,
        replies: int,
        read: Callable[[int, int], bytes] = os.read,
        write: Callable[[int, memoryview], int] = os.write,
        leave: Callable[[int], NoReturn] = os._exit,
    ) -> None:
        self._requests = requests
        self._replies = replies
        self._read = read
        self._write = write
        self._leave = leave
        self._reader = Reader()
        self._frames: list[Frame] = []
        self._free = threading.Lock()
        self._notices: list[bytes] = []
        self._given: list[Noticed] = []

    def watch(self) -> None:
        """Also send notices of what a submission looks at."""
        self._notices = audit.watch(self._replies, self._free)

    def receive(self) -> Frame | None:
        """Return the next request, or None if the pipe was closed."""
        while not self._frames:
            try:
                data = self._read(self._requests, 1 << 20)
            except OSError:
                self._leave(CLOSED)
            if not data:
                return None
            self._frames.extend(self._reader.feed(data))
        return self._frames.pop(0)

    def send(self, reply: Reply, tree: Tree = None) -> None:
        """Send a reply. Raises: WireError: it cannot be encoded; nothing was sent."""
        data = encode(reply, tree)
        with self._free:
            while self._notices:
                self._send(self._notices.pop())
            self._send(data)

    def notice(self, noticed: Noticed) -> None:
        """Send a notice with the next reply, once."""
        if noticed not in self._given:
            self._given.append(noticed)
            self._notices.append(encode(noticed))

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self._write(self._replies, view) :]
            except OSError:
                self._leave(CLOSED)


def serve(channel: Channel, env: Environment) -> Steps[None]:
    """Answer requests until there are no more."""
    unchanged: Callable[[], bool] | None = None
    while (frame := channel.receive()) is not None:
        request = read_request(frame)
        case = request.case
        if isinstance(request, Load) and not request.harness:
            _import_inside(request.inside)
            unchanged = env.seal()
        env.show_step = partial(_show_step, channel, case)
        try:
            reply, tree = yield from _answer(request, frame.tree, env)
        except Exception as error:  # noqa: BLE001 - a bug of ours, reported as such
            reply, tree = Broken(case, f"{type(error).__name__}: {error}"), None
        if unchanged is not None and not unchanged():
            channel.notice(Noticed("patch", "jaxtutor", 0))
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # user code replaced or closed it
        try:
            channel.send(reply, tree)
        except WireError as error:
            # The value that user code returned or raised cannot be encoded.
            channel.send(Raised(case, "malformed", "WireError", str(error), "", []))


def _import_inside(names: list[str]) -> None:
    for name in names:
        with suppress(Exception):  # said when it is asked
            modules.inside(name)


def _show_step(channel: Channel, case: str, step: int, loss: float | None) -> None:
    channel.send(Progress(case, step, loss))


def _answer(request: Request, tree: Tree, env: Environment) -> Steps[tuple[Reply, Tree]]:
    try:
        if isinstance(request, Load):
            load = env.load_harness if request.harness else env.load
            yield from load(request.source, request.filename)
            return Loaded(request.case), None
        if isinstance(request, Give):
            env.give(tree)
            return Answer(request.case, 0.0, 0.0), None
        if isinstance(request, Collect):
            return Answer(request.case, 0.0, 0.0), env.collect(unload=request.unload)
        return (yield from _observe(request, tree, env))
    except UserCodeError as error:
        of = request if isinstance(request, Load) else env
        return raised(request.case, error, of.filename, of.source), None


def _observe(request: Observe, tree: Tree, env: Environment) -> Steps[tuple[Reply, Tree]]:
    module = modules.inside(request.inside)
    input_sets: Any = tree
    if env.module_name == "reference":
        result, seconds = module.refer(env, request.args, input_sets)
        return Answer(request.case, 0.0, seconds), result
    read = env.stopwatch()
    result = module.observe(env, request.args, input_sets)
    if isinstance(result, Generator):
        result = yield from result
    if isinstance(result, Call):
        raise TypeError(f"`observe` of {request.inside} returns a call; it must yield it")
    compiling, running = read()
    return Answer(request.case, compiling, running), result
