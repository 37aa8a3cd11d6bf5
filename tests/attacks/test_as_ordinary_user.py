"""If started as root, run some attacks again as an ordinary user."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.attacks import ordinary
from tests.attacks.hostile import SUBMISSIONS
from tests.attacks.test_submissions import assert_it_fails
from tests.cases import all_cases
from tests.stopwatch import GUARD
from tutor.lesson import Lesson

NOBODY = 65534
REPOSITORY = Path(__file__).resolve().parents[2]
CHOSEN = (
    "O1-reads-a-secret", "O1-parent-mem", "O1-parent-environ", "O1-labels", "O2-creates",
    "O2-chmod", "O2-library", "O3-tcp-connect", "O3-unix", "O4-kill-parent", "O4-kill-everything",
    "O4-process-vm-readv", "O5-subprocess", "O6-daemon", "O7-mount", "O7-unshare-user",
    "O7-io-uring", "O8-terminal",
)  # fmt: skip

LEFT = "tests/attacks/test_resources.py::test_leftovers_of_a_worker_are_counted_and_removed"
# For root there are no directories without permissions.
MORE = [
    f"{LEFT}[directories without permissions-no namespaces]",
    f"{LEFT}[too much in a directory that cannot be listed-no namespaces]",
]


def test_every_chosen_attack_exists():
    assert set(CHOSEN) <= set(SUBMISSIONS)


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="no users to choose from")
def test_an_ordinary_users_attacks_fail_too(pytestconfig: pytest.Config):
    if os.geteuid() != 0:
        return  # the other tests ran as an ordinary user
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
    assert f"{len(MORE) + 2} passed" in done.stdout, done.stdout


def needed() -> list[str]:
    """Return the paths of the interpreter, the installed packages and these files."""
    return sorted({os.path.realpath(sys.base_prefix), sys.prefix, str(REPOSITORY)})


def command(folder: Path) -> list[str]:
    here = "tests/attacks/test_as_ordinary_user.py"
    tests = (f"{here}::test_this_user_has_no_privileges", f"{here}::test_this_users_attacks_fail")
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
            f"--basetemp={folder / 'tests'}", *tests, *MORE]  # fmt: skip


def test_this_user_has_no_privileges():
    """Runs in the test above: not as root, and without its privileges."""
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


def test_this_users_attacks_fail(lesson: Lesson, tmp_path: Path, home: Path):
    """Runs in the test above."""
    if os.geteuid() != NOBODY:
        return
    with all_cases() as case:
        for name in CHOSEN:
            with case(name):
                assert_it_fails(name, lesson, tmp_path / name, home)
