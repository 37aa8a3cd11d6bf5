"""The time until something is visible: `jaxtutor list`, and the app's first frame.

    python -m benchmarks.start [SAMPLES]

Every function measures processes from the outside and returns raw samples in seconds of wall time,
one per process. Callers summarise them; on a machine that is not idle, the minimum is the fairest.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.packs import make_pack
from tutor.learner.settings import Settings
from tutor.pack import built_in

SIZES = (50, 500, 5_000)
"""Lessons in the generated packs."""

COLUMNS, ROWS = 120, 40
PATIENCE = 600.0
"""Timeout in seconds for a text to be painted."""

JAXTUTOR = (str(Path(sys.executable).with_name("jaxtutor")),)
_SEQUENCE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|P[^\x1b]*\x1b\\|.)")


class Course(NamedTuple):
    """A pack to open, and a text that its course list shows."""

    name: str
    root: Path
    text: str


class Series(NamedTuple):
    """A measurement and its samples in seconds."""

    name: str
    seconds: list[float]


def wall(command: Sequence[str], home: Path, samples: int) -> list[float]:
    """Return the seconds from the start of a command to its end. **Arguments:** `home`: its
    `JAXTUTOR_HOME`."""
    return [_wall(command, home) for _ in range(samples)]


def first_frame(arguments: Sequence[str], text: str, home: Path, samples: int) -> list[float]:
    """Return the seconds from the start of the app to the first frame with a text, on a terminal of
    120×40.

    **Arguments:** `arguments`: of `jaxtutor`; `text`: must be painted in one piece.
    """
    return [_first_frame([*JAXTUTOR, *arguments], text, home) for _ in range(samples)]


def first_time(measure: Callable[[Path], float], samples: int) -> list[float]:
    """Return samples of a measurement, each in a new home."""
    seconds = []
    for _ in range(samples):
        with tempfile.TemporaryDirectory() as home:
            seconds.append(measure(Path(home)))
    return seconds


def bare(samples: int) -> list[Series]:
    """Return the times of Python, and of Python importing Textual: a lower bound."""
    home = Path(tempfile.gettempdir())
    return [
        Series(f"python -c {code!r}", wall([sys.executable, "-c", code], home, samples))
        for code in ("pass", "import textual")
    ]


def starts(course: Course, samples: int) -> Iterator[Series]:
    """Yield the times of `list` and of the app with one pack: the first time, with empty caches,
    and later."""
    pack = ["--pack", str(course.root)]
    listing = [*JAXTUTOR, "list", *pack]
    app = [*JAXTUTOR, *pack]

    def frame(home: Path) -> float:
        return _first_frame(app, course.text, home)

    first = max(3, samples // 3)
    yield Series(f"list, {course.name}, first", first_time(lambda h: _wall(listing, h), first))
    yield Series(f"app, {course.name}, first", first_time(frame, first))
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        _wall(listing, home)
        yield Series(f"list, {course.name}, later", wall(listing, home, samples))
        yield Series(f"app, {course.name}, later", [frame(home) for _ in range(samples)])


@contextmanager
def courses(sizes: Sequence[int] = SIZES) -> Iterator[list[Course]]:
    """Yield the built-in course and generated packs."""
    folder = Path(tempfile.mkdtemp(prefix="jaxtutor-packs-"))
    try:
        made = [
            Course(f"{size} lessons", make_pack(folder / str(size), size), "Track 0")
            for size in sizes
        ]
        yield [Course("built-in", built_in(), "Arrays"), *made]
    finally:
        shutil.rmtree(folder)


# --- one process -------------------------------------------------------------------------------


def _environment(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "JAXTUTOR_HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }


def _wall(command: Sequence[str], home: Path) -> float:
    began = time.perf_counter()
    # Without a timeout: with one, Python polls the process only every 50 ms.
    subprocess.run(command, env=_environment(home), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def _first_frame(command: Sequence[str], text: str, home: Path) -> float:
    # The very first start shows another screen.
    Settings(home / "data" / "settings.json").set("first-run", "shown")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=_environment(home),
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        _read_until(ours, text.encode(), began + PATIENCE)
        return time.perf_counter() - began
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(terminal: int, text: bytes, end: float) -> None:
    """Read the terminal's output until it contains a text."""
    painted = b""
    while text not in _SEQUENCE.sub(b"", painted):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.perf_counter()))
        data = os.read(terminal, 1 << 16) if ready else b""
        if not data:
            raise TimeoutError(f"never painted: {text!r}; painted: {painted[-2000:]!r}")
        painted += data


def main() -> None:
    """Print the minimum and the median of each measurement, in milliseconds."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 15

    def show(series: Series) -> None:
        least, median = min(series.seconds), statistics.median(series.seconds)
        print(f"{series.name:<28}{least * 1e3:9.0f}{median * 1e3:9.0f}", flush=True)

    print(f"{'ms':<28}{'minimum':>9}{'median':>9}")
    for series in bare(samples):
        show(series)
    with courses() as made:
        for course in made:
            for series in starts(course, samples):
                show(series)


if __name__ == "__main__":
    main()
