"""How submissions that attack are run.

A submission for the lesson `double` tries something when it is called (or imported) and, if that
succeeds, answers rightly: so it passes exactly when nothing held it. What is refused raises, and
the learner is told.

    pytest tests/attacks --without files     which attacks succeed without that layer
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.targets import aims
from tests.sandbox.processes import children
from tutor.engine import session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.sandbox import launch


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture(autouse=True)
def layers(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> frozenset[str]:
    """The layers of protection that this run leaves out."""
    without = frozenset(pytestconfig.getoption("without"))
    monkeypatch.setattr(launch, "WITHOUT", without)
    return without


@pytest.fixture(autouse=True)
def forked(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack what learners and graders use: workers that were forked. They are put up as those
    that are started afresh are, which the tests of faults and of the command line use."""
    monkeypatch.setattr(session, "FreshSandboxes", lambda: forks)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process and no folder survives a run."""
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
