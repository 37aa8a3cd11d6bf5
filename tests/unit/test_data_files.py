"""The data files of packs: what they give, and that damaged and hostile ones are refused with the
line or the array, before they take memory or run anything."""

import csv
import io
import itertools
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.cases import for_each
from tutor.inputs import data_files
from tutor.inputs.data_files import MAX_COLUMNS, MAX_ROWS, MAX_UNPACKED, BadData, load, read
from tutor.inputs.datasets import DataFile

FLOWERS = DataFile(file="flowers.csv", x=("petal length", "petal width"), y="species")
SPIRALS = DataFile(file="spirals.npz", x="points", y="arms")
CSV = """petal length,petal width,species,id
1.4,0.2,setosa,1
4.7,1.4,versicolor,2
6,2.5,virginica,3
1.3,2e-1,setosa,4
"""


def of_csv(text: str | bytes, **changes: Any) -> tuple[Any, Any]:
    data = text.encode() if isinstance(text, str) else text
    return read("data/flowers.csv", data, replace(FLOWERS, **changes))


def npz(*, compressed: bool = True, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, **arrays)
    return buffer.getvalue()


def of_npz(data: bytes, **changes: Any) -> tuple[Any, Any]:
    return read("data/spirals.npz", data, replace(SPIRALS, **changes))


def refused(data: str | bytes, **changes: Any) -> str:
    """What is said about a CSV file."""
    with pytest.raises(BadData) as error:
        of_csv(data, **changes)
    return str(error.value)


def refused_npz(data: bytes, **changes: Any) -> str:
    with pytest.raises(BadData) as error:
        of_npz(data, **changes)
    return str(error.value)


# --- CSV -------------------------------------------------------------------------------------


def test_columns_become_features_and_words_become_classes_in_sorted_order():
    x, y = of_csv(CSV)
    assert (x.dtype, y.dtype) == (np.float32, np.int32)
    assert x.tolist() == np.float32([[1.4, 0.2], [4.7, 1.4], [6, 2.5], [1.3, 0.2]]).tolist()
    assert y.tolist() == [0, 1, 2, 0]


def test_one_column_becomes_a_vector_and_a_list_of_one_a_matrix():
    assert of_csv(CSV, x="petal width")[0].shape == (4,)
    assert of_csv(CSV, x=("petal width",))[0].shape == (4, 1)


@pytest.mark.parametrize(
    ("labels", "dtype", "expected"),
    [
        (["1", "0", "2", "0"], np.int32, [1, 0, 2, 0]),
        (["1.0", "0", "2", "0"], np.float32, [1, 0, 2, 0]),
        (["-1.5", "1e3", "2.", "+.5"], np.float32, [-1.5, 1000, 2, 0.5]),
        (["b", "a", "é", "b"], np.int32, [1, 0, 2, 1]),
    ],
)
def test_integers_and_words_are_classes_and_decimals_are_targets(labels, dtype, expected):
    text = "a,label\n" + "".join(f"0,{label}\n" for label in labels)
    _, y = of_csv(text, x="a", y="label")
    assert (y.dtype, y.tolist()) == (dtype, expected)


@for_each(
    "text",
    [
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\r"),
        CSV.rstrip("\n"),
        CSV.replace("\n", "\n\n") + "\n  \n",
        CSV.replace(",", " , "),
        CSV.replace("setosa", '"setosa"').replace("1.4,", '"1.4",'),
    ],
)
def test_the_same_table_may_be_written_in_several_ways(text: str):
    x, y = of_csv(text)
    right_x, right_y = of_csv(CSV)
    assert (x == right_x).all() and (y == right_y).all()


def test_features_are_standardised_column_by_column():
    x, _ = of_csv("a,b,y\n1,7,p\n2,7,q\n6,7,p\n", x=("a", "b"), y="y", standardise=True)
    assert x.dtype == np.float32
    assert x.mean(axis=0) == pytest.approx([0, 0], abs=1e-6)
    assert x.std(axis=0) == pytest.approx([1, 0], abs=1e-6)
    far, _ = of_csv("a,y\n1600000001,p\n1600000002,q\n", x=("a",), y="y", standardise=True)
    assert far.ravel().tolist() == [-1, 1]  # float32 alone would give 0


@for_each(
    ("text", "said"),
    [
        ("", "data/flowers.csv: is empty; write a row with the names"),
        ("\n\n", "data/flowers.csv: is empty"),
        (CSV.splitlines()[0], "line 1: no row follows the header; add the data"),
        (CSV.replace("4.7", "4,7"), "line 3: 5 cells, where the header has 4; quote cells"),
        (CSV.replace(",2\n", "\n"), "line 3: 3 cells, where the header has 4"),
        (CSV.replace("2.5", "n/a"), "line 4: 'petal width' must be a number, got 'n/a'; correct"),
        (CSV.replace("2.5", ""), "line 4: 'petal width' must be a number, got an empty cell"),
        (CSV.replace("2.5", "nan"), "line 4: 'petal width' must be a number, got 'nan'"),
        (CSV.replace("2.5", "1_0"), "line 4: 'petal width' must be a number, got '1_0'"),
        (CSV.replace("2.5", "٣"), "line 4: 'petal width' must be a number, got '٣'"),
        (CSV.replace("2.5", "1e39"), "line 4: 'petal width' is too large for float32: 1e+39"),
        (CSV.replace("2.5", "1e999"), "line 4: 'petal width' is too large for float32: inf"),
        (CSV.replace("virginica", ""), "line 4: 'species' is empty; write its class"),
        (CSV.replace("virginica", "3"), "line 4: 'species' holds words, and here a number: '3'"),
        (
            CSV.replace("petal width", "width", 1),
            "line 1: there is no column 'petal width'; did you mean 'petal length'?",
        ),
        (CSV.replace(",id", ",species"), "line 1: 2 columns are called 'species'; rename one"),
        (CSV.replace("virginica", '"virginica'), "line 5: not CSV: unexpected end of data"),
        (CSV.replace("virginica", '"a"b'), "line 4: not CSV: ',' expected after '\"'"),
        (CSV.encode().replace(b"6", b"\xff"), "line 4: not UTF-8: byte 0xff; save the file as UT"),
        (CSV.replace("2.5", "\x1b[31m"), "line 4: 'petal width' must be a number, got '\\x1b[31m'"),
        (CSV.replace("petal length", "\x1b[31m"), "line 1: there is no column 'petal length'"),
        (CSV.replace(",", ";"), "line 1: there is no column 'petal length'"),
        ("a" * 150_000 + CSV, "line 1: not CSV: field larger than field limit (131072)"),
        ("a" * 300 + CSV, "line 1: a column's name must have at most 200 characters"),
        (",".join(map(str, range(MAX_COLUMNS + 1))), "line 1: must have at most 1,000 columns"),
    ],
)  # fmt: skip
def test_a_damaged_table_is_refused_with_its_line_and_a_remedy(text: str | bytes, said: str):
    message = refused(text)
    assert message.startswith("data/flowers.csv")
    assert said in message
    assert "; " in message and message.isprintable()


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["1", "2", "3"], "data/flowers.csv, 'y': integers must be the classes 0, 1, … without"),
        (["0", "2", "2"], "got 0 to 2; number the classes so, or write targets as decimals"),
        (["-1", "0", "1"], "got -1 to 1"),
        (["0.5", "1e39", "1"], "line 3: 'y' is too large for float32"),
    ],
)
def test_labels_that_are_neither_classes_nor_targets_are_refused(labels: list[str], said: str):
    text = "a,y\n" + "".join(f"1,{label}\n" for label in labels)
    assert said in refused(text, x="a", y="y")


def test_there_may_be_only_so_many_rows(monkeypatch: pytest.MonkeyPatch):
    text = "a,y\n" + "1,0\n" * (MAX_ROWS + 1)
    said = refused(text, x="a", y="y")
    assert said.startswith(f"data/flowers.csv, line {MAX_ROWS + 2}: must have at most 100,000 rows")
    assert len(of_csv(text[:-4], x="a", y="y")[0]) == MAX_ROWS


# csv.writer does not quote a carriage return.
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=8)
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[float]], list[str]]:
    names = draw(st.lists(CELLS.map(str.strip).filter(bool), min_size=2, max_size=5, unique=True))
    rows = draw(
        st.lists(
            st.lists(NUMBERS, min_size=len(names) - 1, max_size=len(names) - 1),
            min_size=1,
            max_size=6,
        )
    )
    word = CELLS.map(str.strip).filter(lambda w: w and not data_files._NUMBER.fullmatch(w))
    labels = draw(st.lists(word, min_size=len(rows), max_size=len(rows)))
    return names, rows, labels


@given(
    table=tables(),
    ending=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_the_csv_module_writes_is_read_back(
    table: tuple[list[str], list[list[float]], list[str]], ending: str, quoting: Any
):
    names, rows, labels = table
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator=ending, quoting=quoting)
    writer.writerow(names)
    writer.writerows([*map(repr, row), label] for row, label in zip(rows, labels, strict=True))
    x, y = of_csv(buffer.getvalue(), x=tuple(names[:-1]), y=names[-1])
    assert x.dtype == np.float32
    assert x.tolist() == np.array(rows, np.float32).tolist()
    order = sorted(set(labels))
    assert y.tolist() == [order.index(label) for label in labels]


ALPHABET = list('ab01.,;"\n\r\t -+eéü\x00\x1b\ufeff')


@settings(max_examples=400)
@given(st.one_of(st.binary(max_size=80), st.text(ALPHABET, max_size=60).map(str.encode)))
@example(b'a,b\n1,"\n2"\n')
def test_any_bytes_are_read_or_refused(data: bytes):
    for changes in ({"x": "a", "y": "b"}, {"x": ("a", "b"), "y": "a", "standardise": True}):
        try:
            x, y = of_csv(data, **changes)
        except BadData as error:
            assert str(error).startswith("data/flowers.csv")  # noqa: PT017
            assert str(error).isprintable()  # noqa: PT017
        else:
            assert x.dtype == np.float32 and np.isfinite(x).all()
            assert y.dtype in (np.int32, np.float32) and y.shape == (len(x),)


# --- npz -------------------------------------------------------------------------------------

POINTS = np.arange(24, dtype=np.float64).reshape(4, 2, 3)
ARMS = np.array([0, 1, 1, 0])


@pytest.mark.parametrize("compressed", [True, False])
def test_arrays_become_features_and_labels(compressed: bool):
    x, y = of_npz(npz(points=POINTS, arms=ARMS, other=np.zeros(9), compressed=compressed))
    assert (x.dtype, x.tolist()) == (np.float32, POINTS.tolist())
    assert (y.dtype, y.tolist()) == (np.int32, [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("points", "arms", "expected"),
    [
        (np.asfortranarray(POINTS[:, 0]), ARMS.astype(">i8"), [0, 1, 1, 0]),
        (POINTS.astype(np.float16), ARMS.astype(bool), [0, 1, 1, 0]),
        (POINTS.astype(np.uint8), np.array(["b", "a", "c", "b"]), [1, 0, 2, 1]),
        (POINTS[:, 0, 0] > 5, np.array([0.5, 1, 2, 1]), [0.5, 1, 2, 1]),
    ],
)
def test_arrays_of_any_real_dtype_and_order_are_read(points: Any, arms: Any, expected: Any):
    x, y = of_npz(npz(points=points, arms=arms))
    assert x.tolist() == points.astype(np.float32).tolist()
    assert y.tolist() == expected


class Trap:
    """Runs something when it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("sprung"),)


def member(header: bytes, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An archive whose array `points` has this header."""
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(header))
    buffer = io.BytesIO(npz(arms=ARMS))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("points.npy", b"\x93NUMPY" + version + length + header + body)
    return buffer.getvalue()


def header(shape: str, descr: str = "'<f8'") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n".encode()


def test_pickled_objects_are_refused_and_not_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    objects = np.array([Trap(), Trap(), 1, 2], dtype=object)
    said = refused_npz(npz(points=objects, arms=ARMS))
    assert said.startswith("data/spirals.npz, 'points': must hold numbers or words, got object")
    assert "damaged" in refused_npz(pickle.dumps(objects))
    assert not Path("sprung").exists()


@for_each(
    ("data", "said"),
    [
        (b"", "not an .npz archive, or damaged"),
        (b"PK\x03\x04" + bytes(60), "not an .npz archive, or damaged"),
        (npz(points=POINTS, arms=ARMS)[:-30], "not an .npz archive, or damaged"),
        (npz(points=POINTS), "there is no array 'arms'; available: points"),
        (npz(point=POINTS, arms=ARMS), "there is no array 'points'; did you mean 'point'?"),
        (npz(points=POINTS * 1j, arms=ARMS), "'points': must hold numbers, got complex128"),
        (npz(points=np.array(["a"] * 4), arms=ARMS), "'points': must hold numbers, got <U1"),
        (npz(points=POINTS, arms=ARMS * 1j), "'arms': must hold integers, decimals or words"),
        (npz(points=POINTS[:3], arms=ARMS), "'points' has 3 rows, 'arms' has 4; save one label"),
        (npz(points=POINTS, arms=ARMS[:, None]), "'arms': must have the shape (n,), got (4, 1)"),
        (npz(points=np.float32(1), arms=ARMS), "'points': must have a row for each example"),
        (npz(points=POINTS[:0], arms=ARMS[:0]), "'points': must have a row for each example"),
        (npz(points=POINTS, arms=ARMS + 1), "'arms': integers must be the classes 0, 1, … without"),
        (npz(points=POINTS, arms=ARMS * np.nan), "'arms': row 0 holds NaN, infinity or a number"),
        (npz(points=POINTS * 1e300, arms=ARMS), "'points': row 0 holds NaN, infinity or a number"),
        (npz(points=np.zeros(4, "i4,f4"), arms=ARMS), "'points': must hold numbers or words, got"),
        (npz(points=np.zeros(4, "V3"), arms=ARMS), "'points': must hold numbers"),
        (npz(points=np.zeros((1, 4, 2)), arms=np.zeros(1, int)), ""),
        (npz(points=np.zeros(MAX_ROWS + 1), arms=ARMS), "'points': must have at most 100,000 rows"),
        (member(header("(4, 2)")), "'points': is not as long as its header says"),
        (member(header("(4, 2)"), bytes(65)), "'points': is not as long as its header says"),
        (member(header(f"({10**9},)")), "'points': must have at most 32 MiB, got 8,000,000,000"),
        (member(header(f"({10**30}, 0)")), "not an .npz archive, or damaged"),
        (member(header("(-1, -4)"), bytes(32)), "'points': must have at most 32 MiB"),
        (member(header("(" + "1," * 40 + ")"), bytes(8)), "'points': must have at most 32 MiB"),
        (member(header("(1,)", "'<U500000000'")), "'points': must have at most 32 MiB"),
        (member(header("(1,)", "'|O'")), "'points': must hold numbers or words, got object"),
        (member(b"(" * 9000), "not an .npz archive, or damaged"),
        (member(b"{'descr': print()}"), "not an .npz archive, or damaged"),
        (member(header("(1,)" + " " * 20_000)), "not an .npz archive, or damaged"),
        (member(b"", version=b"\x02\x00"), "not an .npz archive, or damaged"),
        (member(header("(4,)"), bytes(32), version=b"\x09\x00"), "an array of format (9, 0)"),
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_a_damaged_or_hostile_archive_is_refused(data: bytes, said: str):
    if not said:
        assert of_npz(data)[0].shape == (1, 4, 2)
        return
    message = refused_npz(data)
    assert message.startswith("data/spirals.npz")
    assert said in message
    assert message.isprintable()


@pytest.mark.parametrize("shape", [f"({MAX_UNPACKED // 8 + 1},)", "(4,)"], ids=["honest", "lying"])
def test_a_bomb_is_not_unpacked(shape: str):
    data = member(header(shape), bytes(2 * MAX_UNPACKED))
    assert len(data) < 1 << 20
    refused_npz(data)  # what is imported on first use
    tracemalloc.start()
    try:
        said = refused_npz(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "'points'" in said
    assert peak < 2 << 20


def test_a_member_that_is_no_plain_file_is_refused():
    buffer = io.BytesIO(npz(arms=ARMS))
    with zipfile.ZipFile(buffer, "a") as archive:
        info = zipfile.ZipInfo("points.npy")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert "'points': a symbolic link" in refused_npz(buffer.getvalue())
    buffer = io.BytesIO(npz(arms=ARMS))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("points.npy", b"x")
    assert "'points': unsupported compression method" in refused_npz(buffer.getvalue())


def test_a_list_of_arrays_is_refused():
    said = refused_npz(npz(points=POINTS, arms=ARMS), x=("points", "arms"))
    assert "x must name one array (n, …), not several; write x: points" in said


WHOLE = npz(points=POINTS, arms=ARMS)


@settings(max_examples=400)
@given(st.data())
def test_any_change_of_an_archive_is_read_or_refused(data: st.DataObject):
    changed = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(WHOLE) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(WHOLE)) | st.just(len(WHOLE)))
    try:
        x, y = of_npz(bytes(changed[:cut]))
    except BadData as error:
        assert str(error).startswith("data/spirals.npz")  # noqa: PT017
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert np.isfinite(x).all() and y.shape == (len(x),)


# --- what a lesson refers to -----------------------------------------------------------------


def test_only_the_file_that_the_pack_reader_has_seen_is_used(tmp_path: Path):
    import hashlib

    path = tmp_path / "flowers.csv"
    path.write_text(CSV)
    digest = hashlib.sha256(CSV.encode()).hexdigest()
    found = replace(FLOWERS, path=str(path), sha256=digest)
    x, _ = load(found)
    assert x.shape == (4, 2)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1  # it is shared
    path.write_text(CSV.replace("1.4,0.2", "9.9,0.2"))
    assert (load(found)[0] == x).all()  # kept
    load.cache_clear()
    with pytest.raises(BadData, match=r"^data/flowers.csv: has changed since the lesson was read"):
        load(found)
    path.unlink()
    with pytest.raises(BadData, match=r"^data/flowers.csv: cannot be read: No such file"):
        load(found)


def test_the_repr_depends_on_the_contents_and_not_on_the_place():
    one = replace(FLOWERS, path="/a/flowers.csv", sha256="1")
    assert repr(one) == repr(replace(one, path="/b/flowers.csv", about="Fisher"))
    for changes in ({"sha256": "2"}, {"x": "id"}, {"y": "id"}, {"standardise": True}):
        assert repr(one) != repr(replace(one, **changes))
