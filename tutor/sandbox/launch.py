"""Starting a worker: its folder, its environment, its pipes, its own session."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from tutor.lesson import Limits
from tutor.manifest import solution_folders
from tutor.plugins import distributed
from tutor.sandbox import packages
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.cgroup import Cgroup, leftovers
from tutor.sandbox.child import Child, Spawned
from tutor.sandbox.command import command
from tutor.sandbox.isolation import Policy
from tutor.sandbox.private_folder import remove
from tutor.sandbox.zygote import REPLIES, REQUESTS
from tutor.sandbox.zygotes import NoZygote, Zygotes

START_SECONDS = 120.0
"""Processor time that a worker may take to import its libraries, and time that it may wait for
them to be read: ours to answer for, so generous."""

OPEN_FILES = 512
WITHOUT: frozenset[str] = frozenset()
"""Layers of protection to leave out: for tests of what each is good for."""

_PACKAGE = Path(__file__).resolve().parents[1]
_SECRETS = (_PACKAGE / "course", _PACKAGE / "data")
"""In our own package: solutions and hidden checks, labels of data sets."""


@cache
def _secrets() -> tuple[str, ...]:
    """What lies among the libraries and may not be read: `_SECRETS`, and packs from pip."""
    packs = [one.folder for one in distributed() if one.folder is not None]
    folders = [folder for pack in packs for folder in (pack, *solution_folders(pack))]
    return tuple(map(str, [*_SECRETS, *folders]))


_TORCH = ("torch", "torchgen", "functorch")


class LaunchError(Exception):
    """A worker could not be started; the message says why."""


class Spec(Struct, frozen=True):
    """What kind of sandbox is wanted.

    `devices` counts simulated CPU devices unless `accelerators` says to use the real ones.
    `quick` lets XLA compile in a third of the time to slower programs: most of what a check
    takes is the compilation of small operations that run once.
    """

    role: Literal["learner", "reference"]
    limits: Limits
    devices: int = 1
    accelerators: bool = False
    quick: bool = False


class Launched(NamedTuple):
    """A process on its way up. `requests` and `replies` are our ends of its two pipes."""

    process: Child
    folder: Path
    requests: int
    replies: int
    cgroup: Cgroup | None


def launch(spec: Spec, zygotes: Zygotes | None = None) -> Launched:
    """Start a worker in a private folder, with a scrubbed environment, its own session and
    no descriptors but its pipes.

    **Arguments:** `zygotes`: where to have it forked, if it can be; else it is started afresh.

    Raises:
        LaunchError: it could not be started.
    """
    if sys.platform == "win32":
        raise LaunchError("no sandbox on Windows yet; run jaxtutor under WSL")
    sweep()
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"jaxtutor-{os.getpid()}-"))
    except OSError as error:
        raise LaunchError(f"no private folder could be made: {error}") from None
    try:
        return _launched(spec, folder, zygotes)
    except OSError as error:
        remove(folder)
        raise LaunchError(f"the sandbox could not be started: {error}") from None
    except BaseException:  # stopped by a signal: nobody else knows of the folder yet
        remove(folder)
        raise


def _launched(spec: Spec, folder: Path, zygotes: Zygotes | None) -> Launched:
    """Raises: OSError."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    try:
        process = _start(spec, folder, (theirs_in, theirs_out), zygotes)
    except BaseException:
        os.close(ours_in)
        os.close(ours_out)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    cgroup = None
    if "cgroup" not in WITHOUT:
        # Beside the memory of the process itself, what it writes to its folder in memory.
        cgroup = Cgroup.make(spec.limits.memory_mb + spec.limits.disk_mb, spec.limits.threads)
    if cgroup is not None:
        cgroup.add(process.pid)
    return Launched(process, folder, ours_out, ours_in, cgroup)


def _start(spec: Spec, folder: Path, pipes: tuple[int, int], zygotes: Zygotes | None) -> Child:
    """Raises: OSError."""
    environ = environment(spec, folder)
    if zygotes is not None and not spec.accelerators:
        with suppress(NoZygote):
            policy = _policy(spec, folder, (REQUESTS, REPLIES))
            return zygotes.fork(spec.role, policy, environ, pipes)
    job = {
        "role": spec.role,
        "parent": os.getpid(),
        "requests": pipes[0],
        "replies": pipes[1],
        "policy": _policy(spec, folder, pipes),
    }
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
        command(str(_PACKAGE.parent), "tutor.sandbox.boot", msgspec.json.encode(job).decode()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=folder,
        env=environ,
        pass_fds=pipes,
        start_new_session=True,
    )  # fmt: skip
    return Spawned(process)


def _policy(spec: Spec, folder: Path, descriptors: tuple[int, int]) -> Policy:
    limits = spec.limits
    return Policy(
        memory_mb=limits.memory_mb,
        cpu_seconds=limits.cpu_seconds,
        disk_mb=limits.disk_mb,
        files=limits.files,
        open_files=OPEN_FILES,
        threads=limits.threads,
        descriptors=descriptors,
        folder=str(folder),
        hidden=_secrets(),
        hidden_packages=_TORCH if spec.role == "learner" else (),
        packages=dict(packages.FOLDERS),
        accelerators=spec.accelerators,
        without=WITHOUT,
    )


@cache
def sweep() -> None:
    """Remove, once, what processes have left that were killed before they could."""
    groups = leftovers()
    for folder in [*Path(tempfile.gettempdir()).glob("jaxtutor-*-*"), *groups]:
        pid = folder.name.split("-")[1]
        try:
            if pid.isdigit() and folder.lstat().st_uid == os.getuid():
                os.kill(int(pid), 0)
        except ProcessLookupError:
            if folder in groups:
                with suppress(OSError):  # its last process is just ending
                    folder.rmdir()
            else:
                remove(folder)
        except OSError:
            pass  # it is alive, or not ours, or just gone


def zygotes() -> Zygotes:
    """A nursery of zygotes for the workers of this module."""
    return Zygotes(
        str(_PACKAGE.parent), {**_LIBRARIES, "HOME": "/", "LANG": "C.UTF-8", "TZ": "UTC"}
    )


_LIBRARIES = {
    # Each thread of these pools takes 8 MiB of stack out of the limit on memory, and none could
    # be taken along by a fork; XLA and PyTorch have pools of their own.
    "OPENBLAS_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
"""What the libraries read from the environment while they are imported."""


def environment(spec: Spec, folder: Path) -> dict[str, str]:
    """The whole environment of a worker."""
    home = str(folder)
    values = {"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC", **_LIBRARIES}
    if spec.role == "reference":
        return values
    # 4 simulated devices on 2 cores abort after a minute unless XLA believes in more cores.
    values["NPROC"] = "16"
    if spec.accelerators:
        del values["JAX_PLATFORMS"]
        values |= {
            name: os.environ[name]
            for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
            if name in os.environ
        }
        values.setdefault("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(spec.devices))))
        values["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        # TF32 would be a thousand times further from PyTorch on the CPU than the tolerance.
        values["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"
    else:
        # By the wall clock, so XLA would abort right answers on a busy machine. It says what it
        # waits for before the code is stopped for waiting, and never aborts.
        allowance = Allowance(spec.limits.seconds)
        stuck = "--xla_cpu_collective_call"
        flags = [
            f"--xla_force_host_platform_device_count={spec.devices}",
            f"{stuck}_warn_stuck_timeout_seconds={max(1, int(allowance.idle_seconds / 2))}",
            f"{stuck}_terminate_timeout_seconds={int(4 * allowance.wall_seconds)}",
        ]
        if spec.quick:
            flags += ["--xla_backend_optimization_level=0", "--xla_cpu_use_fusion_emitters=false"]
        values["XLA_FLAGS"] = " ".join(flags)
    return values
