"""The overhead of a cluster per submission, without running any: python -m benchmarks.cluster.

A scheduler and a worker in separate processes answer jobs immediately, with the report of one real
run. Prints CPU time per process, which does not depend on the load of the machine, and wall time,
which does.
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


def run_once(job: Job, *arguments: object, **named: object) -> tuple[Report, ...]:
    """Run the first job, and return its reports for all that follow."""
    if job.lesson not in _answers:
        _answers[job.lesson] = _run_job(job, *arguments, **named)  # type: ignore[arg-type]
    return _answers[job.lesson]


def answer_immediately() -> None:
    """Replace `run_job` by `run_once` in this process."""
    executors.run_job = run_once


def dask_setup(worker: object) -> None:
    """Dask calls this in workers that preload this module."""
    answer_immediately()


def main(number: int) -> None:
    """Submit `number` jobs, and print the cost of each."""
    pack = load_pack()
    job = Job(LESSON, pack.solution(LESSON) or "", (0,))
    with tempfile.TemporaryDirectory() as folder, DaskCluster(Path(folder), {}) as dask:
        worker = dask.workers(1, "--no-nanny", "--preload", "benchmarks.cluster")
        with ClusterExecutor(pack, dask.address) as cluster:
            measure("cluster", cluster, job, number, [dask.scheduler.pid, worker.pid])
    answer_immediately()
    with LocalExecutor(pack, 1) as local:
        measure("here", local, job, number, [])


def measure(
    name: str, executor: executors.Executor, job: Job, number: int, others: list[int]
) -> None:
    """Print the milliseconds per job: wall time, and CPU time of each process."""
    executor.submit(job).result()
    watched = [psutil.Process(), *map(psutil.Process, others)]
    before, began = [cpu_seconds(process) for process in watched], time.perf_counter()
    waiting = deque(executor.submit(job) for _ in range(AHEAD))
    for _ in range(number - AHEAD):
        waiting.popleft().result()
        waiting.append(executor.submit(job))
    while waiting:
        waiting.popleft().result()
    clock = time.perf_counter() - began
    used = [cpu_seconds(process) - old for process, old in zip(watched, before, strict=True)]
    costs = [f"{label} {1000 * one / number:.2f}" for label, one in zip(
        ("client", "scheduler", "worker"), used, strict=False)]  # fmt: skip
    print(f"{name}: clock {1000 * clock / number:.2f} ms; processor: {', '.join(costs)} ms")


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds of a process, without its children's."""
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
