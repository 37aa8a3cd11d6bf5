"""Every kind of check has a page in `docs/checks`, and the lesson on it does what the page says."""

import re
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.project.test_docs import REPOSITORY, blocks
from tutor.check import Check
from tutor.checks import BUILT_IN
from tutor.engine.session import Session
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.report import Report

KINDS = {kind.kind: kind for kind in BUILT_IN}
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


def page(kind: str) -> Path:
    return REPOSITORY / "docs" / "checks" / f"{kind.replace('_', '-')}.md"


def block(kind: str, language: str, more: str) -> str:
    (text,) = [text for name, text in blocks(page(kind), language) if name == more]
    return text


def test_authors_find_every_kind_by_what_they_want_to_check():
    text = (REPOSITORY / "docs" / "authors.md").read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    for kind in KINDS:
        link = f"[`{kind}`](checks/{page(kind).name})"
        assert any(link in row for row in rows), kind


def masked(text: str) -> str:
    """Words without their numbers: the last digits are another machine's own."""
    return NUMBER.sub("#", " ".join(text.split()))


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_passes_and_its_mistake_is_told_as_shown(
    kind: str, tmp_path: Path, forks: Forks
):
    lesson_id = f"{kind.replace('_', '-')}-example"
    tracks = f"[{{id: examples, title: Examples, lessons: [{lesson_id}]}}]"
    manifest = f"format: 1\nid: pages\ntitle: Pages\ntracks: {tracks}\n"
    (tmp_path / "examples").mkdir()
    (tmp_path / "pack.yaml").write_text(manifest)
    (tmp_path / f"examples/{lesson_id}.yaml").write_text(block(kind, "yaml", f"file={kind}.yaml"))
    lesson = load_pack(tmp_path).lesson(lesson_id)
    assert kind in {check.kind for check in lesson.checks}
    solution = block(kind, "python", f"file={kind}.py")

    def checked(code: str) -> Report:
        with Session(lesson, code, sandboxes=forks) as session:
            return session.check()

    report = checked(solution)
    assert report.passed, report
    (mistake,) = lesson.mistakes
    report = checked(mistake.applied_to(solution))
    assert report.verdict == "fail", report
    first = next(one for one in report.checks if one.status == "fail")
    assert (first.name, first.kind) == (mistake.fails, kind)
    assert all(words in first.text for words in mistake.expected_texts), first.text
    assert masked(first.text) == masked(block(kind, "text", "message")), first.text


@for_each("kind", KINDS)
def test_every_field_is_explained(kind: str):
    text = page(kind).read_text()
    for field in KINDS[kind].__struct_encode_fields__:
        if field not in Check.__struct_encode_fields__:
            assert f"| `{field}` |" in text, field
