"""Whatever the learner's code does, a message says what happened, in time, and nothing is left."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from tests.sandbox.processes import children, told
from tests.stopwatch import Stopwatch
from tutor.engine import session
from tutor.engine.session import run
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import Fault, Report
from tutor.sandbox import launch

ABOUT = "def double(x):\n    "
PATIENCE = 20.0
"""Seconds for starting sandboxes, on top of the lesson's limit."""


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture(autouse=True, params=[pytest.param("afresh", marks=pytest.mark.proof), "forked"])
def sandboxes(
    request: pytest.FixtureRequest, forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run each test with spawned and with forked workers."""
    if request.param == "forked":
        monkeypatch.setattr(session, "FreshSandboxes", lambda: forks)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Assert that no process and no directory survives a run."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert not list(folder.iterdir())
    assert not children()


def fault_of(report: Report) -> Fault:
    """Return the only fault, at the import or in the first check."""
    fault = report.fault or report.checks[0].fault
    assert fault is not None, report
    return fault


def checked(lesson: Lesson, code: str) -> tuple[Report, Fault]:
    watch = Stopwatch()
    report = run(lesson, code)
    assert watch.seconds < lesson.limits.seconds + PATIENCE
    assert report.verdict == "error"
    return report, fault_of(report)


CASES = {
    "a syntax error": (
        "def double(x):\n    return 2 *\n",
        "syntax-error",
        ["line 2, column 15", "invalid syntax"],
    ),
    "tabs mixed with spaces": (
        "def double(x):\n    y = x\n\treturn y\n",
        "syntax-error",
        ["line 3", "TabError"],
    ),
    "an exception, with the learner's own line": (
        ABOUT + "y = x\n    return y['w']\n",
        "exception",
        ["line 3", "return y['w']"],
    ),
    "an exception at import": ("x = 1 / 0\n", "exception", ["ZeroDivisionError", "line 1"]),
    "a missing import": ("import nowhere\n", "import-error", ["nowhere", "line 1"]),
    "PyTorch instead of JAX": (
        "import torch\n",
        "import-error",
        ["torch is not available here", "write this in JAX"],
    ),
    "no such function": ("def duble(x):\n    return x\n", "missing-name", ["`double`"]),
    "a wrong signature": (
        "def double():\n    return 1\n",
        "wrong-signature",
        ["double(x)", "0 positional arguments"],
    ),
    "an untouched starter": (
        ABOUT + "raise NotImplementedError\n",
        "not-written",
        ["`double` is still to be written", "line 2"],
    ),
    "a NUL byte": ("x = 1\ny = '\0'\n", "bad-source", ["line 2", "NUL"]),
    "a file that is too large": ("#" * (2 << 20), "bad-source", ["larger than 1024 KiB"]),
    "an endless loop": (
        ABOUT + "while True: pass\n",
        "timeout",
        ["s of processor time in `double(x)`", "at line 2: `while True: pass` (limit 2 s for all"],
    ),
    "an endless import": ("while True: pass\n", "timeout", ["the import of your code"]),
    "an endless while_loop": (
        "import jax\n" + ABOUT + "return jax.lax.while_loop(lambda c: True, lambda c: c + 1, x)\n",
        "timeout",
        ["s of processor time", "called at line 3", "condition of the lax.while_loop ever"],
    ),
    "a sleep": (
        "import time\n" + ABOUT + "time.sleep(1e6)\n",
        "waited",
        ["s without computing in `double(x)`", "at line 3: `time.sleep(1e6)`"],
    ),
    "100 GiB of NumPy": (
        "import numpy as np\n" + ABOUT + "return np.ones(100 * 2**27)\n",
        "out-of-memory",
        ["ran out of memory", "`double(x)`"],
    ),
    "100 GiB of JAX": (
        "import jax.numpy as jnp\n" + ABOUT + "return jnp.ones(100 * 2**28).sum()\n",
        "out-of-memory",
        ["ran out of memory", "`double(x)`"],
    ),
    "a list without end": (
        ABOUT + "kept = []\n    while True: kept.append(bytearray(10**7))\n",
        "out-of-memory",
        ["ran out of memory"],
    ),
    "a gigabyte of prints": (
        ABOUT + "for _ in range(1024): print('y' * 2**20)\n    return 2 * x\n",
        "too-much-output",
        ["printed more than 64 KiB"],
    ),
    "sys.exit": (
        "import sys\n" + ABOUT + "sys.exit(0)\n",
        "exited",
        ["ended the process", "line 3"],
    ),
    "os._exit": (
        "import os\n" + ABOUT + "os._exit(0)\n",
        "exited",
        ["ended the process", "exit code 0", "`double(x)`"],
    ),
    "os._exit at import": ("import os\nos._exit(0)\n", "exited", ["the import of your code"]),
    "a segfault": (
        "import ctypes\n" + ABOUT + "ctypes.string_at(0)\n",
        "killed",
        ["SIGSEGV", "`double(x)`"],
    ),
    "an abort": ("import os\n" + ABOUT + "os.abort()\n", "killed", ["SIGABRT"]),
    "killing itself": (
        "import os, signal\n" + ABOUT + "os.kill(os.getpid(), signal.SIGKILL)\n",
        "killed",
        ["SIGKILL"],
    ),
    "endless recursion": (ABOUT + "return double(x)\n", "exception", ["RecursionError"]),
    "a huge answer": (
        "import numpy as np\n" + ABOUT + "return np.broadcast_to(np.float32(1), (2**20, 2**20))\n",
        "malformed",
        ["at most 64 MiB"],
    ),
    "closing every descriptor": (
        "import os\n" + ABOUT + "os.closerange(0, 1000)\n    return 2 * x\n",
        "malformed",
        ["your code closed the pipe"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_message_says_what_happened(lesson: Lesson, name: str):
    code, expected, words = CASES[name]
    if expected == "out-of-memory":  # on a busy machine, filling memory may take all of the time
        limits = msgspec.structs.replace(lesson.limits, seconds=60.0)
        lesson = msgspec.structs.replace(lesson, limits=limits)
    report, fault = checked(lesson, code)
    assert fault.code == expected, fault
    for word in words:
        assert word in fault.message, fault.message
    assert "Traceback" not in fault.message
    assert "site-packages" not in fault.message
    assert Report.from_json(report.to_json()) == report


def test_the_start_and_the_end_of_too_much_output_are_kept(lesson: Lesson):
    code = ABOUT + "print('the first')\n    while True: print('y' * 1000)\n"
    report, _ = checked(lesson, code)
    assert report.stdout.startswith("the first\n")
    assert "bytes left out" in report.stdout or len(report.stdout) < 200_000


def test_garbage_in_the_reply_pipe_is_an_error(lesson: Lesson):
    code = (
        "import os\n"
        "def double(x):\n"
        "    for fd in range(3, 64):\n"
        '        try: os.write(fd, b\'{"verdict": "pass"}\')\n'
        "        except OSError: pass\n"
        "    return 2 * x\n"
    )
    _, fault = checked(lesson, code)
    assert fault.code == "malformed"


def test_output_is_shown_without_escape_sequences(lesson: Lesson):
    code = "print('loading \\x1b[31mred')\n" + ABOUT + "return 2 * x\n"
    report = run(lesson, code)
    assert report.verdict == "pass"
    assert report.stdout == "loading ␛[31mred\n"


def test_child_processes_end_with_the_run(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Without the layers that refuse to start it.
    monkeypatch.setattr(launch, "WITHOUT", frozenset({"files", "system calls"}))
    mark = tmp_path / "mark"
    code = (
        "import subprocess\n"
        f"subprocess.Popen(['sleep', '987654'], stdout=open({str(mark)!r}, 'w'))\n"
        + ABOUT
        + "return 2 * x\n"
    )
    report = run(lesson, code)
    assert report.verdict == "pass"
    assert mark.exists()
    sleepers = [
        path.parent.name
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if told(path).startswith("sleep\x00987654")
    ]
    assert not sleepers


def test_the_environment_and_the_directory_are_private(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    code = (
        "import os\n"
        "print(sorted(os.environ))\n"
        "print(os.getcwd() == os.environ['HOME'] and not os.listdir('.'))\n"
        + ABOUT
        + "return 2 * x\n"
    )
    report = run(lesson, code)
    names, private = report.stdout.splitlines()
    assert "SECRET_TOKEN" not in names
    assert "JAXTUTOR_HOME" not in names
    assert private == "True"


def test_no_descriptor_is_inherited(lesson: Lesson, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("marks")
    with secret.open() as file:
        os.set_inheritable(file.fileno(), True)
        code = (
            "import os\n"
            "print([os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')\n"
            "       if os.path.exists(f'/proc/self/fd/{fd}')])\n" + ABOUT + "return 2 * x\n"
        )
        report = run(lesson, code)
    assert report.verdict == "pass"
    assert "secret" not in report.stdout


def test_a_fault_in_one_check_skips_the_rest_with_the_reason(lesson: Lesson):
    report = run(lesson, "import os\n" + ABOUT + "os._exit(3)\n")
    first, second = report.checks
    assert first.status == "error"
    assert second.status == "skipped"
    assert "exit code 3" in second.message


def test_directories_of_killed_processes_are_removed(tmp_path: Path):

    folder = Path(tempfile.gettempdir())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    stale = folder / f"jaxtutor-{ended.pid}-abc"
    (stale / "deep").mkdir(parents=True)
    ours = folder / f"jaxtutor-{os.getpid()}-abc"
    ours.mkdir()
    launch.sweep.cache_clear()
    launch.sweep()
    assert not stale.exists()
    assert ours.exists()
    ours.rmdir()


def test_too_many_threads_are_stopped_from_outside(lesson: Lesson, monkeypatch: pytest.MonkeyPatch):
    # Not with a control group, in which no more can be started.
    monkeypatch.setattr(launch, "WITHOUT", frozenset({"cgroup"}))
    _, fault = checked(
        lesson,
        "import threading, time\n"
        "threading.stack_size(64 << 10)\n" + ABOUT + "for _ in range(3000):\n"
        "        threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\n"
        "    time.sleep(1e6)\n",
    )
    assert fault.code == "too-many-threads"
    assert "more than 512 threads" in fault.message


def test_too_much_on_the_disk_is_stopped_from_outside(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    # Not with a file system in memory, which is simply full.
    monkeypatch.setattr(launch, "WITHOUT", frozenset({"namespaces"}))
    _, fault = checked(
        lesson,
        "import time\n" + ABOUT + "for number in range(8):\n"
        "        with open(str(number), 'wb') as file:\n"
        "            file.write(bytes(20 << 20))\n"
        "    time.sleep(1e6)\n",
    )
    assert fault.code == "too-much-disk"
    assert "more than 64 MiB" in fault.message


def test_a_stuck_collective_is_reported(lesson: Lesson):
    limits = msgspec.structs.replace(lesson.limits, memory_mb=2048)
    lesson = msgspec.structs.replace(lesson, devices=2, limits=limits)
    report = run(
        lesson,
        "import jax, jax.numpy as jnp\n"
        "from jax import lax\n"
        "def some(x):\n"
        "    return lax.cond(lax.axis_index('d') == 0, lambda v: lax.psum(v, 'd'), jnp.sin, x)\n"
        "def double(x):\n"
        "    return jax.pmap(some, axis_name='d')(jnp.stack([x, x]))[0]\n",
    )
    fault = fault_of(report)
    assert fault.code == "rendezvous", fault
    assert "every device" in fault.message


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("jnp.ones((3, 2)) @ u + t", ("u float32[5]",)),
        ("jax.vmap(lambda r: r @ u)(w)", ("r traced float32[2]", "u float32[5]")),
        ("jax.jit(lambda r: r + t)(w)", ("r traced float32[4, 2]", "t float16[3]")),
        ("jax.random.normal((2,), k)", ("k key<fry>[]",)),
        ("layer(w)", ("self.kernel Param float32[3, 3]", "x float32[4, 2]")),
        ("p['w'] @ w", ("p['w'] float32[5]", "w float32[4, 2]")),
    ],
)
def test_a_fault_says_the_shapes_of_the_names_in_its_line(
    lesson: Lesson, line: str, values: tuple[str, ...]
):
    code = f"""
import jax
import jax.numpy as jnp
from flax import nnx

u, w, k = jnp.ones(5), jnp.ones((4, 2)), jax.random.key(0)
t, p = jnp.ones(3, jnp.float16), {{"w": u}}


class Layer(nnx.Module):
    def __init__(self):
        self.kernel = nnx.Param(jnp.ones((3, 3)))

    def __call__(self, x):
        return self.kernel @ x


layer = Layer()


def double(x):
    return {line}
"""
    _, fault = checked(lesson, code)
    assert fault.exception
    assert fault.values == values
