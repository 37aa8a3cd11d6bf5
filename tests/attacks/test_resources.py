"""Exhausting resources in ways that a single submission cannot show.

The rest is in `submissions`: U1 to U7.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.attacks.test_submissions import PATIENCE, told
from tests.conftest import MINI
from tests.stopwatch import GUARD, Stopwatch
from tutor.engine.session import Session, run
from tutor.lesson import Lesson
from tutor.sandbox import launch
from tutor.sandbox.wire import MAX_BODY

DOUBLE = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def patient(lesson: Lesson) -> Lesson:
    """Return the lesson with enough time for memory to run out first, even on a busy machine."""
    limits = msgspec.structs.replace(lesson.limits, seconds=40.0, memory_mb=512)
    return msgspec.structs.replace(lesson, limits=limits)


# --- U1: messages name the running call ---------------------------------------------------------


def test_the_running_call_is_named_and_earlier_calls_count(lesson: Lesson):
    calls = lesson.checks[0].case_count
    code = (
        "calls = []\n"
        "def double(x):\n"
        "    calls.append(1)\n"
        f"    while len(calls) > {calls}: pass\n"
        "    return 2 * x\n"
    )
    first, second = run(lesson, code).checks
    assert (first.status, second.status) == ("pass", "error")
    assert "s of processor time in `double(x) + 1` and was stopped" in second.message


# --- U2: used memory ----------------------------------------------------------------------------

MEMORY = {
    "a list": "while True: kept.append(bytearray(50_000_000))",
    "small objects": "while True: kept = [kept, float(len(kept))]",
    "NumPy": "while True: kept.append(np.ones(5_000_000))",
    "JAX": "while True: kept.append(jax.block_until_ready(jnp.full(10_000_000, 1.0 * len(kept))))",
    "the tables of pages that are only looked at": (
        "libc = ctypes.CDLL(None)\n"
        "    libc.mmap.restype = ctypes.c_void_p\n"
        "    step, size = 2 << 20, 400_000 << 21\n"
        "    flags = 0x4022  # private, anonymous, no reserve\n"
        "    start = libc.mmap(None, ctypes.c_size_t(size), 1, flags, -1, 0)\n"
        "    if start == ctypes.c_void_p(-1).value: raise MemoryError\n"
        "    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), mmap.MADV_NOHUGEPAGE)\n"
        "    for at in range(start, start + size, step): ctypes.c_ubyte.from_address(at).value"
    ),
}


UNCOUNTED = {
    "shared memory behind /dev/zero": (
        "memory = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2 << 30)\n"
        "    while True: memory.write(bytes(32 << 20))"
    ),
    "shared memory that is filled and no longer mapped": (
        "memory = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 30)\n"
        "    for at in range(0, 1 << 30, 32 << 20):\n"
        "        memory.write(bytes(32 << 20))\n"
        "        memory.madvise(mmap.MADV_DONTNEED, at, 32 << 20)"
    ),
}
"""Memory that the limits on a process do not count."""


@pytest.mark.parametrize("what", MEMORY)
def test_used_memory_runs_out_at_the_limit(patient: Lesson, what: str):
    code = (
        "import ctypes, mmap, os\nimport jax, jax.numpy as jnp, numpy as np\n"
        f"def double(x):\n    kept = []\n    {MEMORY[what]}\n    return 2 * x\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    watch = Stopwatch()
    report = run(patient, code)
    assert watch.seconds < PATIENCE
    assert "ran out of memory" in told(report), told(report)
    assert report.verdict == "error"
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert used == before or used < (patient.limits.memory_mb + 400) << 10


@pytest.mark.parametrize("what", UNCOUNTED)
def test_uncounted_memory_cannot_be_allocated(lesson: Lesson, what: str):
    code = f"import mmap, os\ndef double(x):\n    {UNCOUNTED[what]}\n    return 2 * x\n"
    report = run(lesson, code)
    assert report.verdict == "error"
    assert "PermissionError" in told(report)


def test_an_answer_takes_bounded_memory_in_the_main_process(patient: Lesson):
    """The largest possible frame is read, refused and freed."""
    code = (
        "import gc, os\n"
        "from tutor.sandbox.wire import MAGIC, MAX_BODY, PREFIX\n"
        "def double(x):\n"
        "    gc.unfreeze()\n"
        "    channel, = (o for o in gc.get_objects() if type(o).__name__ == 'Channel')\n"
        "    os.write(channel._replies, PREFIX.pack(MAGIC, 2, MAX_BODY) + b'{}')\n"
        "    while True: os.write(channel._replies, bytes(1 << 20))\n"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = run(patient, code)
    assert "the answer could not be read" in told(report)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 3 * MAX_BODY >> 10


# --- U3: threads --------------------------------------------------------------------------------


def test_honest_numbers_of_threads_can_be_started(lesson: Lesson):
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import time\n"
        "def double(x):\n"
        "    with ThreadPoolExecutor(64) as pool:\n"
        "        list(pool.map(time.sleep, [0.01] * 64))\n"
        "    return 2 * x\n"
    )
    assert run(lesson, code).passed


# --- U4: output ---------------------------------------------------------------------------------


def test_long_output_keeps_its_start_and_end_and_marks_the_cut(lesson: Lesson):
    limits = msgspec.structs.replace(lesson.limits, output_kb=1024)
    lesson = msgspec.structs.replace(lesson, limits=limits)
    code = "print('the first')\nfor _ in range(9000): print('y' * 99)\nprint('the last')\n" + DOUBLE
    report = run(lesson, code)
    assert report.passed
    assert report.stdout.startswith("the first\n")
    assert report.stdout.endswith("the last\n")
    assert "bytes left out" in report.stdout
    assert len(report.stdout) < 70_000


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"\x1b[2J\x1b[31mall passed\x1b]0;title\x07\x1b[6n", "␛[2J␛[31mall passed␛]0;title␇␛[6n"),
        (b"\xff\xfe\xc3(\xed\xa0\x80", "��"),
        (b"wrong\rright\b\b\x7f", "wrong␍right␈␈␡"),
        ("\u202eright to left\u2066\u200b\u2028\u0085".encode(), "�right to left����"),
        ("\x9b31m\x90".encode(), "�31m�"),
    ],
    ids=["escape sequences", "no text", "overwriting", "directions", "C1 controls"],
)
def test_printed_escape_sequences_are_shown(lesson: Lesson, written: bytes, shown: str):
    code = f"import os\nos.write(1, {written!r})\nos.write(2, {written!r})\n{DOUBLE}"
    report = run(lesson, code)
    assert report.passed
    assert shown in report.stdout
    assert shown in report.stderr
    for character in report.stdout + report.stderr:
        assert character == "\n" or character.isprintable()


def test_escape_sequences_in_messages_are_shown(lesson: Lesson):
    code = (
        "def double(x):\n    raise type('\\x1b[2J', (Exception,), {})('\\x1b[31mpassed\\u202e')\n"
    )
    assert told(run(lesson, code)).replace("\n", "").isprintable()


# --- U5, O11: nothing is left -------------------------------------------------------------------

LEFT = {
    "files and links": """
for number in range(50):
    os.makedirs(f"{number}/a/b")
    open(f"{number}/a/b/file", "w").write("x")
    os.symlink("/", f"{number}/root")
""",
    "3,000 directories in each other": """
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
""",
    "directories without permissions": """
os.mkdir("closed", 0)
os.mkdir("blind", 0o300)
os.makedirs("blind/deeper")
os.umask(0o777)
os.mkdir("masked")
""",
    "too much below a path that is too long": """
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
write()
""",
    "too much in a directory that cannot be listed": """
os.mkdir("blind", 0o300)
os.chdir("blind")
write()
""",
}
WRITE = """
import os, time
def write():
    for number in range(4):
        open(f"{number}", "wb").write(bytes(32 << 20))
    time.sleep(1)
"""


@pytest.mark.parametrize("namespaces", [True, False], ids=["", "no namespaces"])
@pytest.mark.parametrize("what", LEFT)
def test_leftovers_of_a_worker_are_counted_and_removed(
    what: str, namespaces: bool, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    """The fixture `nothing_left` asserts that nothing is left."""
    if not namespaces:  # a file system in memory, which ends with the worker
        monkeypatch.setattr(launch, "WITHOUT", launch.WITHOUT | {"namespaces"})
    # Landlock takes longer for deeper paths: seconds for the deepest on a busy machine.
    limits = msgspec.structs.replace(lesson.limits, seconds=60.0)
    lesson = msgspec.structs.replace(lesson, limits=limits)
    report = run(lesson, WRITE + LEFT[what] + DOUBLE)
    if what.startswith("too much"):
        assert report.verdict == "error"
        assert ("No space left" if namespaces else "wrote more than 64 MiB") in told(report)
    else:
        assert report.passed, told(report)
    assert run(lesson, DOUBLE).passed  # the next run is unaffected


# --- U7: a broken worker does not affect others -------------------------------------------------


def test_the_next_submission_is_unaffected(lesson: Lesson):
    broken = "import os\ndef double(x):\n    os.closerange(0, 512)\n    return 2 * x\n"
    with Session(lesson, broken) as session:
        assert session.check().verdict == "error"
        # A session starts another sandbox if its own is gone.
        assert session.check(1).verdict == "error"
    assert run(lesson, DOUBLE).passed


def test_no_descriptor_leaks(lesson: Lesson):
    def opened() -> int:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208

    run(lesson, DOUBLE)
    before = opened()
    for code in ("import os\nos._exit(0)\n", "while True: print('y' * 65536)\n", DOUBLE):
        run(lesson, code)
    assert opened() == before


# --- U8: invalid source -------------------------------------------------------------------------

SOURCES = {
    "50 MB": ("#" * 50_000_000, "bad-source", ["larger than 1024 KiB"]),
    "50 MB in one expression": (DOUBLE + "x = " + "1+" * 25_000_000 + "1", "bad-source", ["KiB"]),
    "a NUL byte": (f"{DOUBLE}y = '\0'\n", "bad-source", ["line 3", "NUL"]),
    "a lone surrogate": (f"{DOUBLE}y = '\ud800'\n", "bad-source", ["line 3", "surrogate"]),
    "tabs and spaces": (
        "def double(x):\n        y = 2\n\treturn y * x\n",
        "syntax-error",
        ["line 3", "TabError"],
    ),
    "brackets without end": ("(" * 5000, "syntax-error", ["line 1", "too many nested"]),
    # Python's versions raise different errors here.
    "a deep expression": (f"{DOUBLE}y = {'-' * 100_000}1\n", "", []),
    "an unclosed string": (f"{DOUBLE}y = '''\n", "syntax-error", ["line 3, column 5"]),
    "not Python": ("double x = 2 * x;\n", "syntax-error", ["line 1, column"]),
    "Python 2": (f"{DOUBLE}print 'hello'\n", "syntax-error", ["line 3, column 1"]),
    "nothing": ("", "missing-name", ["your code does not define `double`"]),
    "no such function": ("def Double(x):\n    return 2 * x\n", "missing-name", ["`double`"]),
    "deleted": (f"{DOUBLE}del double\n", "missing-name", ["`double`"]),
    "too many parameters": ("def double(x, y):\n    return 2 * x\n", "wrong-signature", ["'y'"]),
    "too few parameters": ("def double():\n    return 2\n", "wrong-signature", ["double(x)"]),
    "a class in its place": (
        "class double:\n    pass\n",
        "wrong-signature",
        ["double(x)", "takes no arguments"],
    ),
    "a number in its place": ("double = 2\n", "wrong-signature", ["not callable"]),
}


@pytest.mark.parametrize("what", SOURCES)
def test_unparsable_source_is_reported_with_its_line(lesson: Lesson, what: str):
    code, fault_code, words = SOURCES[what]
    watch = Stopwatch()
    report = run(lesson, code)
    assert watch.seconds < lesson.limits.seconds + PATIENCE
    assert report.verdict == "error"
    fault = report.fault or report.checks[0].fault
    assert fault is not None
    assert fault.code == fault_code or not fault_code, fault
    for part in words:
        assert part in fault.message
    assert len(report.to_json()) < 100_000


def test_a_class_with_the_right_parameters_is_not_an_array(lesson: Lesson):
    report = run(lesson, "class double:\n    def __init__(self, x):\n        self.x = 2 * x\n")
    assert report.verdict in ("fail", "error")
    assert "found submission.double, expected an array of shape (3, 4)" in told(report)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (b"def double(x):\n    return '\xff'\n", "a.py:2:13: byte 0xff is not UTF-8"),
        ("def double(x): pass".encode("utf-16"), "a.py:1:1: byte 0xff is not UTF-8"),
        (b"#" * 50_000_000, "larger than"),
    ],
    ids=["Latin-1", "UTF-16", "50 MB"],
)
def test_a_binary_file_is_refused_with_its_position(tmp_path: Path, written: bytes, says: str):
    path = tmp_path / "a.py"
    path.write_bytes(written)
    done = subprocess.run(
        [sys.executable, "-m", "tutor", "check", "double", str(path), "--pack", str(MINI)],
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
