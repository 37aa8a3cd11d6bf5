"""Kill the grader at random moments and resume it, many times; then kill workers of a cluster.

    python -m tests.grading.killed 50

is what `make killed` runs: submissions to the mini pack, `kill -9` at random moments, and
`--resume` after each; then a Dask cluster of two workers, a random one of which is killed every
`EVERY` seconds. No result may be lost or duplicated, and the results must equal those of an
undisturbed run to the byte.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks.dask_cluster import DaskCluster
from tests.conftest import MINI, make_home

SEED = 11
EVERY = 4.0
"""Seconds between kills of workers."""

WORKERS_FOR = 5
"""The factor by which there are more submissions while workers are killed."""

ANSWERS = {
    "double": ("def double(x):\n    return 2 * x\n", "def double(x):\n    return x * 3\n"),
    "tall": ("def tall(x):\n    return x.T\n", "def tall(x):\n    return y\n"),
}


def submissions(folder: Path, students: int) -> Path:
    """Write right and wrong submissions."""
    for number in range(students):
        for lesson, answers in ANSWERS.items():
            path = folder / f"student {number:03}" / f"{lesson}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{answers[number % 3 == 1]}# {number}\n")
    return folder


def command(handed_in: Path, out: Path, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "tutor", "grade", str(handed_in), "--pack", str(MINI),
        "--out", str(out), "--seed", str(SEED), "--resume", "--quiet",
        "--format", "gradebook.csv", *more,
    ]  # fmt: skip


def run(handed_in: Path, out: Path, *more: str) -> float:
    """Grade undisturbed; return the seconds."""
    began = time.monotonic()
    done = subprocess.run(
        command(handed_in, out, *more), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def run_and_kill(
    handed_in: Path, out: Path, kills: int, seconds: float, chance: random.Random
) -> int:
    """Start the grader `kills` times, and kill it at a random moment within `seconds`; return how
    often that hit it while it ran."""
    hit = 0
    for _ in range(kills):
        process = subprocess.Popen(
            command(handed_in, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(chance.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            hit += 1
        process.wait()
        ids = results(out) if (out / "results.jsonl").exists() else []
        assert len(ids) == len({*ids}), "a duplicate result"
    return hit


def run_while_workers_die(handed_in: Path, out: Path, folder: Path, chance: random.Random) -> int:
    """Grade on a cluster while killing workers; return how many were killed."""
    over = threading.Event()
    killed = 0
    with DaskCluster(folder, {}) as dask, ThreadPoolExecutor(1) as thread:
        nannies = psutil.Process(dask.workers(2).pid)

        def kill_some() -> None:
            nonlocal killed
            while not over.wait(EVERY):
                alive = [one for one in nannies.children() if "spawn_main" in str(one.cmdline())]
                with suppress(IndexError, psutil.NoSuchProcess):  # both are starting
                    chance.choice(alive).kill()
                    killed += 1

        killer = thread.submit(kill_some)
        try:
            run(handed_in, out, "--scheduler", dask.address)
        finally:
            over.set()
        killer.result()
    return killed


def results(out: Path) -> list[tuple[str, str]]:
    lines = (out / "results.jsonl").read_text().splitlines()
    return [(one["submission"], one["lesson"]) for one in map(json.loads, lines)]


def graded_once(out: Path) -> bool:
    """Return whether the journal has no duplicates: no submission was graded again."""
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_bytes().splitlines()]
    pairs = [
        (line["result"]["submission"], line["result"]["lesson"])
        for line in lines
        if line["line"] == "result"
    ]
    return len(pairs) == len({*pairs})


def main(arguments: Sequence[str]) -> None:
    kills, students = int(arguments[0]), int(arguments[1]) if arguments[1:] else 40
    chance = random.Random()
    with tempfile.TemporaryDirectory(prefix="jaxtutor-killed-") as name:
        folder = Path(name)
        os.environ["JAXTUTOR_HOME"] = str(make_home(folder))
        handed_in = submissions(folder / "hw", students)
        run(handed_in, folder / "first")
        seconds = run(handed_in, folder / "undisturbed")
        expected = (folder / "undisturbed" / "results.jsonl").read_bytes()
        hit, batches = 0, 0
        while hit < kills:
            out = folder / f"out {batches}"
            batches += 1
            while hit < kills:
                hit += run_and_kill(handed_in, out, 1, seconds, chance)
                if (out / "results.jsonl").exists():
                    break
            run(handed_in, out)
            assert (out / "results.jsonl").read_bytes() == expected
            assert graded_once(out)
        number = 2 * students
        print(f"killed {hit} times in {batches} batches of {number}: no result lost or duplicated")
        many = submissions(folder / "more", WORKERS_FOR * students)
        run(many, folder / "undisturbed 2")
        hit = run_while_workers_die(many, folder / "more out", folder, chance)
        ours, theirs = (
            (folder / name / "results.jsonl").read_bytes() for name in ("more out", "undisturbed 2")
        )
        assert ours == theirs
        assert graded_once(folder / "more out")
    number = 2 * WORKERS_FOR * students
    print(f"{hit} workers killed in a batch of {number}: no result lost or duplicated")


if __name__ == "__main__":
    main(sys.argv[1:])
