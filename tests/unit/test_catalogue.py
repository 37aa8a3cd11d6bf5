"""Cached summaries are used only while the files are unchanged."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.packs import make_pack
from tests.cases import for_each
from tests.conftest import MINI
from tutor.lesson import LessonSummary
from tutor.pack import BadPack, load_pack, open_pack, pack_cache
from tutor.pack.catalogue import Catalogue
from tutor.pack.summary_reader import read_summary


@pytest.fixture(autouse=True)
def cache(home: Path) -> Path:
    """Return the directory of cached summaries; it does not exist yet."""
    (home / "cache").unlink()
    return home / "cache" / "packs"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI.parent, tmp_path / "pack") / "lessons")


def titles(pack: Path) -> list[str]:
    """Return the titles as a new start finds and caches them."""
    catalogue = Catalogue(open_pack(pack))
    found = [catalogue.summary(name).title for name in ("double", "tall")]
    catalogue.save()
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


# --- cached summaries ------------------------------------------------------------------------


def test_the_cache_is_empty_at_first_and_complete_the_next_time(pack: Path):
    first = Catalogue(open_pack(pack))
    assert first.cached("double") is None
    assert first.title("double") == "Twice as much"
    assert first.cached("double") == LessonSummary("Twice as much", 1)
    first.save()
    assert Catalogue(open_pack(pack)).cached("double") == LessonSummary("Twice as much", 1)


def test_a_cached_lesson_is_not_read(pack: Path, monkeypatch: pytest.MonkeyPatch):
    before = titles(pack)
    opened = open_pack(pack)
    monkeypatch.setattr("tutor.pack.folder.Folder.read", None)
    catalogue = Catalogue(opened)
    assert [catalogue.summary(name).title for name in ("double", "tall")] == before


def test_an_edited_lesson_is_noticed(pack: Path):
    titles(pack)
    edit(pack / "basics" / "tall.yaml", "title: Upright", "title: Standing")
    assert titles(pack) == ["Twice as much", "Standing"]


def test_an_edit_that_keeps_size_and_time_is_noticed(pack: Path):
    titles(pack)
    path = pack / "basics" / "tall.yaml"
    before = path.stat()
    edit(path, "title: Upright", "title: Upside!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert titles(pack) == ["Twice as much", "Upside!"]


def test_a_lesson_that_breaks_is_reported_and_dropped(pack: Path):
    titles(pack)
    edit(pack / "basics" / "tall.yaml", "title: Upright", "title: 5")
    catalogue = Catalogue(open_pack(pack))
    assert catalogue.cached("tall") is not None  # as it was last time
    with pytest.raises(BadPack, match=r"tall.yaml:2:8: title: must be a string"):
        catalogue.summary("tall")
    assert catalogue.cached("tall") is None
    assert catalogue.title("tall") == "tall"
    assert catalogue.title("double") == "Twice as much"


def test_removed_lessons_are_dropped(pack: Path, cache: Path):
    titles(pack)
    edit(pack / "pack.yaml", "[double, tall]", "[tall]")
    edit(pack / "basics" / "tall.yaml", "needs: [double]", "needs: []")
    catalogue = Catalogue(open_pack(pack))
    catalogue.summary("tall")
    catalogue.save()
    assert b"Twice as much" not in next(cache.glob("*.summaries.data")).read_bytes()


def test_an_unchanged_cache_is_not_written_again(pack: Path, cache: Path):
    titles(pack)
    (file,) = cache.glob("*.summaries.data")
    file.chmod(0o600)
    before = file.stat().st_ino
    titles(pack)
    assert file.stat().st_ino == before


# --- invalid caches --------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["summaries", "manifest"])
@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "garbage", "folder"])
def test_a_damaged_cache_is_rebuilt(pack: Path, cache: Path, what: str, damage: str):
    expected = titles(pack)
    (file,) = cache.glob(f"*.{what}.data")
    data = file.read_bytes()
    file.unlink()
    match damage:
        case "empty":
            file.write_bytes(b"")
        case "short":
            file.write_bytes(data[: len(data) // 2])
        case "flipped":
            file.write_bytes(data.replace(b"T", b"U") if b"T" in data else data[:-1] + b"\0")
        case "garbage":
            file.write_bytes(os.urandom(4000))
        case "folder":
            file.mkdir()
    assert titles(pack) == expected
    if damage != "folder":
        assert file.read_bytes() == data


@pytest.mark.parametrize("form", [{"double": 5}, [], {"double": [[1, 2, 3], {"title": ""}]}, None])
def test_a_cache_of_another_form_is_rebuilt(pack: Path, form: object):
    pack_cache.remember(pack, "summaries", form)
    assert titles(pack) == ["Twice as much", "Upright"]


def test_another_version_ignores_the_cache(pack: Path, monkeypatch: pytest.MonkeyPatch):
    titles(pack)
    assert Catalogue(open_pack(pack)).cached("tall") is not None
    monkeypatch.setattr(pack_cache, "__version__", "99.0.0")
    assert Catalogue(open_pack(pack)).cached("tall") is None


def test_packs_with_the_same_crc_are_distinguished(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pack_cache.zlib, "crc32", lambda data: 7)
    other = Path(shutil.copytree(pack, tmp_path / "other"))
    edit(other / "basics" / "tall.yaml", "title: Upright", "title: Another")
    for _ in range(2):
        assert titles(pack) == ["Twice as much", "Upright"]
        assert titles(other) == ["Twice as much", "Another"]


def test_an_unwritable_cache_costs_only_time(pack: Path, home: Path):
    (home / "cache").write_text("a file in the way")
    assert titles(pack) == titles(pack) == ["Twice as much", "Upright"]


def test_the_number_of_cached_packs_is_limited(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pack_cache, "MAX_FILES", 3)
    for number in range(6):
        pack_cache.remember(tmp_path / str(number), "summaries", {})
    assert len(list(cache.iterdir())) == 3
    assert pack_cache.recall(tmp_path / "5", "summaries", dict) == {}
    assert pack_cache.recall(tmp_path / "0", "summaries", dict) is None


def test_concurrent_instances_find_the_same(tmp_path: Path, cache: Path):
    root = make_pack(tmp_path / "many", 60)
    program = (
        "import sys; from tutor.pack import open_pack; from tutor.pack.catalogue import Catalogue\n"
        "for _ in range(5):\n"
        "    pack = open_pack(sys.argv[1]); catalogue = Catalogue(pack)\n"
        "    print([catalogue.summary(name).title for name in pack.lessons])\n"
        "    catalogue._changed = True; catalogue.save()\n"
    )
    command = [sys.executable, "-c", program, str(root)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    said = {line for one in running for line in one.communicate()[0].splitlines()}
    assert [one.returncode for one in running] == [0] * 4
    assert len(said) == 1
    assert sorted(path.suffixes[0] for path in cache.iterdir()) == [".manifest", ".summaries"]


# --- reading summaries -----------------------------------------------------------------------


def test_the_summary_of_every_lesson_of_the_course_matches_the_lesson():
    pack = load_pack()
    for track in pack.manifest.tracks:
        for name in track.lessons:
            lesson = pack.lesson(name)
            summary = read_summary((pack.root / track.id / f"{name}.yaml").read_bytes())
            assert summary == LessonSummary(lesson.title, lesson.minutes, lesson.needs)


@for_each(
    ("text", "summary"),
    [
        ("title: A\nminutes: 3\n", LessonSummary("A", 3)),
        ("\ufeffminutes: 3\r\ntitle: 'it''s'\r\n", LessonSummary("it's", 3)),
        ("brief: {title: no}\nminutes: 3\ntitle: yes", LessonSummary("yes", 3)),
        ("inputs: [title, {minutes: 9}]\ntitle: A\nminutes: 3\n", LessonSummary("A", 3)),
        ("title: A\nminutes: 3\nneeds: [a, b-c]", LessonSummary("A", 3, ("a", "b-c"))),
        ("title: '5'\nminutes: 3", LessonSummary("5", 3)),
        ("title: 5\nminutes: 3", None),
        ("title: A\nminutes: '3'", None),
        ("title: A", None),
        ("title: A\nminutes: 999", None),
        ("title: ''\nminutes: 3", None),
        ("title: [A]\nminutes: 3", None),
        ("title: A\nminutes: 3\nneeds: [A B]", None),
        ('title: "\\e[31mred"\nminutes: 3', None),
        ("title: *a\nminutes: 3", None),
        ("title: {", None),
        ("- title\n- A", None),
        ("", None),
        ("[" * 5000, None),
    ],
)  # fmt: skip
def test_a_summary_is_read_or_unknown(text: str, summary: LessonSummary | None):
    assert read_summary(text.encode()) == summary


def test_bytes_that_are_not_text_have_no_summary():
    assert read_summary(b"title: \xff\nminutes: 3\n") is None
    assert read_summary(b"title: a\0b\nminutes: 3\n") is None
