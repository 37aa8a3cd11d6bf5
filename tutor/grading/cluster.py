"""A Dask cluster as an executor: submissions are run by workers on other machines.

    client (the journal)                    scheduler            worker, one of many
    Setup: the pack, versions  ──────────────► once ─────────────► Grader: checks, installs, keeps
    Job ─────────────────────────────────────► which? ───────────► graded(job): sandboxes, reports
    Reply ◄────────────────────────────────────────────────────────┘

What the workers do is in `worker.py`.

A worker that is lost takes nothing along: Dask has another one do its jobs. What Dask cannot know
is which of several jobs has killed it, so workers say when they begin one. A job that has begun
`TRIES` times without an end is not run again.
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
from tutor.grading.cluster_worker import TRIES, Grader, Reply, Sent, Setup, difference, graded
from tutor.grading.executors import Job, Quarantined, Unavailable
from tutor.manifest import Pack
from tutor.pack.archive import write_archive
from tutor.pack.contents import gather
from tutor.report import Report

CONNECT_SECONDS = 5.0
"""For the scheduler to answer, and then for a first worker to be there."""

WIDTH_SECONDS = 1.0
"""How long what is known of the number of workers is taken to be true."""

_SHOWN = 5
"""Workers that are named in a message."""


class NotRun(Exception):
    """A worker could not run a job; the message says why."""


async def _answers(scheduler: str) -> None:
    # With the certificates that Dask's configuration names, if it does, as `Client` has them.
    async with rpc(scheduler, connection_args=Security().get_connection_args("client")) as other:
        try:
            found = await asyncio.wait_for(other.identity(), CONNECT_SECONDS)
        except TimeoutError:
            raise Unavailable(f"nothing within {CONNECT_SECONDS:g} seconds") from None
    if found.get("type") != "Scheduler":
        raise Unavailable(f"a {found.get('type')} of Dask, and no scheduler")


class _Task:
    """A job under way. `begun`: how often workers said so; `lost`: how often it was handed back."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent
        self.future: Future[tuple[Report, ...]] = Future()
        self.begun = 0
        self.lost = 0
        self.remote: distributed.Future[Any] | None = None


class ClusterExecutor:
    """See `tutor.grading.executors.Executor`.

    **Arguments:** `scheduler`: its address, such as `tcp://10.0.0.1:8786`; `require`: see
    `LocalExecutor`.

    Raises:
        Unavailable: none is at this address, it has no worker, or one that is other than here.
        BadPack: the pack cannot be sent.
    """

    def __init__(self, pack: Pack, scheduler: str, require: bool = True) -> None:
        self._pack = pack
        self._address = scheduler
        self._batch = f"jaxtutor-{uuid.uuid4().hex[:12]}"
        self._lock = threading.Lock()
        self._tasks: dict[int, _Task] = {}
        self._learnt: set[str] = set()
        self._number = 0
        self._width, self._looked = 1, float("-inf")
        self._lost = False
        # What it logs is told by our own messages, or is a traceback.
        for name in ("distributed", "distributed.client", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        archive = write_archive(*gather(pack, "grading"))
        # A `Client` that finds nobody takes ten seconds more to be gone, and complains then.
        try:
            asyncio.run(_answers(scheduler))
            self._client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # noqa: BLE001 - who knows what answers there, and how
            told = str(error).partition("\n")[0] or type(error).__name__
            raise Unavailable(
                f"no Dask scheduler answers at {scheduler!r}: {told}. Start one: dask scheduler"
            ) from None
        try:
            self._begin(archive, require)
        except BaseException:
            self._client.close()
            raise

    def _begin(self, archive: bytes, require: bool) -> None:
        ours = worker.versions()
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise Unavailable(
                f"{self._address} has no workers. Start some: dask worker {self._address}"
            ) from None
        self._refuse(self._ask(worker.has), ours)
        try:
            self._client.run_on_scheduler(worker.allow_failures)
            self._client.subscribe_topic(self._batch, self._heard)
            setup = msgspec.msgpack.encode(Setup(archive, ours, require))
            self._register(Grader(setup))
        except Exception as error:  # noqa: BLE001 - whatever a worker raises comes back
            self._not_usable(error)

    def _register(self, grader: Grader) -> None:
        """With every worker, and with those to come. One that is lost meanwhile is no reason to
        stop."""
        for _ in range(TRIES):
            with suppress(CommClosedError):
                self._client.register_plugin(grader, name=self._batch)
                return
        self._client.register_plugin(grader, name=self._batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            tasks = [*self._tasks.values()]
            self._tasks.clear()
        for task in tasks:
            task.future.cancel()
        try:
            self._client.cancel([task.remote for task in tasks if task.remote is not None])
            # Ends what still runs, and every sandbox.
            self._client.unregister_worker_plugin(self._batch)
        except Exception:  # noqa: BLE001, S110 - there is nobody left to tell, so nothing to end
            pass
        self._client.close()

    @property
    def width(self) -> int:
        """The threads of all workers."""
        if time.monotonic() - self._looked > WIDTH_SECONDS:
            with suppress(Exception):  # then it is what it was
                self._width = max(1, sum(self._client.nthreads().values()))
            self._looked = time.monotonic()
        return self._width

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """See `Executor`; of any worker."""
        names: set[str] = set()
        for address, (found, fault) in self._ask(
            worker.missing_protections, self._batch, lesson
        ).items():
            if fault:
                raise Unavailable(f"the worker {address}: {fault}")
            names |= {*found}
        return sorted(names)

    def stall_reason(self) -> str:
        """See `Executor`."""
        try:
            if self._client.nthreads():
                return ""
        except Exception:  # noqa: BLE001 - whatever Dask makes of nobody being there
            return f"{self._address} does not answer; this waits for it"
        return (f"{self._address} has no workers any more; this waits for some: "
                f"dask worker {self._address}")  # fmt: skip

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        """See `Executor`."""
        if self._lost:
            raise Unavailable(f"the scheduler {self._address} is gone; when it is back, go on with "
                             "--resume")  # fmt: skip
        if job.learn:
            self._learnt.add(job.lesson)
        with self._lock:
            self._number += 1
            plain = msgspec.structs.replace(job, learn=False)
            task = _Task(Sent(self._number, plain, job.lesson in self._learnt))
            self._tasks[self._number] = task
        task.future.set_running_or_notify_cancel()
        self._send(task)
        return task.future

    def _send(self, task: _Task) -> None:
        data = msgspec.msgpack.encode(task.sent)
        key = f"{self._batch}-{task.sent.number}-{task.lost}"
        task.remote = self._client.submit(graded, self._batch, data, key=key, pure=False)
        task.remote.add_done_callback(lambda remote: self._done(task, remote))

    def _heard(self, event: tuple[float, Any]) -> None:
        with self._lock:
            task = self._tasks.get(event[1])
            if task is not None:
                task.begun += 1

    def _done(self, task: _Task, remote: "distributed.Future[Any]") -> None:
        """In Dask's thread for this: what became of a job."""
        try:
            reply = msgspec.msgpack.decode(remote.result(), type=Reply)
        except KilledWorker:
            self._again(task)
        except CancelledError:
            with self._lock:
                if task.sent.number not in self._tasks:
                    return  # by `__exit__`
                self._lost = True
            self._settle(task, Unavailable("the scheduler is gone"))
        except Exception as error:  # noqa: BLE001 - it is the batch that decides what it means
            self._settle(task, error)
        else:
            self._settle(task, reply.reports or NotRun(reply.fault))

    def _again(self, task: _Task) -> None:
        """Dask has given up on it, whoever is to blame."""
        task.lost += 1
        if max(task.begun, task.lost) >= TRIES:
            times = f"{task.begun} workers were lost" if task.begun else "workers were lost"
            what = f"{times} while they ran it, so it is not run any more; look at it yourself"
            self._settle(task, Quarantined(what))
        else:
            self._send(task)

    def _settle(self, task: _Task, outcome: tuple[Report, ...] | Exception) -> None:
        with self._lock:
            self._tasks.pop(task.sent.number, None)
        with suppress(InvalidStateError):  # cancelled by `__exit__`
            if isinstance(outcome, Exception):
                task.future.set_exception(outcome)
            else:
                task.future.set_result(outcome)

    # --- asking all workers ------------------------------------------------------------------

    def _ask(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """What each worker answers, by its address; those that are lost meanwhile are left out."""
        try:
            found: dict[str, Any] = self._client.run(function, *arguments, on_error="return")
        except Exception as error:  # noqa: BLE001 - whatever a worker raises comes back
            self._not_usable(error)
        answers = {name: one for name, one in found.items() if not isinstance(one, OSError)}
        if not answers:
            self._not_usable(next(iter(found.values()), OSError("it has no workers any more")))
        for address, answer in answers.items():
            if isinstance(answer, ImportError | AttributeError | NotImplementedError):
                raise Unavailable(
                    f"the worker {address} has no such jaxtutor: {answer}. Install the one that is "
                    "here, with its extra: pip install 'jaxtutor[cluster]'"
                )
            if isinstance(answer, Exception):
                raise Unavailable(f"the worker {address}: {type(answer).__name__}: {answer}")
        return answers

    def _refuse(self, answers: Mapping[str, Mapping[str, str]], ours: Mapping[str, str]) -> None:
        found = {address: difference(theirs, ours) for address, theirs in answers.items()}
        refused = [f"{address} has {what}" for address, what in found.items() if what]
        if not refused:
            return
        more = f"; and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
        raise Unavailable(
            f"marks would depend on where they are made: {'; '.join(refused[:_SHOWN])}{more}. "
            "Install the same versions everywhere; `jaxtutor doctor` tells them"
        )

    def _not_usable(self, error: Exception) -> NoReturn:
        told = str(error).partition("\n")[0] or type(error).__name__
        raise Unavailable(f"{self._address} cannot be used: {told}") from None
