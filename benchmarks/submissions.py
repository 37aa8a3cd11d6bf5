"""Labelled submissions (right, wrong, malformed and hostile), graded three times.

    python -m benchmarks.submissions 1000

makes so many, to the course and to the test pack that attacks are written for, and runs `jaxtutor
grade` on them with one seed: twice on this machine, and once on a Dask cluster with a worker per
core. Prints whether all results are equal to the byte, which verdicts are wrong, the throughput,
and the memory (PSS) of all processes. Exits with 1 if results differ or a verdict is wrong.
"""

import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.answers import right_and_wrong
from benchmarks.dask_cluster import DaskCluster
from benchmarks.processes import memory_mb
from tests.attacks.targets import aims
from tutor.grading.result import Grade
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import load_pack

REPOSITORY = Path(__file__).resolve().parent.parent
ATTACKS = REPOSITORY / "tests" / "attacks" / "submissions"
MINI = REPOSITORY / "tests" / "packs" / "mini" / "lessons"
ATTACKED = "double"
"""The lesson that all attacks are submitted to."""

SEED = 20_260_301
LABELS = "labels.csv"
MEMORY_SECONDS = 2.0
"""Interval between measurements of memory."""


class LabelledFile(Struct, frozen=True):
    """A file, and the verdicts that are correct for it. `kind`: right, wrong, malformed or
    hostile."""

    lesson: str
    kind: str
    name: str
    data: bytes
    accepted: tuple[Grade, ...]
    suffix: str = ".py"


def generate(
    pack: Pack, number: int, targets: Mapping[str, str] | None = None, seed: int = 0
) -> Iterator[LabelledFile]:
    """Yield `number` files, spread evenly over the lessons: half of them right, the others evenly
    spread over the other kinds.

    **Arguments:** `targets`: the targets of the attacks, if the pack has the lesson that they are
    written for.
    """
    chance = random.Random(seed)
    lessons = [pack.lesson(name) for name in pack.lessons]
    known = {lesson.id: list(_of(pack, lesson)) for lesson in lessons}
    hostile = list(_hostile(targets)) if targets is not None else []
    chance.shuffle(hostile)
    for count in range(number):
        mine = known[lessons[count % len(lessons)].id]
        kind = (
            "right" if chance.random() < 0.5 else chance.choice(["wrong", "malformed", "hostile"])
        )
        if kind == "hostile" and hostile:
            yield hostile[count % len(hostile)]
        else:
            choices = [one for one in mine if one.kind == kind]
            yield chance.choice(choices or [one for one in mine if one.kind == "wrong"])


def _of(pack: Pack, lesson: Lesson) -> Iterator[LabelledFile]:
    right, wrong = right_and_wrong(pack, lesson)
    for answer in right:
        yield LabelledFile(lesson.id, "right", answer.name, answer.code.encode(), ("pass",))
    for answer in wrong:
        if answer.code.strip():
            code = answer.code.encode()
            yield LabelledFile(lesson.id, "wrong", answer.name, code, ("fail", "error"))
    solution = right[0].code
    cells = [{"cell_type": "code", "source": part} for part in (solution, "%timeit 1")]
    for name, data in {
        "empty": b"",
        "binary": bytes(range(256)),
        "latin-1": f"# é\n{solution}".encode("latin-1", "replace"),
        "too large": b"#" * (1 << 20) + solution.encode(),
    }.items():
        yield LabelledFile(lesson.id, "malformed", name, data, ("ungraded",))
    yield LabelledFile(lesson.id, "malformed", "NUL", f"{solution}\0".encode(), ("error",))
    yield LabelledFile(lesson.id, "malformed", "half", solution.encode()[:-3] + b"((", ("error",))
    for name, some, accepted in (
        ("notebook", cells[:1], "pass"),
        ("magic", cells, "ungraded"),
        ("no cells", [], "ungraded"),
    ):
        data = json.dumps({"cells": some, "nbformat": 4}).encode()
        kind = "right" if accepted == "pass" else "malformed"
        yield LabelledFile(lesson.id, kind, name, data, (accepted,), ".ipynb")  # type: ignore[arg-type]


def _hostile(targets: Mapping[str, str]) -> Iterator[LabelledFile]:
    for path in sorted(ATTACKS.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"@([A-Z]+)@", lambda found: targets.get(found[1], found[0]), text)
        yield LabelledFile(ATTACKED, "hostile", path.stem, text.encode(), ("fail", "error"))


def hand_in(submissions: Sequence[LabelledFile], folder: Path) -> None:
    """Write a directory per submission below `hw`, and a table of labels next to it."""
    rows = []
    for number, one in enumerate(submissions):
        path = folder / "hw" / f"student {number:05}" / f"{one.lesson}{one.suffix}"
        path.parent.mkdir(parents=True)
        path.write_bytes(one.data)
        rows.append([path.parent.name, one.lesson, one.kind, one.name, " ".join(one.accepted)])
    with (folder / LABELS).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["submission", "lesson", "kind", "name", "accepted"])
        writer.writerows(rows)


class Run(Struct, frozen=True):
    """The seconds of a run, and the peak MiB of all processes in its first and second half."""

    seconds: float
    early: float
    late: float


def grade(folder: Path, pack: Path, out: str, *more: str) -> Run:
    began = time.monotonic()
    memory = []
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tutor", "grade", str(folder / "hw"), "--pack", str(pack),
             "--out", str(folder / out), "--seed", str(SEED), "--quiet", *more],
            stdout=subprocess.DEVNULL, stderr=stderr,
        )  # fmt: skip
        while True:
            try:
                process.wait(MEMORY_SECONDS)
                break
            except subprocess.TimeoutExpired:
                memory.append(memory_mb(process.pid))
        if process.returncode not in (0, 3):
            stderr.seek(0)
            raise RuntimeError(stderr.read().decode())
    seconds = time.monotonic() - began
    half = len(memory) // 2
    return Run(seconds, max(memory[:half], default=0.0), max(memory[half:], default=0.0))


def misgraded(folder: Path, out: str) -> list[str]:
    """Return the submissions with a wrong verdict, without a result, or with two."""
    with (folder / LABELS).open(newline="", encoding="utf-8") as file:
        labels = {row["submission"]: row for row in csv.DictReader(file)}
    wrong = []
    for line in (folder / out / "results.jsonl").read_bytes().splitlines():
        result = msgspec.json.decode(line)
        row = labels.pop(result["submission"], None)
        if row is None:
            wrong.append(f"{result['submission']}: graded twice, or never handed in")
        elif result["verdict"] not in row["accepted"].split():
            wrong.append(
                f"{row['submission']} ({row['lesson']}, {row['kind']}: {row['name']}): "
                f"{result['verdict']}, not {row['accepted']}: {result['fault'][:200]}"
            )
    return [*wrong, *(f"{name}: no result" for name in labels)]


def main(arguments: Sequence[str]) -> int:
    number = int(arguments[0])
    bad = 0
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="jaxtutor-submissions-"))
        home, aimed_at = Path(name) / "home", Path(name) / "targets"
        os.environ["JAXTUTOR_HOME"] = str(home)
        aimed_at.mkdir()
        targets = stack.enter_context(aims(aimed_at, home))
        for root, share, aimed in (
            (None, number // 2, None),
            (MINI, number - number // 2, targets),
        ):
            pack = load_pack(root)
            folder = Path(name) / pack.id
            hand_in(list(generate(pack, share, aimed)), folder)
            runs = {out: grade(folder, pack.root, out) for out in ("first", "second")}
            with DaskCluster(Path(name), {}) as dask:
                dask.workers(os.cpu_count() or 1)
                runs["cluster"] = grade(folder, pack.root, "cluster", "--scheduler", dask.address)
            one, *others = ((folder / out / "results.jsonl").read_bytes() for out in runs)
            wrong = misgraded(folder, "first")
            differ = [other for other in others if other != one]
            bad += len(wrong) + len(differ)
            outcome = "the same bytes" if not differ else "NOT the same"
            print(
                f"{pack.id}: {share} submissions, graded three times: {outcome}; "
                f"{len(wrong)} misgraded"
            )
            for out, run in runs.items():
                memory = f"at most {run.early:.0f} MiB in its first half, {run.late:.0f} after it"
                print(f"  {out}: {share / run.seconds:.2f}/s, {memory}", flush=True)
            for line in wrong:
                print(f"  {line}")
            for other in differ:
                for mine, theirs in zip(one.splitlines(), other.splitlines(), strict=False):
                    if mine != theirs:
                        print(f"  {mine.decode()[:600]}\n  {theirs.decode()[:600]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
