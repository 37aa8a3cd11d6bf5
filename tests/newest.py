"""`make newest`: the suite and the course on the newest releases and a newer Python.

    python3 -m tests.newest [--python PYTHON]

By default, Debian's next release is installed below `build/newest` with debootstrap, as root, for
its Python; with `--python`, that interpreter is used. PyTorch is not installed, since for a newer
Python there may be no small build of it: what PyTorch gives comes from the recorded answers, and
tests that need more are counted. The commit that is checked out is tested. Ends with 1 if anything
differs.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
BUILD = REPOSITORY / "build" / "newest"
RELEASE = "trixie"
PACKAGES = "python3,python3-venv,git,make,ca-certificates"
LEFT_OUT = ("torch", "mypy", "ruff")
"""Not tried: PyTorch, and linters, whose newest releases say nothing about the product."""

INSIDE = Path("/root/jaxtutor")
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


class Place:
    """A copy of the repository with an interpreter of its own."""

    def __init__(self, python: str | None) -> None:
        self._root = None if python else BUILD / "root"
        self._python = python or "python3"
        self.folder = BUILD / "jaxtutor" if python else self._inside(INSIDE)
        self._bin = (self.folder if python else INSIDE) / ".newest" / "bin"

    def prepare(self) -> None:
        """Install everything anew."""
        if self._root is not None and not self._inside(Path("/usr/bin/python3")).exists():
            if shutil.which("debootstrap") is None or os.getuid() != 0:
                sys.exit("needs debootstrap and root; or: python3 -m tests.newest --python PYTHON")
            subprocess.run(
                ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, self._root],
                check=True,
            )
        if self._root is not None:
            shutil.copy("/etc/resolv.conf", self._inside(Path("/etc/resolv.conf")))
            if Path("/", CERTIFICATES).exists():
                shutil.copy(Path("/", CERTIFICATES), self._inside(Path("/", CERTIFICATES)))
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run(["git", "clone", "--quiet", REPOSITORY, self.folder], check=True)
        self.run([self._python, "-m", "venv", ".newest"])
        self.pip(requirements())
        self.pip(["--no-deps", "--no-build-isolation", "-e", "."])

    def pip(self, arguments: list[str]) -> None:
        self.run([str(self._bin / "python"), "-m", "pip", "install", "--quiet", *arguments])

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the place's Python and return what it printed."""
        return self.run([str(self._bin / "python"), *arguments], check=False)

    def run(self, command: list[str], check: bool = True) -> subprocess.CompletedProcess[str]:
        kept = ("HOME", "LANG", "TERM", "PIP_CERT", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")
        environ = {name: os.environ[name] for name in kept if name in os.environ}
        environ["JAXTUTOR_TEST_PATIENCE"] = "10"  # tests that need PyTorch would wait in vain
        environ["PATH"] = f"{self._bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        folder: Path | None = self.folder
        if self._root is not None:
            # The mounts end with the command.
            script = (
                'cd "$0" && mount --bind /proc proc && mount --bind /dev dev && '
                'mount -t tmpfs tmpfs tmp && exec chroot . sh -c \'cd "$0" && exec "$@"\' "$@"'
            )
            where = str(INSIDE) if self.folder.exists() else "/"
            command = ["unshare", "--mount", "sh", "-c", script, str(self._root), where, *command]
            folder = None
        return subprocess.run(
            command, cwd=folder, env=environ, check=check, text=True, stdout=subprocess.PIPE
        )

    def _inside(self, path: Path) -> Path:
        assert self._root is not None
        return self._root / path.relative_to("/")


def requirements() -> list[str]:
    """Return the names of all dependencies, without their ranges, so that pip takes the newest."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    texts = [*project["dependencies"], *extras["test"], *extras["bench"], "editables"]
    names = [re.match(r"[\w-]+", text) for text in texts]
    return sorted({name[0] for name in names if name is not None and name[0] not in LEFT_OUT})


def main() -> int:
    parser = argparse.ArgumentParser(description="Test on the newest releases.")
    parser.add_argument("--python", help="an interpreter, instead of Debian's next")
    place = Place(parser.parse_args().python)
    place.prepare()
    print(place.python("-c", VERSIONS).stdout, flush=True)
    course = place.python("-m", "tests.course.recorded")
    print(course.stdout, flush=True)
    suite = place.python(
        "-m", "pytest", "-q", "-n", str((os.cpu_count() or 1) + 2), "--dist", "worksteal",
        "--without-torch", "-rfE", "-p", "no:cacheprovider",
    )  # fmt: skip
    differing = re.findall(r"^(?:FAILED|ERROR) (\S+)", suite.stdout, re.MULTILINE)
    print(suite.stdout.rstrip().rpartition("\n")[2])
    for folder, count in Counter(name.split("/")[1] for name in differing).items():
        print(f"{folder}: {count} differ")
        print(*(f"  {name}" for name in differing if name.split("/")[1] == folder), sep="\n")
    return 1 if differing or course.returncode else 0


VERSIONS = """
import sys
from tutor.engine.versions import installed_versions
print(*(f"{name} {version}" for name, version in installed_versions().items()), sep=", ")
"""

if __name__ == "__main__":
    sys.exit(main())
