"""The main process stays light: what it may import is part of the design."""

import os
import subprocess
import sys

import pytest

from tests.conftest import MINI
from tests.stopwatch import GUARD

FRAMEWORKS = {"jax", "jaxlib", "torch", "flax", "optax"}
ANSWER = "def double(x):\n    return 2 * x\n"


def imported_by(*arguments: str, code: str = "") -> set[str]:
    """Top-level packages that a Python process with these arguments imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        input=code.encode(),
        capture_output=True,
        env=os.environ,
        timeout=GUARD,
        check=True,
    )
    lines = done.stderr.decode().splitlines()
    names = [line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")]
    assert "tutor" in names, "the listing of imports was not understood"
    return {name.partition(".")[0] for name in names}


def test_the_command_line_imports_nothing_heavy():
    found = imported_by("-c", "import tutor.cli")
    assert not found & (FRAMEWORKS | {"numpy", "textual", "rich", "yaml", "msgspec"})


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["hint", "double"]])
def test_commands_that_run_no_code_need_neither_numpy_nor_the_app(arguments: list[str]):
    found = imported_by("-m", "tutor", *arguments, "--pack", str(MINI))
    assert not found & (FRAMEWORKS | {"numpy", "textual"})


def test_listing_again_reads_no_yaml_and_opens_no_log():
    for _ in range(2):
        found = imported_by("-m", "tutor", "list", "--pack", str(MINI))
        assert not found & {"logging", "traceback", "numpy", "textual"}
    assert "yaml" not in found


def test_checking_imports_numpy_and_no_framework():
    found = imported_by("-m", "tutor", "check", "double", "-", "--pack", str(MINI), code=ANSWER)
    assert "numpy" in found
    assert not found & (FRAMEWORKS | {"textual"})


def test_doctor_imports_no_framework():
    assert not imported_by("-m", "tutor", "doctor", "--json") & FRAMEWORKS


def test_the_app_checks_code_without_importing_a_framework():
    program = f"""
import asyncio, sys
from tutor.pack import load_pack
from tutor.ui.actions import ACTIONS
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.widgets.results import ResultsPane

async def main():
    with Desk(load_pack({str(MINI)!r})) as desk:
        app = TutorApp(desk)
        async with app.run_test() as pilot:
            app.open_lesson("double")
            await pilot.pause()
            await pilot.press(ACTIONS["run"].key)
            results = app.screen.query_one(ResultsPane)
            while results.running:
                await pilot.pause(0.05)
            assert results.report is not None
    print(sorted({{name.partition(".")[0] for name in sys.modules}} & {FRAMEWORKS!r}))

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=GUARD, check=True
    )
    assert done.stdout.decode().strip() == "[]"
