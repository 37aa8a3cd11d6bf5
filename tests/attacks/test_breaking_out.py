"""Escapes that a single submission cannot try: threads that the learner did not start, leftovers of
a run, inheritance, other ways into the kernel, odd files to check."""

import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.attacks.hostile import aimed_at
from tests.attacks.test_submissions import PATIENCE, told
from tests.conftest import MINI
from tests.stopwatch import GUARD, Stopwatch
from tutor.engine.session import Session, run
from tutor.lesson import Lesson
from tutor.report import Report
from tutor.sandbox import launch

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="made of Linux's own calls")
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="x86 has more than one entrance")
OWN = ("fd", "maps", "stat", "statm", "status")
"""Files in /proc/self that libraries read."""

ANSWER = "\ndef double(x):\n    return 2 * x\n"

# --- threads that the learner did not start -----------------------------------------------------

CALLBACKS = {
    "pure_callback": "jax.pure_callback(inside, jax.ShapeDtypeStruct(x.shape, x.dtype), x)",
    "io_callback": "io_callback(inside, jax.ShapeDtypeStruct(x.shape, x.dtype), x)",
    "debug.callback": "(jax.debug.callback(inside, x), 2 * x)[1]",
}
INSIDE = """
import os, socket, subprocess, threading
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback

MAIN = threading.get_native_id()

def tried(attack):
    try:
        attack()
        return "done"
    except BaseException as error:
        return type(error).__name__

def inside(v=None):
    where = "main" if threading.get_native_id() == MAIN else "elsewhere"
    print(
        where,
        tried(lambda: open("@SECRET@").read()),
        tried(lambda: open("@OUTSIDE@", "w")),
        tried(lambda: socket.create_connection(("127.0.0.1", @TCP@), 1)),
        tried(lambda: os.kill(@SIBLING@, 9)),
        tried(lambda: subprocess.run(["/bin/sh", "-c", "true"])),
        flush=True,
    )
    return v if v is None else 2 * np.asarray(v)
"""


def attacked(code: str, lesson: Lesson, targets: dict[str, str]) -> Report:
    return run(lesson, aimed_at(targets, code))


def all_refused(report: Report, where: str) -> None:
    assert report.verdict == "pass", told(report)  # it ran to its end
    lines = report.stdout.split("\n")[:-1]
    assert set(lines) == {f"{where} {' '.join(['PermissionError'] * 5)}"}


@pytest.mark.parametrize("kind", CALLBACKS)
def test_python_called_by_a_compiled_program_is_confined(
    kind: str, lesson: Lesson, targets: dict[str, str]
):
    code = f"{INSIDE}\ndef double(x):\n    y = jax.jit(lambda x: {CALLBACKS[kind]})(x)\n"
    all_refused(
        attacked(f"{code}    jax.effects_barrier()\n    return y\n", lesson, targets), "main"
    )


@pytest.mark.parametrize("kind", CALLBACKS)
def test_python_called_on_threads_of_xla_is_confined(
    kind: str, lesson: Lesson, targets: dict[str, str]
):
    # With one device XLA calls back on the waiting thread; with more, on its pool's threads.
    lesson = msgspec.structs.replace(lesson, devices=2)
    code = (
        f"{INSIDE}\ndef double(x):\n    one = jax.pmap(lambda x: {CALLBACKS[kind]})\n"
        "    y = one(jnp.stack([x] * 2))\n    jax.effects_barrier()\n    return y[0]\n"
    )
    all_refused(attacked(code, lesson, targets), "elsewhere")


def test_threads_of_the_learner_are_confined(lesson: Lesson, targets: dict[str, str]):
    code = (
        f"{INSIDE}\ndef double(x):\n    thread = threading.Thread(target=inside)\n"
        "    thread.start()\n    thread.join()\n    return 2 * x\n"
    )
    all_refused(attacked(code, lesson, targets), "elsewhere")


@LINUX
def test_a_thread_started_before_the_protections_does_not_exist(lesson: Lesson):
    # Landlock and seccomp bind one thread and those it starts: each must have them.
    with Session(
        lesson, "import jax.numpy as jnp\ndef double(x):\n    return jnp.add(x, x)\n"
    ) as session:
        report = session.check()
        assert report.verdict == "pass", told(report)
        assert session.main_sandbox is not None
        tasks = Path(f"/proc/{session.main_sandbox.sandbox.pid}/task")
        lines = [(task / "status").read_text().splitlines() for task in tasks.iterdir()]
    threads = [
        [line.split()[1] for line in one if line.startswith(("NoNewPrivs", "Seccomp:"))]
        for one in lines
    ]
    assert len(threads) > 2
    assert all(found == ["1", "2"] for found in threads)


@LINUX
@pytest.mark.parametrize("namespaces", [True, False], ids=["", "no namespaces"])
def test_only_the_files_of_proc_that_libraries_need_are_readable(
    namespaces: bool, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    if not namespaces:
        monkeypatch.setattr(launch, "WITHOUT", launch.WITHOUT | {"namespaces"})
    names = [path.name for path in Path("/proc/self").iterdir() if path.name != "cwd"]  # its own
    names += [f"net/{path.name}" for path in Path("/proc/self/net").iterdir()]
    shared = [path.name for path in Path("/proc").iterdir() if not path.name.isdigit()]
    code = f"""
import os, threading
def double(x):
    own = threading.get_native_id()
    for place in ("/proc/self", "/proc/thread-self", f"/proc/self/task/{{own}}", f"/proc/{{own}}"):
        for name in {names}:
            tried(f"{{place}}/{{name}}")
    for name in {[name for name in shared if name not in ("self", "thread-self")]}:
        tried(f"/proc/{{name}}")
    return 2 * x

def tried(path):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(100)
        print(path.replace(str(os.getpid()), "PID"))
    except OSError:
        pass
"""
    report = run(lesson, code)
    assert report.verdict == "pass", told(report)
    own = {f"/proc/{who}/{name}" for who in ("self", "PID") for name in OWN}
    assert set(report.stdout.split()) == {*own, "/proc/cpuinfo", "/proc/meminfo"}


# --- leftovers of a run -------------------------------------------------------------------------

LASTING = {
    "a hook at exit that never ends": """
import atexit
@atexit.register
def stay():
    while True: pass
""",
    "a thread that never ends": """
import threading, time
threading.Thread(target=time.sleep, args=(1e6,)).start()
""",
    "a busy thread that never ends": """
import threading
def busy():
    while True: pass
threading.Thread(target=busy).start()
""",
    "every signal ignored": """
import signal
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
""",
    "a program of XLA's that never ends, on its own threads": """
import threading, jax
endless = jax.jit(lambda: jax.lax.while_loop(lambda c: c >= 0, lambda c: c + 0, 0))
threading.Thread(target=endless).start()
""",
    "an object that holds on to its end": """
class Stay:
    def __del__(self):
        while True: pass
import sys
sys.stay = Stay()
""",
}


@pytest.mark.parametrize("what", LASTING)
def test_nothing_outlives_the_run(what: str, lesson: Lesson):
    watch = Stopwatch()
    report = run(lesson, LASTING[what] + ANSWER)
    # The answer is right, and the rest is not waited for. The fixture looks for processes and
    # directories.
    assert report.verdict == "pass", told(report)
    assert watch.seconds < lesson.limits.seconds + PATIENCE


# --- inheritance --------------------------------------------------------------------------------


def test_open_files_and_directories_are_not_inherited(lesson: Lesson, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("marks of everybody")
    code = """
import os
for number in range(3, 1024):
    try:
        print(number, os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        continue
    for attempt in (
        lambda: os.pread(number, 100, 0),
        lambda: os.read(os.open("secret", os.O_RDONLY, dir_fd=number), 100),
    ):
        try:
            print(attempt())
        except OSError:
            pass
"""
    numbers = [os.open(path, os.O_RDONLY) for path in (secret, tmp_path)]
    try:
        high = os.dup2(numbers[0], 900)
        for number in (*numbers, high):
            os.set_inheritable(number, True)
        report = run(lesson, code + ANSWER)
    finally:
        os.closerange(900, 901)
        for number in numbers:
            os.close(number)
    assert report.verdict == "pass", told(report)
    assert "marks of everybody" not in report.stdout
    assert str(tmp_path / "secret") not in report.stdout


def test_secrets_of_the_environment_are_not_inherited(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "PYTHONSTARTUP",
                 "LD_PRELOAD_NOT", "JAX_SECRET", "XLA_SECRET"):  # fmt: skip
        monkeypatch.setenv(name, "hunter2")
    code = """
import ctypes, os
print(dict(os.environ))
try:
    print(open("/proc/self/environ").read())
except PermissionError:
    pass
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
for index in range(1000):
    if environ[index] is None:
        break
    print(environ[index])
# Above the stack's first frame is what the process was started with.
for line in open("/proc/self/maps"):
    if "[stack]" in line:
        low, high = (int(part, 16) for part in line.split()[0].split("-"))
        size = min(high - low, 100_000)
        print("found" if b"hunter" + b"2" in ctypes.string_at(high - size, size) else "nothing")
"""
    if sys.platform != "linux":
        code = "import os\nprint(dict(os.environ))\n"
    report = run(lesson, code + ANSWER)
    assert report.verdict == "pass", told(report)
    assert "hunter2" not in report.stdout
    assert "found" not in report.stdout


@LINUX
def test_a_worker_has_its_own_session_and_no_terminal(lesson: Lesson):
    code = """
import os
print(os.getsid(0) == os.getpgid(0) == os.getpid(), [os.isatty(stream) for stream in range(3)])
print(open("/proc/self/stat").read().rpartition(")")[2].split()[4])  # its terminal
"""
    report = run(lesson, code + ANSWER)
    assert report.stdout == "True [False, False, False]\n0\n"


# --- other ways into the kernel -----------------------------------------------------------------

MACHINE_CODE = """
import ctypes, mmap, os
memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
memory.write(bytes.fromhex("@CODE@"))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
def double(x):
    result = call()
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return 2 * x
"""


@LINUX
@X86
def test_32_bit_system_calls_are_refused(lesson: Lesson):
    # mov eax, 20 (getpid, where x86-64 has writev); int 0x80; ret
    report = run(lesson, MACHINE_CODE.replace("@CODE@", "b814000000 cd80 c3"))
    assert report.verdict == "error"
    # By the filter, or by a kernel without them.
    assert "SIGSYS" in told(report) or "SIGSEGV" in told(report)


@LINUX
@X86
def test_x32_system_calls_are_refused(lesson: Lesson):
    # mov eax, 0x40000029 (x32's socket); mov edi, 2; mov esi, 1; xor edx, edx; syscall; ret
    code = MACHINE_CODE.replace("@CODE@", "b829000040 bf02000000 be01000000 31d2 0f05 c3")
    report = run(lesson, code)
    assert report.verdict == "error"
    assert "Function not implemented" in told(report)


# --- allowed ------------------------------------------------------------------------------------


def test_ordinary_things_still_work(lesson: Lesson):
    code = """
import asyncio, concurrent.futures, ctypes, os, pathlib, random, socket, tempfile, threading, uuid

async def nap():
    await asyncio.sleep(0)
    return await asyncio.to_thread(sum, [1, 2])

def double(x):
    assert asyncio.run(nap()) == 3
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(abs, [-1, -2])) == [1, 2]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a").write_text("b")
        os.rename(f"{folder}/a", f"{folder}/c")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    ours, theirs = socket.socketpair()
    ours.send(b"x")
    assert theirs.recv(1) == b"x"
    os.kill(os.getpid(), 0)
    with open(os.devnull, "w") as nothing:
        nothing.write("x")
    assert os.urandom(4) and uuid.uuid4() and random.SystemRandom().random() >= 0
    return 2 * x
"""
    report = run(lesson, code)
    assert report.verdict == "pass", told(report)


# --- odd files to check -------------------------------------------------------------------------

ODD_NAMES = {
    "an escape sequence": "a\x1b[2J\x1b]0;owned\x07.py",
    "a line of its own": "a\nall checks passed\n.py",
    "going back over the line": "wrong.py\rright.py",
    "text from right to left": "a\u202eyp.py",
    "C1 controls": "a\x9b31m.py",
    "bytes that are no text": "a\udcff\udc9b.py",
}


def check(file: str | Path, *more: str, **how: object) -> "subprocess.CompletedProcess[bytes]":
    """Run `jaxtutor check double FILE` with a time limit."""
    command = [sys.executable, "-m", "tutor", "check", "double", str(file), "--pack", str(MINI)]
    return subprocess.run([*command, *more], capture_output=True, timeout=GUARD, check=False, **how)


def inert(shown: bytes) -> bool:
    """Return whether a terminal only shows this text."""
    text = shown.decode(errors="surrogateescape")
    return all(letter.isprintable() or letter == "\n" for letter in text)


def complains(done: "subprocess.CompletedProcess[bytes]", *words: str) -> None:
    assert done.returncode == 2, done
    assert inert(done.stderr), done.stderr
    assert done.stderr.startswith(b"jaxtutor: ")
    assert done.stderr.count(b"\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr.decode(), done.stderr


@pytest.mark.parametrize("what", ODD_NAMES)
def test_the_name_of_a_file_is_shown_inert(what: str, tmp_path: Path):
    path = tmp_path / ODD_NAMES[what]
    complains(check(path), "No such file")
    path.write_bytes(b"# \xff")
    complains(check(path), "is not UTF-8")
    path.write_bytes(b"def double(x):\n    return 3 * x\n")
    done = check(path)
    assert done.returncode == 1
    assert inert(done.stdout + done.stderr), done


def test_links_in_a_circle_are_named(tmp_path: Path):
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.symlink_to(two)
    two.symlink_to(one)
    complains(check(one), "one.py")


def test_a_directory_is_named(tmp_path: Path):
    complains(check(tmp_path), str(tmp_path), "directory")


def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path: Path):
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    complains(check(pipe), "pipe.py")


def test_a_socket_is_named(targets: dict[str, str]):
    complains(check(targets["DATAGRAMS"]), "datagrams")


def test_an_endless_device_is_not_read_forever():
    complains(check("/dev/zero", preexec_fn=a_gigabyte), "/dev/zero", "not a regular file")


def test_endless_standard_input_is_not_read_forever():
    with Path("/dev/zero").open("rb") as endless:
        done = check("-", stdin=endless, preexec_fn=a_gigabyte)
    complains(done, "larger than 1024 KiB")


def a_gigabyte() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))


def test_dot_dot_in_a_lesson_id_is_only_text(tmp_path: Path):
    complains(check(tmp_path / "../../../../../../nowhere/x.py"), "No such file")


def test_an_unreadable_file_is_named(tmp_path: Path):
    path = tmp_path / "locked.py"
    path.write_text("x = 1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root can read everything: then it is checked as usual
        assert check(path).returncode == 1
    else:
        complains(check(path), "locked.py", "denied")
