"""All problems of a broken pack are reported at once, with file, line and column."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tutor.checks import kinds
from tutor.manifest import FORMAT, Pack
from tutor.pack import BadPack, load_pack
from tutor.pack.lesson_reader import LessonReader
from tutor.pack.yaml_nodes import BadSource, Problem, parse

MANIFEST = """\
format: 1
id: mini
title: Mini
tracks:
  - id: basics
    title: Basics
    lessons: [double]
"""

LESSON = """\
id: double
title: Twice as much
track: basics
needs: []
minutes: 1
brief: Write double(x).
torch: |
  def double(x):
      return 2 * x
starter: |
  def double(x):
      raise NotImplementedError
hints: [Add it to itself.]
sizes: {B: [2, 3]}
inputs:
  x: normal(B, 4)
  rng: key()
checks:
  - name: value
    value: double(x)
  - vmap: double
    in_axes: 0
    args: [x]
    after: value
  - shape: double(x)
    is: "float32[B, 4]"
mistakes:
  - name: thrice
    code: |
      def double(x):
          return 3 * x
    fails: value
    says: largest difference
limits: {seconds: 4}
"""

FILES = {"pack.yaml": MANIFEST, "basics/double.yaml": LESSON}


def make_pack(root: Path, files: dict[str, str] | None = None) -> Path:
    """Write a valid pack of one lesson, or the given files."""
    for name, text in (FILES if files is None else files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root


def edited(old: str, new: str, file: str = "basics/double.yaml") -> dict[str, str]:
    """Return the files of the valid pack with one text replaced."""
    assert FILES[file].count(old) == 1, f"{old!r} is not in {file} exactly once"
    return {**FILES, file: FILES[file].replace(old, new)}


def lesson(lesson_id: str, *edits: tuple[str, str]) -> str:
    """Return the text of another lesson."""
    text = LESSON.replace("id: double", f"id: {lesson_id}")
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def problems(root: Path) -> list[Problem]:
    with pytest.raises(BadPack) as caught:
        load_pack(root)
    found = list(caught.value.problems)
    assert found == sorted(set(found))
    assert all(one.remedy or "must be" in one.message for one in found), found
    assert str(caught.value) == "\n".join(map(str, found))
    return found


def only(root: Path) -> Problem:
    found = problems(root)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("pack")


# --- valid packs ---------------------------------------------------------------------------


def test_the_valid_pack_loads(root: Path) -> None:
    pack = load_pack(make_pack(root))
    assert isinstance(pack, Pack)
    assert (pack.id, list(pack.lessons)) == ("mini", ["double"])
    found = pack.lesson("double")
    assert [check.title for check in found.checks] == ["value", "vmap: double", "shape: double(x)"]
    assert found.sizes == {"B": (2, 3)}
    assert found.limits.seconds == 4
    assert found.mistakes[0].applied_to("") == "def double(x):\n    return 3 * x\n"
    assert pack.next_after("double") is None


def test_a_pack_with_crlf_and_a_byte_order_mark_loads(root: Path) -> None:
    dos = {name: "\ufeff" + text.replace("\n", "\r\n") for name, text in FILES.items()}
    found = load_pack(make_pack(root, dos)).lesson("double")
    usual = load_pack(make_pack(Path("other"))).lesson("double")
    assert (found.torch, found.starter, found.checks, found.mistakes) == (
        usual.torch, usual.starter, usual.checks, usual.mistakes,
    )  # fmt: skip


def test_loading_a_pack_imports_no_framework(root: Path) -> None:
    make_pack(root)
    code = (
        "import sys; from tutor.pack import load_pack; load_pack('pack'); "
        "print({'jax', 'torch', 'numpy', 'flax', 'optax'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("set()", 0), done.stderr


def test_nothing_in_a_pack_is_executed(root: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    touch = f"open({str(mark)!r}, 'w')"
    text = lesson(
        "double",
        ("  def double(x):\n      return 2", f"  {touch}\n  def double(x):\n      return 2"),
        ("  def double(x):\n      raise", f"  {touch}\n  def double(x):\n      raise"),
        ("      def double(x):\n          return 3", f"      {touch}\n      x = 3 #"),
        ("value: double(x)\n", f"value: double({touch})\n"),
    )
    load_pack(make_pack(root, {**FILES, "basics/double.yaml": text}))
    assert not mark.exists()


# --- single problems -----------------------------------------------------------------------
# Only what tests/packs/broken/cases.yaml does not hold: its cases have the whole text.

IN_MANIFEST = [
    # Keys and types.
    (
        "title: Mini",
        "titel: Mini",
        ["1:1: 'title' is missing", "3:1: unknown key 'titel'; did you mean 'title'?"],
    ),
    ("format: 1", "format: one", ["1:9: format: must be an integer of at least 1, got 'one'"]),
    (
        "id: mini",
        'id: "mini\\n"',
        ["2:6: id: must be lower-case words joined by hyphens, such as vmap-basics, got 'mini\\n'"],
    ),
    (
        "title: Mini",
        "title: Mini\nversion: 1.10",
        ['4:10: version: must be letters and digits joined by ., + or -, such as "1.2", got 1.1'],
    ),
    (
        "title: Mini",
        "title: Mini\nversion: 1 0",
        ["4:10: version: must be letters and digits joined by ., + or -, such as"],
    ),
    (
        "id: mini",
        "id: [mini]",
        ["2:5: id: must be lower-case words joined by hyphens, such as vmap-basics, got a list"],
    ),
    (
        "id: mini",
        "id: 5",
        ["2:5: id: must be lower-case words joined by hyphens, such as vmap-basics, got 5"],
    ),
    (
        "    lessons: [double]",
        "    lessons: double",
        ["7:14: lessons: must be a non-empty list of strings, got 'double'"],
    ),
    (
        "    lessons: [double]",
        "    lessons: []",
        ["7:14: lessons: must be a non-empty list of strings, got none"],
    ),
    (
        "title: Mini",
        "title: Mini\nrequires: soon",
        ["4:11: requires: must be a version number, such as \"0.2\", got 'soon'"],
    ),
    (
        "title: Mini",
        "title: Mini\nrequires: 0.1",
        ['4:11: requires: must be a version number, such as "0.2", got 0.1'],
    ),
    # Maps and reviews.
    (
        "    lessons: [double]",
        "    lessons: [double]\n    map:\n      - {torch: x, jax: y, lesson: duoble}",
        ["9:36: lesson: unknown lesson 'duoble'; did you mean 'double'?"],
    ),
    (
        "    lessons: [double]",
        "    lessons: [double]\n    map:\n      - torch: |\n          x\n        jax: ''",
        [
            "9:16: torch: must be one line of 1 to 200 characters, without tabs, got 'x\\n'",
            "11:15: jax: must be one line of 1 to 200 characters, without tabs, got ''",
        ],
    ),
    (
        "    lessons: [double]",
        "    lessons: [double]\n    map: [x = 1, {jax: y}]",
        [
            "8:11: map: must be a mapping with keys of: torch, jax, lesson, note; got 'x = 1'",
            "8:18: 'torch' is missing: PyTorch code; add a line `torch: …`",
        ],
    ),
    (
        "    lessons: [double]",
        "    lessons: [double]\n    review: duoble",
        ["8:13: review: 'duoble' is not a lesson of this track; did you mean 'double'?"],
    ),
    # Lessons.
    (
        "[double]",
        "[double, triple]",
        ["7:23: lesson 'triple': the file basics/triple.yaml does not exist"],
    ),
    (
        "[double]",
        "[double, double]",
        ["7:23: duplicate lesson 'double', already listed as basics/double.yaml"],
    ),
    (
        "    lessons: [double]",
        "    lessons: [double]\n  - {id: more, title: More, lessons: [double]}",
        ["8:39: duplicate lesson 'double', already listed as basics/double.yaml"],
    ),
    (
        "    lessons: [double]",
        "    lessons: [double]\n  - {id: basics, title: B, lessons: [double]}",
        [
            "8:10: duplicate track 'basics'",
            "8:38: duplicate lesson 'double', already listed as basics/double.yaml",
        ],
    ),
    # Unsupported versions.
    (
        "format: 1",
        "requires: 99.1.2\nformat: 3\nfrom: the future",
        ["2:9: pack format 3 needs jaxtutor 99.1.2 or newer"],
    ),
    (
        "title: Mini",
        "title: Mini\nrequires: '99.1'",
        ["4:12: this pack needs jaxtutor 99.1 or newer; this is jaxtutor 0."],
    ),
    # Invalid YAML.
    (
        "title: Mini",
        "title: !!python/name:os.system x",
        ["3:8: tags are not supported: tag:yaml.org,2002:python/name:os.system"],
    ),
]

IN_LESSON = [
    # Keys and types of the lesson.
    ("minutes: 1", "minutes: 0", ["5:10: minutes: must be an integer from 1 to 240, got 0"]),
    ("minutes: 1", "minutes:", ["5:9: minutes: must be an integer from 1 to 240, got nothing"]),
    ("minutes: 1", "minutes: yes", ["5:10: minutes: must be an integer from 1 to 240, got 'yes'"]),
    (
        "title: Twice as much",
        "title: ''",
        ["2:9: title: must be a string of 1 to 300 characters, got ''"],
    ),
    (
        "title: Twice as much",
        "title: " + "x" * 301,
        ["2:8: title: must be a string of 1 to 300 characters, got 'xxxxxxxxxxxxxxxxxxxxxxxxxx"],
    ),
    ("sizes: {B: [2, 3]}", "sizes: {B: []}", ["14:12: sizes: 'B' has no values"]),
    (
        "sizes: {B: [2, 3]}",
        "sizes: [2, 3]",
        ["14:8: sizes: must be a mapping, got a list"],
    ),
    (
        "limits: {seconds: 4}",
        "limits: {seconds: 0}",
        ["34:19: seconds: must be a number above 0 and at most 600, got 0"],
    ),
    (
        "limits: {seconds: 4}",
        "limits: {memory_mb: 99999}",
        ["34:21: memory_mb: must be an integer from 512 to 16384, got 99999"],
    ),
    (
        "limits: {seconds: 4}",
        "limits: none",
        ["34:9: limits: must be a mapping with keys of: seconds, memory_mb, output_kb, cpu_sec"],
    ),
    (
        "id: double",
        "id: dubble",
        ["1:5: id: must be 'double', as in the file's path, got 'dubble'"],
    ),
    (
        "track: basics",
        "track: more",
        ["3:8: track: must be 'basics', as in the file's path, got 'more'"],
    ),
    (
        "needs: []",
        "needs: [dubble]",
        ["4:9: needs: unknown lesson 'dubble'"],
    ),
    ("needs: []", "needs: [double]", ["4:8: circular needs: double needs double"]),
    # Python inside the lesson.
    ("return 2 * x", "return 2 *", ["9:17: torch: invalid Python: invalid syntax"]),
    (
        "torch: |\n  def double(x):",
        "torch: |\n\n  def double(x:",
        ["9:13: torch: invalid Python: '(' was never closed"],
    ),
    (
        "raise NotImplementedError",
        "raise NotImplementedError)",
        ["12:32: starter: invalid Python: unmatched ')'"],
    ),
    ("return 3 * x", "retrun 3 * x", ["31:18: code: invalid Python: invalid syntax"]),
    (
        "sizes: {B",
        "harness: 'x = $'\nsizes: {B",
        ["14:15: harness: invalid Python: invalid syntax"],
    ),
    (
        "sizes: {B",
        "harness: global double\nsizes: {B",
        ["14:10: harness: invalid Python when appended to `torch`: name 'double' is assigned t"],
    ),
    # Inputs.
    ("x: normal(B, 4)", "x: 'integers(4)'", ["16:7: inputs: integers needs at least 2 arguments"]),
    (
        "x: normal(B, 4)",
        "x: normal(B % 2, 4)",
        ["16:13: inputs: expected a number, a size, or + - * / //"],
    ),
    ("x: normal(B, 4)", "x: normal(b, 4)", ["16:13: unknown size 'b'"]),
    (
        "x: normal(B, 4)",
        "x: [normal(Batch), 5]",
        ["16:22: inputs: must be a draw such as normal(7, 5), got 5"],
    ),
    (
        "x: normal(B, 4)",
        "x: normal(B, 4)\n  double: normal(3)",
        ["17:11: the input 'double' shadows the starter's 'double'"],
    ),
    (
        "x: normal(B, 4)",
        "x: normal(B, 4)\n  2x: normal(3)",
        ["17:3: inputs: '2x' is not a Python identifier"],
    ),
    (
        "  x: normal(B, 4)\n  rng: key()",
        "  - normal(B, 4)",
        ["16:3: inputs: must be a mapping, got a list"],
    ),
    # Checks.
    (
        "value: double(x)\n",
        "cheque: double(x)\n",
        ["19:5: this check has no kind"],
    ),
    (
        "value: double(x)\n",
        "value: double(x)\n    shape: double(x)\n",
        ["21:5: a check must have one kind, got value and shape"],
    ),
    (
        "value: double(x)\n",
        "value: double(x)\n    cases: 99\n",
        ["21:12: cases: must be an integer from 1 to 20, got 99"],
    ),
    (
        "value: double(x)\n",
        "value: [double(x)]\n",
        ["20:12: value: must be a string of 1 to 4000 characters, got a list"],
    ),
    (
        "value: double(x)\n",
        "value: |\n      double(x) +\n      $\n",
        ["21:18: value: not a Python expression"],
    ),
    (
        "value: double(x)\n",
        'value: "\'a\\"\' + dubble(x)"\n',
        [
            "20:21: the PyTorch code does not define 'dubble'",
            "20:21: the starter does not define 'dubble'; did you mean 'double'?",
        ],
    ),
    (
        "value: double(x)\n",
        "value: double(x, y)\n",
        ["20:22: the PyTorch code does not define 'y'", "20:22: the starter does not define 'y'"],
    ),
    (
        "value: double(x)\n",
        "value: f(x)\n    expect: f(x)\n",
        ["20:12: the starter does not define 'f'", "21:13: the PyTorch code does not define 'f'"],
    ),
    (
        "value: double(x)\n",
        "value: double(rng)\n",
        ["20:19: the PyTorch code does not define 'rng'"],
    ),
    (
        "value: double(x)\n",
        "value: double(q)\n    inputs: {q: normal(Bee)}\n",
        ["21:24: unknown size 'Bee'"],
    ),
    (
        "value: double(x)\n",
        "value: double(q)\n    inputs: {q: normal}\n",
        ["21:17: inputs: not a call of one of normal, uniform"],
    ),
    (
        "after: value",
        "after: [value, 'shape: double(x)']",
        ["24:21: after: no earlier check named 'shape: double(x)'"],
    ),
    (
        "vmap: double",
        "vmap: after_\n    why: after_",
        ["21:11: the starter does not define 'after_'"],
    ),
    ("    args: [x]\n", "", ["21:5: 'args' is missing: Its arguments, batched"]),
    ("args: [x]", "args: [x, y, 'z +']", ["23:19: args: not a Python expression"]),
    (
        "in_axes: 0",
        "in_axes: [0, first]",
        ["22:18: in_axes: must be an integer or null, got 'first'"],
    ),
    ("in_axes: 0", "in_axes: {w: 1.5}", ["22:18: in_axes: must be an integer or null, got 1.5"]),
    ("in_axes: 0", "in_axes: true", ["22:14: in_axes: must be an integer or null, got True"]),
    ('is: "float32[B, 4]"', 'is: {a: "[Batch]"}', ["26:15: unknown size 'Batch'"]),
    ('is: "float32[B, 4]"', "is: [b, 4]", ["26:9: unknown size 'b'"]),
    ('is: "float32[B, 4]"', "is: [-1, 4]", ["26:9: is: '-1' is neither a number nor a size"]),
    ('is: "float32[B, 4]"', 'is: ["[²]"]', ["26:11: is: '²' is neither a number nor a size"]),
    ('is: "float32[B, 4]"', 'is: "[2 3]"', ["26:10: is: '2 3' is neither a number nor a size"]),
    (
        '  - shape: double(x)\n    is: "float32[B, 4]"\n',
        "  - just text\n",
        ["25:5: a check must be a mapping, got 'just text'"],
    ),
    (
        '  - shape: double(x)\n    is: "float32[B, 4]"\n',
        "  - {prng: double(rng), key: 'not a name'}\n",
        ["25:31: 'not a name' is not a Python expression: invalid syntax"],
    ),
    (
        '  - shape: double(x)\n    is: "float32[B, 4]"\n',
        "  - {prng: double(rng)}\n",
        ["25:5: the starter does not define 'key'"],
    ),
    (
        '  - shape: double(x)\n    is: "float32[B, 4]"\n',
        "  - {train_step: double(p), start: {}, finish: x, expect: x}\n",
        ["25:36: start: must be a non-empty mapping, got none"],
    ),
    # Mistakes.
    (
        "    fails: value",
        "    fials: value",
        [
            "28:5: 'fails' is missing: The check that must fail: its name",
            "32:5: unknown key 'fials'; did you mean 'fails'?",
        ],
    ),
    (
        "    fails: value",
        "    fails: value\n    edit: {2 * x: 3 * x}",
        ["28:5: a mistake must have either `code` or `edit`"],
    ),
    (
        "    says: largest difference",
        "    says: []",
        ["33:11: says: must be a string of 1 to 300 characters or a non-empty list of strings,"],
    ),
    (
        "    says: largest difference",
        "    says: 5",
        ["33:11: says: must be a string of 1 to 300 characters or a non-empty list of strings,"],
    ),
    (
        "mistakes:\n",
        "mistakes: none\nsources:\n",
        [
            "27:11: mistakes: must be a list, got 'none'",
            "29:5: sources: must be a string of 1 to 300 characters, got a mapping",
        ],
    ),
    # Invalid YAML.
    ("needs: []", "needs: *all", ["4:8: aliases (*name) are not supported"]),
    (
        "brief: Write double(x).",
        'brief: "\\e[2J"',
        ["6:8: a control character (U+001B) in the text"],
    ),
]


def cases(listed: list[tuple[str, str, list[str]]]) -> list[object]:
    return [pytest.param(*case, id=" ".join(case[2][0].split()[1:])[:60]) for case in listed]


@pytest.mark.parametrize(("old", "new", "expected"), cases(IN_MANIFEST))
def test_a_problem_in_the_manifest_is_reported_with_its_position(
    root: Path, old: str, new: str, expected: list[str]
) -> None:
    found = problems(make_pack(root, edited(old, new, "pack.yaml")))
    assert len(found) == len(expected), "\n".join(map(str, found))
    for one, start in zip(found, expected, strict=True):
        assert str(one).startswith(f"pack/pack.yaml:{start}")


@pytest.mark.parametrize(("old", "new", "expected"), cases(IN_LESSON))
def test_a_problem_in_a_lesson_is_reported_with_its_position(
    root: Path, old: str, new: str, expected: list[str]
) -> None:
    found = problems(make_pack(root, edited(old, new)))
    assert len(found) == len(expected), "\n".join(map(str, found))
    for one, start in zip(found, expected, strict=True):
        assert str(one).startswith(f"pack/basics/double.yaml:{start}")


def test_every_kind_of_check_rejects_an_unknown_key(root: Path) -> None:
    for kind in kinds():
        text = LESSON.replace("  - shape: double(x)", f"  - {kind}: double(x)\n    wrong_key: 1")
        found = problems(make_pack(root, {**FILES, "basics/double.yaml": text}))
        places = [(p.line, p.column) for p in found if "unknown key 'wrong_key'" in p.message]
        assert places == [(26, 5)], kind


# --- several problems ----------------------------------------------------------------------


def test_problems_of_all_files_are_reported_in_order(root: Path) -> None:
    files = {
        "pack.yaml": MANIFEST.replace("[double]", "[triple, double, gone]"),
        "basics/triple.yaml": lesson(
            "triple", ("minutes: 1", "minuts: 1"), ("B, 4)\n  rng", "B, 4, q)\n  rng")
        ),
        "basics/double.yaml": lesson(
            "double", ("value: double(x)\n", "value: duble(x)\n"), ("fails: value", "fails: it")
        ),
        "basics/extra.yaml": "id: extra",
    }
    found = [(p.file, p.line, p.column) for p in problems(make_pack(root, files))]
    assert found == [
        ("pack/basics/double.yaml", 20, 12),
        ("pack/basics/double.yaml", 20, 12),
        ("pack/basics/double.yaml", 32, 12),
        ("pack/basics/extra.yaml", 1, 1),
        ("pack/basics/triple.yaml", 1, 1),
        ("pack/basics/triple.yaml", 5, 1),
        ("pack/pack.yaml", 7, 31),
    ]


def test_all_problems_in_one_expression_are_reported(root: Path) -> None:
    files = edited("value: double(x)\n", "value: f(x,\n      g(y))\n    expect: '0'\n")
    assert [(p.line, p.column, p.message[-3:]) for p in problems(make_pack(root, files))] == [
        (20, 12, "'f'"),
        (21, 7, "'g'"),
        (21, 9, "'y'"),
    ]


# --- relations between lessons -------------------------------------------------------------


def test_circular_needs_are_reported_once_with_the_whole_cycle(root: Path) -> None:
    files = {
        "pack.yaml": MANIFEST.replace("[double]", "[one, two, three, four]"),
        "basics/one.yaml": lesson("one", ("needs: []", "needs: [two]")),
        "basics/two.yaml": lesson("two", ("needs: []", "needs: [four, three]")),
        "basics/three.yaml": lesson("three", ("needs: []", "needs: [one]")),
        "basics/four.yaml": lesson("four"),
    }
    found = only(make_pack(root, files))
    assert (found.line, found.column) == (4, 8)
    assert found.message.startswith("circular needs: ")
    way = found.message.removeprefix("circular needs: ").split(" needs ")
    assert way[0] == way[-1] and set(way) == {"one", "two", "three"}
    needs = {"one": "two", "two": "three", "three": "one"}
    assert all(needs[a] == b for a, b in pairwise(way))
    assert found.file == f"pack/basics/{way[0]}.yaml"


def test_an_unreadable_lesson_is_not_an_unknown_need(root: Path) -> None:
    files = {
        "pack.yaml": MANIFEST.replace("[double]", "[one, double]"),
        "basics/one.yaml": lesson("one", ("minutes: 1", "minutes: none")),
        "basics/double.yaml": lesson("double", ("needs: []", "needs: [one]")),
    }
    assert only(make_pack(root, files)).file == "pack/basics/one.yaml"


def test_an_unlisted_lesson_is_reported(root: Path) -> None:
    make_pack(root, {**FILES, "basics/spare.yaml": LESSON, "other/spare.yaml": LESSON})
    found = [(p.file, p.message) for p in problems(root)]
    assert found == [
        ("pack/basics/spare.yaml", "this lesson is not listed in pack.yaml"),
        ("pack/other/spare.yaml", "this lesson is not listed in pack.yaml"),
    ]


def test_lessons_come_in_the_order_of_the_manifest(root: Path) -> None:
    more = "    lessons: [zeta, alpha]\n  - {id: later, title: L, lessons: [beta]}"
    pack = load_pack(make_pack(root, {
        "pack.yaml": MANIFEST.replace("    lessons: [double]", more),
        "basics/zeta.yaml": lesson("zeta"),
        "basics/alpha.yaml": lesson("alpha"),
        "later/beta.yaml": lesson("beta", ("track: basics", "track: later")),
    }))  # fmt: skip
    assert list(pack.lessons) == ["zeta", "alpha", "beta"]
    assert pack.next_after("alpha") == "beta"


# --- directories and files -----------------------------------------------------------------


def test_a_missing_directory_is_reported(root: Path) -> None:
    message = "pack:1:1: no such directory; create a pack: jaxtutor pack new DIR"
    assert str(only(root)) == message


def test_a_file_is_not_a_directory(root: Path) -> None:
    root.write_text("")
    assert only(root).message == "not a directory"


def test_a_missing_manifest_is_reported(root: Path) -> None:
    (root / "basics").mkdir(parents=True)
    start = "pack/pack.yaml:1:1: cannot be read: No such file or directory; choose a directory"
    assert str(only(root)).startswith(start)


@pytest.mark.parametrize("file", ["pack.yaml", "basics/double.yaml"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty; the top level must be a mapping"),
        (b"- a list\n", "the top level must be a mapping"),
        (b"\xff\xfe", "not UTF-8: byte 0xff; save the file as UTF-8"),
        (b"a: \0", "a character that YAML does not allow (U+0000)"),
        (b"#" * (11 << 20), "the file must be at most 1,048,576 bytes, got 11,534,336"),
    ],
    ids=["empty", "list", "utf-16", "nul", "large"],
)
def test_an_unreadable_file_is_reported(
    root: Path, file: str, content: bytes, message: str
) -> None:
    make_pack(root)
    (root / file).write_bytes(content)
    found = only(root)
    assert found.file == f"pack/{file}" and message in str(found)


@pytest.mark.parametrize("file", ["pack.yaml", "basics/double.yaml", "basics"])
def test_a_link_out_of_the_pack_is_not_followed(root: Path, tmp_path: Path, file: str) -> None:
    make_pack(root)
    outside = tmp_path / "outside"
    (root / file).rename(outside)
    (root / file).symlink_to(outside)
    found = only(root)
    assert found.message == "a symbolic link that points outside the pack"
    assert found.file.startswith(f"pack/{file}")


def test_a_link_within_the_pack_is_followed(root: Path) -> None:
    make_pack(root)
    (root / "basics/double.yaml").rename(root / "basics/double.txt")
    (root / "basics/double.yaml").symlink_to("double.txt")
    assert list(load_pack(root).lessons) == ["double"]


@pytest.mark.parametrize("file", ["pack.yaml", "basics/double.yaml"])
def test_circular_links_are_reported(root: Path, file: str) -> None:
    make_pack(root)
    (root / file).unlink()
    (root / file).symlink_to(Path(file).name)
    assert "double" in only(root).message or "symbolic links" in only(root).message


def test_a_directory_or_pipe_named_like_a_lesson_is_reported_at_once(root: Path) -> None:
    make_pack(root)
    path = root / "basics/double.yaml"
    path.unlink()
    os.mkfifo(path)
    assert only(root).message == "not a regular file"
    path.unlink()
    path.mkdir()
    assert only(root).message == "not a regular file"


def test_a_pack_is_named_by_a_relative_or_absolute_path(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pack(root, edited("minutes: 1", "minutes: 0"))
    assert only(tmp_path / "pack").file == "pack/basics/double.yaml"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert only(tmp_path / "pack").file == str(tmp_path / "pack/basics/double.yaml")
    assert only(Path("../pack")).file == "../pack/basics/double.yaml"


def test_a_newer_format_is_reported_before_the_rest_is_read(root: Path) -> None:
    make_pack(root, {"pack.yaml": f"format: {FORMAT + 1}\nlessons: [whatever]\n"})
    found = only(root)
    assert f"pack format {FORMAT + 1} needs" in found.message
    assert f"which reads format {FORMAT}" in found.message


# --- arbitrary lessons ---------------------------------------------------------------------

BITS = st.sampled_from(
    [
        *("", "x", "5", "-1", "1.5", "true", "null", "[]", "{}", "[x]", "{x: y}", "[[1]]", "''"),
        *("[B, 4]", "normal(B)", "key()", "float32[B]", "value", "lambda", "x +", "rng", "double"),
        *("'\\\\'", '"\\n"', "|", "(", "\u202e", "9" * 30, "value: x", "is: [B]", "a b"),
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw a lesson with values, keys or whole lines replaced, doubled, moved or removed."""
    lines = LESSON.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        key, colon, value = lines[at].partition(": ")
        match draw(st.sampled_from(["value", "key", "cut", "double", "move", "item"])):
            case "value":
                lines[at] = f"{key}: {draw(BITS)}"
            case "key":
                lines[at] = f"{key[: len(key) - len(key.lstrip())]}{draw(BITS)}{colon}{value}"
            case "cut":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "move":
                lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
            case "item":
                lines[at] = lines[at].replace("[", f"[{draw(BITS)}, ", 1)
        lines = lines or [""]
    return "\n".join(lines)


@settings(max_examples=400)
@given(mutated())
@example(LESSON.replace("is:", "is: {a: [[], {}, [1, b]]} #"))
@example(LESSON.replace("x: normal(B, 4)", "x: [normal(B, 4), {a: }]"))
@example(
    LESSON.replace("vmap: double\n    in_axes: 0\n    args: [x]", "prng: double(x)\n    key: ''")
)
def test_any_lesson_is_read_or_its_problems_are_reported(text: str) -> None:
    try:
        node, repeated = parse(text.encode(), "f")
    except BadSource:
        return
    reader = LessonReader("f")
    found = reader.lesson(node, "basics", "double")
    assert (found is None) == bool(reader.problems)
    height = text.count("\n") + 2
    for one in [*reader.problems, *repeated]:
        assert 1 <= one.line <= height and one.column >= 1 and one.message
    if found is not None:
        assert found.checks and all(check.title for check in found.checks)
