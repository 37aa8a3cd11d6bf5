"""The maps of tracks: read from `pack.yaml`, searched, and fitted into columns."""

from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit.test_pack import FILES, MANIFEST, edited, lesson, make_pack, only
from tutor.cli.map_table import map_lines
from tutor.manifest import MapEntry, Track
from tutor.pack import load_pack, open_pack
from tutor.pack.maps import TrackMap, fitted, search

MAP = """\
    lessons: [double]
    review: double
    map:
      - torch: x.mul_(2)
        jax: x = 2 * x
        lesson: double
        note: Arrays cannot be changed.
      - {torch: "x[:, None]", jax: "x[:, None]"}
"""
ROWS = (
    MapEntry(torch="x.mul_(2)", jax="x = 2 * x", lesson="double", note="Arrays cannot be changed."),
    MapEntry(torch="x[:, None]", jax="x[:, None]"),
)
OTHER = MapEntry(torch="Generator()", jax="jax.random.key(0)")
TRACKS = (
    Track(id="basics", title="Basics", lessons=("double",), map=ROWS),
    Track(id="empty", title="Empty", lessons=("none",)),
    Track(id="random", title="Random", lessons=("keys",), map=(OTHER,)),
)


# --- reading ---------------------------------------------------------------------------------


def test_a_map_and_a_review_are_read_and_cached(tmp_path: Path):
    root = make_pack(tmp_path / "pack", edited("    lessons: [double]\n", MAP, "pack.yaml"))
    for _ in range(2):
        (track,) = open_pack(root).manifest.tracks
        assert (track.map, track.review) == (ROWS, "double")
    assert load_pack(root).track_of("double") == track


def test_a_map_has_at_most_24_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for count in (0, 24, 25):
        rows = ", ".join(["{torch: a, jax: b}"] * count)
        text = f"    lessons: [double]\n    map: [{rows}]\n"
        make_pack(Path("pack"), edited("    lessons: [double]\n", text, "pack.yaml"))
        if count <= 24:
            assert len(load_pack("pack").manifest.tracks[0].map) == count
        else:
            message = "pack/pack.yaml:8:10: map: must be a list of 0 to 24 items, got 25 items"
            assert str(only(Path("pack"))).startswith(message)


def test_a_map_may_name_lessons_of_other_tracks_and_a_review_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    second = """\
  - id: more
    title: More
    lessons: [triple]
    review: double
    map:
      - {torch: x, jax: x, lesson: double}
"""
    more = lesson("triple", ("track: basics", "track: more"))
    root = make_pack(
        Path("pack"), {**FILES, "pack.yaml": MANIFEST + second, "more/triple.yaml": more}
    )
    message = "pack/pack.yaml:11:13: review: 'double' is not a lesson of this track"
    assert str(only(root)) == f"{message}; available: triple"
    (root / "pack.yaml").write_text((MANIFEST + second).replace("review: double", "review: triple"))
    assert load_pack(root).manifest.tracks[1].map[0].lesson == "double"


# --- searching -------------------------------------------------------------------------------


def test_every_map_is_found_by_track_without_words():
    assert search(TRACKS) == [TrackMap(TRACKS[0], ROWS), TrackMap(TRACKS[2], (OTHER,))]


@for_each(
    ("words", "rows"),
    [
        ("MUL_", ROWS[:1]),
        ("= 2 *", ROWS[:1]),
        ("dOuBlE", ROWS[:1]),
        ("cannot be", ROWS[:1]),
        (" none ", ROWS[1:]),
        ("x", (*ROWS, OTHER)),
        ("generator", (OTHER,)),
        ("Basics", ()),
        ("mul_(3)", ()),
    ],
)
def test_a_row_is_found_by_each_column_and_its_note(words: str, rows: tuple[MapEntry, ...]):
    assert tuple(row for one in search(TRACKS, words) for row in one.rows) == rows


# --- columns ---------------------------------------------------------------------------------


@for_each(
    ("needs", "room", "widths"),
    [
        ([10, 20, 5], 40, [10, 20, 5]),
        ([10, 20, 5], 35, [10, 20, 5]),
        ([10, 20, 5], 30, [10, 15, 5]),
        ([30, 40, 5], 45, [20, 20, 5]),
        ([30, 40], 20, [10, 10]),
        ([3, 4], -5, [1, 1]),
    ],
)
def test_columns_share_the_room_that_there_is(needs: list[int], room: int, widths: list[int]):
    assert fitted(needs, room) == widths


def test_columns_are_aligned_and_texts_are_whole_in_a_pipe():
    assert list(map_lines(search(TRACKS), None)) == [
        "  PyTorch      JAX                lesson",
        "Basics",
        "  x.mul_(2)    x = 2 * x          double",
        "    # Arrays cannot be changed.",
        "  x[:, None]   x[:, None]",
        "Random",
        "  Generator()  jax.random.key(0)",
    ]


def test_long_texts_are_wrapped_in_a_terminal():
    assert list(map_lines(search(TRACKS, "cannot"), 28)) == [
        "  PyTorch   JAX       lesson",
        "Basics",
        "  x.mul_(2  x = 2 *   double",
        "  )         x",
        "    # Arrays cannot be",
        "      changed.",
    ]
    row = MapEntry(torch="torch.nn.functional.cross_entropy(x, y)", jax="loss(x, y)")
    track = Track(id="loss", title="Loss", lessons=("loss",), map=(row,))
    assert list(map_lines(search([track]), 44)) == [
        "  PyTorch                 JAX         lesson",
        "Loss",
        "  torch.nn.functional.cr  loss(x, y)",
        "    oss_entropy(x, y)",
    ]


@for_each("columns", [1, 5, 12, 30, 80])
def test_a_terminal_of_any_width_gets_every_character(columns: int):
    shown = "".join("".join(map_lines(search(TRACKS), columns)).split())
    for row in (*ROWS, OTHER):
        for text in (row.torch, row.jax, row.note or ""):
            letters = iter(shown)
            assert all(letter in letters for letter in "".join(text.split())), (columns, text)
