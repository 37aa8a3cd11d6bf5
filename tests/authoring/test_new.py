"""What authors begin with is right as it is, and nothing of theirs is overwritten."""

import shutil
from pathlib import Path

import pytest

from tutor.authoring.lint import lint
from tutor.authoring.new import CannotMake, add_lesson, new_pack
from tutor.engine.session import Session
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack
from tutor.pool.forks import Forks
from tutor.report import Report

FLOW = """\
# Mine.
format: 1
id: mine
title: Mine
tracks:
  - id: one
    title: One
    lessons: [a, 'b']   # the first
  - id: two     # later
    title: Two
    lessons:
    - c         # comes first
    # and then
    - "d"

  # no more
about: |
  # Not a comment.
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    new_pack(tmp_path / "my-pack")
    return tmp_path / "my-pack"


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    (tmp_path / "pack.yaml").write_text(FLOW)
    return tmp_path


def manifest(root: Path) -> str:
    return (root / "pack.yaml").read_bytes().decode()


def checked(pack: Pack, lesson: str, code: str, forks: Forks) -> Report:
    with Session(pack.lesson(lesson), code, sandboxes=forks) as session:
        return session.check()


# --- a new pack ------------------------------------------------------------------------------


def test_a_new_pack_is_named_after_its_folder_and_leaves_nothing_to_remark(pack: Path):
    found = lint(pack)
    assert (found.problems, found.remarks, found.lessons) == ((), (), 1)
    assert (load_pack(pack).id, load_pack(pack).manifest.title) == ("my-pack", "My pack")


def test_what_a_new_pack_promises_holds(pack: Path, forks: Forks):
    opened = load_pack(pack)
    (lesson,) = opened.lessons.values()
    solution = opened.solution(lesson.id)
    assert solution is not None
    variant = (pack / "solutions" / "basics" / "standardize" / "by-hand.py").read_text()
    for code in (solution, variant):
        assert checked(opened, lesson.id, code, forks).passed
    assert checked(opened, lesson.id, lesson.starter, forks).verdict == "error"
    for mistake in lesson.mistakes:
        report = checked(opened, lesson.id, mistake.applied_to(solution), forks)
        first = next(result for result in report.checks if result.status != "pass")
        assert first.name == mistake.fails
        assert all(words in first.text for words in mistake.expected_texts), first.text


@pytest.mark.parametrize(
    ("name", "pack_id"),
    [("JAX Lessons 2", "jax-lessons-2"), ("2026", "2026"), ("_x_", "x"), ("true", "true")],
)
def test_any_name_makes_an_id(tmp_path: Path, name: str, pack_id: str):
    new_pack(tmp_path / name)
    assert load_pack(tmp_path / name).id == pack_id


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CannotMake, match="is not empty; choose a new path"):
        new_pack(tmp_path)
    with pytest.raises(CannotMake, match="is not a directory; choose a new path"):
        new_pack(tmp_path / "notes.txt")
    with pytest.raises(CannotMake, match="'com1' is the name of a device on Windows; choose"):
        new_pack(tmp_path / "COM1")
    with pytest.raises(CannotMake, match="'…' gives no pack id"):
        new_pack(tmp_path / "…")
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == ["notes.txt"]


# --- one more lesson -------------------------------------------------------------------------


def test_an_added_lesson_passes_and_says_what_is_to_be_written(pack: Path, forks: Forks):
    made = add_lesson(pack, "cosine")
    assert [path.relative_to(pack).as_posix() for path in made] == [
        "basics/cosine.yaml", "solutions/basics/cosine.py", "pack.yaml",
    ]  # fmt: skip
    opened = load_pack(pack)
    assert list(opened.lessons) == ["standardize", "cosine"]
    found = lint(pack)
    assert {(one.file.rpartition("/")[2], one.code) for one in found.remarks} == {
        ("cosine.yaml", "unwritten")
    }
    assert not found.problems
    assert checked(opened, "cosine", opened.solution("cosine") or "", forks).passed


def test_comments_and_layout_of_the_manifest_stay(listing: Path):
    add_lesson(listing, "new", "one")
    assert manifest(listing) == FLOW.replace("[a, 'b']", "[a, 'b', new]")
    add_lesson(listing, "newer")
    after = FLOW.replace("[a, 'b']", "[a, 'b', new]").replace(
        '    - "d"\n', '    - "d"\n    - newer\n'
    )
    assert manifest(listing) == after
    add_lesson(listing, "2026", "three", new=True)
    added = "  - id: three\n    title: Three\n    lessons:\n      - '2026'\n"
    assert manifest(listing) == after.replace("    - newer\n", f"    - newer\n{added}")


def test_maps_and_reviews_of_the_manifest_stay(listing: Path):
    more = """\
    review: b   # of one
    map:
      # what changes
      - {torch: "x[:, None]", jax: "x[:, None]"}
      - torch: x.add_(1)
        jax: x = x + 1
        lesson: d   # elsewhere
"""
    text = FLOW.replace("# the first\n", f"# the first\n{more}")
    text = text.replace('    - "d"\n', f'    - "d"\n{more.replace("review: b", "review: d")}')
    (listing / "pack.yaml").write_text(text)
    add_lesson(listing, "new", "one")
    add_lesson(listing, "newer")
    after = text.replace("[a, 'b']", "[a, 'b', new]")
    after = after.replace('    - "d"\n', '    - "d"\n    - newer\n')
    assert manifest(listing) == after
    add_lesson(listing, "newest", "three", new=True)
    added = "  - id: three\n    title: Three\n    lessons:\n      - newest\n"
    assert manifest(listing) == after.replace(
        "elsewhere\n\n  # no more", f"elsewhere\n{added}\n  # no more"
    )


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["\n", ""])
def test_line_ends_and_a_byte_order_mark_stay(listing: Path, end: str, mark: str, last: str):
    text = mark + FLOW.partition("\n\n")[0].replace("\n", end) + last.replace("\n", end)
    (listing / "pack.yaml").write_bytes(text.encode())
    add_lesson(listing, "new")
    ended = text if last else text + end
    assert manifest(listing) == f"{ended}    - new{end}"


@pytest.mark.parametrize(
    "lessons",
    [
        "[a,\n      b]",
        "[\n      a,\n      b,\n    ]",
        '[a, "b"]',
        "\n      -\n        a\n      - b",
    ],
)
def test_lessons_are_added_however_they_are_listed(listing: Path, lessons: str):
    head = FLOW.partition("  - id: two")[0]
    text = head.replace("[a, 'b']   # the first", lessons)
    (listing / "pack.yaml").write_text(text)
    for lesson in ("a", "b"):
        add_lesson(listing, lesson)
    add_lesson(listing, "new")
    assert list(load_pack(listing).lessons) == ["a", "b", "new"]


def test_what_cannot_be_added_to_is_left_alone_and_told(listing: Path):
    flow = "format: 1\nid: m\ntitle: M\ntracks: [{id: one, title: One, lessons: [a]}]\n"
    (listing / "pack.yaml").write_text(flow)
    with pytest.raises(CannotMake, match="by hand, then run this again"):
        add_lesson(listing, "new", "two", new=True)
    assert manifest(listing) == flow
    assert not (listing / "two").exists()


def test_a_lesson_that_is_listed_already_gets_its_file(listing: Path):
    made = add_lesson(listing, "a")
    assert made[0] == listing / "one" / "a.yaml"
    assert manifest(listing) == FLOW


def test_what_there_is_is_not_overwritten(pack: Path):
    before = {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()}
    for lesson, more, words in [
        ("standardize", {}, "standardize.yaml exists; choose another name"),
        ("standardize", {"track": "more", "new": True}, "is already in track basics; omit --track"),
        ("other", {"track": "basic"}, "there is no track 'basic'; did you mean 'basics'"),
        ("other", {"track": "basics", "new": True}, "there is already a track 'basics'"),
        ("other", {"track": "No", "new": True}, "a track id must be .* got 'No'"),
        ("Other", {}, "a lesson id must be .* got 'Other'"),
        ("../other", {}, "a lesson id must be .* got '../other'"),
    ]:
        with pytest.raises(CannotMake, match=words):
            add_lesson(pack, lesson, **more)  # type: ignore[arg-type]
    solution = pack / "solutions" / "basics" / "other.py"
    solution.write_text("# mine\n")
    with pytest.raises(CannotMake, match="exists; choose another name"):
        add_lesson(pack, "other")
    solution.unlink()
    assert {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()} == before


def test_nothing_is_left_of_a_lesson_that_could_not_be_written(pack: Path):
    (pack / "pack.yaml").rename(pack / "real.yaml")
    (pack / "pack.yaml").symlink_to("real.yaml")
    before = manifest(pack)
    shutil.rmtree(pack / "solutions")
    (pack / "solutions").write_text("in the way")
    with pytest.raises(OSError):  # noqa: PT011 - whichever it is
        add_lesson(pack, "cosine")
    assert not (pack / "basics" / "cosine.yaml").exists()
    assert manifest(pack) == before


def test_no_pack_and_a_broken_manifest_are_told(tmp_path: Path, pack: Path):
    with pytest.raises(CannotMake, match="jaxtutor pack new DIR"):
        add_lesson(tmp_path, "cosine")
    (pack / "pack.yaml").write_text("format: 1\n")
    with pytest.raises(BadPack):
        add_lesson(pack, "cosine")
