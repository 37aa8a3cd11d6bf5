"""Values of the lesson's PyTorch: recorded with the pack, from a cache on disk, or from a sandbox.

Recordings are keyed by content: the PyTorch source, and every request with its inputs. The cache's
key adds the library versions and our own code that evaluates them. Importing PyTorch takes longer
than most checks; for values that are recorded or cached it is not imported at all.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from tutor.arrays import np
from tutor.engine import recorded
from tutor.engine.versions import WITHOUT_TORCH, installed_versions, torch_installed
from tutor.lesson import Lesson, Limits
from tutor.report import Fault
from tutor.sandbox import exceptions, faults
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.launch import Spec
from tutor.sandbox.packages import FOLDERS, sources
from tutor.sandbox.process import Cancelled, Failed, Lost, Sandbox
from tutor.sandbox.protocol import Answer, Broken, Load, Loaded, Observe, Raised
from tutor.sandbox.wire import WireError, decode, encode
from tutor.storage.cache import DiskCache
from tutor.tree import Leaf, Tree, TreeError, entry, leaves

CACHE_FILES = 400
"""Lessons × seeds in the cache; the least recently used are deleted first."""

LIMITS = Limits(seconds=120, memory_mb=4096)
"""Of a reference sandbox. Generous, since learners do not pay for PyTorch's memory."""

SPEC = Spec("reference", LIMITS)
"""The sandbox in which PyTorch is asked."""


class Request(Struct, frozen=True):
    """One value to compute with PyTorch. `source` names the part of the lesson that needs it, for
    messages."""

    case: str
    inside: str
    args: dict[str, Any]
    input_sets: tuple[dict[str, Tree], ...]
    source: str


class Reference(Struct, frozen=True, eq=False):
    """A value from PyTorch, and the seconds that it took here; None if it was recorded."""

    tree: Tree
    seconds: float | None = None


class ReferenceFailed(Exception):
    """The lesson's PyTorch gave no value: the pack's fault, or ours."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class References:
    """All reference values of one lesson and seed. Call `start`, then `get`.

    **Arguments:** `folder`: the directory of the cache; `begin`: starts a sandbox of `SPEC`;
    `recorded`: whether answers recorded with the pack will do.
    """

    # Keyed by cache file; a duplicate request waits for the first.
    _under_way: ClassVar[dict[Path, "References"]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self,
        lesson: Lesson,
        requests: list[Request],
        folder: Path,
        begin: Callable[[], Sandbox],
        *,
        recorded: bool = True,
    ) -> None:
        self._lesson = lesson
        self._requests = requests
        self._cache = DiskCache(folder, ".ref", max_files=CACHE_FILES)
        self._begin = begin
        self._use_recorded = recorded
        self._sandbox: Sandbox | None = None
        self._found: dict[str, Reference] = {}
        self._fault: Fault | None = None
        self._cancelled = False
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self.cached = False
        self.waited = 0.0

    def start(self, done: Callable[[], None] = lambda: None) -> None:
        """Look for values that are recorded or cached; on a miss, start computing in the
        background.

        **Arguments:** `done` is called once computing has ended, perhaps in another thread.
        """
        if not self._requests or self._load_recorded() or self._load():
            self.cached = True
            self._done.set()
            done()
            return
        self._thread = threading.Thread(
            target=self._compute, args=(done,), name="reference", daemon=True
        )
        self._thread.start()

    def cancel(self) -> None:
        """Stop computing; `get` raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            if self._sandbox is not None:
                self._sandbox.kill()

    def get(
        self, case: str, *, nan: bool = True, broken: Callable[[Tree], str] = lambda _: ""
    ) -> Reference:
        """Return one value, waiting for it if necessary.

        **Arguments:** `nan`: whether the value may hold NaN; `broken`: returns why a value cannot
        be judged (`Check.broken`).

        Raises:
            ReferenceFailed: PyTorch gave none.
            Cancelled: `cancel` was called, or the sandbox was killed.
        """
        if not self._done.is_set():
            began = time.perf_counter()
            self._done.wait()
            self.waited += time.perf_counter() - began
        if self._cancelled:
            raise Cancelled
        if self._fault is not None and case not in self._found:
            raise ReferenceFailed(self._fault)
        found = self._found[case]
        if what := _unusable(found.tree, nan) or _fault_in(found.tree, broken):
            raise ReferenceFailed(self._pack_fault(case.rpartition("#")[0], what))
        return found

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join()

    # --- recorded answers, and the cache -------------------------------------------------------

    @cached_property
    def content_key(self) -> str:
        """A hash of the PyTorch and the requests, under which answers are recorded."""
        digest = hashlib.sha256()
        asked = [[request.case, request.inside, request.args] for request in self._requests]
        digest.update(msgspec.json.encode([self._lesson.reference_code, asked]))
        for request in self._requests:
            digest.update(encode({}, [*request.input_sets]))
        return digest.hexdigest()

    def _load_recorded(self) -> bool:
        if not self._use_recorded:
            return False
        answers = recorded.load(self._lesson.recorded, self.content_key)
        if answers is None or not all(request.case in answers for request in self._requests):
            return False
        self._found = {request.case: Reference(answers[request.case]) for request in self._requests}
        return True

    def record(self) -> None:
        """Record the values with the pack. Call after `get` has returned each of them.

        Raises:
            tutor.engine.recorded.RecordingTooLarge: they do not fit into a file.
            OSError: the file could not be written.
        """
        answers = {case: one.tree for case, one in self._found.items()}
        versions = {"torch": installed_versions()["torch"]}
        recorded.save(self._lesson.recorded, self.content_key, answers, versions)

    @cached_property
    def _name(self) -> str:
        return f"{self._lesson.id}-{self._key()[:32]}"

    @property
    def _file(self) -> Path:
        return self._cache.path(self._name)

    def _key(self) -> str:
        """Return a hash of everything that the values depend on."""
        parts = [own_version(), installed_versions()["torch"], self.content_key]
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()

    def _load(self) -> bool:
        if (data := self._cache.load(self._name)) is None:
            return False
        try:
            tree = decode(data).tree
            found = {}
            for request in self._requests:
                one = entry(tree, request.case)
                seconds = entry(one, "seconds")
                if not isinstance(seconds, Leaf):
                    raise WireError("damaged")
                found[request.case] = Reference(entry(one, "tree"), float(seconds.values))
        except (WireError, TreeError):
            self._cache.discard(self._name)
            return False
        self._found = found
        return True

    def _save(self) -> None:
        tree: Tree = {
            case: {"tree": one.tree, "seconds": Leaf(np.asarray(one.seconds or 0.0), "float")}
            for case, one in self._found.items()
        }
        with suppress(WireError):
            self._cache.save(self._name, encode({}, tree))

    # --- computing ---------------------------------------------------------------------------

    def _compute(self, done: Callable[[], None]) -> None:
        try:
            if not torch_installed():
                self._fault = Fault("no-torch", f"these inputs need PyTorch: {WITHOUT_TORCH}")
            elif not self._taken_over():
                self._ask_all()
                self._save()
        except Failed as failure:
            self._fault = _ours(failure.fault)
        except Cancelled:
            self._cancelled = True
        except Exception as error:  # noqa: BLE001 - reported as our fault
            self._fault = Fault("internal", f"computing the reference: {error!r}")
        finally:
            with self._lock:
                if self._under_way.get(self._file) is self:
                    del self._under_way[self._file]
            self._done.set()
            done()

    def _taken_over(self) -> bool:
        """Take over the values that another thread of this process is computing, if one is."""
        while True:
            with self._lock:
                other = self._under_way.setdefault(self._file, self)
            if other is self:
                return False
            while not other._done.wait(0.1):
                if self._cancelled:
                    raise Cancelled
            if not other._cancelled:
                self._found, self._fault = other._found, other._fault
                return True

    def _start(self) -> Sandbox:
        sandbox = self._begin()
        with self._lock:
            self._sandbox = sandbox
            if self._cancelled:
                sandbox.kill()
        return sandbox

    def _ask_all(self) -> None:
        try:
            self._ask_each()
        except Lost:  # neither the pack's fault nor ours
            self._ask_each()

    def _ask_each(self) -> None:
        with self._start() as sandbox:
            sandbox.ready()
            allowance = Allowance(LIMITS.seconds)
            load = Load("load", self._lesson.reference_code, f"{self._lesson.id}.torch.py")
            reply, _ = sandbox.ask(load, None, allowance, "the lesson's PyTorch")
            if not isinstance(reply, Loaded):
                self._fault = self._broken(reply, "torch")
                return
            for request in self._requests:
                observe = Observe(request.case, request.inside, request.args)
                reply, tree = sandbox.ask(observe, [*request.input_sets], allowance, request.source)
                if not isinstance(reply, Answer):
                    self._fault = self._broken(reply, request.source)
                    return
                self._found[request.case] = Reference(tree, reply.run)

    def _broken(self, reply: Any, source: str) -> Fault:
        if isinstance(reply, Raised):
            raised = exceptions.from_raised(reply, self._lesson.reference_code)
            return self._pack_fault(source, raised.message, raised)
        what = reply.message if isinstance(reply, Broken) else "an unexpected answer"
        return Fault("internal", f"lesson {self._lesson.id}, reference of {source}: {what}")

    def _pack_fault(self, source: str, what: str, raised: Fault | None = None) -> Fault:
        return Fault(
            "broken-pack",
            f"lesson {self._lesson.id} is broken: its PyTorch fails at {source}: {what}",
            detail=raised.detail if raised is not None else "",
            frames=raised.frames if raised is not None else (),
        )


def _unusable(tree: Tree, nan: bool) -> str:
    """Return why a value cannot be compared with an answer; an empty string if it can."""
    for path, leaf in leaves(tree):
        where = f" at {path}" if path else ""
        if leaf.array is None:
            return f"it gives {leaf.type}{where}, where an array or a number is expected"
        if (
            not nan
            and leaf.array.dtype.kind in "fcV"
            and np.isnan(leaf.array.astype(complex)).any()
        ):
            return f"it gives NaN{where}; if that is intended, write `nan: true` in the check"
    return ""


def _fault_in(tree: Tree, broken: Callable[[Tree], str]) -> str:
    try:
        return broken(tree)
    except TreeError as error:  # from a recording
        return str(error)


def _ours(fault: Fault) -> Fault:
    """Return a fault of the reference's sandbox as the pack's or ours, never the learner's."""
    if fault.code == "no-sandbox":
        return Fault("no-torch", f"PyTorch does not start: {fault.message}", detail=fault.detail)
    if fault.code in faults.INTERNAL:
        return fault
    return Fault("broken-pack", f"the lesson's PyTorch did not finish: {fault.message}")


@cache
def own_version() -> str:
    """Return a hash of the code that evaluates references."""
    import tutor

    here = Path(__file__).parents[1]
    digest = hashlib.sha256(tutor.__version__.encode())
    ours = sorted([*(here / "checks" / "inside").glob("*.py"), *(here / "sandbox").glob("*.py")])
    theirs = [path for name in sorted(FOLDERS) for path in sources(FOLDERS[name])]
    for path in [*ours, *theirs]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
