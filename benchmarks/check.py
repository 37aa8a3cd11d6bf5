"""`jaxtutor check` from a cold shell, compared with its unavoidable parts, and with pytest."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import cold
from benchmarks.answers import Answer
from benchmarks.start import JAXTUTOR, wall
from tutor.learner.workspace import Workspace
from tutor.manifest import Pack
from tutor.report import Report
from tutor.storage import paths

VERDICT = b"checks pass ("
"""Part of the verdict's line."""


def measure(answer: Answer, samples: int) -> dict[str, list[float]]:
    """Return the seconds from the start of `jaxtutor check` until the verdict, and until the end,
    after the timing against PyTorch; of `python -c "import jax"`; and of the run itself (importing
    and checking the submission), as reported by the command.

    **Arguments:** `answer`: a solution.

    Raises:
        AssertionError: it does not pass.
    """
    with tempfile.TemporaryDirectory(prefix="jaxtutor-check-") as name:
        home = Path(name)
        (home / "cache").symlink_to(paths.cache())  # with PyTorch's answers
        file = home / "answer.py"
        file.write_text(answer.code, encoding="utf-8")
        command = [*JAXTUTOR, "check", answer.lesson.id, str(file)]
        environment = {**os.environ, "JAXTUTOR_HOME": str(home)}
        found: dict[str, list[float]] = {}
        for _ in range(samples + 1):
            verdict, end = _check(command, environment)
            report = subprocess.run(
                [*command, "--json"], env=environment, stdout=subprocess.PIPE, check=True
            )
            timings = msgspec.json.decode(report.stdout, type=Report).timings
            once = {
                "verdict": verdict,
                "end": end,
                "import jax": wall([sys.executable, "-c", "import jax"], home, 1)[0],
                "the run itself": timings.load + timings.checks,
            }
            for what, seconds in once.items():
                found.setdefault(what, []).append(seconds)
    # Drop the first, which may include computing PyTorch's answers.
    return {what: seconds[1:] for what, seconds in found.items()}


class ColdCheck(Struct, frozen=True):
    """Seconds of a lesson's solution in new processes: `jaxtutor check` until the verdict, the
    first time and the second; and pytest."""

    lesson: str
    first: float
    second: float
    pytest: float


def against_pytest(pack: Pack, answer: Answer) -> ColdCheck:
    """Check a solution as the learner's own file, in a home without compiled programs; the second
    time, what the first compiled is kept. PyTorch's answers are known to both.

    Raises:
        AssertionError: it does not pass.
    """
    with tempfile.TemporaryDirectory(prefix="jaxtutor-cold-") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        prepared = cold.prepare(folder / "files", answer)
        home = folder / "home"
        (home / "cache").mkdir(parents=True)
        known = paths.cache() / "references"
        known.mkdir(parents=True, exist_ok=True)
        (home / "cache" / "references").symlink_to(known)
        file = Workspace(pack, home / "workspace").path(answer.lesson)
        file.parent.mkdir(parents=True)
        file.write_text(answer.code, encoding="utf-8")
        command = [*JAXTUTOR, "check", answer.lesson.id]
        environment = {**os.environ, "JAXTUTOR_HOME": str(home)}
        first, second = (_check(command, environment)[0] for _ in range(2))
        sample = cold.judge(prepared, "pytest")
        assert sample.correct, f"pytest: {answer.label}"
        return ColdCheck(answer.lesson.id, first, second, sample.seconds)


def _check(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = []
        verdict: float | None = None
        for line in process.stdout:
            lines.append(line)
            if VERDICT in line and verdict is None:
                verdict = time.perf_counter() - began
    assert verdict is not None, b"".join(lines)
    return verdict, time.perf_counter() - began
