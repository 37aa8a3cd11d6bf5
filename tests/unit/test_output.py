"""Output of untrusted code: bounded in memory, and harmless to show."""

import tracemalloc
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.foreign.plain_text import inert
from tutor.sandbox.library_warnings import LibraryWarnings
from tutor.sandbox.output import Capture, without_logs


def captured(keep: int, *pieces: bytes) -> Capture:
    capture = Capture(keep)
    for piece in pieces:
        capture.add(piece)
    return capture


@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(1, 40))
@example([b"x" * 10, b"x" * 10], 10)
@example([b"x" * 21], 10)
@example(["é".encode() * 20], 7)
def test_the_first_and_the_last_part_are_kept_and_the_rest_is_counted(
    pieces: list[bytes], keep: int
) -> None:
    capture = captured(keep, *pieces)
    whole = b"".join(pieces)
    assert capture.total == len(whole)
    cut = len(whole) - 2 * keep
    if cut <= 0:
        assert capture.text() == inert(whole.decode("utf-8", "replace"))
    else:
        head = inert(whole[:keep].decode("utf-8", "replace"))
        tail = inert(whole[-keep:].decode("utf-8", "replace"))
        assert capture.text() == f"{head}\n[… {cut:,} bytes left out …]\n{tail}"


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_the_split_into_pieces_does_not_matter(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    by_byte = captured(16, *(whole[i : i + 1] for i in range(len(whole))))
    assert captured(16, *pieces).text() == by_byte.text() == captured(16, whole).text()


def test_a_character_split_between_pieces_is_kept() -> None:
    assert captured(100, b"\xe2\x98", b"\x83").text() == "☃"


def test_a_character_across_head_and_tail_is_kept() -> None:
    assert captured(2, "a☃".encode()).text() == "a☃"


def test_no_output_is_empty_text() -> None:
    assert Capture().text() == ""


@pytest.mark.parametrize(("size", "count"), [(1 << 16, 2000), (64 << 20, 1), (1, 200_000)])
def test_memory_stays_bounded_however_much_is_printed(size: int, count: int) -> None:
    piece = b"x" * size
    capture = Capture()
    tracemalloc.start()
    try:
        for _ in range(count):
            capture.add(piece)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert capture.total == size * count
    assert kept < 200 << 10
    assert most < 400 << 10 or (size > 1 << 20 and most < 2 * size)
    assert f"[… {capture.total - (64 << 10):,} bytes left out …]" in capture.text()


def test_invalid_utf_8_is_shown_as_replacement_characters() -> None:
    assert captured(100, b"a\xff\xfeb\xc3").text() == "a\ufffd\ufffdb\ufffd"


# --- harmless ------------------------------------------------------------------------------


@for_each(
    ("text", "shown"),
    [
        ("plain text ☃ é \U0001f600", "plain text ☃ é \U0001f600"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nlines", "dos\nlines"),
        ("50%\r100%", "50%␍100%"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b]52;c;cGF5bG9hZA==\x1b\\", "␛]52;c;cGF5bG9hZA==␛\\"),
        ("\x9b2J\x9d0;x\x9c", "\ufffd2J\ufffd0;x\ufffd"),
        ("a\x00b\x08c\x0bd\x0ce\x7f", "a␀b␈c␋d␌e␡"),
        ("user\u202egnp.exe\u202c", "user\ufffdgnp.exe\ufffd"),
        ("\u2066a\u2069\u200eb\u200f\u061c", "\ufffda\ufffd\ufffdb\ufffd\ufffd"),
        ("zero\u200bwidth\ufeff\u00ad", "zero\ufffdwidth\ufffd\ufffd"),
        ("line\u2028paragraph\u2029nel\x85", "line\ufffdparagraph\ufffdnel\ufffd"),
        ("tag\U000e0041 private\ue000 lone\ud800", "tag\ufffd private\ufffd lone\ufffd"),
        ("non\u00a0breaking\u3000wide", "non\u00a0breaking\u3000wide"),
    ],
)
def test_control_sequences_are_shown_instead(text: str, shown: str) -> None:
    assert inert(text) == shown


CONTROL = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


@given(st.text(st.characters()))
@example("".join(map(chr, range(0x100))))
@example("\r\r\n\r")
@example("\r\x00\n")
def test_no_control_sequence_is_left(text: str) -> None:
    shown = inert(text)
    assert all(c in "\n\t" or unicodedata.category(c) not in CONTROL for c in shown)
    assert inert(shown) == shown


@given(st.text(st.characters(exclude_categories=CONTROL, include_characters="\n\t")))
def test_harmless_text_is_unchanged(text: str) -> None:
    assert inert(text) == text


def test_every_character_becomes_harmless() -> None:
    everything = "".join(map(chr, range(0x110000)))
    shown = inert(everything)
    assert not {c for c in set(shown) if unicodedata.category(c) in CONTROL} - {"\n", "\t"}
    assert len(shown) == len(everything)


@for_each(
    "line",
    [
        "E1128 13:06:15.123456    4242 pjrt_client.cc:1234] ExecutePrepareWithOomRetries failed",
        "W0000 00:00:1732799175.1    42 external/xla/xla/tsl/bfc_allocator.cc:501] Allocator ran",
        "2026-11-28 13:06:15.1: W external/xla/xla/service/hlo_rematerialization.cc:3005] Can't",
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    ],
)
def test_the_log_of_xla_is_not_shown_and_everything_else_is(line: str) -> None:
    assert without_logs(f"before\n{line}\nafter\n{line}") == "before\nafter\n"
    for printed in ("E1128 is a part", "2026-11-28 13:06:15 W", f"> {line}"):
        assert without_logs(printed) == printed


def test_a_warning_of_a_library_is_shown_once_for_each_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = LibraryWarnings("own.py")
    for size in range(6):
        text = f"Some donated buffers were not usable: float32[{size}].\nSee an explanation at x"
        shown.show(UserWarning(text), UserWarning, "/lib/jax/mlir.py", 1365)
        shown.show(UserWarning("mine"), UserWarning, "own.py", 3)
    printed = capsys.readouterr().err
    assert printed.count("UserWarning: Some donated buffers were not usable: float32[0].\n") == 1
    assert "float32[1]" not in printed and "mlir.py" not in printed
    assert printed.count("own.py:3: UserWarning: mine\n") == 6
