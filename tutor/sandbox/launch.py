"""Starting a worker: its folder, its environment, its pipes, its own session."""

import os
import shutil
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
from tutor.sandbox.cgroup import Cgroup, leftovers
from tutor.sandbox.isolation import Policy

START_SECONDS = 120.0
"""How long a worker may take to import its libraries: ours to answer for, so generous."""

OPEN_FILES = 512
WITHOUT: frozenset[str] = frozenset()
"""Layers of protection to leave out: for tests of what each is good for."""

_PACKAGE = Path(__file__).resolve().parents[1]
_SECRETS = (_PACKAGE / "course", _PACKAGE / "data")
"""In our own package: solutions and hidden checks, labels of data sets."""

_TORCH = ("torch", "torchgen", "functorch")
_BOOT = (
    "import sys; sys.path.append(sys.argv[2]); "
    "from tutor.sandbox.boot import main; main(sys.argv[1])"
)


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

    process: "subprocess.Popen[bytes]"
    folder: Path
    requests: int
    replies: int
    cgroup: Cgroup | None


def launch(spec: Spec) -> Launched:
    """Start a worker in a private folder, with a scrubbed environment, its own session and
    no descriptors but its pipes.

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
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    policy = Policy(
        memory_mb=spec.limits.memory_mb,
        cpu_seconds=spec.limits.cpu_seconds,
        disk_mb=spec.limits.disk_mb,
        files=spec.limits.files,
        open_files=OPEN_FILES,
        threads=spec.limits.threads,
        descriptors=(theirs_in, theirs_out),
        folder=str(folder),
        hidden=tuple(map(str, _SECRETS)),
        hidden_packages=_TORCH if spec.role == "learner" else (),
        accelerators=spec.accelerators,
        without=WITHOUT,
    )
    job = {
        "role": spec.role,
        "requests": theirs_in,
        "replies": theirs_out,
        "policy": policy,
    }
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT,
               msgspec.json.encode(job).decode(), str(_PACKAGE.parent)]  # fmt: skip
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=environment(spec, folder),
            pass_fds=(theirs_in, theirs_out),
            start_new_session=True,
        )
    except OSError as error:
        os.close(ours_in)
        os.close(ours_out)
        shutil.rmtree(folder, ignore_errors=True)
        raise LaunchError(f"the sandbox could not be started: {error}") from None
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


@cache
def sweep() -> None:
    """Remove, once, what processes have left that were killed before they could."""
    groups = leftovers()
    for folder in [*Path(tempfile.gettempdir()).glob("jaxtutor-*-*"), *groups]:
        pid = folder.name.split("-")[1]
        try:
            if pid.isdigit() and folder.stat().st_uid == os.getuid():
                os.kill(int(pid), 0)
        except ProcessLookupError:
            if folder in groups:
                with suppress(OSError):  # its last process is just ending
                    folder.rmdir()
            else:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # it is alive, or not ours, or just gone


def environment(spec: Spec, folder: Path) -> dict[str, str]:
    """The whole environment of a worker."""
    home = str(folder)
    values = {"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC"}
    if spec.role == "reference":
        return values
    values |= {
        "JAX_PLATFORMS": "" if spec.accelerators else "cpu",
        # 4 simulated devices on 2 cores abort after a minute unless XLA believes in more cores.
        "NPROC": "16",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        # This worker's own compiled programs, for checks that must clear JAX's caches.
        "JAX_COMPILATION_CACHE_DIR": str(folder / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    if spec.accelerators:
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
        flags = [
            f"--xla_force_host_platform_device_count={spec.devices}",
            "--xla_cpu_collective_call_warn_stuck_timeout_seconds=10",
            "--xla_cpu_collective_call_terminate_timeout_seconds=20",
        ]
        if spec.quick:
            flags += ["--xla_backend_optimization_level=0", "--xla_cpu_use_fusion_emitters=false"]
        values["XLA_FLAGS"] = " ".join(flags)
    return values
