"""Sandboxes run the package that starts them, even if another copy is installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tutor
from tests.conftest import MINI
from tutor.inputs.datasets import DATASETS

DATASET = next(iter(DATASETS.values()))

PROGRAM = f"""
import json
import tutor
from tutor.engine.session import Session
from tutor.pool.forks import Forks
from tutor.pack import load_pack
CODE = '''
import tutor
def double(x):
    print(tutor.__file__)
    open(tutor.__file__.replace("__init__.py", "data/{DATASET.file}"), "rb")
'''
lesson = load_pack({str(MINI)!r}).lesson("double")
with Forks() as forks:
    for sandboxes in ({{}}, {{"sandboxes": forks}}):
        with Session(lesson, CODE, **sandboxes) as session:
            report = session.check()
        ran = report.stdout.split()[0]
        print(json.dumps([tutor.__file__, ran, report.checks[0].message]))
"""


@pytest.mark.usefixtures("home")
def test_a_sandbox_imports_the_package_that_started_it(tmp_path: Path):
    ours = Path(tutor.__file__).parent
    shutil.copytree(ours, tmp_path / "tutor", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for line in done.stdout.splitlines():
        started, ran, told = json.loads(line)
        assert ran == started == str(tmp_path / "tutor" / "__init__.py") != tutor.__file__
        # The hidden directories are that package's.
        assert "PermissionError" in told
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize(("parent", "lives"), [("os.getppid()", True), ("os.getpid()", False)])
def test_a_worker_started_after_its_parents_end_exits(parent: str, lives: bool):
    program = (
        "import os; from tutor.sandbox.isolation.posix import die_with_parent; "
        f"die_with_parent({parent}); print('it lives')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == ((0, "it lives\n") if lives else (1, ""))
