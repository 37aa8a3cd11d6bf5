"""Checks and mistakes that are only for some releases of JAX."""

from typing import Any

import pytest

from tests.engine.conftest import RIGHT, Written
from tutor.engine.session import run
from tutor.pack import BadPack
from tutor.pack.releases import applies

ALWAYS = {"name": "first", "value": "double(x)"}
OLD = {"name": "old", "value": "double(x) + 1", "jax": "<0.10.2"}
NEW = {"name": "new", "value": "double(x) + 2", "jax": ">=0.10.2"}


def test_only_what_is_for_the_installed_release_is_there(written: Written, forked: None):
    mistake = {"name": "-", "edit": {"2": "3"}, "fails": "first", "says": "largest difference"}
    lesson = written(
        checks=[ALWAYS, OLD, NEW],
        mistakes=[mistake | {"jax": "<0.10.2"}, mistake | {"jax": ">=0.10.2", "name": "thrice"}],
    )
    assert [check.title for check in lesson.checks] == ["first", "new"]
    assert [one.name for one in lesson.mistakes] == ["thrice"]
    report = run(lesson, RIGHT)
    assert report.passed
    assert [check.name for check in report.checks] == ["first", "new"]


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ([{**ALWAYS, "jax": "0.11"}], "jax: must be a version specifier, got '0.11'"),
        ([OLD, NEW], "every check is for some releases of JAX only"),
        ([ALWAYS, NEW, {**OLD, "after": "new"}], "after: 'new' is for other releases of JAX"),
    ],
    ids=["no specifier", "none for all", "after"],
)
def test_what_could_not_be_checked_is_a_problem(
    written: Written, checks: list[dict[str, Any]], message: str
):
    with pytest.raises(BadPack) as raised:
        written(checks=checks)
    assert message in str(raised.value)


def test_a_check_may_follow_one_for_the_same_releases(written: Written):
    lesson = written(checks=[ALWAYS, NEW, {**NEW, "name": "next", "after": "new"}])
    assert [check.title for check in lesson.checks] == ["first", "new", "next"]


@pytest.mark.parametrize(
    ("releases", "release", "expected"),
    [
        ("", "0.10.2", True),
        (">=0.11", "0.10.2", False),
        (">=0.11", "0.12.0.1", True),
        (">=0.11,<0.12", "0.12.0.1", False),
        (">=0.12", "0.12.1rc1", True),
    ],
)
def test_releases_are_version_specifiers(releases: str, release: str, expected: bool):
    assert applies(releases, release) is expected
