"""Kill the grader at random moments and go on, again and again; then workers, every few seconds.

    python -m tests.grading.killed 50

is what `make killed` runs: submissions of the mini pack, `kill -9` at moments drawn at random, and
`--resume` after each; and the same on a Dask cluster of two workers of which one, drawn at random,
is killed every `EVERY` seconds. Nothing may be lost, and nothing be there twice; what comes out
must be, to the byte, what a run comes to that nobody disturbs.
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
"""Seconds between two workers that are killed."""

WORKERS_FOR = 5
"""So many times as many submissions are graded while workers die."""

ANSWERS = {
    "double": ("def double(x):\n    return 2 * x\n", "def double(x):\n    return x * 3\n"),
    "tall": ("def tall(x):\n    return x.T\n", "def tall(x):\n    return y\n"),
}


def submissions(folder: Path, students: int) -> Path:
    """Right and wrong by turns."""
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
    """To its end, undisturbed; **Returns:** seconds."""
    began = time.monotonic()
    done = subprocess.run(
        command(handed_in, out, *more), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def disturbed(handed_in: Path, out: Path, kills: int, seconds: float, chance: random.Random) -> int:
    """Kill it so many times, each at a moment within the time that it takes; where it was done
    before that, it begins anew. **Returns:** how many kills hit it while it ran."""
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
        told = results(out) if (out / "results.jsonl").exists() else []
        assert len(told) == len({*told}), "a result is there twice"
    return hit


def run_while_workers_die(handed_in: Path, out: Path, folder: Path, chance: random.Random) -> int:
    """**Returns:** how many were killed."""
    over = threading.Event()
    killed = 0
    with DaskCluster(folder, {}) as dask, ThreadPoolExecutor(1) as thread:
        nannies = psutil.Process(dask.workers(2).pid)

        def kill_some() -> None:
            nonlocal killed
            while not over.wait(EVERY):
                alive = [one for one in nannies.children() if "spawn_main" in str(one.cmdline())]
                with suppress(IndexError, psutil.NoSuchProcess):  # both are just starting
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
    """Whether the journal has no result twice: nothing was graded again that was there already."""
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
        seconds = run(handed_in, folder / "wanted")
        wanted = (folder / "wanted" / "results.jsonl").read_bytes()
        hit, batches = 0, 0
        while hit < kills:
            out = folder / f"out {batches}"
            batches += 1
            while hit < kills:
                hit += disturbed(handed_in, out, 1, seconds, chance)
                if (out / "results.jsonl").exists():
                    break
            run(handed_in, out)
            assert (out / "results.jsonl").read_bytes() == wanted
            assert graded_once(out)
        told = f"killed {hit} times in {batches} batches of {2 * students}"
        print(f"{told}: nothing lost, nothing twice", flush=True)
        many = submissions(folder / "more", WORKERS_FOR * students)
        run(many, folder / "more wanted")
        hit = run_while_workers_die(many, folder / "more out", folder, chance)
        ours, theirs = (
            (folder / name / "results.jsonl").read_bytes() for name in ("more out", "more wanted")
        )
        assert ours == theirs
        assert graded_once(folder / "more out")
    number = 2 * WORKERS_FOR * students
    print(f"{hit} workers killed in a batch of {number}: nothing lost, nothing twice")


if __name__ == "__main__":
    main(sys.argv[1:])
