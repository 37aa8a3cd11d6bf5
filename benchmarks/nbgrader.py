"""The same checks in notebooks, graded by nbgrader in a separate environment that `make bench`
makes.

Only `nbgrader autograde` is timed, with one course per core; releasing and handing in are not.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from benchmarks import cold, plain
from benchmarks.answers import Answer
from benchmarks.grading import WORKERS, lessons_of


def seconds_for(python: Path, answers: Sequence[Answer]) -> float:
    """Return the seconds of wall time in which nbgrader grades these submissions.

    **Arguments:** `python`: an interpreter with nbgrader, ipykernel and this project's
    dependencies; `answers`: none of a lesson whose checks need several processes.

    Raises:
        subprocess.CalledProcessError: nbgrader failed.
    """
    with tempfile.TemporaryDirectory(prefix="jaxtutor-nbgrader-") as name:
        courses = [
            _Course(Path(name) / str(number), python, answers[number::WORKERS])
            for number in range(WORKERS)
        ]
        began = time.perf_counter()
        with ThreadPoolExecutor(WORKERS) as workers:
            list(workers.map(_Course.grade, courses))
        return time.perf_counter() - began


class _Course:
    """An nbgrader course: an assignment per lesson, a student per submission."""

    def __init__(self, folder: Path, python: Path, answers: Sequence[Answer]) -> None:
        self._folder = folder
        self._python = python
        self._assignments: list[tuple[str, int]] = []
        (folder / "files").mkdir(parents=True)
        for lesson in lessons_of(answers):
            mine = [answer for answer in answers if answer.lesson.id == lesson.id]
            prepared = [cold.prepare(folder / "files", answer) for answer in mine]
            devices, files = next(iter(prepared[0].folders.items()))
            self._write(folder / "source" / lesson.id, files, "")
            for number, answer in enumerate(mine):
                self._write(folder / "submitted" / f"s{number}" / lesson.id, files, answer.code)
            self._run("generate_assignment", lesson.id, devices)
            self._assignments.append((lesson.id, devices))

    def grade(self) -> None:
        for assignment, devices in self._assignments:
            self._run("autograde", assignment, devices)

    def _write(self, folder: Path, files: Path, code: str) -> None:
        number = len(plain.read_checks(files))
        cells = [
            _cell("answer", f"code = {code!r}", grade=False, solution=True),
            _cell(
                "prepare",
                "from pathlib import Path\nfrom benchmarks.plain import Plain\n"
                f"checks = Plain(Path({str(files)!r}), code)",
                grade=False, solution=False,
            ),
            *(
                _cell(f"check-{n}", f"checks.check({n})", grade=True, solution=False)
                for n in range(number)
            ),
        ]  # fmt: skip
        folder.mkdir(parents=True)
        notebook = {"cells": cells, "metadata": {"kernelspec": _KERNEL}, "nbformat": 4,
                    "nbformat_minor": 5}  # fmt: skip
        (folder / "answer.ipynb").write_bytes(msgspec.json.encode(notebook))

    def _run(self, command: str, assignment: str, devices: int) -> None:
        environment = plain.environment(devices)
        environment["PATH"] = f"{self._python.parent}{os.pathsep}{environment['PATH']}"
        subprocess.run(
            [self._python, "-m", "nbgrader", command, assignment,
             f"--CourseDirectory.root={self._folder}", "--log-level=WARN",
             "--ClearSolutions.enforce_metadata=False"],
            cwd=self._folder, env=environment, check=True, capture_output=True,
        )  # fmt: skip


_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def _cell(name: str, source: str, *, grade: bool, solution: bool) -> dict[str, object]:
    locked = not solution
    nbgrader = {"schema_version": 3, "grade": grade, "solution": solution, "locked": locked,
                "task": False, "grade_id": name, **({"points": 1} if grade else {})}  # fmt: skip
    return {"cell_type": "code", "id": name, "source": source, "outputs": [],
            "execution_count": None, "metadata": {"nbgrader": nbgrader}}  # fmt: skip
