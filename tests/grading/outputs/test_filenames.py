"""File names are valid everywhere, and those of submissions where possible."""

import unicodedata
from pathlib import Path

import hypothesis
from hypothesis import strategies

from tests.grading.outputs.made import NASTY
from tutor.grading.outputs.filenames import FileNames


def test_harmless_names_stay_as_they_are():
    names = FileNames()
    for name in ("Ada Lovelace", "Çağla Ünal", "شيماء", "submission_123", "a.b", "O'Neill"):
        assert names.of(name) == name


def test_names_that_differ_only_in_case_or_accents_get_separate_files():
    names = FileNames()
    given = ["Ann", "ann", "ANN", "Zoë", "Zoe\u0308", "ﬁ", "fi", "STRASSE", "Straße"]
    found = [names.of(name) for name in given]
    keys = {unicodedata.normalize("NFKC", name).casefold() for name in found}
    assert len(keys) == len(given)
    assert found[0] == "Ann" and found[1].startswith("ann-")


def test_the_same_submissions_have_the_same_names_at_every_run():
    first, second = FileNames(), FileNames()
    assert [first.of(name) for name in NASTY] == [second.of(name) for name in NASTY]


def test_hostile_names_stay_in_the_directory(tmp_path: Path):
    names = FileNames()
    folder = tmp_path / "students"
    folder.mkdir()
    for name in NASTY:
        (folder / names.of(name)).touch(exist_ok=False)
    assert len(list(folder.iterdir())) == len(NASTY)
    assert not any(one.name.startswith((".", "-")) for one in folder.iterdir())


@hypothesis.given(strategies.lists(strategies.text() | strategies.sampled_from(NASTY), unique=True))
def test_any_names_are_unique_and_valid_on_every_system(texts: list[str]):
    names = FileNames()
    found = [names.of(text) for text in texts]
    assert len({unicodedata.normalize("NFKC", name).casefold() for name in found}) == len(texts)
    for name in found:
        assert name and len(name.encode()) <= 200
        assert name.isprintable() and not set(name) & set('<>:"/\\|?*')
        assert name == name.strip(" .") and not name.startswith("-")
        assert name.partition(".")[0].casefold() not in ("con", "nul", "prn", "aux", "com1")
