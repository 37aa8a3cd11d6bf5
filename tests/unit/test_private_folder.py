"""Anything that a worker leaves in its private directory is counted and removed."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.unit.child import in_a_child
from tutor.lesson import Limits
from tutor.sandbox import launch
from tutor.sandbox.private_folder import Entry, Moved, exceeds, remove, walk

NOBODY = 65534
AS = [
    pytest.param(None, id="as it is"),
    pytest.param(
        NOBODY,
        id="as an ordinary user",
        marks=pytest.mark.skipif(not hasattr(os, "setresuid") or os.geteuid() != 0, reason="one"),
    ),
]


@pytest.fixture
def private() -> Iterator[Path]:
    """A private directory as `launch` makes it, accessible to an ordinary user."""
    with tempfile.TemporaryDirectory(prefix="jt-", dir="/tmp") as above:
        Path(above).chmod(0o777)
        yield Path(above) / "private"


def tried(user: int | None, make: Callable[[Path], None], private: Path) -> None:
    """Create something in a private directory, then count and remove it, as this user."""

    def work() -> None:
        if user is not None:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        private.mkdir(mode=0o700)
        place = Path.cwd()
        os.chdir(private)
        make(private)
        os.umask(0o022)
        os.chdir(place)
        assert exceeds(private, 1, 10**6), "not counted"
        assert not exceeds(private, 64, 10**6), "counted too much"
        remove(private)
        assert not private.exists(), "not removed"

    in_a_child(work)


def two_mib(name: str = "large") -> None:
    Path(name).write_bytes(os.urandom(2 << 20))


def nested(private: Path) -> None:
    for _ in range(3000):
        Path("d").mkdir()
        os.chdir("d")
    two_mib()


def longer_than_a_path_may_be(private: Path) -> None:
    for _ in range(40):
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    two_mib()


def without_permissions(private: Path) -> None:
    """Make directories as a worker can: chmod is refused, but mkdir takes a mode."""
    Path("closed").mkdir(0)
    Path("blind").mkdir(0o300)
    Path("blind/deeper").mkdir(0o700)
    two_mib("blind/deeper/large")
    os.umask(0o777)
    Path("masked").mkdir()
    Path("file").touch()


def names_that_are_no_text(private: Path) -> None:
    odd = Path(os.fsdecode(b"\xff\n\x1b[2J"))
    odd.mkdir()
    two_mib(os.fsdecode(bytes(odd) + b"/ -rf \xfe"))


@pytest.mark.skipif(os.name == "nt", reason="no workers there")
@pytest.mark.parametrize("user", AS)
@pytest.mark.parametrize(
    "make", [nested, longer_than_a_path_may_be, without_permissions, names_that_are_no_text]
)
def test_any_contents_are_counted_and_removed(
    make: Callable[[Path], None], user: int | None, private: Path
):
    tried(user, make, private)


def test_leftovers_of_killed_processes_do_not_break_later_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gone = subprocess.Popen([sys.executable, "-I", "-c", ""])
    gone.wait()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    folder = tmp_path / "tmp"
    left = folder / f"jaxtutor-{gone.pid}-abc"
    left.mkdir(parents=True)
    (left / "link").symlink_to(outside)
    (folder / f"jaxtutor-{gone.pid}-link").symlink_to(outside)
    mine = folder / f"jaxtutor-{os.getpid()}-abc"
    mine.mkdir()
    here = Path.cwd()
    os.chdir(left)
    try:
        nested(left)
    finally:
        os.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    launch.sweep.cache_clear()
    launch.sweep()
    assert not left.exists()
    assert mine.exists()
    assert (outside / "kept").exists()


@pytest.mark.skipif(os.name == "nt", reason="no workers there")
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_failed_start_leaves_no_directory_and_no_descriptor(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(*arguments: object) -> NoReturn:
        raise error

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(launch, "_start", broken)
    before = len([*Path("/dev/fd").iterdir()])
    with pytest.raises((KeyboardInterrupt, launch.LaunchError)):
        launch.launch(launch.Spec("learner", Limits()))
    assert not [*tmp_path.glob("jaxtutor-*")]
    assert len([*Path("/dev/fd").iterdir()]) == before


def test_counting_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for number in range(300):
        (tmp_path / f"{number}" / "a").mkdir(parents=True)
    seen = 0

    def counted(folder: Path) -> Iterator[Entry]:
        nonlocal seen
        for entry in walk(folder):
            seen += 1
            yield entry

    monkeypatch.setattr("tutor.sandbox.private_folder.walk", counted)
    assert exceeds(tmp_path, 64, 100)
    assert seen == 101


def test_counting_and_removing_use_three_descriptors_at_any_depth(tmp_path: Path):
    def opened() -> int:
        return len([*Path("/dev/fd").iterdir()])

    place = tmp_path
    for _ in range(30):
        place = place / "d"
        place.mkdir()
    before = opened()
    most = max(opened() for _ in walk(tmp_path))
    assert most <= before + 3
    assert opened() == before
    assert exceeds(tmp_path, 1, 10)  # stops early
    assert opened() == before


def test_a_worker_may_write_during_counting_and_removal(tmp_path: Path):
    """Directories come, go and move during the walk."""
    own = tmp_path / "own"
    for name in ("a", "b"):
        (own / name).mkdir(parents=True)
    (own / "kept").write_bytes(os.urandom(3 << 20))
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            (own / "a" / "deep" / "er").mkdir(parents=True, exist_ok=True)
            (own / "a" / "deep" / "er" / "file").touch()
            (own / "a" / "deep").rename(own / "b" / "deep")
            remove(own / "b" / "deep")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            assert exceeds(own, 2, 1000)
    finally:
        stop.set()
        writer.join()
    remove(own)
    assert not own.exists()


def test_a_walk_does_not_go_up_into_another_directory(tmp_path: Path):
    own = tmp_path / "own"
    (own / "a" / "b").mkdir(parents=True)
    (own / "c").mkdir()
    entries = walk(own)
    while (entry := next(entries)).name != "b" or entry.about is not None:
        pass
    (own / "a").rename(own / "c" / "a")
    with pytest.raises(Moved):
        list(entries)


def test_links_are_removed_and_their_targets_are_not(tmp_path: Path):
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.mkdir(mode=0o500)
    (own / "outside").symlink_to(outside)
    (own / "circle").symlink_to(own)
    (own / "nowhere").symlink_to("nowhere")
    remove(own)
    assert not own.exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path):
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    (tmp_path / "own").symlink_to(outside)
    remove(tmp_path / "own")
    assert not exceeds(tmp_path / "own", 0, 0)
    assert (outside / "kept").is_dir()


def test_only_allocated_blocks_count(tmp_path: Path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert not exceeds(tmp_path, 1, 10)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "full").write_bytes(os.urandom(2 << 20))
    assert exceeds(tmp_path, 1, 10)
    assert not exceeds(tmp_path, 3, 10)


def test_files_directories_and_links_all_count(tmp_path: Path):
    own = tmp_path / "own"
    (own / "folder").mkdir(parents=True)
    (own / "file").touch()
    (own / "folder" / "link").symlink_to("nowhere")
    assert exceeds(own, 1, 2)
    assert not exceeds(own, 1, 3)


def test_links_are_not_followed(tmp_path: Path):
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.mkdir()
    (outside / "large").write_bytes(os.urandom(2 << 20))
    (own / "outside").symlink_to(outside)
    (own / "large").symlink_to(outside / "large")
    (own / "circle").symlink_to(own)
    assert not exceeds(own, 1, 3)


def test_a_missing_directory_holds_nothing(tmp_path: Path):
    assert not exceeds(tmp_path / "gone", 0, 0)
