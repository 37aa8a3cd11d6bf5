"""Submissions with known labels, right, wrong, hostile and malformed, graded twice.

    python -m benchmarks.submissions 1000

makes so many (of the course, and of the pack of tests that attacks are written for) as folders of
students, has `jaxtutor grade` grade them twice under one hidden seed, and says whether both gave
the same bytes, whether any mark is not the one that the submission was made for, and how fast it
was. Exits with 1 if anything did not hold.
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
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.answers import handed_in
from tutor.grading.result import Grade
from tutor.lesson import Lesson, Pack
from tutor.pack import load_pack

REPOSITORY = Path(__file__).resolve().parent.parent
ATTACKS = REPOSITORY / "tests" / "attacks" / "submissions"
MINI = REPOSITORY / "tests" / "packs" / "mini" / "lessons"
ATTACKED = "double"
"""The lesson that all attacks hand something in for."""

SEED = 20_260_301
LABELS = "labels.csv"


class Labelled(Struct, frozen=True):
    """One file, and the verdicts of which it deserves one. `kind`: right, wrong, malformed or
    hostile."""

    lesson: str
    kind: str
    name: str
    data: bytes
    deserves: tuple[Grade, ...]
    suffix: str = ".py"


def made(pack: Pack, number: int, seed: int = 0, attacks: bool = False) -> Iterator[Labelled]:
    """As many as wanted, of all lessons equally many: half right, and of the rest as many of each
    kind.

    **Arguments:** `attacks`: whether the lesson that they are written for is one of the pack's.
    """
    chance = random.Random(seed)
    lessons = [pack.lesson(name) for name in pack.lessons]
    known = {lesson.id: list(_of(pack, lesson)) for lesson in lessons}
    hostile = list(_hostile()) if attacks else []
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


def _of(pack: Pack, lesson: Lesson) -> Iterator[Labelled]:
    right, wrong = handed_in(pack, lesson)
    for answer in right:
        yield Labelled(lesson.id, "right", answer.name, answer.code.encode(), ("pass",))
    for answer in wrong:
        if answer.code.strip():
            code = answer.code.encode()
            yield Labelled(lesson.id, "wrong", answer.name, code, ("fail", "error"))
    solution = right[0].code
    cells = [{"cell_type": "code", "source": part} for part in (solution, "%timeit 1")]
    for name, data in {
        "empty": b"",
        "binary": bytes(range(256)),
        "latin-1": f"# é\n{solution}".encode("latin-1", "replace"),
        "too large": b"#" * (1 << 20) + solution.encode(),
    }.items():
        yield Labelled(lesson.id, "malformed", name, data, ("ungraded",))
    yield Labelled(lesson.id, "malformed", "NUL", f"{solution}\0".encode(), ("error",))
    yield Labelled(lesson.id, "malformed", "half", solution.encode()[:-3] + b"((", ("error",))
    for name, some, deserves in (
        ("notebook", cells[:1], "pass"),
        ("magic", cells, "ungraded"),
        ("no cells", [], "ungraded"),
    ):
        data = json.dumps({"cells": some, "nbformat": 4}).encode()
        kind = "right" if deserves == "pass" else "malformed"
        yield Labelled(lesson.id, kind, name, data, (deserves,), ".ipynb")  # type: ignore[arg-type]


def _hostile() -> Iterator[Labelled]:
    """What each aims at (`@NAME@`) is not there, or is this process's; the tests of attacks give
    them more to aim at."""
    secret = Path(tempfile.gettempdir()) / "jaxtutor-secret.txt"
    aims = {"PARENT": str(os.getpid()), "SIBLING": "1", "TCP": "9", "UDP": "9"}
    for path in sorted(ATTACKS.glob("*.py")):
        text = re.sub(r"@([A-Z]+)@", lambda found: aims.get(found[1], str(secret)),
                      path.read_text(encoding="utf-8"))  # fmt: skip
        yield Labelled(ATTACKED, "hostile", path.stem, text.encode(), ("fail", "error"))


def hand_in(submissions: Sequence[Labelled], folder: Path) -> None:
    """A folder for each, and beside the folders' folder a table of labels."""
    rows = []
    for place, one in enumerate(submissions):
        path = folder / "hw" / f"student {place:05}" / f"{one.lesson}{one.suffix}"
        path.parent.mkdir(parents=True)
        path.write_bytes(one.data)
        rows.append([path.parent.name, one.lesson, one.kind, one.name, " ".join(one.deserves)])
    with (folder / LABELS).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["submission", "lesson", "kind", "name", "deserves"])
        writer.writerows(rows)


def grade(folder: Path, pack: Path, out: str, *more: str) -> float:
    """**Returns:** seconds."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tutor", "grade", str(folder / "hw"), "--pack", str(pack), "--out",
         str(folder / out), "--seed", str(SEED), "--quiet", *more],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    return time.monotonic() - began


def misgraded(folder: Path, out: str) -> list[str]:
    """Whose verdict is not one that the label deserves; and who has none, or two."""
    with (folder / LABELS).open(newline="", encoding="utf-8") as file:
        labels = {row["submission"]: row for row in csv.DictReader(file)}
    wrong = []
    for line in (folder / out / "results.jsonl").read_bytes().splitlines():
        result = msgspec.json.decode(line)
        row = labels.pop(result["submission"], None)
        if row is None:
            wrong.append(f"{result['submission']}: twice, or never handed in")
        elif result["verdict"] not in row["deserves"].split():
            wrong.append(
                f"{row['submission']} ({row['lesson']}, {row['kind']}: {row['name']}): "
                f"{result['verdict']}, not {row['deserves']}: {result['fault'][:200]}"
            )
    return [*wrong, *(f"{name}: no result" for name in labels)]


def main(arguments: Sequence[str]) -> int:
    number = int(arguments[0])
    bad = 0
    with tempfile.TemporaryDirectory(prefix="jaxtutor-submissions-") as name:
        os.environ["JAXTUTOR_HOME"] = f"{name}/home"
        for root, share, attacks in (
            (None, number // 2, False),
            (MINI, number - number // 2, True),
        ):
            pack = load_pack(root)
            folder = Path(name) / pack.id
            hand_in(list(made(pack, share, attacks=attacks)), folder)
            seconds = [grade(folder, pack.root, out) for out in ("first", "second")]
            one, other = (
                (folder / out / "results.jsonl").read_bytes() for out in ("first", "second")
            )
            wrong = misgraded(folder, "first")
            bad += len(wrong) + (one != other)
            told = "the same bytes" if one == other else "NOT the same"
            print(
                f"{pack.id}: {share} submissions, twice: {told}; {len(wrong)} misgraded; "
                f"{', '.join(f'{share / each:.2f}/s' for each in seconds)}",
                flush=True,
            )
            for line in wrong:
                print(f"  {line}")
            for mine, theirs in zip(one.splitlines(), other.splitlines(), strict=False):
                if mine != theirs:
                    print(f"  {mine.decode()[:600]}\n  {theirs.decode()[:600]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
