"""Archives of packs: they round-trip byte for byte, and anything else is rejected."""

import io
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tests.conftest import make_home
from tutor.cli import main
from tutor.manifest import Pack
from tutor.pack import archive
from tutor.pack.archive import (
    INVENTORY,
    MAX_FILES,
    BadArchive,
    Files,
    Inventory,
    checksums,
    read_archive,
    unpack,
    write_archive,
)
from tutor.pack.contents import gather
from tutor.pack.member_names import clash_in, fault_of

LESSON = "basics/double.yaml"

NAMES = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), min_size=1, max_size=4
).map("/".join)
GOOD_NAMES = NAMES.filter(lambda name: fault_of(name) is None)
FILES = st.dictionaries(GOOD_NAMES, st.binary(max_size=300), max_size=6).filter(
    lambda files: clash_in([*files, INVENTORY]) is None
)


@pytest.fixture(scope="module")
def files(mini: Pack) -> Files:
    return gather(mini)[1]


@pytest.fixture(scope="module")
def good(mini: Pack) -> bytes:
    return write_archive(*gather(mini))


def inventory_of(files: Files) -> Inventory:
    return Inventory(id="mini", title="A pack for tests", files=checksums(files))


# --- round trips -----------------------------------------------------------------------------


@given(FILES)
def test_packed_files_are_unpacked_unchanged(files: Files) -> None:
    inventory = inventory_of(files)
    assert unpack(write_archive(inventory, files), "x.zip") == (inventory, files)


@given(FILES, st.randoms())
def test_the_same_files_give_the_same_bytes(files: Files, chance: random.Random) -> None:
    order = list(files)
    chance.shuffle(order)
    shuffled = {name: files[name] for name in order}
    one, other = inventory_of(files), inventory_of(shuffled)
    assert write_archive(one, files) == write_archive(other, shuffled)


@pytest.mark.parametrize("size", [0, 1, 65_536, archive.MAX_BYTES])
def test_a_file_of_any_size_the_loader_reads_can_be_packed(size: int) -> None:
    files = {"pack.yaml": random.Random(size).randbytes(size)}
    assert unpack(write_archive(inventory_of(files), files), "x.zip")[1] == files


# --- names -----------------------------------------------------------------------------------


@given(NAMES | st.text(max_size=20))
def test_accepted_names_stay_inside_the_pack_on_every_system(name: str) -> None:
    if fault_of(name) is not None:
        return
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(name)
        assert not path.is_absolute() and not path.drive and not path.root
        assert ".." not in path.parts and path.as_posix() == name
    assert name.isprintable()


@given(st.lists(GOOD_NAMES, max_size=5, unique=True))
def test_names_without_a_clash_are_separate_files(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    if clash_in(names) is not None:
        return
    folder = tmp_path_factory.mktemp("files")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    assert all((folder / name).read_text() == name for name in names)


# --- untrusted archives ----------------------------------------------------------------------


def zipped(members: Iterable[tuple[zipfile.ZipInfo | str, bytes]], how: int = 8) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in members:
            made.writestr(name, data, how)
    return buffer.getvalue()


def packed(files: Files, *more: tuple[zipfile.ZipInfo | str, bytes], how: int = 8) -> bytes:
    """Pack `files` and `more`, with an inventory of both."""
    listed = dict(files)
    for name, data in more:
        listed[name if isinstance(name, str) else name.orig_filename] = data
    head = (INVENTORY, inventory_of(listed).to_json())
    return zipped([head, *files.items(), *more], how)


def entry(name: str, mode: int = stat.S_IFREG | 0o644, **more: object) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    for field, value in more.items():
        setattr(info, field, value)
    return info


def called(name: str) -> Callable[[Files], bytes]:
    """Make an archive with another file of this name."""
    return lambda files: packed(files, (entry(name), b"x"))


def of_kind(kind: int) -> Callable[[Files], bytes]:
    return lambda files: packed(files, (entry("basics/odd", kind | 0o777), b"/etc/passwd"))


def named(name: bytes) -> Callable[[Files], bytes]:
    """Make an archive whose last file has a name that `zipfile` would not write."""
    stand_in = b"~" * len(name)
    return lambda files: packed(files, (stand_in.decode(), b"x")).replace(stand_in, name)


def central(data: bytes, name: str) -> int:
    """Return the offset of a file's entry in the central directory."""
    return data.index(name.encode(), data.index(b"PK\x01\x02")) - 46


def changed(offset: int, form: str, value: int) -> Callable[[Files], bytes]:
    """Make a valid archive except for one field of a lesson's entry in the central directory."""

    def make(files: Files) -> bytes:
        data = bytearray(packed(files))
        struct.pack_into(form, data, central(bytes(data), LESSON) + offset, value)
        return bytes(data)

    return make


def altered(name: str) -> Callable[[Files], bytes]:
    """Make an archive with other contents in one file, and the old inventory."""
    return lambda files: zipped(
        [(INVENTORY, inventory_of(files).to_json()), *{**files, name: b"id: other"}.items()]
    )


def listing(files: Files, **more: str) -> bytes:
    """Make an archive of `files` with an inventory that also lists `more`."""
    there = {**checksums(files), **more}
    return zipped(
        [(INVENTORY, Inventory(id="mini", title="", files=there).to_json()), *files.items()]
    )


def inventory_is(text: bytes) -> Callable[[Files], bytes]:
    return lambda files: zipped([(INVENTORY, text), *files.items()])


def with_end(change: Callable[[bytes], bytes]) -> Callable[[Files], bytes]:
    return lambda files: change(packed(files))


HARD_LINK = struct.pack("<HH", 0x000D, 12 + 10) + bytes(12) + b"/etc/shado"


@cache
def too_many() -> bytes:
    return packed({}, *[(f"basics/{number}.md", b"") for number in range(MAX_FILES)], how=0)


BOMB = bytes(1 << 20)

ATTACKS: dict[str, tuple[Callable[[Files], bytes], str]] = {
    "traversal": (called("../evil.yaml"), "../evil.yaml: points outside the pack"),
    "traversal within": (called("basics/../../evil"), "basics/../../evil: points outside the pack"),
    "traversal to itself": (called("basics/../pack.md"), "basics/../pack.md: points outside"),
    "absolute": (called("/etc/evil"), "/etc/evil: the name must be relative"),
    "absolute twice": (called("//etc/evil"), "//etc/evil: the name must be relative"),
    "drive": (called("C:/evil"), "C:/evil: the name must not contain"),
    "stream": (called("pack.yaml:evil"), "pack.yaml:evil: the name must not contain"),
    "backslash": (named(b"..\\evil"), "..\\evil: the name must not contain"),
    "share": (named(b"\\\\host\\evil"), "\\\\host\\evil: the name must not contain"),
    "nul": (named(b"evil.md\0.yaml"), "evil.md␀.yaml: the name contains an"),
    "line end": (called("evil\n.md"), "evil␊.md: the name contains an"),
    "escape sequence": (called("\x1b[31mevil"), "␛[31mevil: the name contains an"),
    "right to left": (called("evil\u202elmay.md"), "evil�lmay.md: the name contains an"),
    "dot": (called("./pack.md"), "./pack.md: no part of the name may be empty"),
    "empty part": (called("basics//x.md"), "basics//x.md: no part of the name may be empty"),
    "dot at the end": (called("pack.yaml."), "pack.yaml.: no part of the name may be empty"),
    "hidden": (called(".git/config"), ".git/config: no part of the name may be empty"),
    "wildcard": (called("what?.md"), "what?.md: the name must not contain any of"),
    "long": (called("x" * 201), "x: the name must have at most"),
    "deep": (called("a/" * 4 + "b"), "a/a/a/a/b: the name must have at most 4 parts"),
    "very deep": (called("a/" * 3000 + "b"), "a/a/a/a/a"),
    "folder": (called("basics/"), "basics/: a directory"),
    "nested folders": (called("a/b/c/d/e/f/"), "a/b/c/d/e/f/: a directory"),
    "folder by attribute": (
        lambda files: packed(files, (entry("odd", external_attr=0x10), b"")),
        "odd: not a regular file",
    ),
    "link": (of_kind(stat.S_IFLNK), "basics/odd: a symbolic link"),
    "link by another system": (
        lambda files: packed(
            files, (entry("odd", stat.S_IFLNK | 0o777, create_system=0), b"/etc/passwd")
        ),
        "odd: a symbolic link",
    ),
    "hard link": (
        lambda files: packed(files, (entry("odd", extra=HARD_LINK), b"x")),
        "odd: unexpected zip metadata",
    ),
    "character device": (of_kind(stat.S_IFCHR), "basics/odd: not a regular file"),
    "block device": (of_kind(stat.S_IFBLK), "basics/odd: not a regular file"),
    "pipe": (of_kind(stat.S_IFIFO), "basics/odd: not a regular file"),
    "socket": (of_kind(stat.S_IFSOCK), "basics/odd: not a regular file"),
    "bomb by ratio": (
        lambda files: packed(files, (entry("bomb.md"), BOMB)),
        "bomb.md: compressed too well: 1,",
    ),
    "bomb by size": (
        lambda files: packed(files, (entry("bomb.md"), random.Random(0).randbytes(1 << 20) + b"!")),
        "bomb.md: must be at most 1,048,576 bytes, got 1,048,577",
    ),
    "bomb by count": (lambda files: too_many(), "must have at most 20,000 files"),
    "bomb by count, with a false count": (
        lambda files: too_many()[:-14] + b"\1\0\1\0" + too_many()[-10:],
        "must have at most 20,000 files",
    ),
    "bomb in the inventory": (inventory_is(BOMB * 7), f"{INVENTORY}: compressed too well: "),
    "bomb that tells a small size": (changed(24, "<L", 9), "damaged, or not a zip: Bad CRC-32"),
    "overlapping": (changed(42, "<L", 0), "damaged, or not a zip: "),  # in words of zipfile's
    "offset beyond the end": (changed(42, "<L", 1 << 30), "or not a zip"),
    "encrypted": (changed(8, "<H", 1), f"{LESSON}: encrypted"),
    "strongly encrypted": (changed(8, "<H", 0x40), f"{LESSON}: encrypted"),
    "patch": (changed(8, "<H", 0x20), "damaged, or not a zip: compressed patched data"),
    "bzip2": (lambda files: packed(files, how=zipfile.ZIP_BZIP2), f"{INVENTORY}: unsupported"),
    "lzma": (lambda files: packed(files, how=zipfile.ZIP_LZMA), f"{INVENTORY}: unsupported"),
    "unknown compression": (changed(10, "<H", 77), f"{LESSON}: unsupported"),
    "newer zip": (changed(6, "<H", 99), "damaged, or not a zip: zip file version 9.9"),
    "wrong crc": (changed(16, "<L", 12345), "damaged, or not a zip: Bad CRC-32 for file"),
    "twice": (
        lambda files: zipped([*_head(files), *files.items(), (LESSON.replace("d", "D"), b"")]),
        "basics/Double.yaml: duplicate of basics/double.yaml",
    ),
    "twice, to the letter": (
        lambda files: packed({}, ("a.md", b"1"), ("b.md", b"2")).replace(b"b.md", b"a.md"),
        "a.md: duplicate of a.md",
    ),
    "twice, by accents": (
        lambda files: packed(files, ("caf\xe9.md", b""), ("cafe\u0301.md", b"")),
        "duplicate of café.md",
    ),
    "a second inventory": (called("MANIFEST.JSON"), "MANIFEST.JSON: duplicate of"),
    "file and folder": (called("basics"), "basics: a file and a directory with one name"),
    "folder and file": (called(f"{LESSON}/x.md"), f"{LESSON}/x.md: a file and a directory"),
    "wrong checksum": (altered(LESSON), f"{LESSON}: checksum does not match"),
    "wrong checksum of the manifest": (altered("pack.yaml"), "pack.yaml: checksum does not match"),
    "missing": (
        lambda files: listing(files, **{"basics/gone.yaml": "0" * 64}),
        f"basics/gone.yaml: listed in {INVENTORY} but missing",
    ),
    "extra": (
        lambda files: zipped([*_head(files), *files.items(), ("basics/more.yaml", b"")]),
        f"basics/more.yaml: not listed in {INVENTORY}",
    ),
    "no inventory": (lambda files: zipped(files.items()), f"{INVENTORY} is missing"),
    "empty inventory": (inventory_is(b""), f"{INVENTORY}: "),
    "inventory that is no mapping": (inventory_is(b"[]"), f"{INVENTORY}: Expected `object`"),
    "inventory without files": (
        inventory_is(b'{"format": 1, "id": "mini", "title": ""}'),
        f"{INVENTORY}: Object missing required field `files`",
    ),
    "inventory of a strange id": (
        inventory_is(b'{"format": 1, "id": "../mini", "title": "", "files": {}}'),
        f"{INVENTORY}: Expected `str` matching regex",
    ),
    "deep inventory": (inventory_is(b"[" * 100_000), f"{INVENTORY}: "),
    "inventory that is no text": (inventory_is(b'{"format": "\xff"}'), f"{INVENTORY}: "),
    "newer format": (
        inventory_is(b'{"format": 2, "everything": "else"}'),
        "format 2 needs a newer jaxtutor",
    ),
    "empty": (lambda files: b"", "truncated, or not a zip built by jaxtutor"),
    "an empty zip": (lambda files: zipped([]), "not a zip built by jaxtutor"),
    "no zip": (lambda files: b"id: mini\n" * 99, "not a zip built by jaxtutor"),
    "something before it": (with_end(lambda data: b"#!/bin/sh\n" + data), "not a zip built"),
    "something after it": (with_end(lambda data: data + b"more"), "truncated, or"),
    "a comment": (with_end(lambda data: data[:-2] + b"\4\0more"), "truncated, or"),
    "truncated at the end": (with_end(lambda data: data[:-1]), "truncated, or"),
    "truncated in the middle": (with_end(lambda data: data[: len(data) // 2]), "truncated, or"),
    "the middle is missing": (with_end(lambda data: data[:300] + data[600:]), "or not a zip"),
    "for large files": (
        with_end(lambda data: data[:-22] + b"PK\x06\x07" + bytes(16) + data[-22:]),
        "must have at most 20,000 files",
    ),
    "of another pack": (
        lambda files: write_archive(
            Inventory(id="other", title="", files=checksums(files)), files
        ),
        f"{INVENTORY}: its id 'other' must be that of pack.yaml, 'mini'",
    ),
    "a broken lesson": (
        lambda files: packed({**files, LESSON: files[LESSON].replace(b"hints:", b"hnits:")}),
        f"bad.zip/{LESSON}:16:1: unknown key 'hnits'; did you mean 'hints'?",
    ),
    "no pack": (lambda files: packed({"README.md": b""}), "bad.zip/pack.yaml:1:1: cannot be read"),
}  # fmt: skip


def _head(files: Files) -> list[tuple[str, bytes]]:
    return [(INVENTORY, inventory_of(files).to_json())]


def everything_below(folder: Path) -> set[str]:
    paths = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return {path for path in paths if not path.startswith("home/logs")}


@for_each("attack", ATTACKS)
def test_an_archive_not_built_by_jaxtutor_is_rejected_and_leaves_nothing(
    attack: str, files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    make, words = ATTACKS[attack]
    monkeypatch.setenv("JAXTUTOR_HOME", str(home := make_home(tmp_path)))
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "bad.zip").write_bytes(make(files))
    (home / "data" / "packs").mkdir(parents=True)
    monkeypatch.chdir(folder)
    before = everything_below(tmp_path)
    assert main(["pack", "install", "bad.zip"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert "bad.zip" in said.err and "othing was installed" in said.err
    assert everything_below(tmp_path) == before


def test_the_archives_of_the_corpus_are_valid_before_their_changes(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, data in enumerate([packed(files), packed(files, ("README.md", b"x"))]):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(data)
        assert main(["pack", "install", str(path)]) == 0
    assert "Installed mini" in capsys.readouterr().out


def test_the_total_size_is_limited(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TOTAL", 1000)
    with pytest.raises(BadArchive, match="must unpack to at most"):
        unpack(packed(files), "x.zip")


def test_a_large_file_is_rejected_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    with path.open("wb") as file:
        file.truncate(archive.MAX_ARCHIVE + 1)
    with pytest.raises(BadArchive, match=r"large\.zip: must be at most 64 MiB"):
        read_archive(path)


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    for path in (tmp_path / "pipe.zip", Path("/dev/zero")):
        with pytest.raises(BadArchive, match="not a regular file"):
            read_archive(path)


@given(data=st.data())
def test_a_damaged_archive_is_rejected_or_has_its_old_contents(good: bytes, data: st.DataObject):
    start = data.draw(st.integers(0, len(good) - 1))
    length = data.draw(st.integers(0, 8))
    damaged = good[:start] + data.draw(st.binary(max_size=8)) + good[start + length :]
    try:
        found = unpack(damaged, "x.zip")
    except BadArchive:
        return
    assert found == unpack(good, "x.zip")


def test_a_truncated_archive_is_rejected(good: bytes) -> None:
    for length in range(0, len(good), 7):
        with pytest.raises(BadArchive):
            unpack(good[:length], "x.zip")
