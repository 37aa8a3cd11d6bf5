"""The journal keeps what was written, and refuses anything damaged."""

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tutor.grading.journal import BadJournal, Head, Journal, key_of
from tutor.grading.result import Override, Result

HEAD = Head(1, "mini", "", 7, 1, ("double",), "2026-03-01T12:00:00Z")
NAMES = [f"Ännä {number}" for number in range(5)]


def result(name: str, score: float = 1.0) -> Result:
    return Result(name, "double", "pass", score, 1.0, seed=7)


def filled(folder: Path) -> Path:
    with Journal(folder) as journal:
        journal.begin(HEAD)
        for name in NAMES:
            journal.add(key_of(name), result(name))
        journal.override(NAMES[0], "double", Override(0.5, "why", "me", "now"))
        return journal.path


def test_written_results_are_read_back(tmp_path: Path):
    filled(tmp_path)
    with Journal(tmp_path) as journal:
        assert journal.head == HEAD
        assert [name for name, _ in journal] == NAMES
        assert journal.key(NAMES[1], "double") == key_of(NAMES[1])
        assert journal.result(NAMES[1], "double") == result(NAMES[1])
        assert journal.result("nobody", "double") is journal.key("nobody", "double") is None
        assert journal.overrides[NAMES[0], "double"].score == 0.5
        journal.add("other", result(NAMES[2], 0.25))
        journal.override(NAMES[0], "double", Override(0.75, "on reflection", "me", "later"))
    with Journal(tmp_path) as journal:
        assert journal.overrides[NAMES[0], "double"].score == 0.75
        found = journal.result(NAMES[2], "double")
        assert found is not None and found.score == 0.25  # the last one counts
        assert len(journal) == len(NAMES)


def test_the_same_head_is_written_once(tmp_path: Path):
    path = filled(tmp_path)
    before = path.read_bytes()
    with Journal(tmp_path) as journal:
        journal.begin(HEAD)
    assert path.read_bytes() == before


def test_a_truncated_line_is_the_only_one_lost(tmp_path: Path):
    """At many positions, as if the machine had stopped there."""
    data = filled(tmp_path).read_bytes()
    lines = data.splitlines(keepends=True)
    folder = tmp_path / "cut"
    folder.mkdir()
    for length in range(0, len(data), 31):
        (folder / "journal.jsonl").write_bytes(data[:length])
        whole = data[:length].count(b"\n")
        with Journal(folder) as journal:
            assert len(journal) == min(max(whole - 1, 0), len(NAMES))
            journal.add("k", result("Zoë"))
        assert (folder / "journal.jsonl").read_bytes().startswith(b"".join(lines[:whole]))
        with Journal(folder) as journal:
            assert journal.result("Zoë", "double") == result("Zoë")


@settings(deadline=None, derandomize=True, max_examples=20)
@given(damage=some.binary(min_size=1, max_size=30))
def test_a_damaged_line_is_reported_with_its_number(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes
):
    folder = tmp_path_factory.mktemp("journal")
    path = filled(folder)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"{" + damage.replace(b"\n", b"") + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(BadJournal, match=r"journal\.jsonl:3:1: damaged"):
        Journal(folder)
    assert path.read_bytes() == b"".join(lines)


def test_a_newer_journal_is_refused(tmp_path: Path):
    (tmp_path / "journal.jsonl").write_text(
        '{"line":"batch","format":2,"pack":"m","pack_version":"","seed":1,"repeat":1,'
        '"lessons":[],"started":""}\n'
    )
    with pytest.raises(BadJournal, match="newer jaxtutor"):
        Journal(tmp_path)


def _refused(folder: Path) -> str:
    try:
        with Journal(folder):
            pass
    except BadJournal as error:
        return str(error)
    return ""


def test_only_one_process_writes_at_a_time(tmp_path: Path):
    with (
        Journal(tmp_path),
        multiprocessing.get_context("spawn").Pool(1) as other,
    ):
        assert "another process is grading" in other.apply(_refused, (tmp_path,))
    assert not _refused(tmp_path)
