"""An executor that runs submissions on the workers of a Dask cluster.

    client (the journal)                scheduler           one of many workers
    Setup: the pack, versions  ───────► to every worker ──► GradingPlugin: validates, installs
    JobRequest ───────────────────────► to a free one ────► run_remotely: sandboxes, reports
    JobReply ◄────────────────────────────────────────────────┘

`cluster_worker.py` is the workers' side.

If a worker is lost, Dask reruns its jobs on another. Dask cannot tell which of several jobs killed
it, so workers log an event when they start one. A job that started `MAX_ATTEMPTS` times and never
finished is not run again.
"""

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from typing import Any, NoReturn, Self

import distributed
import msgspec
from distributed import Client, KilledWorker
from distributed.comm.core import CommClosedError
from distributed.core import rpc
from distributed.security import Security

from tutor.grading import cluster_worker as worker
from tutor.grading.cluster_worker import (
    MAX_ATTEMPTS,
    GradingPlugin,
    JobReply,
    JobRequest,
    Setup,
    run_remotely,
    version_differences,
)
from tutor.grading.executors import Job, Quarantined, Unavailable
from tutor.manifest import Pack
from tutor.pack.archive import write_archive
from tutor.pack.contents import gather
from tutor.report import Report

CONNECT_SECONDS = 5.0
"""For the scheduler to answer, and then for a first worker to connect."""

WIDTH_SECONDS = 1.0
"""Age up to which the known number of workers counts as current."""

_MAX_NAMED = 5
"""Workers named in a message."""


class JobFailed(Exception):
    """A worker could not run a job; the message says why."""


async def _require_scheduler(address: str) -> None:
    # Use the certificates in Dask's configuration, as `Client` does.
    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        try:
            identity = await asyncio.wait_for(server.identity(), CONNECT_SECONDS)
        except TimeoutError:
            raise Unavailable(f"no answer within {CONNECT_SECONDS:g} seconds") from None
    if identity.get("type") != "Scheduler":
        raise Unavailable(f"it is a Dask {identity.get('type')}, not a scheduler")


class _PendingJob:
    """A submitted job. `starts`: how often workers started it; `losses`: how often Dask gave it
    up."""

    def __init__(self, request: JobRequest) -> None:
        self.request = request
        self.future: Future[tuple[Report, ...]] = Future()
        self.starts = 0
        self.losses = 0
        self.remote: distributed.Future[Any] | None = None


class ClusterExecutor:
    """See `tutor.grading.executors.Executor`.

    **Arguments:** `scheduler`: its address, such as `tcp://10.0.0.1:8786`; `require`: see
    `LocalExecutor`.

    Raises:
        Unavailable: no scheduler at this address, no workers, or a worker with other versions.
        BadPack: the pack cannot be sent.
    """

    def __init__(self, pack: Pack, scheduler: str, require: bool = True) -> None:
        self._pack = pack
        self._address = scheduler
        self._batch = f"jaxtutor-{uuid.uuid4().hex[:12]}"
        self._lock = threading.Lock()
        self._jobs: dict[int, _PendingJob] = {}
        self._to_compile: set[str] = set()
        self._number = 0
        self._width, self._width_updated = 1, float("-inf")
        self._lost = False
        # Our own messages report what these log.
        for name in ("distributed", "distributed.client", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        archive = write_archive(*gather(pack, "grading"))
        # A `Client` without a scheduler takes ten more seconds to close, and logs a traceback.
        try:
            asyncio.run(_require_scheduler(scheduler))
            self._client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # noqa: BLE001 - anything may listen there
            raise Unavailable(
                f"no Dask scheduler answers at {scheduler!r}: {_first_line(error)}. "
                "Start one: dask scheduler"
            ) from None
        try:
            self._set_up_workers(archive, require)
        except BaseException:
            self._client.close()
            raise

    def _set_up_workers(self, archive: bytes, require: bool) -> None:
        ours = worker.versions()
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise Unavailable(
                f"{self._address} has no workers. Start some: dask worker {self._address}"
            ) from None
        self._require_versions(self._ask(worker.report_versions), ours)
        try:
            self._client.run_on_scheduler(worker.allow_failures)
            self._client.subscribe_topic(self._batch, self._on_event)
            setup = msgspec.msgpack.encode(Setup(archive, ours, require))
            self._register(GradingPlugin(setup))
        except Exception as error:  # noqa: BLE001 - includes exceptions of workers
            self._raise_unavailable(error)

    def _register(self, plugin: GradingPlugin) -> None:
        """Register the plugin with current and future workers, even if one is lost meanwhile."""
        for _ in range(MAX_ATTEMPTS):
            with suppress(CommClosedError):
                self._client.register_plugin(plugin, name=self._batch)
                return
        self._client.register_plugin(plugin, name=self._batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            jobs = [*self._jobs.values()]
            self._jobs.clear()
        for job in jobs:
            job.future.cancel()
        try:
            self._client.cancel([job.remote for job in jobs if job.remote is not None])
            # Kills running jobs and their sandboxes.
            self._client.unregister_worker_plugin(self._batch)
        except Exception:  # noqa: BLE001, S110 - the scheduler is gone: no worker can be reached
            pass
        self._client.close()

    @property
    def width(self) -> int:
        """The number of threads of all workers."""
        if time.monotonic() - self._width_updated > WIDTH_SECONDS:
            with suppress(Exception):  # keep the last known value
                self._width = max(1, sum(self._client.nthreads().values()))
            self._width_updated = time.monotonic()
        return self._width

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """See `Executor`; missing on any worker."""
        names: set[str] = set()
        answers = self._ask(worker.missing_protections, self._batch, lesson)
        for address, (missing, fault) in answers.items():
            if fault:
                raise Unavailable(f"the worker {address}: {fault}")
            names |= {*missing}
        return sorted(names)

    def stall_reason(self) -> str:
        """See `Executor`."""
        try:
            if self._client.nthreads():
                return ""
        except Exception:  # noqa: BLE001 - depends on how the scheduler is unreachable
            return f"waiting for the scheduler {self._address}, which does not answer"
        return f"waiting for workers, because all are gone. Start some: dask worker {self._address}"

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        """See `Executor`."""
        if self._lost:
            raise Unavailable(
                f"lost the scheduler {self._address}; once it is back, continue with --resume"
            )
        if job.learn:
            self._to_compile.add(job.lesson)
        with self._lock:
            self._number += 1
            plain = msgspec.structs.replace(job, learn=False, variants=())
            pending = _PendingJob(JobRequest(self._number, plain, job.lesson in self._to_compile))
            self._jobs[self._number] = pending
        pending.future.set_running_or_notify_cancel()
        self._send(pending)
        return pending.future

    def _send(self, job: _PendingJob) -> None:
        data = msgspec.msgpack.encode(job.request)
        key = f"{self._batch}-{job.request.number}-{job.losses}"
        job.remote = self._client.submit(run_remotely, self._batch, data, key=key, pure=False)
        job.remote.add_done_callback(lambda remote: self._on_done(job, remote))

    def _on_event(self, event: tuple[float, Any]) -> None:
        with self._lock:
            job = self._jobs.get(event[1])
            if job is not None:
                job.starts += 1

    def _on_done(self, job: _PendingJob, remote: "distributed.Future[Any]") -> None:
        """Handle the outcome of a job, in Dask's callback thread."""
        try:
            reply = msgspec.msgpack.decode(remote.result(), type=JobReply)
        except KilledWorker:
            self._retry(job)
        except CancelledError:
            with self._lock:
                if job.request.number not in self._jobs:
                    return  # by `__exit__`
                self._lost = True
            self._resolve(job, Unavailable("lost the scheduler"))
        except Exception as error:  # noqa: BLE001 - the batch handles it
            self._resolve(job, error)
        else:
            self._resolve(job, reply.reports or JobFailed(reply.fault))

    def _retry(self, job: _PendingJob) -> None:
        """Send a job again that Dask gave up, unless it probably killed the workers itself."""
        job.losses += 1
        if max(job.starts, job.losses) >= MAX_ATTEMPTS:
            workers = f"{job.starts} workers" if job.starts else "workers"
            what = f"{workers} were lost while they ran it, so it is not run again; review it"
            self._resolve(job, Quarantined(what))
        else:
            self._send(job)

    def _resolve(self, job: _PendingJob, outcome: tuple[Report, ...] | Exception) -> None:
        with self._lock:
            self._jobs.pop(job.request.number, None)
        with suppress(InvalidStateError):  # cancelled by `__exit__`
            if isinstance(outcome, Exception):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)

    # --- calls to all workers ----------------------------------------------------------------

    def _ask(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """Return each worker's answer by its address, without workers that are lost meanwhile."""
        try:
            found: dict[str, Any] = self._client.run(function, *arguments, on_error="return")
        except Exception as error:  # noqa: BLE001 - includes exceptions of workers
            self._raise_unavailable(error)
        answers = {name: one for name, one in found.items() if not isinstance(one, OSError)}
        if not answers:
            self._raise_unavailable(next(iter(found.values()), OSError("all workers are gone")))
        for address, answer in answers.items():
            if isinstance(answer, ImportError | AttributeError | NotImplementedError):
                raise Unavailable(
                    f"the worker {address} has another jaxtutor: {answer}. Install this version, "
                    "with its extra: pip install 'jaxtutor[cluster]'"
                )
            if isinstance(answer, Exception):
                raise Unavailable(f"the worker {address}: {type(answer).__name__}: {answer}")
        return answers

    def _require_versions(
        self, answers: Mapping[str, Mapping[str, str]], ours: Mapping[str, str]
    ) -> None:
        different = [
            f"{address} has {differences}"
            for address, theirs in answers.items()
            if (differences := version_differences(theirs, ours))
        ]
        if not different:
            return
        more = f"; and {len(different) - _MAX_NAMED} more" if len(different) > _MAX_NAMED else ""
        raise Unavailable(
            f"scores could differ between machines: {'; '.join(different[:_MAX_NAMED])}{more}. "
            "Install the same versions everywhere; `jaxtutor doctor` shows them"
        )

    def _raise_unavailable(self, error: Exception) -> NoReturn:
        raise Unavailable(f"{self._address} cannot be used: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
