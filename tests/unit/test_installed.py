"""A pack is installed completely or not at all, and learners' files are kept."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.packs import make_pack
from tests.conftest import MINI
from tests.stopwatch import GUARD, until
from tutor.learner.workspace import Workspace
from tutor.manifest import Pack
from tutor.pack import BadPack, installed, load_pack, open_pack
from tutor.pack.archive import INVENTORY, write_archive
from tutor.pack.contents import gather
from tutor.pack.installed import Refused, find, install, known, remove


def edition(folder: Path, version: str) -> Path:
    """Copy the small pack, with the version in every file."""
    root = Path(shutil.copytree(MINI.parent, folder)) / "lessons"
    manifest = root / "pack.yaml"
    manifest.write_text(manifest.read_text() + f'version: "{version}"\n')
    for name in ("double", "tall"):
        lesson = root / "basics" / f"{name}.yaml"
        text = lesson.read_text()
        lesson.write_text(text.replace("\ntitle: ", f"\ntitle: {version} "))
    return root


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return edition(tmp_path / "one", "1.0")


@pytest.fixture
def second(tmp_path: Path) -> Path:
    return edition(tmp_path / "two", "2.0")


def put(root: Path) -> installed.Installed:
    return install(*gather(load_pack(root)), str(root), str(root))


def whole_edition(pack: Pack) -> str:
    """Return the version of a pack; all files must have the same one."""
    titles = [pack.lesson(name).title.split()[0] for name in pack.lessons]
    assert set(titles) == {pack.manifest.version}
    return pack.manifest.version


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tutor", "pack", *arguments]


# --- installing, finding, removing -----------------------------------------------------------


def test_an_installed_pack_is_found_by_its_id_and_is_a_copy(first: Path, home: Path) -> None:
    done = put(first)
    root = find("mini")
    assert root is not None and root == done.pack.root and done.before is None
    assert root.is_relative_to(home / "data" / "packs" / "mini")
    shutil.rmtree(first.parent)
    assert whole_edition(load_pack("mini")) == "1.0"
    assert open_pack("mini").solution("double") == "def double(x):\n    return 2 * x\n"


def test_an_installed_pack_can_be_installed_again_from_its_copy(first: Path, second: Path) -> None:
    put(first)
    before = put(second).before
    assert before is not None
    assert whole_edition(put(before).pack) == "1.0"
    assert files_of(installed.folder() / "mini" / "3").keys() == {
        *gather(load_pack(first))[1],
        INVENTORY,
    }


def test_an_older_version_is_kept_until_there_are_two_newer(
    first: Path, second: Path, home: Path
) -> None:
    put(first)
    done = put(second)
    assert whole_edition(open_pack("mini")) == "2.0"
    assert done.before is not None and whole_edition(load_pack(done.before)) == "1.0"
    put(second)
    assert names(home / "data" / "packs" / "mini") == ["2", "3"]
    assert names(home / "data" / "packs") == ["mini"]


def test_an_opened_pack_keeps_its_version(first: Path, second: Path) -> None:
    put(first)
    opened = open_pack("mini")  # no lesson has been read yet
    put(second)
    assert whole_edition(opened) == "1.0"


def test_removing_keeps_the_learners_code(first: Path, home: Path) -> None:
    pack = put(first).pack
    workspace = Workspace(pack)
    workspace.open(pack.lesson("double"))
    workspace.save(pack.lesson("double"), "# hours of work\n")
    (home / "data" / "progress.db").write_bytes(b"what was done")
    put(first)
    remove("mini")
    assert find("mini") is None
    assert names(home / "data" / "packs") == []
    assert workspace.path(pack.lessons["double"]).read_text() == "# hours of work\n"
    assert (home / "data" / "progress.db").read_bytes() == b"what was done"


@pytest.mark.parametrize("name", ["other", "..", ".", "", "../packs", "mini/1", "/", "a\0b", "~"])
def test_a_pack_that_is_not_installed_is_neither_found_nor_removed(name: str, first: Path) -> None:
    put(first)
    assert find(name) is None
    with pytest.raises(Refused):
        remove(name)
    assert find("mini") is not None


def test_a_directory_takes_precedence_over_an_installed_pack(
    first: Path, second: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(first)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mini").mkdir()  # say, where the learner's code is
    assert whole_edition(open_pack("mini")) == "1.0"
    shutil.copytree(second, tmp_path / "mini", dirs_exist_ok=True)
    assert whole_edition(open_pack("mini")) == "2.0"
    assert whole_edition(open_pack("./mini")) == "2.0"


def test_the_course_is_found_by_its_id_and_cannot_be_replaced(tmp_path: Path) -> None:
    assert open_pack("core").root == open_pack().root
    root = edition(tmp_path / "core", "1.0")
    manifest = root / "pack.yaml"
    manifest.write_text(manifest.read_text().replace("id: mini", "id: core"))
    with pytest.raises(Refused, match="'core' is taken by the course"):
        put(root)
    assert names(installed.folder()) == []
    assert [one.id for one in known()] == ["core"]


def test_a_broken_pack_replaces_nothing_and_its_problems_name_its_files(
    first: Path, second: Path
) -> None:
    put(first)
    lesson = second / "basics" / "tall.yaml"
    lesson.write_text(lesson.read_text().replace("hints:", "hnits:"))
    with pytest.raises(BadPack) as caught:
        install(*gather(open_pack(second)), "two/lessons", "")
    assert any(
        str(problem).startswith("two/lessons/basics/tall.yaml:13:1: unknown key 'hnits'")
        for problem in caught.value.problems
    )
    assert whole_edition(open_pack("mini")) == "1.0"
    assert names(installed.folder()) == ["mini"]


def test_a_damaged_installed_pack_is_still_listed(first: Path) -> None:
    root = put(first).pack.root
    (root / INVENTORY).write_bytes(b"\xff{")
    (root / "pack.yaml").unlink()
    assert [(one.id, one.root) for one in known()][1:] == [("mini", root)]
    with pytest.raises(BadPack, match=r"pack\.yaml:1:1: cannot be read"):
        open_pack("mini")
    assert whole_edition(put(first).pack) == "1.0"


# --- no code runs ----------------------------------------------------------------------------

WATCHED = """
import sys
seen = []
def hook(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn",
                 "socket.connect", "ctypes.dlopen", "pickle.find_class"):
        seen.append(event)
    if event == "exec" and "mini" in arguments[0].co_filename:
        seen.append(arguments[0].co_filename)
sys.addaudithook(hook)
from tutor.cli import main
code = main(sys.argv[1:])
frameworks = {"jax", "torch", "flax", "optax"} & sys.modules.keys()
assert not seen and not frameworks, (seen, frameworks)
raise SystemExit(code)
"""


def test_installing_runs_no_code_of_the_pack_and_building_none_outside_a_sandbox(
    first: Path, tmp_path: Path
) -> None:
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()\n"
    lesson = first / "basics" / "double.yaml"
    text = lesson.read_text()
    lesson.write_text(text.replace("\n  import", f"\n  {trap}\n  import"))
    assert lesson.read_text().count("sprung") == 2  # in the PyTorch and in the starter
    for path in (first.parent / "solutions").rglob("*.py"):
        path.write_text(trap + path.read_text())
    for name in ("conftest.py", "setup.py", "sitecustomize.py", "__init__.py"):
        (first / name).write_text(trap)
    archive = str(tmp_path / "mini.zip")
    building = command("build", str(first), "--output", archive)
    done = subprocess.run(building, capture_output=True, text=True, timeout=GUARD, check=True)
    assert "double: PyTorch's answers were not recorded: " in done.stdout
    for arguments in (
        ["install", archive],
        ["install", str(first)],
        ["list"],
        ["remove", "mini"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED, "pack", *arguments],
            cwd=first, capture_output=True, text=True, timeout=GUARD, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "sprung").exists()


# --- concurrent, interrupted, on a full disk -------------------------------------------------


def test_concurrent_installations_all_succeed_and_leave_one_version(
    first: Path, second: Path, home: Path
) -> None:
    processes = [
        subprocess.Popen(command("install", str(root)), stdout=subprocess.PIPE, text=True)
        for root in (first, second, first, second)
    ]
    for process in processes:
        out, _ = process.communicate(timeout=GUARD)
        assert process.returncode == 0, out
        assert "Installed mini" in out
    assert whole_edition(load_pack("mini")) in ("1.0", "2.0")
    assert names(home / "data" / "packs") == ["mini"]
    assert len(names(home / "data" / "packs" / "mini")) == 2


def test_concurrent_installing_and_removing_never_leaves_a_part(first: Path, home: Path) -> None:
    inventory, files = gather(load_pack(first))

    def either(number: int) -> None:
        if number % 3 == 2:
            try:
                remove("mini")
            except Refused:
                pass  # there was none at that moment
        else:
            install(inventory, files, "mini", "")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(either, range(30)))
    assert set(names(home / "data" / "packs")) <= {"mini"}
    if (root := find("mini")) is not None:
        assert whole_edition(load_pack(root)) == "1.0"


def limited(size: int, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command that cannot write files of more than `size` bytes: larger writes fail, as on a
    full disk."""
    program = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "from tutor.cli import main\n"
        "raise SystemExit(main(sys.argv[1:]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, timeout=GUARD, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("size", [0, 100, 500])
def test_a_full_disk_keeps_the_installed_version(size: int, first: Path, second: Path) -> None:
    put(first)
    before = files_of(installed.folder())
    done = limited(size, "pack", "install", str(second))
    assert done.returncode == 2
    assert "nothing was installed: " in done.stderr and "File too large" in done.stderr
    assert str(installed.folder()) in done.stderr
    assert files_of(installed.folder()) == before
    assert names(installed.folder()) == ["mini"]


def test_a_full_disk_leaves_no_part_of_an_archive(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    done = limited(200, "pack", "build", str(first))
    assert done.returncode == 2
    assert "mini.zip was not written: File too large" in done.stderr
    assert names(Path()) == []


def test_an_unwritable_directory_is_reported(first: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "data").write_text("in the way")
    done = subprocess.run(
        command("install", str(first)), capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert done.returncode == 2
    assert f"nothing was installed: {home / 'data'}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an archive of a pack that takes a second or two to validate."""
    folder = tmp_path_factory.mktemp("large")
    path = folder / "large.zip"
    path.write_bytes(write_archive(*gather(open_pack(make_pack(folder / "pack", 150)))))
    return path


@pytest.fixture
def busy(large: Path, first: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a process and wait until it is installing."""
    put(first)
    with subprocess.Popen(
        command("install", str(large)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until(
            lambda: (
                list(installed.folder().glob(".incoming-*/pack.yaml")) or process.poll() is not None
            ),
            "that it installs",
            every=0.002,
        )
        assert process.poll() is None
        yield process
        process.kill()


def test_ctrl_c_leaves_nothing_half_installed(busy: "subprocess.Popen[str]") -> None:
    busy.send_signal(signal.SIGINT)
    out, err = busy.communicate(timeout=GUARD)
    assert (busy.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert names(installed.folder()) == ["mini"]


def test_leftovers_of_a_killed_process_are_not_a_pack_and_are_removed_later(
    busy: "subprocess.Popen[str]", first: Path
) -> None:
    busy.kill()
    busy.wait(GUARD)
    (left,) = installed.folder().glob(".incoming-*")
    assert [one.id for one in known()] == ["core", "mini"]
    put(first)
    assert left.exists()  # another process may still be using it
    long_ago = time.time() - 2 * 3600
    os.utime(left, (long_ago, long_ago))
    put(first)
    assert names(installed.folder()) == ["mini"]
