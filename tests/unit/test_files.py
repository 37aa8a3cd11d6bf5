"""Files are replaced whole or not at all."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tutor.storage.files import free_name, replacing, write_atomically

PYTHON = [sys.executable, "-c"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    "data",
    [b"", b"text", b"\r\n\x00\xff", bytes(3_000_000)],
    ids=["empty", "text", "bytes", "large"],
)
def test_a_file_holds_exactly_what_was_written_and_nothing_lies_beside_it(
    folder: Path, data: bytes
) -> None:
    write_atomically(folder / "file", b"before" * 9)
    write_atomically(folder / "file", data)
    assert (folder / "file").read_bytes() == data
    assert names(folder) == ["file"]


def test_missing_folders_are_made(folder: Path) -> None:
    write_atomically(folder / "a" / "b" / "file", b"x")
    assert (folder / "a" / "b" / "file").read_bytes() == b"x"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o400])
def test_permissions_stay(folder: Path, mode: int) -> None:
    path = folder / "file"
    path.write_bytes(b"before")
    path.chmod(mode)
    write_atomically(path, b"after")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"after"


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_any_new_file(folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(folder / "file", b"x")
        assert os.umask(umask) == umask  # it is what it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "file").stat().st_mode) == 0o666 & ~umask


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    target = tmp_path / "other" / "target"
    target.write_bytes(b"before")
    (folder / "link").symlink_to("../other/target")
    (folder / "second").symlink_to("link")
    write_atomically(folder / "second", b"after")
    assert (folder / "link").is_symlink() and (folder / "second").is_symlink()
    assert target.read_bytes() == b"after"
    assert names(folder) == ["link", "second"] and names(tmp_path / "other") == ["target"]


def test_a_link_that_leads_nowhere_is_written_through(folder: Path) -> None:
    (folder / "link").symlink_to("target")
    write_atomically(folder / "link", b"x")
    assert (folder / "link").is_symlink()
    assert (folder / "target").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "..dots", "-dash", "a b\nc"])
def test_any_name_that_a_file_may_have_will_do(folder: Path, name: str) -> None:
    for data in (b"before", b"after"):
        write_atomically(folder / name, data)
    assert (folder / name).read_bytes() == b"after"
    assert names(folder) == [name]


# --- what fails leaves everything as it was ------------------------------------------------


def fails(folder: Path, setup: str, error: str) -> None:
    """`file` in `folder` is left as it was when writing it fails in a process of its own."""
    code = (
        "import errno, os, resource, sys; from pathlib import Path; "
        "from tutor.storage.files import write_atomically\n"
        f"{setup}\n"
        "try:\n"
        "    write_atomically(Path(sys.argv[1]), b'after' * 100_000)\n"
        "except OSError as error:\n"
        "    print(errno.errorcode[error.errno])\n"
    )
    path = folder / "file"
    path.write_bytes(b"before")
    done = subprocess.run([*PYTHON, code, str(path)], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (error, "")
    assert path.read_bytes() == b"before"
    assert names(folder) == ["file"]


def test_a_full_disk_leaves_the_old_file_and_no_other(folder: Path) -> None:
    # The system answers a write over this limit just as it answers one to a full disk.
    fails(folder, "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))", "EFBIG")


def test_no_more_descriptors_leave_the_old_file_and_no_other(folder: Path) -> None:
    setup = (
        "resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))\n"
        "taken = []\n"
        "try:\n"
        "    while True: taken.append(os.dup(0))\n"
        "except OSError: pass\n"
    )
    fails(folder, setup, "EMFILE")


def test_a_folder_that_may_not_be_written_leaves_the_old_file_and_no_other() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "file").touch()
        folder.chmod(0o555)
        # Root may write anywhere, so a root gives up being one.
        setup = "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)"
        try:
            if os.geteuid() != 0:
                folder.chmod(0o755)
                (folder / "file").write_bytes(b"before")
                folder.chmod(0o555)
            fails(folder, setup, "EACCES")
        finally:
            folder.chmod(0o755)


def test_a_folder_in_the_way_is_left_alone(folder: Path) -> None:
    (folder / "file").mkdir()
    (folder / "file" / "inside").write_bytes(b"x")
    with pytest.raises(OSError):  # noqa: PT011 - which one differs between systems
        write_atomically(folder / "file", b"after")
    assert names(folder) == ["file"] and names(folder / "file") == ["inside"]


def test_a_file_in_place_of_a_folder_is_left_alone(folder: Path) -> None:
    (folder / "file").write_bytes(b"x")
    with pytest.raises(OSError):  # noqa: PT011 - which one differs between systems
        write_atomically(folder / "file" / "below", b"after")
    assert (folder / "file").read_bytes() == b"x" and names(folder) == ["file"]


def test_being_interrupted_leaves_the_old_file_and_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    (folder / "file").write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(folder / "file", b"after")
    assert (folder / "file").read_bytes() == b"before"
    assert names(folder) == ["file"]


def test_an_exception_while_parts_are_written_leaves_the_old_file_and_no_other(
    folder: Path,
) -> None:
    (folder / "file").write_bytes(b"before")

    def write(fail: bool) -> None:
        with replacing(folder / "file") as file:
            file.write(b"aft")
            assert (folder / "file").read_bytes() == b"before"
            if fail:
                raise ValueError
            file.write(b"er")

    with pytest.raises(ValueError):  # noqa: PT011 - ours
        write(fail=True)
    assert (folder / "file").read_bytes() == b"before"
    assert names(folder) == ["file"]
    write(fail=False)
    assert (folder / "file").read_bytes() == b"after"
    assert names(folder) == ["file"]


# --- many at once --------------------------------------------------------------------------


def test_writers_at_once_never_leave_a_mixture(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tutor.storage.files import write_atomically\n"
        "for _ in range(40): write_atomically(Path(sys.argv[1]), sys.argv[2].encode() * 50_000)"
    )
    path = folder / "file"
    path.write_bytes(b"a" * 50_000)
    writers = [subprocess.Popen([*PYTHON, code, str(path), letter]) for letter in "abcd"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        data = path.read_bytes()
        assert len(data) == 50_000 and len(set(data)) == 1
        seen.add(data[:1])
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    assert seen <= {b"a", b"b", b"c", b"d"} and seen
    assert names(folder) == ["file"]


# --- free names ----------------------------------------------------------------------------


def test_a_free_name_is_the_first_that_is_not_taken(folder: Path) -> None:
    path = folder / "notes.py"
    assert free_name(path) == path
    for expected in ("notes.py", "notes-2.py", "notes-3.py", "notes-4.py"):
        assert free_name(path).name == expected
        free_name(path).touch()
    (folder / "notes-3.py").unlink()
    assert free_name(path).name == "notes-3.py"


def test_folders_and_links_that_lead_nowhere_are_taken(folder: Path) -> None:
    (folder / "x").mkdir()
    (folder / "x-2").symlink_to("nowhere")
    assert free_name(folder / "x").name == "x-3"
