"""The configuration of the isolation layers of every system."""

import ctypes
import errno
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.report import Protection
from tutor.sandbox import isolation
from tutor.sandbox.isolation import Policy, landlock, posix, seccomp
from tutor.sandbox.isolation.seccomp import ARCHITECTURES, If, Missing, Rule, Unless
from tutor.sandbox.isolation.syscalls import LAST, NUMBERS, UNASSIGNED
from tutor.sandbox.watchdog import NOTHING, usage

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

# --- the filter of system calls -----------------------------------------------------------------

PID = 4321
ALLOWED, KILLED = "allowed", "killed"
REFUSED, ABSENT = errno.EPERM, errno.ENOSYS

# From linux/bpf_common.h and linux/seccomp.h, not shared with the filter under test.
LD_W_ABS, JMP_JEQ_K, JMP_JGE_K, JMP_JSET_K, ALU_AND_K, RET_K = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06


def verdict(program: bytes, number: int, arguments: tuple[int, ...], arch: int) -> str | int:
    """Return what the kernel does with a call, by interpreting classic BPF."""
    padded = (*arguments, *[0] * 6)[:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, arch, 0, *(a % (1 << 64) for a in padded))
    accumulator, at = 0, 0
    for _ in range(len(program) // 8):
        code, true, false, k = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        match code:
            case 0x20:  # load a word
                assert k % 4 == 0
                (accumulator,) = struct.unpack_from("<I", data, k)
            case 0x15:
                at += true if accumulator == k else false
            case 0x35:
                at += true if accumulator >= k else false
            case 0x45:
                at += true if accumulator & k else false
            case 0x54:
                accumulator &= k
            case 0x06:
                action, value = k & 0xFFFF0000, k & 0xFFFF
                return {0x7FFF0000: ALLOWED, 0x80000000: KILLED, 0x00050000: value}[action]
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")
    raise AssertionError("the program has no return")


def specified(rule: Rule | None, arguments: tuple[int, ...]) -> str | int:
    """Return what `rules` specifies."""
    match rule:
        case None:
            return REFUSED
        case Missing():
            return ABSENT
        case If(argument, values):
            return REFUSED if arguments[argument] % (1 << 32) in values else ALLOWED
        case Unless(argument, values, None):
            return ALLOWED if arguments[argument] in values else REFUSED
        case Unless(argument, values, mask):
            return ALLOWED if arguments[argument] & mask in values else REFUSED
    raise AssertionError(rule)


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[False, True], ids=["simulated", "accelerators"])
def accelerators(request: pytest.FixtureRequest) -> bool:
    return request.param


def asked(arch: str, call: str, *arguments: int, accelerators: bool = False) -> str | int:
    number = NUMBERS[call][ARCHITECTURES[arch].column]
    assert number is not None
    program = seccomp.program(ARCHITECTURES[arch], PID, accelerators)
    return verdict(program, number, arguments, ARCHITECTURES[arch].audit)


def numbers(arch: str) -> dict[int, str]:
    column = ARCHITECTURES[arch].column
    return {pair[column]: name for name, pair in NUMBERS.items() if pair[column] is not None}


def unassigned(arch: str) -> set[int]:
    gaps = UNASSIGNED[ARCHITECTURES[arch].column]
    return {number for first, end in gaps for number in range(first, end)}


def test_system_call_numbers_are_unique(arch: str):
    column = ARCHITECTURES[arch].column
    known = [pair[column] for pair in NUMBERS.values() if pair[column] is not None]
    assert len(known) == len(set(known))
    assert all(0 <= number <= LAST for number in known)


def test_the_filter_is_valid_for_the_kernel(arch: str, accelerators: bool):
    program = seccomp.program(ARCHITECTURES[arch], PID, accelerators)
    steps = [*struct.iter_unpack("<HBBI", program)]
    assert 0 < len(steps) <= 4096  # BPF_MAXINSNS
    assert steps[-1][0] == RET_K
    for at, (code, true, false, k) in enumerate(steps):
        assert code in {LD_W_ABS, JMP_JEQ_K, JMP_JGE_K, JMP_JSET_K, ALU_AND_K, RET_K}
        if code in (JMP_JEQ_K, JMP_JGE_K, JMP_JSET_K):
            assert at + 1 + max(true, false) < len(steps)
        if code == LD_W_ABS:
            assert k % 4 == 0 and k < 64


def test_every_call_follows_its_rule(arch: str, accelerators: bool):
    program = seccomp.program(ARCHITECTURES[arch], PID, accelerators)
    rules, named = seccomp.rules(PID, accelerators), numbers(arch)
    # Around every condition: each value, its neighbours, and the value with the high half set.
    values = {0, PID, *(v for rule in rules.values() for v in getattr(rule, "values", ()))}
    values |= {v ^ bit for v in values for bit in (1, 2, 0x20, 0x10000, 0x10000000, 1 << 32)}
    values |= {(1 << 64) - 1, (1 << 32) - 1, 1 << 63}
    for number in range(LAST + 1):
        name = named.get(number)
        if number in unassigned(arch):
            assert name is None
            assert verdict(program, number, (), ARCHITECTURES[arch].audit) == ABSENT
            continue
        for value in values if name in rules else (0,):
            arguments = (value,) * 6
            expected = specified(rules[name], arguments) if name in rules else ALLOWED
            found = verdict(program, number, arguments, ARCHITECTURES[arch].audit)
            assert found == expected, (number, name, hex(value))


@given(
    call=st.sampled_from(sorted(NUMBERS)),
    arguments=st.tuples(*[st.integers(0, (1 << 64) - 1) | st.integers(0, 64)] * 6),
)
@settings(deadline=None)
def test_each_condition_tests_its_own_argument(call: str, arguments: tuple[int, ...]):
    rule = seccomp.rules(PID)[call]
    for arch, (_, column) in ARCHITECTURES.items():
        if NUMBERS[call][column] is not None:
            assert asked(arch, call, *arguments) == specified(rule, arguments)


def test_newer_calls_do_not_exist(arch: str):
    program, audit = seccomp.program(ARCHITECTURES[arch], PID), ARCHITECTURES[arch].audit
    for number in (
        335,
        336,
        LAST + 1,
        1000,
        0x40000000,
        0x40000029,
        0x40000000 | 520,
        0x7FFFFFFF,
        -1,
    ):
        assert verdict(program, number, (), audit) == ABSENT, number


def test_a_call_of_another_architecture_kills(arch: str):
    program = seccomp.program(ARCHITECTURES[arch], PID)
    others = {a.audit for a in ARCHITECTURES.values()} - {ARCHITECTURES[arch].audit}
    for audit in (*others, 0x40000003, 0x40000028, 0):  # i386, arm
        for number in (0, 20, 39, LAST, 0x40000000):
            assert verdict(program, number, (), audit) == KILLED


NEW_USER, THREAD, VM = 0x10000000, 0x10000, 0x100
PTHREAD_CREATE = 0x3D0F00
CONDITIONS: list[tuple[str, tuple[int, ...], str | int]] = [
    ("clone", (PTHREAD_CREATE,), ALLOWED),
    ("clone", (17,), REFUSED),
    ("clone", (0x4100 | 17,), REFUSED),  # CLONE_VM | CLONE_VFORK, as posix_spawn
    ("clone", (PTHREAD_CREATE | NEW_USER,), REFUSED),
    ("clone", (PTHREAD_CREATE | 0x80,), REFUSED),  # CLONE_NEWTIME
    ("clone", (NEW_USER | 17,), REFUSED),
    ("clone3", (0, 88), ABSENT),
    ("kill", (PID, 6), ALLOWED),
    ("kill", (PID + 1, 9), REFUSED),
    ("kill", (0, 9), REFUSED),
    ("kill", (-1, 9), REFUSED),
    ("kill", (0xFFFFFFFF, 9), REFUSED),
    ("kill", (PID | 1 << 32, 9), REFUSED),
    ("tgkill", (PID, PID + 5, 6), ALLOWED),
    ("tgkill", (1, 1, 9), REFUSED),
    ("prlimit64", (0, 7), ALLOWED),
    ("prlimit64", (PID, 7), ALLOWED),
    ("prlimit64", (1, 7), REFUSED),
    ("sched_setaffinity", (0,), ALLOWED),
    ("sched_setaffinity", (1,), REFUSED),
    ("prctl", (15,), ALLOWED),  # PR_SET_NAME
    ("prctl", (1,), REFUSED),
    ("prctl", (4,), REFUSED),
    ("prctl", (1 | 1 << 32,), REFUSED),  # the kernel looks at the low half
    ("ioctl", (0, 0x5413), ALLOWED),  # TIOCGWINSZ
    ("ioctl", (0, 0x5401), ALLOWED),  # TCGETS, which isatty asks
    ("ioctl", (0, 0x5412), REFUSED),  # TIOCSTI
    ("ioctl", (0, 0x5412 | 1 << 32), REFUSED),
    ("fcntl", (0, 3), ALLOWED),
    ("fcntl", (0, 8), REFUSED),
    ("fcntl", (0, 1024), REFUSED),  # F_SETLEASE
    ("fcntl", (0, 1026), REFUSED),  # F_NOTIFY
    ("fcntl", (0, 1030), ALLOWED),  # F_DUPFD_CLOEXEC
    ("fcntl", (0, 1031), REFUSED),  # F_SETPIPE_SZ
    ("socketpair", (1, 1), ALLOWED),
    ("socketpair", (2, 1), REFUSED),
    ("sendto", (3, 1, 1, 0, 0, 0), ALLOWED),
    ("sendto", (3, 1, 1, 0, 0x7F0000000000, 16), REFUSED),
    ("sendto", (3, 1, 1, 0, 16, 16), REFUSED),
    ("mmap", (0, 4096, 3, 0x22), ALLOWED),
    ("mmap", (0, 4096, 1, 0x1), ALLOWED),  # a file, shared
    ("mmap", (0, 4096, 3, 0x21), REFUSED),
    ("mmap", (0, 4096, 3, 0x23), REFUSED),  # MAP_SHARED_VALIDATE
]


@for_each(("call", "arguments", "expected"), CONDITIONS)
def test_conditional_calls(arch: str, call: str, arguments: tuple[int, ...], expected: str | int):
    assert asked(arch, call, *arguments) == expected


def test_accelerators_get_only_what_drivers_need(arch: str):
    for call in ("socket", "connect", "memfd_create"):
        assert asked(arch, call, accelerators=True) == ALLOWED
        assert asked(arch, call) == REFUSED
    for call in ("execve", "ptrace", "mount", "setns", "process_vm_readv", "io_uring_setup"):
        assert asked(arch, call, accelerators=True) == REFUSED


HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}


@LINUX
def test_numbers_match_the_kernel_headers(arch: str):
    header = Path("/usr/include") / HEADERS[arch]
    if not header.exists():
        pytest.skip("no headers of the kernel are installed")
    pairs = re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", header.read_text())
    theirs = {name: int(number) for name, number in pairs if int(number) <= LAST}
    column = ARCHITECTURES[arch].column
    compared = [name for name in NUMBERS if name in theirs]
    assert {name: theirs[name] for name in compared} == {
        name: NUMBERS[name][column] for name in compared
    }
    assert len(compared) > 80
    if max(theirs.values()) >= LAST:  # else they are older than the table
        # Calls of other architectures, and those of 32-bit machines for times.
        other = r"arch_specific_syscall|\w+64"
        assigned = {number for name, number in theirs.items() if not re.fullmatch(other, name)}
        assert not unassigned(arch) & assigned


# --- files --------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@given(
    files=st.sets(PATHS, min_size=1, max_size=8),
    links=st.dictionaries(PATHS, PATHS, max_size=3),
    readable=st.lists(PATHS, min_size=1, max_size=3),
    hidden=st.lists(PATHS, max_size=3),
)
@settings(deadline=None, max_examples=200)
def test_grants_cover_everything_readable_and_nothing_hidden(
    files: set[str], links: dict[str, str], readable: list[str], hidden: list[str]
):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        for name in sorted(files, key=len):
            path = root / name
            if not any(parent.is_file() for parent in path.parents):
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists():
                    path.write_text("")
        for name, target in links.items():
            path = root / name
            if path.parent.is_dir() and not os.path.lexists(path):
                path.symlink_to(root / target)
        readable = [name for name in readable if (root / name).is_dir()]
        granted = dict(landlock.grants([root / r for r in readable], [root / h for h in hidden]))
        roots = {Path(os.path.realpath(root / r)) for r in readable}
        secrets = {Path(os.path.realpath(root / h)) for h in hidden}
        for file in (path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
            line = {file, *file.parents}
            may = any(granted.get(str(path), 0) & landlock._READ_FILE for path in line)
            assert may == bool(line & roots and not line & secrets), file
            # A path through a link is decided by its target.
            assert not any(Path(path).is_symlink() for path in granted)


def test_a_link_does_not_grant_its_target(tmp_path: Path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "hidden").mkdir()
    (inside / "link").symlink_to(outside)
    granted = dict(landlock.grants([inside], [inside / "hidden"]))
    assert granted == {str(inside): landlock._READ_DIR}


def test_a_directory_given_as_a_link_is_granted_by_its_real_path(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert [*landlock.grants([tmp_path / "link"], [])] == [(str(tmp_path / "real"), landlock._READ)]
    assert not [*landlock.grants([tmp_path / "real"], [tmp_path / "link"])]


@pytest.mark.parametrize("what", ["nothing", "a file", "a link in a circle"])
def test_a_missing_directory_does_not_disable_the_other_rules(what: str, tmp_path: Path):
    # Missing directories on the import path are common, and packages in them are hidden.
    library, odd = tmp_path / "library", tmp_path / "odd"
    library.mkdir()
    if what == "a file":
        odd.touch()
    elif what == "a link in a circle":
        odd.symlink_to(odd)
    granted = dict(landlock.grants([odd, library], [odd / "torch"]))
    assert granted[str(library)] == landlock._READ


def policy(**more: object) -> Policy:
    values: dict[str, object] = {
        "memory_mb": 512, "cpu_seconds": 30, "disk_mb": 64, "files": 100, "open_files": 64,
        "threads": 100, "descriptors": (), "folder": "/private/folder",
    }  # fmt: skip
    return Policy(**{**values, **more})  # type: ignore[arg-type]


def test_a_hidden_package_is_hidden_wherever_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ours, theirs = tmp_path / "site-packages", tmp_path / "x" / "dist-packages"
    monkeypatch.setattr(sys, "path", [str(ours), str(theirs), str(tmp_path / "src"), ""])
    found = posix.hidden_paths(policy(hidden=("/secret",), hidden_packages=("torch",)))
    assert found == [Path("/secret"), ours / "torch", theirs / "torch"]
    assert tmp_path / "src" not in posix.libraries()  # a source tree


# --- missing protections ------------------------------------------------------------------------


def test_inactive_and_unreported_protections_are_missing():
    def on(name: str, active: bool = True) -> Protection:
        return Protection(name, active)

    assert isolation.missing([]) == ["files", "network", "processes"]
    assert isolation.missing([on("files"), on("network"), on("processes"), on("x", False)]) == []
    assert isolation.missing([on("files", False), on("network")]) == ["files", "processes"]
    assert isolation.missing(iter([on("processes")])) == ["files", "network"]


# --- the watchdog -------------------------------------------------------------------------------


@LINUX
def test_the_watchdog_measures_memory_and_threads():
    before = usage(os.getpid())
    assert before.resident_mb > 5 and before.threads >= 1
    kept = bytearray(b"x") * (64 << 20)
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(7)]
    for thread in threads:
        thread.start()
    after = usage(os.getpid())
    stop.set()
    for thread in threads:
        thread.join()
    assert after.resident_mb >= before.resident_mb + 50
    assert after.threads == before.threads + 7
    assert kept


@LINUX
@pytest.mark.parametrize("name", ["x) R 1 1 1", ") ) (", "a\nb", "  "])
def test_the_name_of_a_process_cannot_mislead_the_watchdog(name: str):
    code = (
        "import ctypes, sys\n"
        "ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)\n"
        "print(flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", code, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = usage(process.pid)
        process.communicate()
    assert found.threads == 1
    assert 1 < found.resident_mb < 200


def test_usage_of_an_ended_process_is_nothing():
    process = subprocess.Popen([sys.executable, "-I", "-c", ""])
    process.wait()
    assert usage(process.pid) == NOTHING


def test_the_filter_has_the_layout_of_sock_fprog():
    # struct sock_fprog: a length, then (aligned) a pointer.
    assert ctypes.sizeof(seccomp._Program) == 16
    assert seccomp._Program.filter.offset == 8
    assert ctypes.sizeof(landlock._PathBeneath) == 12  # packed
