"""Lessons in other forms: questions to answer, and code to be fixed."""

from pathlib import Path

import pytest

from tests.app.conftest import Start
from tests.conftest import MINI
from tutor.manifest import Pack
from tutor.pack import load_pack


@pytest.fixture
def forms() -> Pack:
    return load_pack(MINI.parents[1] / "forms" / "lessons")


async def test_questions_are_asked_answered_and_explained(start: Start, forms: Pack, home: Path):
    async with start(size=(120, 40), pack=forms) as driver:
        await driver.open("shapes")
        await driver.shows("y_shape · What shape has y?")
        assert "y_shape = ..." in driver.editor.code
        assert "The PyTorch" not in driver.text
        await driver.check()
        await driver.shows("not answered yet")
        assert "stretched" not in driver.text.partition("y_shape")[2]
        await driver.write("y_shape = (4, 3)\nlast_line = TypeError\n")
        await driver.check()
        await driver.shows("you answered (4, 3); it is (3, 4)")
        await driver.shows("Axes of length 1 are stretched")
        await driver.shows("write x.at[0].set(1.0)")
        await driver.shows("1 of 2 checks pass")
        await driver.write("y_shape = (3, 4)\nlast_line = TypeError\n")
        await driver.check()
        await driver.shows("2 of 2 checks pass")
    assert "(3, 4)" in (home / "workspace" / "forms" / "shapes.py").read_text()


async def test_code_to_be_fixed_fails_at_its_check_until_it_is(start: Start, forms: Pack):
    async with start(size=(120, 40), pack=forms) as driver:
        await driver.open("mean")
        assert "x.mean()" in driver.editor.code
        await driver.check()
        await driver.shows("✗ every column")
        report = driver.results.report
        assert report is not None
        assert [check.name for check in report.checks if check.status == "fail"] == ["every column"]
        await driver.write(driver.editor.code.replace("x.mean()", "x.mean(axis=0)"))
        await driver.check()
        await driver.shows("4 of 4 checks pass")
