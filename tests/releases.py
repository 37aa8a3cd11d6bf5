"""`make newest`, `make oldest`: the suite and the course at both ends of the promised versions.

    python3 -m tests.releases newest [--python PYTHON] [--without-torch]
    python3 -m tests.releases oldest [--python PYTHON]

*newest* takes the newest release of every dependency, whatever pyproject.toml allows, and the
Python of Debian's next release, which debootstrap installs below `build/newest` (as root), or the
one given. On Linux, PyTorch then brings five gigabytes of CUDA. `--without-torch` leaves it out:
what it gives comes from the recorded answers, and tests that need more are counted as skipped where
they can be recognised.

*oldest* takes the lowest version of every dependency that pyproject.toml allows, and the Python
that runs this, or the one given. PyTorch and the tools of the tests are those of constraints.txt.

The commit that is checked out is tested. Ends with 1 if anything differs.
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
RELEASE = "trixie"
PACKAGES = "python3,python3-venv,git,make,ca-certificates"
LINTERS = ("mypy", "ruff")
"""Not tried: their newest releases say nothing about the product."""

INSIDE = Path("/srv/jaxtutor")
"""Where the copy lies in the root. Ordinary users can read it, as tests of theirs must."""

CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


class Place:
    """A copy of the repository with an interpreter of its own.

    Args:
        end: `newest` or `oldest`.
        python: An interpreter of this machine; if None, that of a root of Debian's next release.
        torch: Whether PyTorch is to be installed.
    """

    def __init__(self, end: str, python: str | None, torch: bool) -> None:
        build = REPOSITORY / "build" / end
        self._end = end
        self._torch = torch
        self._root = None if python else build / "root"
        self._python = python or "python3"
        self.folder = build / "jaxtutor" if python else self._inside(INSIDE)
        self._bin = (self.folder if python else INSIDE) / ".venv" / "bin"

    def prepare(self) -> None:
        """Install everything anew."""
        if self._root is not None and not self._inside(Path("/usr/bin/python3")).exists():
            if shutil.which("debootstrap") is None or os.getuid() != 0:
                sys.exit("needs debootstrap and root; or give an interpreter, with --python")
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
        self.run([self._python, "-m", "venv", ".venv"])
        self.pip(newest(self._torch) if self._end == "newest" else oldest())
        self.pip(["--no-deps", "--no-build-isolation", "-e", "."])

    def pip(self, arguments: list[str]) -> None:
        self.run([str(self._bin / "python"), "-m", "pip", "install", "--quiet", *arguments])

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the place's Python and return what it printed."""
        return self.run([str(self._bin / "python"), *arguments], check=False)

    def run(self, command: list[str], check: bool = True) -> subprocess.CompletedProcess[str]:
        kept = ("HOME", "LANG", "TERM", "PIP_CERT", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")
        if self._root is None:
            kept += ("PIP_FIND_LINKS",)
        environ = {name: os.environ[name] for name in kept if name in os.environ}
        if not self._torch:
            environ["JAXTUTOR_TEST_PATIENCE"] = "10"  # tests that need PyTorch would wait in vain
        environ["PATH"] = f"{self._bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        folder: Path | None = self.folder
        if self._root is not None:
            # The mounts end with the command. A process that was only put under another root, by
            # chroot, could not create the namespaces that sandboxes use.
            script = (
                'mount --bind "$0" "$0" && cd "$0" && mkdir -p old && '
                "for each in proc dev sys; do mount --rbind /$each $each || exit; done; "
                "mount -t tmpfs tmpfs tmp && pivot_root . old && umount -l /old && "
                'cd "$1" && shift && exec "$@"'
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


def newest(torch: bool) -> list[str]:
    """Return the names of all dependencies, without ranges: pip takes the newest releases."""
    names = {name for name, _ in dependencies("test", "bench")} - {*LINTERS}
    return sorted(names if torch else names - {"torch"})


def oldest() -> list[str]:
    """Return each dependency at its lowest version, and PyTorch and tests' tools as pinned."""
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", read("constraints.txt"), re.MULTILINE))
    pinned = {canonical(name): version for name, version in pinned.items()}
    tools = {name: pinned[name] for name, _ in dependencies("test", "bench") if name in pinned}
    lowest = {name: version for name, version in dependencies("authors", "cluster") if version}
    return [f"{n}=={v}" for n, v in (tools | lowest | {"torch": pinned["torch"]}).items()]


def dependencies(*extras: str) -> list[tuple[str, str]]:
    """Return the name and the lowest version of each dependency, and of those of `extras`."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    texts = [*project["dependencies"], "editables"]
    for extra in extras:
        texts += project["optional-dependencies"][extra]
    found = [re.match(r"([\w-]+)(?:>=([\d.]+))?", text) for text in texts]
    return [(canonical(each[1]), each[2] or "") for each in found if each is not None]


def canonical(name: str) -> str:
    return name.lower().replace("_", "-")


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Test at an end of the promised versions.")
    parser.add_argument("end", choices=["newest", "oldest"])
    parser.add_argument("--python", help="an interpreter of this machine")
    parser.add_argument("--without-torch", action="store_true", help="newest: save gigabytes")
    arguments = parser.parse_args()
    lowest = arguments.end == "oldest"
    torch = lowest or not arguments.without_torch
    python = arguments.python or (sys.executable if lowest else None)
    place = Place(arguments.end, python, torch)
    place.prepare()
    print(place.python("-c", VERSIONS).stdout, flush=True)
    course = place.python("-m", "tests.course.recorded")
    print(course.stdout, flush=True)
    suite = place.python(
        "-m", "pytest", "-q", "-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal",
        "-rfE", "-p", "no:cacheprovider", *([] if torch else ["--without-torch"]),
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
