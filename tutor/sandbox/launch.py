"""Start workers: a private directory, a scrubbed environment, two pipes and a new session."""

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
from tutor.sandbox import packages, xla_flags
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.cgroup import Cgroup, leftovers
from tutor.sandbox.child import Child, Spawned
from tutor.sandbox.command import command
from tutor.sandbox.isolation import Policy
from tutor.sandbox.limits import OPEN_FILES
from tutor.sandbox.private_folder import remove
from tutor.sandbox.zygote import REPLIES, REQUESTS, ForkRequest
from tutor.sandbox.zygotes import NoZygote, Zygotes

WITHOUT: frozenset[str] = frozenset()
"""Protections to leave out, set by tests that show what each one prevents."""

_PACKAGE = Path(__file__).resolve().parents[1]
_SECRETS = (_PACKAGE / "course", _PACKAGE / "data")
"""Solutions, hidden checks and labels of data sets in our own package."""


@cache
def hidden_paths() -> tuple[str, ...]:
    """Return the paths that sandboxes may not read: `_SECRETS` and installed packs."""
    packs = [pack.folder for pack in distributed() if pack.folder is not None]
    folders = [folder for pack in packs for folder in (pack, *solution_folders(pack))]
    return tuple(map(str, [*_SECRETS, *folders]))


_TORCH = ("torch", "torchgen", "functorch")


class LaunchError(Exception):
    """A worker could not be started; the message says why."""


class Spec(Struct, frozen=True):
    """The kind of sandbox to start.

    `devices` counts simulated CPU devices, or real ones with `accelerators`. `uses` are libraries
    to import early, of `tutor.sandbox.worker.LESSONS_USE`. Sandboxes that are `forked` share the
    zygote's hashes of text; another interpreter has its own.
    """

    role: Literal["learner", "reference"]
    limits: Limits
    devices: int = 1
    accelerators: bool = False
    uses: tuple[str, ...] = ()
    forked: bool = True


class Launched(NamedTuple):
    """A process that is starting. `requests` and `replies` are our ends of its two pipes."""

    process: Child
    folder: Path
    requests: int
    replies: int
    cgroup: Cgroup | None


def launch(spec: Spec, zygotes: Zygotes | None = None) -> Launched:
    """Start a worker in a private directory, with a scrubbed environment, its own session and
    no descriptors but its pipes.

    **Arguments:** `zygotes`: fork the worker from one of these if possible; otherwise start a
    new interpreter.

    Raises:
        LaunchError: the worker could not be started.
    """
    if sys.platform == "win32":
        raise LaunchError("no sandbox on Windows yet; run jaxtutor under WSL")
    sweep()
    # Named before it is created: a signal can arrive right after its creation.
    folder = Path(tempfile.gettempdir(), f"jaxtutor-{os.getpid()}-{os.urandom(8).hex()}")
    what = "create a private directory"
    try:
        folder.mkdir(mode=0o700)
        what = "start the sandbox"
        return _launch(spec, folder, zygotes)
    except OSError as error:
        remove(folder)
        raise LaunchError(f"could not {what}: {error}") from None
    except BaseException:  # a signal: nothing else knows of the directory yet
        remove(folder)
        raise


def _launch(spec: Spec, folder: Path, zygotes: Zygotes | None) -> Launched:
    """Create the pipes, the process and its control group. Raises: OSError."""
    worker_requests, requests = os.pipe()
    replies, worker_replies = os.pipe()
    try:
        process = _start(spec, folder, (worker_requests, worker_replies), zygotes)
    except BaseException:
        os.close(requests)
        os.close(replies)
        raise
    finally:
        os.close(worker_requests)
        os.close(worker_replies)
    cgroup = None
    if "cgroup" not in WITHOUT:
        # Files in the private directory count as memory, too.
        cgroup = Cgroup.make(spec.limits.memory_mb + spec.limits.disk_mb, spec.limits.threads)
    if cgroup is not None:
        cgroup.add(process.pid)
    return Launched(process, folder, requests, replies, cgroup)


def _start(spec: Spec, folder: Path, pipes: tuple[int, int], zygotes: Zygotes | None) -> Child:
    """Fork a worker from a zygote, or start an interpreter. Raises: OSError."""
    environ = environment(spec, folder)
    if zygotes is not None and spec.forked and not spec.accelerators:
        with suppress(NoZygote):
            policy = _policy(spec, folder, (REQUESTS, REPLIES))
            return zygotes.fork(spec.role, ForkRequest(policy, environ, spec.uses), pipes)
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
        hidden=hidden_paths(),
        hidden_packages=_TORCH if spec.role == "learner" else (),
        packages=dict(packages.FOLDERS),
        accelerators=spec.accelerators,
        without=WITHOUT,
    )


@cache
def sweep() -> None:
    """Remove, once, the directories and control groups that killed processes have left."""
    groups = leftovers()
    for folder in [*Path(tempfile.gettempdir()).glob("jaxtutor-*-*"), *groups]:
        pid = folder.name.split("-")[1]
        try:
            if pid.isdigit() and folder.lstat().st_uid == os.getuid():
                os.kill(int(pid), 0)
        except ProcessLookupError:
            if folder in groups:
                with suppress(OSError):  # its last process is still exiting
                    folder.rmdir()
            else:
                remove(folder)
        except OSError:
            pass  # the process is alive or not ours, or the directory is gone


def zygotes(*, quick: bool = False) -> Zygotes:
    """Return zygotes whose workers `launch` can use.

    **Arguments:** `quick`: see `Zygotes`.
    """
    environ = {**_LIBRARIES, "HOME": "/", "LANG": "C.UTF-8", "TZ": "UTC"}
    return Zygotes(str(_PACKAGE.parent), environ, quick=quick)


QUICK_FLAGS = ("--xla_backend_optimization_level=0", "--xla_cpu_use_fusion_emitters=false")
"""Compile in a third of the time to slower programs: a check mostly compiles small operations that
run once. `tutor.checks.inside.race` undoes both."""

_LIBRARIES = {
    # Each thread of OpenBLAS's pool takes 8 MiB of stack from the memory limit, and a fork loses
    # them. XLA has its own pool.
    "OPENBLAS_NUM_THREADS": "1",
    # PyTorch's threads spin while they wait. For the arrays of lessons one is faster; on a busy
    # machine, eight times; and sums have one order.
    "OMP_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
"""Variables that the libraries read at import."""


def environment(spec: Spec, folder: Path) -> dict[str, str]:
    """Return the whole environment of a worker."""
    home = str(folder)
    values = {"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC", **_LIBRARIES}
    if spec.role == "reference":
        return values
    # With fewer, XLA's thread pool is too small for a collective of 4 simulated devices on 2
    # cores, and the process aborts after a minute.
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
        # TF32 is off from PyTorch on the CPU by a thousand times the tolerance.
        values["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"
    else:
        # XLA measures wall-clock time, so by default it aborts right answers on a busy machine.
        # Have it report a stuck collective before we kill the worker for waiting, and never abort.
        allowance = Allowance(spec.limits.seconds)
        stuck = "--xla_cpu_collective_call"
        flags = [
            f"--xla_force_host_platform_device_count={spec.devices}",
            f"{stuck}_warn_stuck_timeout_seconds={max(1, int(allowance.idle_seconds / 2))}",
            f"{stuck}_terminate_timeout_seconds={int(4 * allowance.wall_seconds)}",
            *QUICK_FLAGS,
        ]
        values["XLA_FLAGS"] = " ".join(xla_flags.known(flags))
    return values
