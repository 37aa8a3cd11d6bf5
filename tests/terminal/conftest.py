"""What tests in terminals share."""

from pathlib import Path

import pytest

from tutor.learner.settings import Settings


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(home / "data" / "settings.json")


@pytest.fixture
def own(home: Path) -> Path:
    """The learner's file of the lesson `double`, in a directory that exists."""
    folder = home / "workspace" / "mini"
    folder.mkdir(parents=True)
    return folder / "double.py"


@pytest.fixture(autouse=True)
def started_before(settings: Settings) -> None:
    """Let no start be the first one, which shows another screen."""
    settings.set("first-run", "shown")
