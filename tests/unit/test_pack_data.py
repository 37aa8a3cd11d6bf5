"""Data files in packs: where they may lie, which names they may have, and that they are packed,
proved and graded with the lesson."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from rich.console import Console

from tutor.authoring.lint import lint
from tutor.authoring.proofs import fingerprint
from tutor.check import Case
from tutor.checks.learns import Learns
from tutor.checks.train import Train
from tutor.engine.plan import plan
from tutor.grading.batch import lesson_hash
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson
from tutor.pack import BadPack, installed, load_pack
from tutor.pack.archive import read_archive, write_archive
from tutor.pack.contents import LEFT_OUT, gather, strays
from tutor.tree import Leaf, brief
from tutor.ui.screens.preview_screen import hidden, stamps

FLOWERS = "length,width,species\n" + "".join(
    f"{number},{number % 7},{'abc'[number % 3]}\n" for number in range(60)
)
DATA = {"flowers": {"file": "flowers.csv", "x": ["length", "width"], "y": "species"}}
LESSON: dict[str, Any] = {
    "id": "train",
    "title": "Train",
    "track": "basics",
    "minutes": 5,
    "brief": "Write `train(x, y)`.",
    "torch": "import torch\n\ndef train(x, y):\n    return [x.sum(), x.sum()]\n",
    "starter": "def train(x, y):\n    raise NotImplementedError\n\ndef scores(p, x):\n    ...\n",
    "hints": ["Sum."],
    "sizes": {"n": [7, 5]},
    "data": DATA,
    "inputs": {"batch": "flowers(n)"},
    "checks": [
        {"name": "value", "value": "train(batch['x'], batch['y'])"},
        {"name": "learns", "learns": "train(x, y)", "data": "flowers"},
        {
            "name": "train",
            "train": "train(x, y)",
            "predict": "scores(trained, x)",
            "data": "flowers",
            "accuracy": 0.5,
        },
    ],
}

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Return a function that writes a pack with `LESSON` and changes, and a CSV file."""
    monkeypatch.chdir(tmp_path)

    def write(folder: str = "pack", /, **changes: Any) -> Path:
        root = Path(folder)
        for name in ("basics", "data", "solutions/basics"):
            (root / name).mkdir(parents=True, exist_ok=True)
        tracks = [{"id": "basics", "title": "Basics", "lessons": ["train"]}]
        manifest = {"format": 1, "id": "flora", "title": "Flora", "tracks": tracks}
        (root / "pack.yaml").write_text(yaml.safe_dump(manifest))
        fields = json.loads(json.dumps(LESSON | changes))  # shares nothing, so needs no anchors
        text = yaml.safe_dump(fields, sort_keys=False)
        (root / "basics/train.yaml").write_text(text)
        (root / "solutions/basics/train.py").write_text("def train(x, y): ...\n")
        (root / "data/flowers.csv").write_text(FLOWERS)
        return root

    return write


def lesson_of(root: Path) -> Lesson:
    return load_pack(root).lesson("train")


def problems(root: Path) -> list[str]:
    with pytest.raises(BadPack) as error:
        load_pack(root)
    return list(map(str, error.value.problems))


def cases(lesson: Lesson, seed: int = 1) -> dict[str, Case]:
    return {check.title: found[0] for check, found in plan(lesson, seed)}


def rows(tree: Any, labels: Any) -> set[tuple[float, ...]]:
    assert isinstance(tree, Leaf)
    return {(*map(float, row), int(label)) for row, label in zip(tree.values, labels, strict=True)}


# --- drawing ---------------------------------------------------------------------------------


def test_a_data_set_is_drawn_and_split_by_the_seed(written: Written):
    found = cases(lesson_of(written()))
    assert brief(found["value"].inputs["batch"]) in (
        "{'x': float32[7, 2], 'y': int32[7]}",
        "{'x': float32[5, 2], 'y': int32[5]}",
    )
    curve = found["learns"].inputs  # nothing is predicted, so all rows are seen
    assert (brief(curve["x"]), brief(curve["y"])) == ("float32[60, 2]", "int32[60]")
    train = found["train"]
    assert brief(train.inputs["x"]) == "float32[48, 2]"  # a fifth is held out
    assert isinstance(train.inputs["y"], Leaf)
    seen = rows(train.inputs["x"], train.inputs["y"].values)
    held = rows(train.inputs["held out"], train.secret.labels)
    assert seen | held == {(n, n % 7, n % 3) for n in range(60)}
    assert not seen & held
    assert "y" not in brief(train.inputs["held out"])
    other = cases(lesson_of(written()), seed=2)["train"]
    assert rows(other.inputs["held out"], other.secret.labels) != held


def test_labels_of_held_out_rows_are_in_no_input(written: Written):
    data = {"flowers": {"file": "flowers.csv", "x": ["width"], "y": "length"}}
    text = "width,length\n" + "".join(f"{n},{n}.5\n" for n in range(60))
    check = LESSON["checks"][2] | {"error": 0.1}
    del check["accuracy"]
    root = written(data=data, checks=[check], inputs={})
    (root / "data/flowers.csv").write_text(text)
    case = cases(lesson_of(root))["train"]
    secret = set(case.secret.labels.tolist())
    assert len(secret) == 12 and case.secret.classes == 0
    for name, tree in case.inputs.items():
        assert isinstance(tree, Leaf)
        assert not secret & set(tree.values.ravel().tolist()), name


def test_arrays_keep_their_axes_and_several_data_sets_can_be_used(written: Written):
    data = DATA | {
        "pictures": {"file": "images.npz", "x": "pixels", "y": "kinds"},
        "same": {"file": "flowers.csv", "x": "length", "y": "width", "standardise": True},
    }
    root = written(data=data, inputs={"batch": {"a": "pictures(2, 3)", "b": "same(4)"}})
    np.savez(root / "data/images.npz", pixels=np.zeros((9, 4, 5, 1)), kinds=np.arange(9) % 2)
    found = cases(lesson_of(root))["value"].inputs["batch"]
    assert brief(found) == (
        "{'a': {'x': float32[2, 3, 4, 5, 1], 'y': int32[2, 3]}, "
        "'b': {'x': float32[4], 'y': int32[4]}}"
    )


def test_there_must_be_enough_rows(written: Written):
    with pytest.raises(DrawError, match="there are 60 flowers, not 61"):
        plan(lesson_of(written(inputs={"batch": "flowers(61)"})), 0)
    check = LESSON["checks"][2] | {"held_out": 60}
    with pytest.raises(DrawError, match="held_out: there are only 60 flowers"):
        plan(lesson_of(written(checks=[check], inputs={})), 0)


@pytest.mark.parametrize("text", ["blobs(90, 2, classes=3)", "moons(90)", "plane(90, 4)"])
def test_a_generated_data_set_is_drawn_from_the_seed(text: str):
    measure = {"error": 0.5} if text.startswith("plane") else {"accuracy": 0.5}
    train = Train(train="t(x, y)", predict="p(trained, x)", data=text, **measure)
    inputs, answers = train.extra_inputs((1,))
    again, _ = train.extra_inputs((1,))
    other, _ = train.extra_inputs((2,))
    x, y, held = (inputs[name] for name in ("x", "y", "held out"))
    assert isinstance(x, Leaf) and isinstance(y, Leaf) and isinstance(held, Leaf)
    assert (len(x.values), len(y.values), len(held.values), len(answers.labels)) == (72, 72, 18, 18)
    assert (x.values == again["x"].values).all()  # type: ignore[union-attr]
    assert (x.values != other["x"].values).any()  # type: ignore[union-attr]


def test_accuracy_is_for_classes_and_error_for_targets():
    wrong = {"accuracy": ("plane(90, 4)", "use `error`"), "error": ("moons(90)", "use `accuracy`")}
    for key, (data, words) in wrong.items():
        check = Learns(learns="t(x)", predict="p(x)", data=data, **{key: 0.5})
        with pytest.raises(DrawError, match=words):
            check.extra_inputs((1,))


# --- loading ---------------------------------------------------------------------------------


def changed(**changes: Any) -> dict[str, Any]:
    return {"data": {"flowers": DATA["flowers"] | changes}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            changed(file="flower.csv"),
            "data/flower.csv: not in the pack; did you mean 'flowers.csv'?",
        ),
        (changed(file="../flowers.csv"), "file: must be a plain file name that ends in .csv"),
        (changed(file="/etc/passwd"), "file: must be a plain file name that ends in .csv"),
        (changed(file="a/b.csv"), "file: must be a plain file name that ends in .csv"),
        (changed(file="flowers.pkl"), "file: must be a plain file name that ends in .csv"),
        (changed(x=[]), "x: must be"),
        (changed(rows=3), "unknown key 'rows'; the keys are: file, x, y, standardise, about"),
        (
            {"data": {"flowers": "flowers.csv"}},
            "must be a mapping with keys of: file, x, y, standardise, about; got 'flowers.csv'",
        ),
        ({"data": DATA | {"digits": DATA["flowers"]}}, "'digits' is already the name of a draw"),
        ({"data": DATA | {"normal": DATA["flowers"]}}, "'normal' is already the name of a draw"),
        ({"data": DATA | {"n": DATA["flowers"]}}, "'n' is already the name of a size; rename"),
        ({"data": DATA | {"batch": DATA["flowers"]}}, "'batch' is already the name of an input"),
        ({"data": DATA | {"my-own": DATA["flowers"]}}, "'my-own' is not a Python identifier; use"),
        (
            changed(file="images.npz"),
            "x: must name one array of the archive, got a list; write x: length",
        ),
        ({"data": {}}, "no draw is called 'flowers'; there are normal"),
        (
            {"inputs": {"batch": "flower(3)"}},
            "no draw is called 'flower'; there are normal",
        ),
        ({"inputs": {"batch": "flowers()"}}, "flowers needs at least 1 arguments"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(written: Written, changes: Any, said: str):
    root = written(**changes)
    (root / "data/images.npz").write_bytes(b"")
    found = problems(root)
    assert any(said in one for one in found), found
    for one in found:
        file, line, column, _ = one.split(":", 3)
        assert file == "pack/basics/train.yaml"
        assert int(line) > 1 or int(column) > 1


TRAIN = {"train": "train(x, y)", "predict": "scores(trained, x)", "accuracy": 0.5}
LEARNS = {"learns": "train(x, y)", "data": "flowers"}


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (TRAIN | {"data": "flower"}, "data: no data set is called 'flower'; there are digits, flo"),
        (TRAIN | {"data": "blob(9, 2)"}, "no data set is called 'blob'"),
        (TRAIN | {"data": "normal(9, 2)"}, "no data set is called 'normal'"),
        (TRAIN | {"data": "blobs"}, "blobs needs arguments: blobs(n, d, classes=3"),
        (TRAIN | {"data": "blobs(9)"}, "blobs needs at least 2 arguments"),
        (TRAIN | {"data": "blobs(n, 2)"}, "data: must be numbers, got 'n': a data set has"),
        (TRAIN | {"data": "blobs(9, 2, kinds=3)"}, "blobs has no option 'kinds'"),
        (TRAIN | {"held_out": 9}, "held_out: must be an integer from 10 to 50000, got 9"),
        (TRAIN | {"accuracy": 1.0}, "accuracy: must be a number"),
        (TRAIN | {"error": 0.1}, "`accuracy` is for classes, `error` for decimal targets; keep"),
        (TRAIN | {"accuracy": None}, "nothing is asked of the predictions; add `accuracy: 0.9`"),
        (LEARNS | {"accuracy": 0.5}, "`accuracy` needs predictions; add `predict: …`"),
        (LEARNS | {"held_out": 20}, "`held_out` needs predictions"),
        (LEARNS | {"predict": "scores(trained, x)"}, "nothing is asked of the predictions"),
        (LEARNS | {"first": 1}, "first: must be an integer from 2 to 10000, got 1"),
        (LEARNS | {"below": "n * 2"}, "below: 'n' is not a number or `reference`; write a number"),
        (LEARNS | {"below": "len(x)"}, "below: expected a number"),
        (LEARNS | {"learns": "train(x, z)"}, "the starter does not define 'z'"),
        (LEARNS | {"expect": "train(x, trained)"}, "the PyTorch code does not define 'trained'"),
        (
            {"learns": "train(batch, batch)", "predict": "scores(batch, batch)", "error": 0.1},
            "`predict` needs examples; add `data: …`, such as `data: digits`",
        ),
        ({"learns": "train(x, y)"}, "the starter does not define 'x'"),
    ],
)  # fmt: skip
def test_checks_say_what_they_need(written: Written, check: dict[str, Any], said: str):
    check = {key: value for key, value in check.items() if value is not None}
    found = problems(written(checks=[{"value": "train(batch, batch)"}, check]))
    assert any(said in one for one in found), found


@pytest.mark.parametrize(
    "check",
    [
        TRAIN,
        TRAIN | {"data": " blobs( 600, 2, classes = 3 )", "held_out": 10},
        LEARNS | {"below": "reference * 1.1 + 0.01"},
        LEARNS | {"below": 0.3, "expect": "train(x, y)[0]"},
        LEARNS | {"predict": "scores(trained, x)", "error": 0.1},
        {"learns": "train(batch['x'], batch['y'])", "expect": "train(batch['x'], 0)"},
    ],
)
def test_what_they_may_say(written: Written, check: dict[str, Any]):
    assert len(lesson_of(written(checks=[check])).checks) == 1


def test_data_may_stand_after_what_uses_it(written: Written):
    fields = {key: value for key, value in LESSON.items() if key != "data"}
    root = written()
    text = yaml.safe_dump(fields | {"data": DATA}, sort_keys=False)
    (root / "basics/train.yaml").write_text(text)
    assert brief(cases(lesson_of(root))["value"].inputs["batch"]).startswith("{'x': float32")


def test_links_out_of_the_pack_are_refused(written: Written, tmp_path: Path):
    root = written()
    (root / "data/flowers.csv").rename("elsewhere.csv")
    (root / "data/flowers.csv").symlink_to(tmp_path / "elsewhere.csv")
    (one,) = problems(root)
    assert "data/flowers.csv: a symbolic link that points outside the pack; replace" in one
    (root / "data/flowers.csv").unlink()
    (root / "data").rmdir()
    Path("folder").mkdir()
    Path("elsewhere.csv").rename("folder/flowers.csv")
    (root / "data").symlink_to(tmp_path / "folder")
    assert "a symbolic link that points outside the pack" in problems(root)[0]


def test_a_large_file_and_what_is_no_file_are_refused(written: Written):
    root = written()
    (root / "data/flowers.csv").write_bytes(bytes(2 << 20))
    (one,) = problems(root)
    assert "data/flowers.csv: the file must be at most 1,048,576 bytes, got 2,097,152" in one
    assert one.startswith("pack/basics/train.yaml:")
    (root / "data/flowers.csv").unlink()
    os.mkfifo(root / "data/flowers.csv")
    assert "data/flowers.csv: not a regular file" in problems(root)[0]


# --- lint ------------------------------------------------------------------------------------


def remarks(root: Path, *codes: str) -> list[str]:
    found = lint(root)
    assert not found.problems
    return [str(one).partition(": ")[2] for one in found.remarks if one.code in codes]


def test_a_damaged_file_is_remarked_on_once_whatever_uses_it(written: Written):
    root = written()
    assert remarks(root, "cannot-be-drawn", "unused-data") == []
    (root / "data/flowers.csv").write_text(FLOWERS.replace("\n7,", "\nseven,"))
    (one,) = remarks(root, "cannot-be-drawn")
    assert one == (
        "cannot-be-drawn: data/flowers.csv, line 9: 'length' must be a number, got 'seven'; "
        "correct it, or leave the row out"
    )


def test_too_few_examples_and_unused_data_are_remarked_on(written: Written):
    check = LESSON["checks"][2] | {"held_out": 60}
    (one,) = remarks(written(checks=[check]), "cannot-be-drawn", "unused-data")
    assert one == (
        "cannot-be-drawn: the examples of 'train' cannot be drawn: held_out: there are only 60 "
        "flowers; change `data` or the check"
    )
    check = {"value": "train(batch, batch)"}
    (one,) = remarks(written(checks=[check], inputs={"batch": "normal(n)"}), "unused-data")
    assert one.startswith("unused-data: the data set 'flowers' is not used by any input or check")


def test_a_training_compares_with_pytorch(written: Written):
    found = remarks(written(checks=[LEARNS]), "no-comparison", "concluded-inside", "unused-data")
    assert found == []


def test_the_preview_shows_data_sets_and_notices_changed_files(written: Written):
    root = written()
    lesson = lesson_of(root)
    console = Console(file=io.StringIO(), width=100)
    console.print(*hidden(lesson, None))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "file: flowers.csv" in text and "x: [length, width]" in text and "sha256" not in text
    before = stamps(root, "train")
    (root / "data/flowers.csv").write_text(FLOWERS + "60,4,a\n")
    assert stamps(root, "train") != before


# --- packing, proofs and grading -------------------------------------------------------------


@pytest.mark.parametrize("purpose", LEFT_OUT)
def test_data_files_are_packed_for_every_purpose_and_installed(
    written: Written, purpose: Any, home: Path
):
    root = written()
    (root / "data/notes.csv").write_text("nobody's")
    pack = load_pack(root)
    assert strays(pack) == ["data/notes.csv"]
    archive = Path("flora.zip")
    archive.write_bytes(write_archive(*gather(pack, purpose)))
    inventory, files = read_archive(archive)
    assert files["data/flowers.csv"].decode() == FLOWERS
    assert "data/notes.csv" not in files
    there = installed.install(inventory, files, "flora.zip", "flora.zip").pack
    (root / "data/flowers.csv").unlink()
    lesson = load_pack("flora").lesson("train")
    assert lesson.data["flowers"].path.startswith(str(there.root.resolve()))
    assert cases(lesson)["train"].secret.classes == 3


def test_a_changed_file_changes_the_proof_and_what_grading_remembers(written: Written):
    def marks(root: Path) -> tuple[str, str]:
        pack = load_pack(root)
        return fingerprint(pack, "train"), lesson_hash(pack.lesson("train"))

    root = written()
    before = marks(root)
    assert marks(written("another")) == before  # wherever it lies
    (root / "data/flowers.csv").write_text(FLOWERS + "60,4,a\n")
    after = marks(root)
    assert after[0] != before[0] and after[1] != before[1]
    (root / "data/flowers.csv").write_text(FLOWERS.replace("\n", "\r\n"))
    assert marks(root)[0] == before[0]  # as Git may write it on Windows
