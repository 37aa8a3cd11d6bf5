"""What the first screen says about this machine."""

from pathlib import Path

import pytest

from tutor.engine import first_look, machine
from tutor.engine.machine import Diagnostic, TriedSandbox
from tutor.report import Protection

VERSIONS = {"python": "3.12.1", "jax": "0.11", "flax": "0.12", "optax": "0.2", "torch": "2.9"}
STARTS = Diagnostic("learner sandbox", True, "starts in 1.0 s")
WHOLE = tuple(Protection(name, True) for name in ("files", "network", "processes"))


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found = dict(VERSIONS)
    monkeypatch.setattr(first_look, "installed_versions", lambda: found)
    return found


def look(
    monkeypatch: pytest.MonkeyPatch,
    workspace: Path,
    tried: TriedSandbox = TriedSandbox(STARTS, "4 CPU devices", WHOLE),  # noqa: B008
) -> dict[str, Diagnostic]:
    monkeypatch.setattr(machine, "sandbox", lambda on_start: tried)
    found = list(first_look.look(workspace, lambda started: None))
    assert [one.name for one in found] == list(first_look.NAMES)
    return {one.name: one for one in found}


def test_all_is_well(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], tmp_path: Path):
    found = look(monkeypatch, tmp_path)
    assert all(one.ok and not one.warning for one in found.values())
    assert found["JAX"].detail == "0.11, with flax 0.12 and optax 0.2"
    assert found["Sandbox"].detail == "starts in 1.0 s"
    assert found["Isolation"].detail == "files, network and processes are covered"
    assert found["Devices"].detail == "4 CPU devices"


def test_what_is_missing_comes_with_a_command(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], tmp_path: Path
):
    versions |= {"torch": "not installed", "flax": "not installed", "optax": "not installed"}
    found = look(monkeypatch, tmp_path)
    assert found["PyTorch"].ok and found["PyTorch"].warning
    assert "recorded answers" in found["PyTorch"].detail
    assert found["PyTorch"].advice.endswith("-m pip install torch")
    assert not found["JAX"].ok
    assert found["JAX"].detail == "flax, optax not installed"
    assert found["JAX"].advice.endswith("-m pip install flax optax")


def test_a_sandbox_that_does_not_start_leads_to_the_doctor(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], tmp_path: Path
):
    failed = Diagnostic("learner sandbox", False, "Traceback …\nImportError: no jaxlib\n", "read")
    found = look(monkeypatch, tmp_path, TriedSandbox(failed))
    assert not found["Sandbox"].ok
    assert found["Sandbox"].detail == "does not start: ImportError: no jaxlib"
    assert found["Sandbox"].advice == "run: jaxtutor doctor"
    assert found["Isolation"].warning and found["Devices"].warning


def test_weak_isolation_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], tmp_path: Path
):
    found = look(monkeypatch, tmp_path, TriedSandbox(STARTS, "4 CPU devices", WHOLE[:1]))
    assert found["Isolation"].ok and found["Isolation"].warning
    assert found["Isolation"].detail.startswith("weak: network, processes not covered")
    assert found["Isolation"].advice == "run: jaxtutor doctor"
