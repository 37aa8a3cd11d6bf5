"""What measures how fast jaxtutor starts can itself be run."""

from pathlib import Path

import pytest

from benchmarks import start
from benchmarks.packs import PER_TRACK, make_pack
from tests.conftest import MINI
from tutor.pack import load_pack


def test_packs_made_for_measuring_are_valid(tmp_path: Path):
    pack = load_pack(make_pack(tmp_path / "pack", PER_TRACK + 2))
    assert len(pack.lessons) == PER_TRACK + 2
    assert [len(track.lessons) for track in pack.manifest.tracks] == [PER_TRACK, 2]


def test_a_start_is_measured_for_list_and_app_for_the_first_time_and_later():
    course = start.Course("mini", MINI, "Basics")
    found = list(start.starts(course, 1))
    assert [series.name for series in found] == [
        "list, mini, first",
        "app, mini, first",
        "list, mini, later",
        "app, mini, later",
    ]
    assert [len(series.seconds) for series in found] == [3, 3, 1, 1]
    assert all(0 < second < start.PATIENCE for series in found for second in series.seconds)


def test_what_is_never_painted_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(start, "PATIENCE", 1.0)
    with pytest.raises(TimeoutError, match="never painted: b'no such text'"):
        start.first_frame(["--pack", str(MINI)], "no such text", tmp_path, 1)
