"""Build a distribution that contains a pack, as its author would."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import MINI
from tests.stopwatch import GUARD

DOCUMENTED = Path(__file__).parents[1] / "docs" / "packs.md"

TRAP = "raise SystemExit('a pack was imported')\n"


def make_project(folder: Path, name: str = "mini", value: str = "mini_pack:lessons") -> Path:
    """Write the sources of a distribution with the small pack, as documented. Importing its package
    is an error."""
    package = folder / "mini_pack"
    shutil.copytree(MINI.parent, package)
    (package / "__init__.py").write_text(TRAP)
    project = DOCUMENTED.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    for old, new in (
        ('name = "mypack"', 'name = "Mini.Pack"'),
        ('version = "1.0"', 'version = "1.5"'),
        ('mypack = "mypack:lessons"', f'{name} = "{value}"'),
    ):
        assert project.count(old) == 1
        project = project.replace(old, new)
    (folder / "pyproject.toml").write_text(project)
    return folder


def make_wheel(project: Path) -> Path:
    """Build a project's wheel and return its path."""
    out = project / "dist"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(build, cwd=project, check=True, capture_output=True, timeout=GUARD)
    (wheel,) = out.glob("*.whl")
    return wheel


def pip_install(wheel: Path, where: str, folder: Path) -> None:
    """Install a wheel. **Arguments:** `where`: `--target` or `--python`."""
    pip = [sys.executable, "-m", "pip"]
    pip += (
        ["install", where, str(folder)] if where == "--target" else [where, str(folder), "install"]
    )
    options = ["--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, *options, str(wheel)], check=True, timeout=GUARD)
