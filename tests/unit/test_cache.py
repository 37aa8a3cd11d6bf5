"""A cache that cannot be read or written costs time and one notice."""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.unit.child import in_a_child
from tutor.engine.plan import configuration_of, plan, requests
from tutor.engine.references import Reference, References
from tutor.inputs.drawing import DrawError
from tutor.manifest import Pack
from tutor.pack import pack_cache
from tutor.pool.programs import Programs
from tutor.storage import cache, files, paths
from tutor.tree import Leaf

NOBODY = 65534
SEED = 0


@pytest.fixture(autouse=True)
def notices(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The notices of this test alone."""
    monkeypatch.setattr(cache, "notices", notices := [])
    monkeypatch.setattr(cache, "_noticed", False)
    return notices


def whole(folder: Path) -> None:
    pass


def a_file(folder: Path) -> None:
    folder.rmdir()
    folder.touch()


def a_link_in_a_circle(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to(folder)


def nothing_above(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to(Path(os.devnull) / "x")


def full(folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def another_users(folder: Path) -> None:
    os.setresuid(NOBODY, NOBODY, NOBODY)


def closed(folder: Path) -> None:
    folder.chmod(0)
    os.setresuid(NOBODY, NOBODY, NOBODY)


ROOT = pytest.mark.skipif(
    not hasattr(os, "setresuid") or os.geteuid() != 0, reason="takes a second user"
)
CASES = [
    *((one, False) for one in (whole, a_file, a_link_in_a_circle, nothing_above, full)),
    *((one, True) for one in (whole, full)),
    *(
        pytest.param(one, populated, marks=ROOT)
        for one in (another_users, closed)
        for populated in (False, True)
    ),
]
"""What is wrong with the folder, and whether it has been used before."""

POSIX = pytest.mark.skipif(os.name == "nt", reason="no such folders there")


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where everybody could get to it."""
    found = tmp_path_factory.mktemp("kept")
    for above in (found, *found.parents):
        if above.is_relative_to("/tmp") and above != Path("/tmp"):
            above.chmod(above.stat().st_mode | 0o055)
    return found / "cache"


def remembered(pack: Pack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    """Reads and writes everything that is kept; returns what was read."""
    lesson = pack.lesson("double")
    place = configuration_of(lesson)
    leaf = Leaf(np.zeros(3), "x")
    monkeypatch.setattr(paths, "cache", lambda: folder)

    def all_of_it() -> object:
        programs = Programs(folder / "programs")
        found = programs.load(lesson, place, "code", SEED)
        programs.save(lesson, place, "code", SEED, {"a": leaf})
        asked = requests(lesson, plan(lesson, SEED))
        references = References(lesson, asked, folder / "references", DrawError)
        loaded = references._load()
        references._found = {request.case: Reference(leaf, 1.0) for request in asked}
        references._save()
        recalled = pack_cache.recall(pack.root, "test", list[int])
        pack_cache.remember(pack.root, "test", [1, 2])
        return bool(found), loaded, recalled

    return all_of_it


@POSIX
@pytest.mark.parametrize(("broken", "populated"), CASES)
def test_a_folder_that_cannot_be_used_costs_time_and_one_remark(
    broken: Callable[[Path], None], populated: bool, folder: Path, mini: Pack,
    monkeypatch: pytest.MonkeyPatch, notices: list[str],
):  # fmt: skip
    everything = remembered(mini, folder, monkeypatch)
    folder.mkdir(mode=0o755)
    if populated:
        everything()
        assert not notices

    def work() -> None:
        broken(folder)
        found = everything()
        readable = populated and broken is not closed
        assert found == ((True, True, [1, 2]) if readable else (False, False, None)), found
        if broken is whole:
            assert not notices and everything() == (True, True, [1, 2])
        else:
            (notice,) = notices
            assert notice.startswith(f"cannot write to the cache {folder}/")
            assert "JAXTUTOR_HOME" in notice and "\n" not in notice
            everything()
            assert len(notices) == 1

    in_a_child(work)


@POSIX
@pytest.mark.parametrize("damage", [b"", b"x" * 100])
def test_what_is_damaged_and_cannot_be_removed_is_not_used(
    damage: bytes, folder: Path, mini: Pack, monkeypatch: pytest.MonkeyPatch
):
    everything = remembered(mini, folder, monkeypatch)
    everything()
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.write_bytes(damage)
    monkeypatch.setattr(Path, "unlink", refused)
    monkeypatch.setattr(files, "write_atomically", refused)
    assert everything() == (False, False, None)


def refused(*arguments: object, **more: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_who_has_no_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch):
    def unknown(*arguments: object, **more: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("JAXTUTOR_HOME")
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setattr("platformdirs.user_cache_path", unknown)
    monkeypatch.setattr("platformdirs.user_data_path", unknown)
    for place in (paths.cache(), paths.data(), paths.workspace()):
        with pytest.raises(OSError, match=r"Not a directory|cannot find"):
            (place / "x").mkdir(parents=True)
