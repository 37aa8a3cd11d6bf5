"""The files of a pack that an archive contains, for graders and for learners."""

import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import MINI
from tutor.engine.session import Session
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack
from tutor.pack.archive import Files, Purpose
from tutor.pack.contents import REVEALING, gather, solved, strays, without
from tutor.pack.problems import BadSource
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import parse
from tutor.pool.forks import Forks

DOUBLE, TALL = "basics/double.yaml", "basics/tall.yaml"
RECORDED = "recorded/double.bin", "recorded/tall.bin"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Copy the small pack, with a variant, a licence, comments and an equivalent mutant."""
    folder = Path(shutil.copytree(MINI.parent, tmp_path / "mini"))
    variants = folder / "solutions" / "basics" / "double"
    variants.mkdir()
    (variants / "sum.py").write_text("def double(x):\n    return x + x\n")
    lesson = folder / "lessons" / "basics" / "double.yaml"
    more = "equivalent:\n  - mutant: 2 * x to x * 2\n    reason: the same\n# the answer: 2 * x\n"
    lesson.write_text(lesson.read_text() + more)
    (folder / "lessons" / "LICENSE").write_text("do as you like\n")
    return folder / "lessons"


def placed(files: Files, folder: Path) -> Pack:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return load_pack(folder)


def test_a_full_archive_is_the_pack_byte_for_byte(root: Path) -> None:
    inventory, files = gather(load_pack(root))
    assert set(files) == {
        "LICENSE",
        "pack.yaml",
        DOUBLE,
        TALL,
        *RECORDED,
        "solutions/basics/double.py",
        "solutions/basics/tall.py",
        "solutions/basics/double/sum.py",
    }
    for name, data in files.items():
        base = root.parent if name.startswith("solutions") else root
        assert data == (base / name).read_bytes()
    assert (inventory.purpose, inventory.left_out) == ("everything", ())


def test_solutions_inside_the_directory_are_packed_like_those_next_to_it(
    root: Path, tmp_path: Path
) -> None:
    _, outside = gather(load_pack(root))
    shutil.copytree(root, tmp_path / "inside")
    shutil.copytree(root.parent / "solutions", tmp_path / "inside" / "solutions")
    assert gather(load_pack(tmp_path / "inside"))[1] == outside


def test_graders_get_unchanged_lessons_and_solutions_without_variants(root: Path) -> None:
    whole = gather(load_pack(root))[1]
    inventory, files = gather(load_pack(root), "grading")
    assert set(whole) - set(files) == {"solutions/basics/double/sum.py"}
    assert all(data == whole[name] for name, data in files.items())
    assert (inventory.purpose, inventory.left_out) == ("grading", ("variants",))


def test_learners_get_nothing_that_reveals_a_solution(root: Path, tmp_path: Path) -> None:
    inventory, files = gather(load_pack(root), "learners")
    assert set(files) == {"LICENSE", "pack.yaml", DOUBLE, TALL, *RECORDED}
    assert "3 * x" in (root / DOUBLE).read_text()
    for words in ("3 * x", "x * 2", "the answer", *REVEALING):
        assert words not in files[DOUBLE].decode()
    assert inventory.purpose == "learners"
    assert {"solutions", "variants", "mistakes", "comments"} <= set(inventory.left_out)
    left = placed(files, tmp_path / "learners")
    assert left.solution("double") is None and solved(left) == 0
    assert not left.lesson("double").mistakes


def test_maps_and_reviews_are_packed(root: Path, tmp_path: Path) -> None:
    manifest = root / "pack.yaml"
    more = """\
    review: tall
    map:
      - {torch: "x[:, None]", jax: 'f"{x:.2f}" # same', lesson: double}  # a comment
      - {torch: x, jax: y, note: "a: b"}
"""
    manifest.write_text(manifest.read_text() + more)
    pack = load_pack(root)
    purposes: tuple[Purpose, ...] = ("everything", "learners", "grading")
    for purpose in purposes:
        _, files = gather(pack, purpose)
        assert placed(files, tmp_path / purpose).manifest == pack.manifest
    assert "a comment" not in (tmp_path / "learners" / "pack.yaml").read_text()


def test_the_course_for_learners_contains_no_solution(pack: Pack, tmp_path: Path) -> None:
    _, files = gather(pack, "learners")
    left = placed(files, tmp_path / "learners")
    assert left.manifest == pack.manifest
    for name, lesson in pack.lessons.items():
        text = files[f"{lesson.track}/{name}.yaml"].decode()
        assert lesson.mistakes and not left.lesson(name).mistakes
        solution = pack.solution(name)
        assert solution is not None
        shown = lesson.starter + lesson.brief + "".join(lesson.hints)
        hidden = [line for line in solution.splitlines() if line.strip() and line not in shown]
        assert hidden  # the lines that learners write themselves
        assert "\n".join(hidden) not in text
        for field in ("brief", "torch", "starter", "hints", "sizes", "limits", "devices", "needs"):
            assert getattr(left.lesson(name), field) == getattr(lesson, field)
        assert [check.title for check in left.lesson(name).checks] == [
            check.title for check in lesson.checks
        ]


def test_the_pack_for_learners_still_checks_their_code(
    mini: Pack, tmp_path: Path, forks: Forks
) -> None:
    left = placed(gather(mini, "learners")[1], tmp_path / "learners").lesson("double")
    for factor, verdict in ((2, "pass"), (3, "fail")):
        code = f"def double(x):\n    return {factor} * x\n"
        with Session(left, code, sandboxes=forks) as session:
            assert session.check(0).verdict == verdict


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["a", "b", *REVEALING]), VALUES, min_size=1))
def test_removing_fields_keeps_the_others(whole: dict[str, object]) -> None:
    data = yaml.safe_dump(whole, allow_unicode=True).encode()
    try:
        before = plain(parse(data, "")[0])
    except BadSource:
        return  # such as control characters, which the loader rejects
    kept = {name: value for name, value in before.items() if name not in REVEALING}
    if kept:
        assert plain(parse(without(REVEALING, data), "")[0]) == kept


def test_removing_fields_keeps_the_meaning_of_every_text_style() -> None:
    data = (
        "# one\na: |\n  def f(x):  # two\n      return x\n\nb: >-\n  folded\n  text\n"
        "c: {on: yes, 'no': '1e5', \"d\\n\": 1e5}  # three\n"
        "mistakes:\n  - code: |\n      secret\n"
    )
    left = without(["mistakes"], data.encode())
    assert plain(parse(left, "")[0]) == {
        "a": "def f(x):  # two\n    return x\n",
        "b": "folded text",
        "c": {"on": "yes", "no": "1e5", "d\n": 1e5},
    }
    assert b"three" not in left and b"one" not in left and b"secret" not in left


# --- files left out --------------------------------------------------------------------------


def test_files_outside_the_format_are_reported(root: Path) -> None:
    (root / "notes.txt").write_text("")
    (root / "basics" / "data.csv").write_text("")
    (root / "schema").mkdir()
    (root / "schema" / "lesson.json").write_text("")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("")
    assert strays(load_pack(root)) == ["basics/data.csv", "notes.txt"]
    names = gather(load_pack(root))[1]
    assert "notes.txt" not in names and ".git/config" not in names


def test_the_target_of_a_link_out_of_the_pack_is_not_packed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("def double(x):\n    return 2 * x\n")
    solution = root.parent / "solutions" / "basics" / "double.py"
    solution.unlink()
    solution.symlink_to(tmp_path / "secret")
    with pytest.raises(
        BadPack, match=r"double\.py:1:1: a symbolic link that points outside the pack"
    ):
        gather(load_pack(root))


@pytest.mark.parametrize("name", ["a:b.py", "back\\slash.py", "what?.py", "..two.py"])
def test_a_name_not_valid_on_every_system_is_reported(root: Path, name: str) -> None:
    (root.parent / "solutions" / "basics" / "double" / name).write_text("")
    with pytest.raises(BadPack, match="rename it"):
        gather(load_pack(root))


def test_names_that_differ_only_in_case_are_reported(root: Path) -> None:
    (root.parent / "solutions" / "basics" / "double" / "Sum.py").write_text("")
    with pytest.raises(BadPack, match=r"(?i)sum\.py:1:1: duplicate of .*; rename it"):
        gather(load_pack(root))
