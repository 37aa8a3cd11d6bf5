"""Packs that come with pip are found, and nothing of them is imported."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.distributions import make_project, make_wheel, pip_install
from tests.stopwatch import GUARD
from tutor import plugins as distributions
from tutor.pack import BadPack, load_pack, open_pack
from tutor.pack.contents import gather
from tutor.pack.installed import find, install, known
from tutor.plugins import Distributed, distributed, normalised
from tutor.sandbox import launch
from tutor.sandbox.isolation import landlock


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip has installed a pack's wheel into."""
    folder = tmp_path_factory.mktemp("pip")
    wheel = make_wheel(make_project(folder / "project"))
    pip_install(wheel, "--target", folder / "site-packages")
    return folder / "site-packages"


@pytest.fixture
def path(target: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder on the import path of this process, too."""
    monkeypatch.syspath_prepend(str(target))
    return target


def jaxtutor(target: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tutor", *arguments],
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True, text=True, timeout=GUARD, check=False,
    )  # fmt: skip


def test_a_pack_from_a_wheel_is_used_by_its_id(target: Path) -> None:
    done = jaxtutor(target, "list", "--pack", "mini")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Basics\n    double  Twice as much\n    tall    Upright\n"
    done = jaxtutor(target, "solution", "double", "--anyway", "--pack", "mini")
    assert done.stdout == "def double(x):\n    return 2 * x\n"


@pytest.mark.parametrize("name", ["mini", "Mini.Pack", "mini-pack", "MINI_pack"])
def test_installing_what_pip_has_installed_looks_whether_it_is_valid(
    target: Path, name: str
) -> None:
    done = jaxtutor(target, "pack", "install", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Mini.Pack 1.5 (pip) provides the pack mini; nothing to install." in done.stdout
    assert "jaxtutor --pack mini" in done.stdout


def test_it_is_listed_and_removed_with_pip(target: Path) -> None:
    done = jaxtutor(target, "pack", "list", "--json")
    course, mini = json.loads(done.stdout)["packs"]
    assert course["id"] == "core" and course["lessons"] == course["solutions"] > 0
    assert mini == {
        "id": "mini",
        "title": "A pack for tests",
        "version": "",  # its own; pip's is in its source
        "source": "Mini.Pack 1.5 (pip)",
        "lessons": 2,
        "solutions": 2,
        "folder": str(target / "mini_pack" / "lessons"),
        "problem": "",
    }
    done = jaxtutor(target, "pack", "remove", "mini")
    assert done.returncode == 2
    assert "pip installed it, so run: " in done.stderr and "uninstall Mini.Pack" in done.stderr


def test_an_installed_copy_comes_before_one_from_pip_and_both_are_listed(path: Path) -> None:
    brought = find("mini")
    assert brought == path / "mini_pack" / "lessons"
    done = install(*gather(open_pack("mini")), "mini", "here")
    assert find("mini") == done.pack.root
    assert [(one.id, one.root) for one in known()] == [
        ("core", open_pack().root),
        ("mini", done.pack.root),
        ("mini", brought),
    ]


def test_without_it_the_command_for_pip_is_told(home: Path) -> None:
    done = jaxtutor(home, "pack", "install", "mini-pack")
    assert done.returncode == 2
    assert "-m pip install mini-pack" in done.stderr
    assert "jaxtutor does not run pip" in done.stderr
    for name in ("./mini-pack", "mini.zip", "-mini", "https://example.org/mini"):
        done = jaxtutor(home, "pack", "install", "--", name)
        assert done.returncode == 2
        assert f"{name}: no such file or directory\n" in done.stderr


def test_no_sandbox_may_read_what_pip_has_put_among_the_libraries(path: Path) -> None:
    launch.hidden_paths.cache_clear()
    try:
        secrets = [Path(name) for name in launch.hidden_paths()]
    finally:
        launch.hidden_paths.cache_clear()
    granted = {Path(name) for name, rights in landlock.grants([path], secrets) if rights & 4}
    assert path / "mini_pack" / "__init__.py" in granted
    for secret in ("lessons/basics/double.yaml", "solutions/basics/double.py"):
        assert (path / "mini_pack" / secret).is_file()
        assert not granted & {path / "mini_pack" / secret, *(path / "mini_pack" / secret).parents}


# --- entry points that lead nowhere ----------------------------------------------------------


@pytest.fixture
def announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a distribution with an entry point, as pip leaves one on the import path."""

    def make(name: str, value: str, folder: str = "site") -> Path:
        make_project(tmp_path / folder)
        about = tmp_path / "site" / f"{name}_pack-2.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-pack\nVersion: 2\n")
        (about / "entry_points.txt").write_text(f"[{distributions.GROUP}]\n{name} = {value}\n")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        if folder != "site":
            monkeypatch.syspath_prepend(str(tmp_path / folder))
        return tmp_path / folder / "mini_pack" / "lessons"

    return make


def ours(name: str) -> Distributed:
    (found,) = [one for one in distributed() if one.name == name]
    return found


@pytest.mark.parametrize(
    "value",
    ["nowhere:lessons", "mini_pack", "mini_pack:nowhere", "mini_pack:basics.double", "os:path",
     "mini_pack:..", "..:lessons", "mini_pack:.lessons", "/etc:passwd", "json:decoder", ":lessons"],
)  # fmt: skip
def test_what_leads_to_no_pack_is_not_found(value: str, announced: Callable[..., Path]) -> None:
    announced("odd", value)
    assert ours("odd").folder is None
    assert find("odd") is None
    with pytest.raises(BadPack, match="no installed pack has this id"):
        open_pack("odd")


def test_what_leads_to_no_pack_is_told(announced: Callable[..., Path], tmp_path: Path) -> None:
    announced("odd", "mini_pack:nowhere")
    for arguments, code in ((["install", "odd"], 2), (["list"], 0)):
        done = jaxtutor(tmp_path / "site", "pack", *arguments)
        said = done.stdout + done.stderr
        assert "must be package:directory with a pack.yaml, got 'mini_pack:nowhere'" in said
        assert "Traceback" not in said
        assert done.returncode == code


def test_a_name_that_is_not_the_packs_id_is_told(
    announced: Callable[..., Path], tmp_path: Path
) -> None:
    announced("other", "mini_pack:lessons")
    done = jaxtutor(tmp_path / "site", "pack", "install", "other")
    assert done.returncode == 2
    assert "other-pack names its pack 'other', but the pack's id is 'mini'" in done.stderr


def test_a_pack_that_is_developed_is_found_beside_its_metadata_or_not(
    announced: Callable[..., Path],
) -> None:
    """Installed as editable, its folder is elsewhere on the import path."""
    lessons = announced("mini", "mini_pack:lessons", folder="sources")
    assert ours("mini").folder == lessons
    assert load_pack("mini").root == lessons
    assert "mini_pack" not in sys.modules


def test_a_broken_pack_from_pip_is_told_with_its_file(
    announced: Callable[..., Path], tmp_path: Path
) -> None:
    lesson = announced("mini", "mini_pack:lessons") / "basics" / "double.yaml"
    lesson.write_text(lesson.read_text().replace("hints:", "hnits:"))
    done = jaxtutor(tmp_path / "site", "pack", "install", "mini")
    assert done.returncode == 2
    assert f"{lesson}:16:1: unknown key 'hnits'" in done.stderr


def test_names_of_distributions_are_compared_as_pip_compares_them() -> None:
    assert normalised("Mini.__-Pack") == normalised("mini-pack") != normalised("minipack")
