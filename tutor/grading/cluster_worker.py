"""The workers' side of `cluster.py`.

Only data is sent: `Setup`, `JobRequest` and `JobReply`, in MessagePack. Functions and classes of
this module are sent by name (pickle refers to them), so jaxtutor must be installed on the workers.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from distributed import Scheduler, Worker, WorkerPlugin, get_worker
from msgspec import Struct

from tutor.checks import kinds
from tutor.engine.versions import installed_versions
from tutor.grading.executors import Job, LocalExecutor, Unavailable
from tutor.inputs.drawing import DrawError
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack
from tutor.pack.archive import BadArchive, unpack
from tutor.pool.forks import Forks
from tutor.report import Report
from tutor.sandbox.packages import FOLDERS, sources
from tutor.sandbox.process import Failed
from tutor.storage import paths

MAX_ATTEMPTS = 3
"""Workers that a submission may kill. Dask's own count also blames jobs that were only queued on
the worker, so here it only decides when Dask gives a job up."""


class Setup(Struct, frozen=True):
    """Sent to a worker before its first job. `pack`: an archive as from `pack build --grading`;
    `versions`: the client's; `require`: see `LocalExecutor`."""

    pack: bytes
    versions: dict[str, str]
    require: bool


class JobRequest(Struct, frozen=True):
    """A numbered job. `learn`: compile the lesson's solution first, unless this worker has."""

    number: int
    job: Job
    learn: bool


class JobReply(Struct, frozen=True):
    """The reports of a job, or why there are none. Not an exception: if one could not be pickled,
    the client would wait forever."""

    reports: tuple[Report, ...] = ()
    fault: str = ""


def versions() -> dict[str, str]:
    """Return the versions of everything that scores depend on."""
    kinds()  # loads plugin checks
    plugins = {f"checks of {name}": _digest(FOLDERS[name]) for name in FOLDERS}
    return installed_versions() | plugins


def _digest(folder: str) -> str:
    data = b"\0".join(path.read_bytes() for path in sources(folder))
    return sha256(data).hexdigest()[:12]


def version_differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return how a worker's versions differ from the client's, in words; empty if they do not."""
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(
        f"{name} {theirs.get(name, 'missing')} (here: {ours.get(name, 'missing')})"
        for name in names
    )


class GradingPlugin(WorkerPlugin):
    """A worker's state for a batch: the pack, and an executor.

    **Arguments:** `setup`: a `Setup` in MessagePack.
    """

    def __init__(self, setup: bytes) -> None:
        self._data = setup
        self._forks: Forks | None = None
        self._executor: LocalExecutor | None = None
        self._compiled: dict[str, asyncio.Task[None]] = {}
        self._fault = ""

    async def setup(self, worker: Worker) -> None:
        """Dask calls this on every worker, including later ones."""
        try:
            await asyncio.to_thread(self._begin, worker.state.nthreads)
        except (Unavailable, BadPack, BadArchive, OSError) as error:
            self._fault = str(error)
            # A broken worker would fail jobs faster than others can run them.
            worker.loop.add_callback(worker.close, reason=f"jaxtutor: {error}", nanny=True)
            raise

    async def teardown(self, worker: Worker) -> None:
        """Dask calls this when the batch is over, or the worker stops."""
        if self._executor is not None:
            await asyncio.to_thread(self._executor.__exit__)
        if self._forks is not None:
            self._forks.close()

    def _begin(self, threads: int) -> None:
        setup = msgspec.msgpack.decode(self._data, type=Setup)
        if differences := version_differences(versions(), setup.versions):
            raise Unavailable(f"it has {differences}")
        self.pack = install_sent_pack(setup.pack)
        self._forks = Forks()
        self._executor = LocalExecutor(self.pack, threads, setup.require, self._forks)

    async def run(self, request: JobRequest) -> tuple[Report, ...]:
        """Run a job."""
        job, executor = request.job, self._executor
        if executor is None:
            raise Unavailable(f"this worker is not set up: {self._fault or 'still starting'}")
        if request.learn:
            if job.lesson not in self._compiled:
                compiling = asyncio.to_thread(self._compile_solution, job)
                self._compiled[job.lesson] = asyncio.create_task(compiling)
            await asyncio.shield(self._compiled[job.lesson])
        return await asyncio.wrap_future(executor.submit(job))

    def _compile_solution(self, job: Job) -> None:
        solution = self.pack.solution(job.lesson)
        if solution is not None and self._forks is not None:
            with suppress(Failed, DrawError):  # only slower without
                self._forks.compile_programs(self.pack.lesson(job.lesson), solution, job.seeds[0])

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """See `Executor`."""
        assert self._executor is not None, "the worker is set up"
        return self._executor.missing_protections(lesson)


async def run_remotely(batch: str, data: bytes) -> bytes:
    """Run a `JobRequest` and return a `JobReply`, both encoded."""
    worker = get_worker()
    plugin = worker.plugins[batch]
    assert isinstance(plugin, GradingPlugin)
    request = msgspec.msgpack.decode(data, type=JobRequest)
    # First of all: the scheduler has the event when this returns, even if the worker dies then.
    await worker.scheduler.log_event(topic=batch, msg=request.number)
    try:
        reply = JobReply(await plugin.run(request))
    except Exception as error:  # noqa: BLE001 - see `JobReply`
        reply = JobReply(fault=f"worker {worker.address}: {str(error) or type(error).__name__}")
    return msgspec.msgpack.encode(reply)


def report_versions() -> dict[str, str]:
    """Return this worker's versions."""
    return versions()


async def missing_protections(
    batch: str, lesson: str, dask_worker: Worker
) -> tuple[Sequence[str], str]:
    """Return this worker's missing protections, or why they are unknown."""
    plugin = dask_worker.plugins[batch]
    assert isinstance(plugin, GradingPlugin)
    try:
        return await asyncio.to_thread(plugin.missing_protections, lesson), ""
    except Failed as failure:
        return (), failure.fault.message


def allow_failures(dask_scheduler: Scheduler) -> None:
    """Have Dask give a job up after `MAX_ATTEMPTS` lost workers, or fewer if so configured."""
    dask_scheduler.allowed_failures = min(dask_scheduler.allowed_failures, MAX_ATTEMPTS - 1)


def install_sent_pack(archive: bytes) -> Pack:
    """Return the validated pack in an archive, unpacking it into this machine's cache if needed.

    Raises:
        BadArchive, BadPack: it is not a valid pack.
        OSError: it could not be written.
    """
    base = paths.cache() / "sent"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = base / sha256(archive).hexdigest()
    if not target.is_dir():
        _, files = unpack(archive, "the pack that was sent")
        incoming = Path(tempfile.mkdtemp(prefix=".incoming-", dir=base))
        try:
            for name, data in files.items():
                path = incoming / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            load_pack(incoming)
            with suppress(OSError):  # another worker on this machine was faster
                incoming.rename(target)
        finally:
            shutil.rmtree(incoming, ignore_errors=True)
    return load_pack(target)
