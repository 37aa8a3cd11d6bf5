"""What handing submissions to a cluster costs, without running them: python -m benchmarks.cluster.

A scheduler and a worker in processes of their own answer jobs at once, with the report of one real
run. Processor seconds are told for each process, for they do not depend on what else the machine
does; the wall clock is told too, and does.
"""

import sys
import tempfile
import time
from collections import deque
from pathlib import Path

import psutil

from benchmarks.dask_cluster import DaskCluster
from tutor.grading import executors
from tutor.grading.cluster import ClusterExecutor
from tutor.grading.executors import Job, LocalExecutor
from tutor.pack import load_pack
from tutor.report import Report

LESSON = "vmap-basics"
AHEAD = 8
_answers: dict[str, tuple[Report, ...]] = {}
_run_job = executors.run_job


def once(job: Job, *arguments: object, **named: object) -> tuple[Report, ...]:
    """Run the first job for good, and answer those that follow with what it gave."""
    if job.lesson not in _answers:
        _answers[job.lesson] = _run_job(job, *arguments, **named)  # type: ignore[arg-type]
    return _answers[job.lesson]


def answer_at_once() -> None:
    """From now on, in this process."""
    executors.run_job = once


def dask_setup(worker: object) -> None:
    """Dask calls it in the worker, which loads this module for it."""
    answer_at_once()


def main(number: int) -> None:
    """Hand `number` submissions over, and print what that took."""
    pack = load_pack()
    job = Job(LESSON, pack.solution(LESSON) or "", (0,))
    with tempfile.TemporaryDirectory() as folder, DaskCluster(Path(folder), {}) as dask:
        worker = dask.workers(1, "--no-nanny", "--preload", "benchmarks.cluster")
        with ClusterExecutor(pack, dask.address) as cluster:
            measure("cluster", cluster, job, number, [dask.scheduler.pid, worker.pid])
    answer_at_once()
    with LocalExecutor(pack, 1) as local:
        measure("here", local, job, number, [])


def measure(
    name: str, executor: executors.Executor, job: Job, number: int, others: list[int]
) -> None:
    """Print milliseconds for each job: by the clock, and of the processors."""
    executor.submit(job).result()
    watched = [psutil.Process(), *map(psutil.Process, others)]
    before, began = [spent(process) for process in watched], time.perf_counter()
    waiting = deque(executor.submit(job) for _ in range(AHEAD))
    for _ in range(number - AHEAD):
        waiting.popleft().result()
        waiting.append(executor.submit(job))
    while waiting:
        waiting.popleft().result()
    clock = time.perf_counter() - began
    used = [spent(process) - old for process, old in zip(watched, before, strict=True)]
    told = [f"{label} {1000 * one / number:.2f}" for label, one in zip(
        ("client", "scheduler", "worker"), used, strict=False)]  # fmt: skip
    print(f"{name}: clock {1000 * clock / number:.2f} ms; processor: {', '.join(told)} ms")


def spent(process: psutil.Process) -> float:
    """Processor seconds of a process, without its children's."""
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
