"""Opening a pack reads its manifest; lessons are read on first access."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.packs import make_pack
from tests.conftest import MINI
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack, open_pack

MANY = 120


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a valid pack of many lessons."""
    return make_pack(tmp_path_factory.mktemp("many") / "pack", MANY)


@pytest.fixture
def pack(tmp_path: Path, home: Path) -> Path:
    """Copy the small pack, with an empty cache."""
    (home / "cache").unlink()
    return Path(shutil.copytree(MINI.parent, tmp_path / "pack") / "lessons")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def files_opened(program: str) -> list[str]:
    """Return the lessons and manifests that a program opens in a new process."""
    watch = (
        "import sys\n"
        "opened = []\n"
        "def hook(event, arguments):\n"
        "    if event == 'open' and str(arguments[0]).endswith('.yaml'):\n"
        "        opened.append(str(arguments[0]).rpartition('/')[2])\n"
        "sys.addaudithook(hook)\n"
    )
    code = f"{watch}{program}\nprint(*opened)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True
    )
    return done.stdout.split()


def problems(pack: Pack, lesson: str) -> list[str]:
    with pytest.raises(BadPack) as caught:
        pack.lesson(lesson)
    return [str(one).partition(":")[2] for one in caught.value.problems]


def parts(lesson: Lesson) -> tuple[str, tuple[str, ...]]:
    return lesson.track, lesson.needs


# --- files read ------------------------------------------------------------------------------


def test_opening_a_pack_reads_no_lesson(many: Path):
    program = f"from tutor.pack import open_pack; pack = open_pack({str(many)!r})\n"
    program += f"assert len(pack.lessons) == {MANY} and 'lesson-00007' in pack.lessons\n"
    program += "assert list(pack.lessons)[-1] == 'lesson-00119'\n"
    program += "assert pack.next_after('lesson-00049') == 'lesson-00050'"
    assert files_opened(program) == ["pack.yaml"]


def test_a_lesson_is_read_alone_and_once(many: Path):
    program = f"from tutor.pack import open_pack; pack = open_pack({str(many)!r})\n"
    program += "assert pack.lesson('lesson-00007') is pack.lesson('lesson-00007')"
    assert files_opened(program) == ["pack.yaml", "lesson-00007.yaml"]


def test_the_app_reads_only_the_lesson_it_is_left_in(many: Path):
    list_all = f"import tutor.cli; tutor.cli.main(['list', '--pack', {str(many)!r}])\n"
    assert len(files_opened(f"{list_all}opened.clear(); print(end='')")) >= MANY  # remembers titles
    program = f"""
import asyncio
from tutor.pack import open_pack
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.lesson_screen import LessonScreen

async def main():
    with Desk(open_pack({str(many)!r}), warm=False) as desk:
        desk.progress.opened(desk.pack.id, "lesson-00033")
        app = TutorApp(desk)
        async with app.run_test() as pilot:
            while not isinstance(app.screen, LessonScreen):
                await pilot.pause()

asyncio.run(main())
"""
    assert files_opened(program) == ["pack.yaml", "lesson-00033.yaml"]


def test_an_opened_pack_equals_the_loaded_pack(many: Path):
    opened, loaded = open_pack(many), load_pack(many)
    assert opened.manifest == loaded.manifest
    assert list(opened.lessons) == list(loaded.lessons)
    for name, lesson in opened.lessons.items():
        assert (lesson.id, lesson.track, lesson.needs) == (name, *parts(loaded.lesson(name)))
    # Again, with the manifest from the cache.
    assert open_pack(many).manifest == loaded.manifest


# --- problems --------------------------------------------------------------------------------


def test_a_broken_lesson_is_reported_on_access_and_others_work(pack: Path):
    edit(pack / "basics" / "tall.yaml", "hints:", "hnits:")
    opened = open_pack(pack)
    assert opened.lesson("double").title == "Twice as much"
    assert problems(opened, "tall") == [
        "1:1: 'hints' is missing: Hints, from vague to explicit; add a line `hints: …`",
        "13:1: unknown key 'hnits'; did you mean 'hints'?",
    ]
    with pytest.raises(BadPack):
        load_pack(pack)


def test_a_corrected_lesson_can_be_read_again(pack: Path):
    edit(pack / "basics" / "tall.yaml", "hints:", "hnits:")
    opened = open_pack(pack)
    assert problems(opened, "tall")
    edit(pack / "basics" / "tall.yaml", "hnits:", "hints:")
    assert opened.lesson("tall").title == "Upright"


@pytest.mark.parametrize("lesson", ["double", "tall"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("track: basics", "track: advanced"),
        ("minutes: 1", "minutes: soon"),
        ("checks:", "cheks:"),
        ("inputs:", "inputs: &x"),
        ("title:", "needs: [nothing]\ntitle:"),
    ],
)
def test_a_lesson_has_the_same_problems_alone_and_in_the_pack(
    pack: Path, lesson: str, old: str, new: str
):
    edit(pack / "basics" / f"{lesson}.yaml", old, new)
    with pytest.raises(BadPack) as whole:
        load_pack(pack)
    with pytest.raises(BadPack) as alone:
        open_pack(pack).lesson(lesson)
    assert alone.value.problems == whole.value.problems
    assert alone.value.text == whole.value.text


def test_a_missing_lesson_is_reported_at_its_line_of_the_manifest(pack: Path):
    opened = open_pack(pack)
    (pack / "basics" / "tall.yaml").unlink()
    (problem,) = problems(opened, "tall")
    assert problem.startswith(
        "7:23: lesson 'tall': the file basics/tall.yaml does not exist; write it"
    )


def test_an_unknown_lesson_is_a_key_error(pack: Path):
    with pytest.raises(KeyError):
        open_pack(pack).lesson("nothing")


# --- the manifest ----------------------------------------------------------------------------


def test_an_edited_manifest_is_read_again(pack: Path):
    assert list(open_pack(pack).lessons) == ["double", "tall"]
    edit(pack / "pack.yaml", "[double, tall]", "[tall, double]")
    assert list(open_pack(pack).lessons) == ["tall", "double"]
    edit(pack / "pack.yaml", "format:", "fromat:")
    with pytest.raises(BadPack, match="unknown key 'fromat'"):
        open_pack(pack)


def test_a_cached_manifest_is_not_parsed_again(pack: Path):
    open_pack(pack)
    program = f"from tutor.pack import open_pack; open_pack({str(pack)!r}); import sys\n"
    assert files_opened(f"{program}assert 'yaml' not in sys.modules") == ["pack.yaml"]
