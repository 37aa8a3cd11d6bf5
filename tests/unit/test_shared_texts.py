"""Texts that lessons share: where a line stands for one, and what is said where it cannot."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_pack import FILES, make_pack
from tutor.authoring.lint import lint
from tutor.lesson import MAX_TEXT, Lesson
from tutor.pack import BadPack, load_pack, open_pack
from tutor.pack.contents import gather, strays
from tutor.pack.shared_texts import in_code, references

LESSON = FILES["basics/double.yaml"]
BRIEF = "brief: Write double(x).\n"
AXES = "An **axis** has a length.\n\n- and a name\n"


def block(text: str, key: str = "brief") -> str:
    rows = "".join(f"  {row}\n" if row else "\n" for row in text.split("\n"))
    return f"{key}: |\n{rows}"


def pack_of(root: Path, brief: str, **texts: str | bytes) -> Path:
    """A pack whose brief is this Markdown, with these texts."""
    make_pack(root, FILES | {"basics/double.yaml": LESSON.replace(BRIEF, block(brief))})
    (root / "texts").mkdir()
    for name, text in texts.items():
        data = text if isinstance(text, bytes) else text.encode()
        (root / "texts" / f"{name}.md").write_bytes(data)
    return root


def brief_of(root: Path) -> str:
    return load_pack(root).lesson("double").brief


def problems(root: Path) -> list[str]:
    with pytest.raises(BadPack) as caught:
        load_pack(root)
    return [str(problem).removeprefix(f"{root}/") for problem in caught.value.problems]


# --- where a line stands for a text ----------------------------------------------------------


def test_a_line_is_replaced_in_every_markdown_of_a_lesson(tmp_path: Path):
    more = (
        block("Well done.\n\n{{axes}}", "after_pass")
        + "failure_hints:\n  - fails: value\n    hint: |\n      {{axes}}\n"
    )
    text = LESSON.replace(BRIEF, block("First.\n\n{{axes}}\n\nLast.")).replace(
        "hints: [Add it to itself.]\n", "hints:\n  - Add it to itself.\n  - |\n    {{axes}}\n"
    )
    files = FILES | {"basics/double.yaml": text + more, "texts/axes.md": AXES}
    lesson = load_pack(make_pack(tmp_path, files)).lesson("double")
    axes = AXES.rstrip()
    assert lesson.brief == f"First.\n\n{axes}\n\nLast.\n\n".removesuffix("\n")
    assert lesson.hints == ("Add it to itself.", f"{axes}\n")
    assert lesson.after_pass is not None and lesson.after_pass.rstrip() == f"Well done.\n\n{axes}"
    assert lesson.failure_hints[0].hint == f"{axes}\n"


@pytest.mark.parametrize(
    ("brief", "shown"),
    [
        ("{{ axes }}  ", "one\n\ntwo"),
        ("- item\n\n  {{axes}}", "- item\n\n  one\n\n  two"),
        ("see {{axes}}", "see {{axes}}"),
        ("`{{axes}}`", "`{{axes}}`"),
        ("{{axes}} {{axes}}", "{{axes}} {{axes}}"),
        ("{axes}", "{axes}"),
        ("```jinja\n{{axes}}\n```", "```jinja\n{{axes}}\n```"),
        ("```jinja\n{{axes}}\n```\n{{axes}}", "```jinja\n{{axes}}\n```\none\n\ntwo"),
        ("~~~\n```\n{{axes}}\n~~~", "~~~\n```\n{{axes}}\n~~~"),
        ("````\n```\n{{axes}}\n````\n{{axes}}", "````\n```\n{{axes}}\n````\none\n\ntwo"),
        ("```\n``` not the end\n{{axes}}\n```", "```\n``` not the end\n{{axes}}\n```"),
        ("- item\n\n  ```\n  {{axes}}\n  ```", "- item\n\n  ```\n  {{axes}}\n  ```"),
        ("```is code``` in a line\n\n{{axes}}", "```is code``` in a line\n\none\n\ntwo"),
        ("```\nnever closed\n{{axes}}", "```\nnever closed\n{{axes}}"),
    ],
)
def test_only_a_line_of_its_own_outside_code_is_replaced(tmp_path: Path, brief: str, shown: str):
    root = pack_of(tmp_path, brief, axes=b"one\r\n\r\ntwo\r\n\r\n")
    assert brief_of(root).rstrip() == shown


@given(st.text("`~{}a \n", max_size=40))
def test_text_without_a_name_stays_as_it_is(text: str):
    assert len(list(in_code(text))) == text.count("\n") + 1
    for one in references(text):
        row = text.split("\n")[one.line - 1]
        assert row.strip(" \t").startswith("{{") and row[one.column - 1 :].startswith(one.name)


# --- what is wrong ---------------------------------------------------------------------------


def test_an_unknown_text_is_named_with_its_place(tmp_path: Path):
    root = pack_of(tmp_path, "First.\n\n  {{axis}}\n\n{{ Axes }}\n\n{{broadcast}}", axes=AXES)
    assert problems(root) == [
        "basics/double.yaml:9:7: brief: unknown text 'axis'; did you mean 'axes'?",
        "basics/double.yaml:11:6: brief: unknown text 'Axes'; did you mean 'axes'?",
        "basics/double.yaml:13:5: brief: unknown text 'broadcast'; available: axes",
    ]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("axes", "write it to texts/axes.md"),
        ("../pack", "a text's name consists of lower-case words joined by hyphens"),
        ("", "a text's name consists of lower-case words joined by hyphens"),
    ],
)
def test_without_any_texts_the_remedy_is_to_write_one(tmp_path: Path, name: str, remedy: str):
    root = pack_of(tmp_path, f"{{{{{name}}}}}")
    assert problems(root) == [f"basics/double.yaml:7:5: brief: unknown text {name!r}; {remedy}"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"ok\n\xff", "2:1: not UTF-8: byte 0xff; save the file as UTF-8"),
        (b"ok\x1b[2J", "1:3: a character that a text may not contain (U+001B); delete it"),
        (b"\n", f"1:1: a text must have 1 to {MAX_TEXT} characters, got 0; write it, or split it"),
        (
            b"x" * (MAX_TEXT + 1),
            f"1:1: a text must have 1 to {MAX_TEXT} characters, got 20001; write it, or split it",
        ),
        (
            b"```\n{{axes}}\n```\n\n {{other}}\n",
            "5:4: a text cannot contain another one, 'other'; name both in the lesson, or "  # noqa: ISC004
            "write the text of other here",
        ),
    ],
)
def test_a_text_that_cannot_be_used_is_reported_once(tmp_path: Path, text: bytes, problem: str):
    root = pack_of(tmp_path, "{{axes}}\n\n{{axes}}", axes=text)
    assert problems(root) == [f"texts/axes.md:{problem}"]


def test_a_text_is_read_from_the_pack_only(tmp_path: Path):
    (tmp_path / "secret").write_text("a secret")
    root = pack_of(tmp_path / "pack", "{{axes}}")
    (root / "texts" / "axes.md").symlink_to(tmp_path / "secret")
    (told,) = problems(root)
    assert told.startswith("texts/axes.md:1:1: a symbolic link that points outside the pack")


def test_many_texts_do_not_make_a_long_one(tmp_path: Path):
    root = pack_of(tmp_path, "{{axes}}\n\n" * 4, axes="x" * (MAX_TEXT // 3))
    (told,) = problems(root)
    assert told.startswith("basics/double.yaml:11:5: brief: must be at most 20000 characters")


def test_a_bad_text_does_not_keep_other_lessons_from_being_read(tmp_path: Path):
    root = pack_of(tmp_path, "{{axes}}", axes=b"\xff")
    manifest = (root / "pack.yaml").read_text()
    (root / "pack.yaml").write_text(manifest.replace("[double]", "[double, other]"))
    (root / "basics" / "other.yaml").write_text(LESSON.replace("id: double", "id: other"))
    pack = open_pack(root)
    assert isinstance(pack.lesson("other"), Lesson)
    with pytest.raises(BadPack, match=r"texts/axes.md:1:1: not UTF-8"):
        pack.lesson("double")


# --- remarks, and the pack's files -----------------------------------------------------------


def remarks(root: Path) -> list[tuple[str, int, int, str]]:
    found = lint(root)
    assert not found.problems
    shown = ((one, one.file.removeprefix(f"{root}/")) for one in found.remarks)
    return [
        (name, one.line, one.column, one.code) for one, name in shown if name.startswith("texts/")
    ]


def test_texts_are_remarked_on(tmp_path: Path):
    wide = "TODO\n\n```python\n" + "x" * 80 + "\n```\n" + "y" * 200
    root = pack_of(tmp_path, "{{axes}}", axes=wide, other="Nobody reads this.", Bad_Name="Nor this")
    assert remarks(root) == [
        ("texts/Bad_Name.md", 1, 1, "unused-text"),
        ("texts/axes.md", 1, 1, "unwritten"),
        ("texts/axes.md", 4, 72, "wide-code"),
        ("texts/other.md", 1, 1, "unused-text"),
    ]


def test_a_text_may_be_used_by_a_lesson_that_cannot_be_read(tmp_path: Path):
    root = pack_of(tmp_path, "{{axes}}", axes=AXES)
    (root / "basics" / "double.yaml").write_text("title: [")
    found = lint(root)
    assert found.problems and not found.remarks


def test_the_length_of_a_brief_includes_its_texts_but_lines_are_the_files(tmp_path: Path):
    code = "```python\n" + "x" * 80 + "\n```"
    root = pack_of(tmp_path, "{{axes}}\n\n" + code, axes="a\n\n" * 40)
    found = {one.code: one.line for one in lint(root).remarks if one.file.endswith("double.yaml")}
    assert found["long-brief"] == 6
    assert found["wide-code"] == 10


def test_texts_are_files_of_the_pack_whoever_gets_it(tmp_path: Path):
    root = pack_of(tmp_path / "pack", "{{axes}}", axes=AXES, other="Not used.", Bad_Name="Nor this")
    pack = load_pack(root)
    assert strays(pack) == ["texts/Bad_Name.md"]
    for purpose in ("everything", "learners", "grading"):
        files = gather(pack, purpose)[1]
        assert {name for name in files if name.startswith("texts")} == {
            "texts/axes.md", "texts/other.md",
        }  # fmt: skip
        for name, data in files.items():
            path = tmp_path / purpose / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        assert brief_of(tmp_path / purpose) == brief_of(root)
