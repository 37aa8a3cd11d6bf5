"""Failures say how to reproduce them on any commit."""

import shlex
from collections.abc import Generator

import pytest

from tests.course.sample import Sample, sample_of


@pytest.fixture
def chosen(pytestconfig: pytest.Config) -> Sample:
    return sample_of(pytestconfig)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        now = sample_of(item.config)
        proofs = " --proofs" if item.config.getoption("proofs") else ""
        command = f".venv/bin/pytest --commit {now.commit}{proofs} {shlex.quote(item.nodeid)}"
        report.sections.append((f"reproduce (seed {now.seed})", command))
    return report
