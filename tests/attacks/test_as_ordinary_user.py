"""What holds for root holds for everybody else: started as root, some of the attacks are run once
more as an ordinary user (for an ordinary user all the tests already are)."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.attacks import ordinary
from tests.attacks.hostile import SUBMISSIONS
from tests.stopwatch import GUARD

NOBODY = 65534
REPOSITORY = Path(__file__).resolve().parents[2]
CHOSEN = (
    "O1-reads-a-secret", "O1-parent-mem", "O1-parent-environ", "O1-labels", "O2-creates",
    "O2-chmod", "O2-library", "O3-tcp-connect", "O3-unix", "O4-kill-parent", "O4-kill-everything",
    "O4-process-vm-readv", "O5-subprocess", "O6-daemon", "O7-mount", "O7-unshare-user",
    "O7-io-uring", "O8-terminal",
)  # fmt: skip

LEFT = "tests/attacks/test_resources.py::test_what_a_worker_leaves_is_counted_and_removed"
# For root there are no directories without permissions.
MORE = [
    f"{LEFT}[directories without permissions-no namespaces]",
    f"{LEFT}[too much in a directory that cannot be listed-no namespaces]",
]


def test_each_of_the_chosen_attacks_is_one_of_the_submissions():
    assert set(CHOSEN) <= set(SUBMISSIONS)


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="no users to choose from")
def test_the_attacks_are_held_for_an_ordinary_user_too(pytestconfig: pytest.Config):
    if os.geteuid() != 0:
        return  # all the other tests were that
    folder = Path(tempfile.mkdtemp(prefix="jaxtutor-as-nobody-", dir="/tmp"))
    try:
        os.chown(folder, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, ordinary.__file__, str(NOBODY), *needed(), "--", *command(folder),
             *(f"--without={name}" for name in pytestconfig.getoption("without"))],
            cwd=REPOSITORY,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "JAXTUTOR_HOME": str(folder / "home"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=GUARD,
            check=False,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(CHOSEN) + len(MORE) + 1} passed" in done.stdout, done.stdout


def needed() -> list[str]:
    """Where the interpreter, what is installed, and these files are."""
    return sorted({os.path.realpath(sys.base_prefix), sys.prefix, str(REPOSITORY)})


def command(folder: Path) -> list[str]:
    tests = [f"tests/attacks/test_submissions.py::test_it_is_held_and_named[{name}]"
             for name in CHOSEN]  # fmt: skip
    here = "tests/attacks/test_as_ordinary_user.py::test_this_user_is_nobody_in_particular"
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
            f"--basetemp={folder / 'tests'}", here, *tests, *MORE]  # fmt: skip


def test_this_user_is_nobody_in_particular():
    """In the run above: it is not root, and has none of root's privileges."""
    if os.geteuid() == 0:
        return
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(
            line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
        )
        assert int(lines["CapEff"], 16) == int(lines["CapPrm"], 16) == 0
    with pytest.raises(PermissionError):
        Path("/etc/shadow").read_bytes()
