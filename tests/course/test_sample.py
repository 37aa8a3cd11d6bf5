"""A hundred commits cover the course, and a failure can be reproduced."""

from pathlib import Path

import pytest

from tests.course import sample as module
from tests.course.sample import RUNS, Sample, sample

ITEMS = [f"{kind} {n}" for kind in ("variant", "mistake") for n in range(500)]


def kind_of(item: str) -> str:
    return item.partition(" ")[0]


def of(turn: int, items: list[str] = ITEMS, commit: str = "c") -> list[str]:
    return Sample(commit, turn).of(items, str, kind_of)


def test_a_hundred_commits_in_a_row_cover_everything():
    for first in (0, 7):
        assert {item for turn in range(first, first + RUNS) for item in of(turn)} == {*ITEMS}


def test_a_larger_sample_covers_everything_sooner():
    for runs in (2, 4):
        turns = [Sample("c", turn).of(ITEMS, str, runs=runs) for turn in range(runs)]
        assert sorted(item for chosen in turns for item in chosen) == sorted(ITEMS)
        assert max(len(chosen) for chosen in turns) < 1.2 * len(ITEMS) / runs


def test_a_sample_is_about_a_hundredth():
    sizes = [len(of(turn)) for turn in range(RUNS)]
    assert max(sizes) <= 25
    assert sum(sizes) <= len(ITEMS) + RUNS


def test_every_sample_has_something_of_every_kind():
    few = ["variant 1", "variant 2", "mistake 1"]
    for turn in range(RUNS):
        assert {kind_of(item) for item in of(turn, few)} == {"variant", "mistake"}
    # Where the turn chooses none, the commit does.
    assert len({of(turn, few[:2], str(turn))[0] for turn in range(RUNS)}) == 2


def test_what_a_commit_tries_does_not_change():
    assert of(3, commit="a") == of(3, commit="a")
    assert Sample("a", 1).seed == Sample("a", 2).seed != Sample("b", 1).seed


def test_a_commit_is_named_by_git_or_by_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "REPOSITORY", tmp_path)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "a.yaml").write_text("a")
    sample.cache_clear()
    first = sample(None)
    assert len(first.commit) == 64
    assert first == sample(first.commit)
    (tmp_path / "lessons" / "a.yaml").write_text("b")
    sample.cache_clear()
    assert sample(None).commit != first.commit
    sample.cache_clear()


pytest_plugins = ("pytester",)


def test_a_failure_says_how_to_reproduce_it(pytester: pytest.Pytester):
    root = module.REPOSITORY
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from tests.conftest import pytest_addoption\n"
        "from tests.course.conftest import pytest_runtest_makereport\n"
    )
    pytester.makepyfile("def test_it():\n    assert False\n")
    done = pytester.runpytest_subprocess("--commit", "abc")
    done.stdout.fnmatch_lines(["*reproduce (seed *)*", ".venv/bin/pytest --commit abc *::test_it"])
