"""Run hostile submissions.

A submission for the lesson `double` attempts an attack when it is called or imported, and answers
rightly if the attack succeeds: so it passes exactly if nothing stopped it.

    pytest tests/attacks --without files     show which attacks succeed without that layer
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.targets import aims
from tests.sandbox.processes import children
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.sandbox import launch


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture(autouse=True)
def layers(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> frozenset[str]:
    """Return the protections that this run leaves out."""
    without = frozenset(pytestconfig.getoption("without"))
    monkeypatch.setattr(launch, "WITHOUT", without)
    return without


@pytest.fixture(autouse=True)
def attacked(forked: None) -> None:
    """Attack forked workers, which learners and graders use."""


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Assert that no process and no directory survives a run."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert not list(folder.iterdir())
    assert not children()


@pytest.fixture
def targets(tmp_path: Path, home: Path) -> Iterator[dict[str, str]]:
    with aims(tmp_path, home) as found:
        yield found
