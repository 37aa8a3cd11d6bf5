"""What runs on the workers of a Dask cluster: `cluster.py` sends it, by name.

What crosses is data: `Setup`, `Sent` and `Reply`, as bytes of MessagePack. Of functions and classes
only names cross (pickle has them by reference): those of this module, which is installed there.
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

from tutor import paths
from tutor.checks import kinds
from tutor.engine.versions import installed_versions
from tutor.grading.executors import Job, LocalExecutor, Unavailable
from tutor.inputs.functions import DrawError
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack
from tutor.pack.archive import BadArchive, unpack
from tutor.pool.forks import Forks
from tutor.report import Report
from tutor.sandbox.packages import FOLDERS, sources
from tutor.sandbox.process import Failed

TRIES = 3
"""Workers that a submission may take along. Dask's own count blames whatever was waiting there,
too; here it decides only how often a job is run before it is handed back."""


class Setup(Struct, frozen=True):
    """What a worker needs before its first job. `pack`: the file that `pack build --grading`
    makes; `versions`: of the client (`versions`); `require`: see `LocalExecutor`."""

    pack: bytes
    versions: dict[str, str]
    require: bool


class Sent(Struct, frozen=True):
    """A job under its number. `learn`: have the lesson's solution compiled first, unless this
    worker has."""

    number: int
    job: Job
    learn: bool


class Reply(Struct, frozen=True):
    """What a job has given: reports, or why there are none. Never an exception: one that cannot be
    pickled would be waited for in vain."""

    reports: tuple[Report, ...] = ()
    fault: str = ""


def versions() -> dict[str, str]:
    """Of everything that must be the same on both sides for marks to be the same."""
    kinds()  # finds them
    brought = {f"checks of {name}": _digest(FOLDERS[name]) for name in FOLDERS}
    return installed_versions() | brought


def _digest(folder: str) -> str:
    data = b"\0".join(path.read_bytes() for path in sources(folder))
    return sha256(data).hexdigest()[:12]


def difference(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """What a worker has that the client has not, in words; empty if nothing."""
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(
        f"{name} {theirs.get(name, 'missing')} (here: {ours.get(name, 'missing')})"
        for name in names
    )


class Grader(WorkerPlugin):
    """What a worker keeps for a batch: the pack, and sandboxes to run submissions in.

    **Arguments:** `setup`: a `Setup` in MessagePack.
    """

    def __init__(self, setup: bytes) -> None:
        self._data = setup
        self._forks: Forks | None = None
        self._executor: LocalExecutor | None = None
        self._learnt: dict[str, asyncio.Task[None]] = {}
        self._fault = ""

    async def setup(self, worker: Worker) -> None:
        """Dask calls it, on workers that come later, too."""
        try:
            await asyncio.to_thread(self._begin, worker.state.nthreads)
        except (Unavailable, BadPack, BadArchive, OSError) as error:
            self._fault = str(error)
            # One that stayed would get jobs, and fail them faster than others can do them.
            worker.loop.add_callback(worker.close, reason=f"jaxtutor: {error}", nanny=True)
            raise

    async def teardown(self, worker: Worker) -> None:
        """Dask calls it when the batch is over, or the worker ends."""
        if self._executor is not None:
            await asyncio.to_thread(self._executor.__exit__)
        if self._forks is not None:
            self._forks.close()

    def _begin(self, threads: int) -> None:
        setup = msgspec.msgpack.decode(self._data, type=Setup)
        if different := difference(versions(), setup.versions):
            raise Unavailable(f"it has {different}")
        self.pack = arrived(setup.pack)
        self._forks = Forks()
        self._executor = LocalExecutor(self.pack, threads, setup.require, self._forks)

    async def run(self, sent: Sent) -> tuple[Report, ...]:
        """Run a job."""
        job, executor = sent.job, self._executor
        if executor is None:
            raise Unavailable(f"this worker is of no use: {self._fault or 'it has not begun'}")
        if sent.learn:
            if job.lesson not in self._learnt:
                learning = asyncio.to_thread(self._learn, job)
                self._learnt[job.lesson] = asyncio.create_task(learning)
            await asyncio.shield(self._learnt[job.lesson])
        return await asyncio.wrap_future(executor.submit(job))

    def _learn(self, job: Job) -> None:
        solution = self.pack.solution(job.lesson)
        if solution is not None and self._forks is not None:
            with suppress(Failed, DrawError):  # it is slower without
                self._forks.compile_programs(self.pack.lesson(job.lesson), solution, job.seeds[0])

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """See `LocalExecutor.missing_protections`."""
        assert self._executor is not None, "asked of workers that have begun"
        return self._executor.missing_protections(lesson)


async def graded(batch: str, data: bytes) -> bytes:
    """The one task that a cluster is given: `data` is a `Sent`, what comes back a `Reply`."""
    worker = get_worker()
    grader = worker.plugins[batch]
    assert isinstance(grader, Grader)
    sent = msgspec.msgpack.decode(data, type=Sent)
    # Before anything else, and the scheduler has it when this returns: it outlives this worker.
    await worker.scheduler.log_event(topic=batch, msg=sent.number)
    try:
        reply = Reply(await grader.run(sent))
    except Exception as error:  # noqa: BLE001 - see `Reply`
        reply = Reply(fault=f"worker {worker.address}: {str(error) or type(error).__name__}")
    return msgspec.msgpack.encode(reply)


def has() -> dict[str, str]:
    """What this worker has; the client asks it."""
    return versions()


async def missing_protections(
    batch: str, lesson: str, dask_worker: Worker
) -> tuple[Sequence[str], str]:
    grader = dask_worker.plugins[batch]
    assert isinstance(grader, Grader)
    try:
        return await asyncio.to_thread(grader.missing_protections, lesson), ""
    except Failed as failure:
        return (), failure.fault.message


def allow_failures(dask_scheduler: Scheduler) -> None:
    dask_scheduler.allowed_failures = min(dask_scheduler.allowed_failures, TRIES - 1)


def arrived(archive: bytes) -> Pack:
    """A pack that was sent, from this machine's cache or put there, validated in any case.

    Raises:
        BadArchive, BadPack: it is none.
        OSError: it could not be written.
    """
    base = paths.cache() / "sent"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = base / sha256(archive).hexdigest()
    if not place.is_dir():
        _, files = unpack(archive, "the pack that was sent")
        incoming = Path(tempfile.mkdtemp(prefix=".incoming-", dir=base))
        try:
            for name, data in files.items():
                path = incoming / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            load_pack(incoming)
            with suppress(OSError):  # another worker of this machine has just put it there
                incoming.rename(place)
        finally:
            shutil.rmtree(incoming, ignore_errors=True)
    return load_pack(place)
