"""Protections in reports."""

import io

import pytest
from rich.console import Console

from tutor import render
from tutor.engine import machine
from tutor.engine.session import run
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.report import Report
from tutor.sandbox import command, launch
from tutor.sandbox.isolation import ESSENTIAL

DOUBLE = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


def shown(report: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(render.rest(report))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_a_layer_that_is_left_out_is_reported(lesson: Lesson, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(launch, "WITHOUT", frozenset({"files", "system calls"}))
    report = run(lesson, DOUBLE)
    assert report.passed
    off = {protection.name for protection in report.isolation if not protection.active}
    assert set(ESSENTIAL) <= off
    assert "Weak isolation: files, network, processes" in shown(report)


def test_every_layer_is_in_the_report(lesson: Lesson):
    report = run(lesson, DOUBLE)
    names = [protection.name for protection in report.isolation]
    assert len(names) == len(set(names))
    assert {*ESSENTIAL, "system calls", "privileges", "namespaces", "memory", "cgroup"} <= {*names}
    told = "Weak isolation" in shown(report)
    assert told == any(not p.active for p in report.isolation if p.name in ESSENTIAL)


@pytest.fixture
def other_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have sandboxes apply the protections of a system other than Linux."""
    pretend = "from types import SimpleNamespace; from tutor.sandbox import isolation"
    pretend += "; isolation.sys = SimpleNamespace(platform='darwin'); from {module} import main"
    boot = command._BOOT.replace("from {module} import main", pretend)
    monkeypatch.setattr(command, "_BOOT", boot)


@pytest.mark.usefixtures("other_system")
def test_another_system_than_linux_limits_resources_and_reports_that_it_does_not_isolate(
    lesson: Lesson,
):
    report = run(lesson, DOUBLE)
    assert report.passed
    active = {protection.name: protection.active for protection in report.isolation}
    assert active["processor time"] and active["file size"]
    assert not any(active[name] for name in ESSENTIAL)
    assert "system calls" not in active and "namespaces" not in active
    assert "Weak isolation: files, network, processes not covered" in shown(report)
    finding = machine.isolation(report.isolation)
    assert finding.warning and "files, network, processes not covered" in finding.detail
    too_long = run(lesson, "while True:\n    pass\n")
    assert too_long.fault is not None and too_long.fault.code == "timeout"
