"""What is installed from the wheel works away from the repository."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.distributions import make_project, make_wheel, pip_install
from tests.stopwatch import GUARD
from tutor.inputs.datasets import DATASETS

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `jaxtutor` of an environment that holds the wheel and nothing else; its dependencies
    are those at hand."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(REPOSITORY)], check=True, capture_output=True, timeout=GUARD)
    (wheel,) = folder.glob("jaxtutor-*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    target = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, timeout=GUARD)
    # Paths added by a .pth file have their own .pth files ignored, so the repository itself, which
    # is installed here as editable, stays out.
    Path(target, "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "venv" / "bin" / "jaxtutor"


def run(command: Path, *arguments: str, code: str = "") -> "subprocess.CompletedProcess[str]":
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        [str(command), *arguments],
        cwd="/",
        input=code,
        env=environment,
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )


def test_it_is_the_installed_package_that_runs(installed: Path):
    python = installed.with_name("python")
    done = run(python, "-c", "import tutor; print(tutor.__file__)")
    assert done.stdout.startswith(str(installed.parents[1])), done


def test_it_lists_its_lessons(installed: Path):
    done = run(installed, "list")
    assert done.returncode == 0, done.stderr
    assert "vmap-basics" in done.stdout
    assert "pmap-train-mlp" in done.stdout


def test_it_has_the_solutions_and_they_pass(installed: Path):
    solution = run(installed, "solution", "jit-whole-step", "--anyway")
    assert solution.returncode == 0, solution.stderr
    done = run(installed, "check", "jit-whole-step", "-", code=solution.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_makes_packs_to_begin_with(installed: Path, tmp_path: Path):
    assert run(installed, "pack", "new", str(tmp_path / "mine")).returncode == 0
    assert run(installed, "pack", "add", "cosine", "--pack", str(tmp_path / "mine")).returncode == 0
    assert run(installed, "pack", "lint", str(tmp_path / "mine")).returncode == 0


def test_it_carries_the_data_with_its_licence(installed: Path):
    python = installed.with_name("python")
    program = (
        "from tutor.inputs.datasets import DATA, DATASETS; "
        "print([len(one.load()[0]) > 0 < (DATA / one.licence).stat().st_size"
        " for one in DATASETS.values()])"
    )
    assert run(python, "-c", program).stdout.strip() == str([True] * len(DATASETS))
    about = next(installed.parents[1].rglob("jaxtutor-*.dist-info"))
    packed = {path.name for path in (about / "licenses").rglob("*.md")}
    assert packed == {one.licence for one in DATASETS.values()}


READ = """
from pathlib import Path
import tutor

def double(x):
    package = Path(tutor.__file__).parents[1] / "mini_pack"
    assert (package / "__init__.py").read_text()
    for secret in ("lessons/basics/double.yaml", "solutions/basics/double.py"):
        try:
            (package / secret).read_text()
        except PermissionError:
            continue
        raise AssertionError(f"{secret} can be read")
    return 2 * x
"""


def test_a_pack_from_pip_is_used_and_no_code_that_it_checks_can_read_it(
    installed: Path, tmp_path: Path
):
    wheel = make_wheel(make_project(tmp_path / "project"))
    pip_install(wheel, "--python", installed.with_name("python"))
    done = run(installed, "check", "double", "-", "--pack", "mini", code=READ)
    assert done.returncode == 0, done.stdout + done.stderr
