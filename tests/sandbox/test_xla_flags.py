"""The flags that jaxlib knows: asked with the real one, once, and never at a worker's cost."""

import subprocess
from pathlib import Path

import pytest

from tutor.sandbox import xla_flags
from tutor.sandbox.launch import QUICK_FLAGS
from tutor.storage import paths

LEVEL = "--xla_backend_optimization_level=0"
UNKNOWN = ["--xla_no_such_flag=true", "--xla_nor_this=3"]


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAXTUTOR_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(xla_flags, "_answers", {})


def no_more_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("jaxlib was asked again")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(xla_flags, "_answers", {})


def test_unknown_flags_are_left_out(monkeypatch: pytest.MonkeyPatch):
    asked = [UNKNOWN[0], LEVEL, UNKNOWN[1]]
    assert xla_flags.known(asked) == [LEVEL]
    no_more_processes(monkeypatch)
    assert xla_flags.known(asked) == [LEVEL]
    other_value = LEVEL.replace("0", "2")
    assert xla_flags.known([other_value, *UNKNOWN]) == [other_value]


def test_a_damaged_answer_is_asked_for_again():
    assert xla_flags.known([LEVEL, UNKNOWN[0]]) == [LEVEL]
    (kept,) = (paths.cache() / "xla-flags").iterdir()
    kept.write_bytes(b"damaged")
    xla_flags._answers.clear()
    assert xla_flags.known([LEVEL, UNKNOWN[0]]) == [LEVEL]


@pytest.mark.parametrize("broken", ["crashes", "hangs"])
def test_no_flag_is_used_if_jaxlib_cannot_be_asked_and_that_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch, broken: str
):
    code = "import sys; sys.exit(1)" if broken == "crashes" else "import time; time.sleep(600)"
    with monkeypatch.context() as patch:
        patch.setattr(xla_flags, "_START_BACKEND", code)
        patch.setattr(xla_flags, "SECONDS", 5.0 if broken == "crashes" else 0.5)
        assert xla_flags.known([LEVEL]) == []
    monkeypatch.setattr(xla_flags, "_answers", {})
    assert xla_flags.known([LEVEL]) == [LEVEL]


def test_both_flags_for_compiling_fast_are_known_to_the_oldest_jaxlib():
    known = xla_flags.known(QUICK_FLAGS)
    assert LEVEL in known
    if xla_flags.version("jaxlib") == "0.10.2":
        assert known == list(QUICK_FLAGS)
