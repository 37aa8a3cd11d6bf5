"""Where control groups are made, and their removal."""

import os
import signal
from pathlib import Path

import pytest

from tutor.sandbox import cgroup
from tutor.sandbox.cgroup import Cgroup


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    return tmp_path


def folders(membership: list[str]) -> list[list[str]]:
    found = cgroup.candidates(membership, "new", 100, 7)
    return [[str(g.folder.relative_to(cgroup.ROOT)) for g in groups] for groups in found]


def test_version_2_is_tried_below_and_next_to_our_own(tree: Path):
    assert folders(["0::/user.slice/app.slice/term.scope"])[:2] == [
        ["user.slice/app.slice/term.scope/new"],
        ["user.slice/app.slice/new"],
    ]


def test_nothing_is_tried_above_the_root(tree: Path):
    assert folders(["0::/"])[0] == ["new"]
    assert all(groups == [] for groups in folders(["0::/"])[1:])


def test_version_1_uses_one_directory_per_controller(tree: Path):
    membership = ["5:cpu,cpuacct:/a", "4:memory:/b/c", "3:pids:/d"]
    assert folders(membership) == [["memory/b/c/new", "pids/d/new"]]


def test_a_group_without_its_controllers_is_removed(tree: Path):
    groups = cgroup.candidates(["0::/"], "new", 100, 7)[0]
    assert not cgroup.set_up(groups)
    assert not (tree / "new").exists()


def test_out_of_memory_kills_differ_from_other_kills(tree: Path):
    [group] = cgroup.candidates(["0::/"], "new", 100, 7)[0]
    group.folder.mkdir()
    made = Cgroup([group])
    counts = group.folder / group.ooms
    counts.write_text("low 0\noom 1\noom_kill 0\n")
    assert not made.out_of_memory(-signal.SIGKILL)
    counts.write_text("low 0\noom 1\noom_kill 1\n")
    assert made.out_of_memory(-signal.SIGKILL)
    assert not made.out_of_memory(-signal.SIGSEGV)


def test_remove_removes_the_group():
    made = Cgroup.make(512, 100)
    if made is None:  # not allowed to this user; it must leave nothing either
        assert not [path for path in cgroup.leftovers() if f"-{os.getpid()}-" in path.name]
        return
    paths = [group.folder for group in made.groups]
    assert all(path.is_dir() for path in paths)
    made.remove()
    assert not any(path.exists() for path in paths)
