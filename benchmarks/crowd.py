"""Many concurrent `jaxtutor check`s, as from a class on one server.

    python -m benchmarks.crowd [N] [LESSON ...]

Each command has its own `JAXTUTOR_HOME`, so each imports PyTorch too, and takes about 500 MiB while
it runs. All check the lesson's own solution; exits with 1 if one does not pass.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from tutor.pack import load_pack
from tutor.report import Report

LESSONS = ("grad-basics", "random-keys", "linen-mlp", "pmap-train-mlp")
PATIENCE = 3600


class Job(Struct, frozen=True):
    """A file to check. `pack`: the value of `--pack`; empty for the course."""

    lesson: str
    file: Path
    pack: str = ""


class Finished(Struct, frozen=True):
    """The outcome of a command; `report` is None if it printed none."""

    job: Job
    seconds: float
    exit_code: int
    report: Report | None
    stderr: str

    @property
    def passed(self) -> bool:
        return self.report is not None and self.report.passed


def run_concurrently(jobs: Sequence[Job], folder: Path) -> list[Finished]:
    """Run all jobs concurrently, each with a new home in `folder`."""
    homes = [folder / str(number) for number in range(len(jobs))]
    with ThreadPoolExecutor(len(jobs)) as threads:
        return [*threads.map(_run, jobs, homes)]


def _run(job: Job, home: Path) -> Finished:
    command = [sys.executable, "-m", "tutor", "check", job.lesson, str(job.file), "--json"]
    if job.pack:
        command += ["--pack", job.pack]
    began = time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "JAXTUTOR_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    seconds = time.perf_counter() - began
    try:
        report = Report.from_json(done.stdout)
    except msgspec.DecodeError:
        report = None
    return Finished(job, seconds, done.returncode, report, done.stderr)


def failure_reason(finished: Finished) -> str:
    """Return in one line why a job did not pass."""
    if finished.report is None:
        return f"exit code {finished.exit_code}: {finished.stderr.strip()[-300:]}"
    if finished.report.fault is not None:
        return finished.report.fault.message
    checks = finished.report.checks
    first = next((one for one in checks if one.status not in ("pass", "skipped")), None)
    return f"{first.name}: {first.message}" if first else finished.report.verdict


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__)
    parser.add_argument(
        "number", type=int, nargs="?", default=16, help="concurrent checks; default 16"
    )
    parser.add_argument("lessons", nargs="*", default=LESSONS, help=", ".join(LESSONS))
    options = parser.parse_args()
    pack = load_pack()
    all_passed = True
    for lesson in options.lessons:
        with tempfile.TemporaryDirectory(prefix="jaxtutor-crowd-") as name:
            folder = Path(name)
            file = folder / f"{lesson}.py"
            file.write_text(pack.solution(lesson) or "", encoding="utf-8")
            found = run_concurrently([Job(lesson, file)] * options.number, folder)
        passed = [one for one in found if one.passed]
        seconds = [one.seconds for one in found]
        used = [one.report.timings.processor for one in found if one.report is not None]
        limit = pack.lesson(lesson).limits.seconds
        print(
            f"{lesson}: {len(passed)} of {len(found)} passed; "
            f"median {median(seconds):.1f} s, slowest {max(seconds):.1f} s; "
            f"most processor time {max(used, default=0.0):.1f} of {limit:g} s",
            flush=True,
        )
        for reason in sorted({failure_reason(one) for one in found if not one.passed}):
            print(f"    {reason}", flush=True)
        all_passed = all_passed and len(passed) == len(found)
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
