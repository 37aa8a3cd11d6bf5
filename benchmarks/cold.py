"""The same checks without jaxtutor: as a script and as a pytest file, each in a new process."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from benchmarks import plain
from benchmarks.answers import Answer
from tutor.check import Case, Check
from tutor.engine.plan import case_id, configuration_of, plan, requests
from tutor.engine.references import SPEC, References
from tutor.sandbox.process import Sandbox
from tutor.storage import paths
from tutor.tree import Tree

How = Literal["script", "pytest"]

COMMANDS: dict[How, list[str]] = {
    "script": [sys.executable, "script.py"],
    "pytest": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
}
PATIENCE = 300


class Prepared(Struct, frozen=True):
    """The files for one answer: a directory per number of devices that its checks need."""

    answer: Answer
    folders: dict[int, Path]


class Sample(Struct, frozen=True):
    """An answer checked cold, in seconds of wall time: by one process per number of devices, one
    after the other."""

    answer: Answer
    how: How
    seconds: float
    passed: bool

    @property
    def correct(self) -> bool:
        return self.passed == ("pass" in self.answer.accepted)


def prepare(root: Path, answer: Answer, seed: int = 0) -> Prepared:
    """Write the files for one answer into a new directory in `root`."""
    lesson = answer.lesson
    planned = plan(lesson, seed)
    memory = paths.cache() / "references"
    references = References(lesson, requests(lesson, planned), memory, lambda: Sandbox.start(SPEC))
    references.start()
    folder = root / f"{len(list(root.iterdir())):04d}"
    folders: dict[int, Path] = {}
    for devices in sorted({configuration_of(lesson, check).devices for check, _ in planned}):
        checks: list[tuple[Check, list[Case], list[Tree | None]]] = []
        for check, cases in planned:
            # Predictions are read in the main process.
            if configuration_of(lesson, check).devices != devices or check.ahead() is not None:
                continue
            known = check.refer() is not None
            checks.append(
                (
                    check,
                    cases,
                    [references.get(case_id(check, c)).tree if known else None for c in cases],
                )
            )
        folders[devices] = folder / str(devices)
        plain.write(folders[devices], answer.code, checks, lesson.jax_harness)
    references.close()
    return Prepared(answer, folders)


def judge(prepared: Prepared, how: How) -> Sample:
    """Check an answer in new processes."""
    began = time.perf_counter()
    codes = [
        subprocess.run(
            COMMANDS[how], cwd=folder, env=plain.environment(devices), capture_output=True,
            timeout=PATIENCE, check=False,
        ).returncode
        for devices, folder in prepared.folders.items()
    ]  # fmt: skip
    return Sample(prepared.answer, how, time.perf_counter() - began, not any(codes))


def measure(prepared: list[Prepared], how: How, repeats: int) -> Iterator[Sample]:
    """Yield a sample of every answer, `repeats` times."""
    for _ in range(repeats):
        for one in prepared:
            yield judge(one, how)
