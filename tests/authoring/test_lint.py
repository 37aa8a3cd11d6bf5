"""Remarks: what could be better in a lesson that can be used, each with its place and its code."""

import json
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.command import jaxtutor
from tutor.authoring.conclusions import conclusion
from tutor.authoring.lint import lint
from tutor.authoring.lint_rules import BRIEF_LINES, RULES
from tutor.authoring.new import new_pack
from tutor.pack import built_in, open_pack
from tutor.pool.forks import Forks

LESSON = "basics/standardize.yaml"


def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a pack to begin with, and go where it is."""
    monkeypatch.chdir(tmp_path)
    new_pack(Path("mine"))
    (Path("mine") / "data").mkdir()
    (Path("mine") / "data" / "points.csv").write_text("size,colour\n1,red\n2,blue\n")
    return Path("mine")


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return made(tmp_path, monkeypatch)


def edit(pack: Path, *edits: tuple[str, str]) -> str:
    """Replace texts in the lesson. **Returns:** what it holds then."""
    text = (pack / LESSON).read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (pack / LESSON).write_text(text)
    return text


def remarked(pack: Path) -> list[tuple[str, str]]:
    """The codes, each with what stands at its place."""
    found = lint(pack)
    assert not found.problems, found.problems
    lines = (pack / LESSON).read_text().splitlines()
    assert all(one.file == f"mine/{LESSON}" and one.remedy for one in found.remarks)
    return [(one.code, lines[one.line - 1][one.column - 1 :]) for one in found.remarks]


CASES = [
    ("no-schema", "# yaml-language-server: $schema=../schema/lesson.json\n", "", "id: standardize"),
    (
        "unwritten",
        "title: Standardize",
        "title: TODO Standardize",
        "TODO Standardize the columns of a table",
    ),
    (
        "unwritten",
        "In JAX you",
        "In JAX (TODO) you",
        "TODO) you write it for one column; `jax.vmap(f, in_axes=1, out_axes=1)` applies it to",
    ),
    ("cannot-be-drawn", "scale=size", "scale=-size", "normal(n, d, "),
    ("long-brief", "  ### Write\n", "  x\n\n" * BRIEF_LINES + "  ### Write\n", "|"),
    (
        "wide-code",
        "      return (x - x.mean()) / x.std()\n",
        "      return (x - x.mean()) / x.std()  #" + " and so on" * 5 + "\n",
        "d so on and so on",
    ),
    (
        "few-hints",
        '  - "`columns(x)` is `jax.vmap(standardize, in_axes=1, out_axes=1)(x)`."\n',
        "",
        "- What do `x.mean()` and `x.std()` return for a column?",
    ),
    ("unused-input", "scale=size)\n", "scale=size)\n  y: normal(n, d)\n", "normal(n, d)"),
    (
        "unused-input",
        "    why: PyTorch's std",
        "    inputs: {z: normal(n)}\n    why: PyTorch's std",
        "normal(n)}",
    ),
    (
        "unused-data",
        "track: basics\n",
        "track: basics\ndata: {points: {file: points.csv, x: size, y: colour}}\n",
        "{file: points.csv, x: size, y: colour}}",
    ),
    ("unused-size", "  d: [3, 4, 1]\n", "  d: [3, 4, 1]\n  k: 5\n", "5"),
    ("equal-sizes", "  d: [3, 4, 1]\n", "  d: [3, 7, 1]\n", "[7, 6]"),
    ("no-why", "    why: PyTorch's std divides by n - 1.\n", "", "name: one column"),
    (
        "expect-without-torch",
        "value: columns(x)\n",
        'value: columns(x)\n    expect: "x[0] + 1"\n',
        'x[0] + 1"',
    ),
    (
        "names-in-keys",
        "In JAX you",
        "In JAX, with `fold_in(key, zlib.crc32(name))`, you",
        "- name: one column",
    ),
    ("few-words", "says: Every column has its own mean", 'says: "3"', '3"'),
    ("edit-misses", "{ddof=1: ddof=0}", "{ddof=2: ddof=0}", "{ddof=2: ddof=0}"),
    (
        "unoffered-hint",
        "# Typical wrong answers",
        "failure_hints:\n  - {fails: load, hint: Import what is there.}\n\n# Typical wrong answers",
        "load, hint",
    ),
]


CHECKS = "# Transformations that the functions must support"
COLUMN = "value: standardize(x[:, 0])"
EPOCHS = ('def columns(x):\n      """x', 'def columns(x, n_epochs=1):\n      """x')


HIDING = [
        ("fixed-size", [("  d: [3, 4, 1]\n", "  d: 3\n")], "the size 'd' is always 3"),
        (
            "fixed-size",
            [("normal(n, d, mean=1, scale=size)", "normal(n, 11, mean=1, scale=size)"),
             ("  d: [3, 4, 1]\n", ""), ("    is: float32[n, d]\n", "")],
            "an axis is always 11, which the task does not mention",
        ),
        (
            "fixed-bound",
            [("scale=size)\n", "scale=size)\n  i: integers(0, 5, n)\n"),
             (COLUMN, "value: columns(x[i])")],
            "the upper bound is always 5",
        ),
        (
            "fixed-bound",
            [("scale=size)\n", "scale=size)\n  i: int(0, n)\n"),
             (COLUMN, "value: standardize(x[:i, 0])")],
            "",
        ),
        (
            "gradient-unasked",
            [(" + (standardize(x[:, 0]) ** 3).sum()", "")],
            "no check takes the gradient of 'standardize' in x",
        ),
        (
            "gradient-unasked",
            [(" + (standardize(x[:, 0]) ** 3).sum()", ""),
             ("survives: [jit, grad, vmap]", "survives: [jit, vmap]")],
            "",
        ),
        (
            "all-sizes-different",
            [(CHECKS, f"  - {{name: sizes, value: 'columns(x, [7, 5, 3])', why: w}}\n{CHECKS}")],
            "no list of sizes repeats one, such as [7, 5, 3]",
        ),
        (
            "all-sizes-different",
            [(CHECKS, f"  - {{name: sizes, value: 'columns(x, [7, 5, 7])', why: w}}\n{CHECKS}")],
            "",
        ),
        (
            "one-step",
            [EPOCHS, (CHECKS, f"  - {{name: once, value: 'columns(x, 1)', why: w}}\n{CHECKS}")],
            "'columns' is only called with n_epochs=1",
        ),
        (
            "one-step",
            [EPOCHS,
             (CHECKS, f"  - {{name: b, value: 'columns(x, n_epochs=2)', why: w}}\n{CHECKS}")],
            "",
        ),
        (
            "compiled-anew",
            [(CHECKS, "  - {name: once, compiles: jax.jit(columns)(x), why: w, after: result}\n"
              + CHECKS)],
            "the expression makes a new compiled function",
        ),
        (
            "compiled-anew",
            [(CHECKS, f"  - {{name: one, compiles: columns(x), why: w, after: result}}\n{CHECKS}")],
            "",
        ),
        (
            "repeated-check",
            [(CHECKS, "  - {name: again, value: columns(x), why: w,"
              " after: as many columns as rows}\n" + CHECKS)],
            "the check 'again' asks the same as 'all columns' on line 65, after which it runs",
        ),
        (
            "repeated-check",  # not `after` it, or with other inputs, more cases, other tolerances
            [(CHECKS, "  - {name: alone, value: columns(x), why: w}\n"
              "  - {name: more, value: columns(x), why: w, after: all columns, cases: 9}\n"
              "  - {name: exact, value: columns(x), why: w, after: all columns, tol: 1e-6}\n"
              "  - {name: other, value: columns(x), why: w, after: all columns,\n"
              "     inputs: {x: 'normal(d, n)'}}\n" + CHECKS)],
            "",
        ),
        ("never-square", [("normal(n, n)", "normal(n, d)")], "no drawn array is square"),
        ("never-square", [("normal(n, d,", "normal(d, d,"), ("normal(n, n)", "normal(n, d)")], ""),
        ("small-inputs", [("  size: [3, 100]\n", "  size: [3, 50]\n")], "no number drawn"),
        ("no-survives", [("survives: [jit, grad, vmap]\n", "")], "there is no `survives`"),
        ("no-survives", [("survives: [jit, grad, vmap]\n", "survives: []\n")], ""),
        (
            "evidence-alone",
            [(CHECKS, f"  - {{name: pure, pure: columns(x), why: w}}\n{CHECKS}")],
            "the check 'pure' passes for an answer that does no work",
        ),
        (
            "evidence-alone",
            [(CHECKS, f"  - {{name: pure, pure: columns(x), why: w, after: result}}\n{CHECKS}")],
            "",  # `result` stands after `all columns`
        ),
        (
            "constant-in-jit",
            [(CHECKS, "  - {name: j, value: 'jax.jit(lambda: columns(x))()', why: w,"
              " expect: columns(x)}\n" + CHECKS)],
            "a function under jax.jit uses x of the inputs, but not as arguments",
        ),
        (
            "constant-in-jit",  # arguments, or parameters of the function around it
            [(CHECKS, "  - {name: j, value: 'jax.jit(lambda x: columns(x))(x)', why: w,"
              " expect: columns(x)}\n"
              "  - {name: g, why: w, at: [x],"
              " grad: 'lambda x: jax.jit(lambda n: columns(n * x))(1.0).sum()',"
              " expect: 'lambda x: columns(x).sum()'}\n" + CHECKS)],
            "",
        ),
        (
            "cannot-fail",
            [(CHECKS, f"  - {{name: m, value: jnp.mean(x), expect: x.mean(), why: w}}\n{CHECKS}")],
            "the check 'm' uses nothing of the learner's code",
        ),
        (
            "cannot-fail",
            [(CHECKS, f"  - {{name: m, value: len(columns(x)), expect: x, why: w}}\n{CHECKS}")],
            "",
        ),
        (
            "never-applies",
            [("    after: all columns\n    why: Standardize columns",
              '    after: all columns\n    jax: "<0.5"\n    why: Standardize columns')],
            ") is among '<0.5'",
        ),
        (
            "never-applies",
            [("    fails: all columns\n", '    fails: all columns\n    jax: "==0.9.*"\n')],
            ") is among '==0.9.*'",
        ),
        (
            "never-applies",
            [("    after: all columns\n    why: Standardize columns",
              '    after: all columns\n    jax: ">=0.12"\n    why: Standardize columns')],
            "",
        ),
        (
            "asks-nothing",
            [(CHECKS, f"  - {{name: form, program: columns(x), why: w, after: result}}\n{CHECKS}")],
            "the check 'form' asks nothing of the program",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, compiled: ")],
            "the brief says 'compiled', and no check decides it",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, compiled: "),
             (CHECKS, "  - {name: o, compiles: columns(x), why: w, after: result}\n" + CHECKS)],
            "",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, in one program: ")],
            "the brief says 'one program', and no check decides it",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, which does not grow with n: "),
             (CHECKS, "  - {name: o, compiles: columns(x), why: w, after: result}\n" + CHECKS)],
            "the brief says 'not grow', and no check decides it",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, which does not grow with n: "),
             (CHECKS, "  - {name: o, program: columns(x), steady: {x: 'x[:2]'},"
              " why: w, after: result}\n" + CHECKS)],
            "",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, which changes nothing in place: ")],
            "the brief says 'in place', and no check decides it",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, which changes nothing in place: "),
             (CHECKS, "  - {name: o, pure: columns(x), why: w, after: result}\n" + CHECKS)],
            "",
        ),
        (
            "promise-unchecked",
            [("  - `columns(x)`: ", "  - `columns(x)`, which can be compiled: ")],
            "",
        ),
        (
            "asks-nothing",
            [(CHECKS, "  - {name: form, program: columns(x), lacks: [tan], why: w, after: result}\n"
              + CHECKS)],
            "",
        ),
]  # fmt: skip


@for_each(("code", "old", "new", "place"), CASES)
def test_a_remark_stands_where_its_cause_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, old: str, new: str, place: str
):
    pack = made(tmp_path, monkeypatch)
    edit(pack, (old, new))
    found = remarked(pack)
    assert [one for one, _ in found] == [code], found
    assert found[0][1].startswith(place)


@for_each(
    ("draw", "told"),
    [
        ("normal(n - 9, d)", "a dimension must be an integer from 0 up, got -"),
        ("normal(n, 2.5)", "a dimension must be an integer from 0 up, got 2.5"),
        ("integers(5, 0, n, d)", "integers(5, 0): the second number is below the first"),
        ("int(n, 0)", "the second number is below the first"),
        ("float(1, 0)", "float(1, 0): the second number is below the first"),
        ("tokens(n - 7, d)", "a vocabulary must have 2 to 2**31 ids, 0 for padding; got "),
        ("graph(n, 99)", "without duplicates and self-loops"),
        ("near(x, scale=-1)", "near(x, scale=-1): scale < 0"),
    ],
)
def test_what_cannot_be_drawn_is_remarked_on_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: str, told: str
):
    pack = made(tmp_path, monkeypatch)
    lines = edit(pack, ("  x: normal(n, d,", f"  y: {draw}\n  x: normal(n, d,")).splitlines()
    found = [one for one in lint(pack).remarks if one.code == "cannot-be-drawn"]
    (remark,) = found
    assert told in remark.message and "the input 'y'" in remark.message
    assert lines[remark.line - 1][remark.column - 1 :] == draw


def test_what_others_begin_with_is_remarked_where_it_stands(pack: Path):
    """Not on the inputs that begin with it, unless a check replaces it by one that will not do."""
    inputs = "  ends: lengths(n, d)\n  mask: sequence_mask(ends, d)\n  x: normal(n, d,"
    replaced = "\n    inputs:\n      ends: integers(9, n + 9, n)"
    lines = edit(
        pack,
        ("  x: normal(n, d,", inputs),
        ("value: columns(x)", f"value: columns(mask){replaced}"),
    ).splitlines()
    unused, remark = lint(pack).remarks
    assert (unused.code, remark.code) == ("unused-input", "cannot-be-drawn")
    assert "the input 'mask' cannot be drawn with all sizes: a length must" in remark.message
    assert lines[remark.line - 1].endswith("ends: integers(9, n + 9, n)")
    edit(pack, (replaced, ""))
    assert remarked(pack) == []
    edit(pack, ("ends: lengths(n, d)", "ends: lengths(n, d - 9)"))
    assert remarked(pack) == [("cannot-be-drawn", "lengths(n, d - 9)")]


@for_each(
    "inputs",
    [
        "{z: spd(n)}",
        "{z: 'spd(d, n)'}",
        "{z: 'orthogonal(d, n)'}",
        "{z: 'tokens(size, n, d)'}",
        "{z: 'images(n, 7, 5, 3)'}",
        "{z: 'one_hot(n, d)'}",
        "{z: 'mask(n, d)'}",
        "{z: 'graph(n, d)'}",
        "{z: 'sequence_mask(ends, d)', ends: 'lengths(n, d)'}",
        "{z: near(y), y: 'normal_like(w)', w: 'normal(n, d)'}",
        "{z: shuffled(x)}",
        "{z: 'sorted(n, high=size)'}",
        "{z: 'int(0, 3)'}",
    ],
)
def test_structured_inputs_raise_no_remarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: str
):
    pack = made(tmp_path, monkeypatch)
    check = f"  - {{name: z, value: columns(z), inputs: {inputs}, why: w, after: one column}}\n"
    edit(
        pack,
        (CHECKS, check + CHECKS),
        ("(n, d)\n\n# The PyTorch", "(n, d), 7 x 5\n\n# The PyTorch"),
    )
    assert lint(pack).remarks == ()


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        ("tokens(50, n, d)", ["the upper bound is always 50"]),
        ("images(n, 28, 20, 3)", ["an axis is always 28", "an axis is always 20"]),
        ("lengths(5, n)", ["an axis is always 5"]),
        ("spd(5)", ["an axis is always 5"]),
        ("int(0, 9)", ["the upper bound is always 9"]),
    ],
)
def test_numbers_in_structured_inputs_are_remarked(pack: Path, draw: str, told: list[str]):
    edit(pack, ("scale=size)\n", f"scale=size)\n  z: {draw}\n"), (COLUMN, f"{COLUMN[:-1]} + z)"))
    found = lint(pack).remarks
    assert len(found) == len(told)
    for words in told:
        assert any(words in one.message for one in found), found


def test_a_lesson_that_only_looks_at_itself_is_remarked(pack: Path):
    text = (pack / LESSON).read_text()
    checks = text[text.index("checks:") : text.index("# Typical wrong answers")]
    edit(pack, (checks, "checks:\n  - pure: columns(x)\n    why: It is.\n"))
    text = (pack / LESSON).read_text()
    (pack / LESSON).write_text(text[: text.index("# Typical wrong answers")])
    codes = {code for code, _ in remarked(pack)}
    assert codes == {"no-mistakes", "no-comparison", "evidence-alone", "no-survives"}


@pytest.mark.parametrize("expect", ['"[3.0, 4.0]"', '"True"', "x"])
def test_what_is_expected_without_a_computation_needs_no_torch(pack: Path, expect: str):
    edit(pack, ("value: columns(x)\n", f"value: columns(x)\n    expect: {expect}\n"))
    assert remarked(pack) == []


def test_a_missing_solution_is_remarked(pack: Path):
    (pack / "solutions/basics/standardize.py").unlink()
    assert remarked(pack) == [("no-solution", "standardize")]


def test_a_solution_that_is_no_text_is_a_problem(pack: Path):
    (pack / "solutions/basics/standardize.py").write_bytes(b"\xff")
    (problem,) = lint(pack).problems
    assert str(problem).startswith("mine/solutions/basics/standardize.py:1:1: not UTF-8: byte 0xff")


def test_answers_that_are_no_python_are_problems_in_their_own_files(pack: Path):
    solution = pack / "solutions/basics/standardize.py"
    written = solution.read_text()
    solution.write_text(f"{written}\ndef more(x)\n    return x\n")
    line = written.count("\n") + 2
    variant = next((pack / "solutions/basics/standardize").glob("*.py"))
    variant.write_text("x = (1,\ny = é2\n")
    assert [*map(str, lint(pack).problems)] == [
        f"mine/solutions/basics/standardize.py:{line}:12: invalid Python: expected ':'; correct it",
        f"{variant}:1:5: invalid Python: '(' was never closed; correct it",
    ]
    variant.write_bytes(b"x = 1\nx = '\xe9'\n")
    assert f"{variant.name}:2:1: not UTF-8: byte 0xe9" in str(lint(pack).problems[1])


def test_files_that_could_not_be_packed_are_problems(pack: Path):
    variants = pack / "solutions/basics/standardize"
    good = next(variants.glob("*.py")).read_text()
    (variants / "what?.py").write_text(good)
    (variants / "nul.py").write_text(good)
    (variants / "large.py").write_text("#" * (1 << 20) + "\n")
    outside = pack.parent / "outside"
    outside.write_text("Read me.")
    (pack / "README.md").symlink_to(outside.absolute())
    found = [*map(str, lint(pack).problems)]
    folder = "mine/solutions/basics/standardize"
    told = [
        "mine/README.md:1:1: a symbolic link that points outside the pack; ",
        f"{folder}/large.py:1:1: the file must be at most 1,048,576 bytes, got 1,048,577; ",
        f"{folder}/nul.py:1:1: 'nul.py' is the name of a device on Windows; rename it",
        f'{folder}/what?.py:1:1: the name must not contain any of <>"|?*; rename it',
    ]
    assert len(found) == len(told)
    assert all(map(str.startswith, found, told)), found


def test_names_that_some_systems_take_for_one_are_problems(pack: Path):
    variants = pack / "solutions/basics/standardize"
    for name in ("Loop.py", "loop.py"):
        (variants / name).write_text("x = 1\n")
    (problem,) = lint(pack).problems
    assert str(problem).startswith("mine/solutions/basics/standardize/loop.py:1:1: duplicate of ")


def test_the_id_of_the_course_is_remarked_in_other_packs(pack: Path):
    manifest = pack / "pack.yaml"
    manifest.write_text(manifest.read_text().replace("id: mine", f"id: {open_pack().id}", 1))
    (remark,) = lint(pack).remarks
    assert (remark.file, remark.code) == ("mine/pack.yaml", "taken-id")
    assert manifest.read_text().splitlines()[remark.line - 1].startswith(f"id: {open_pack().id}")
    assert not [one for one in lint(built_in()).remarks if one.code == "taken-id"]


def test_remarks_on_checks_count_those_for_other_releases(pack: Path):
    lines = edit(
        pack,
        ("    inputs:\n      square:", '    jax: "<0.5"\n    inputs:\n      square:'),
        ("    why: The mean and the standard deviation also depend on x.\n", ""),
    ).splitlines()
    places = {one.code: lines[one.line - 1].strip() for one in lint(pack).remarks}
    assert places["no-why"] == "- name: gradient"
    assert places["never-applies"] == 'jax: "<0.5"'


def test_an_old_schema_is_remarked(pack: Path):
    (pack / "schema/lesson.json").write_text("{}")
    (remark,) = lint(pack).remarks
    assert (remark.code, remark.remedy) == (
        "no-schema",
        "run: python -m tutor.pack.schema mine/schema",
    )


def test_every_remark_is_tried_here():
    others = {"no-comparison", "no-mistakes", "no-solution", "concluded-inside"}
    others |= {"stale-proof", "unproven"}  # in test_proofs.py
    others |= {"two-starters"}  # in test_marked_solutions.py
    assert {code for code, *_ in [*CASES, *HIDING]} | others == RULES.keys()


# --- the command -----------------------------------------------------------------------------


def test_the_exit_code_tells_problems_from_remarks(pack: Path):
    def code(*more: str) -> int:
        return jaxtutor("pack", "lint", "mine", *more, pack=None).returncode

    assert (code(), code("--strict")) == (0, 0)
    edit(pack, ("    why: PyTorch's std divides by n - 1.\n", ""))
    assert (code(), code("--strict")) == (0, 1)
    edit(pack, ("minutes: 5", "minutes: five"))
    assert (code(), code("--strict")) == (2, 2)


def test_json_holds_the_same(pack: Path):
    edit(pack, ("    why: PyTorch's std divides by n - 1.\n", ""))
    done = jaxtutor("pack", "lint", "mine", "--json", pack=None)
    found = json.loads(done.stdout)
    assert (found["problems"], found["lessons"]) == ([], 1)
    (remark,) = found["remarks"]
    assert remark == {
        "file": f"mine/{LESSON}", "line": 62, "column": 5, "code": "no-why",
        "message": "the check 'one column' has no `why`",
        "remedy": "add `why: …`, shown to learners who fail it",
    }  # fmt: skip


def test_what_is_no_pack_is_told(tmp_path: Path):
    done = jaxtutor("pack", "lint", str(tmp_path / "nothing"), pack=None)
    assert done.returncode == 2
    assert b"pack.yaml:1:1: cannot be read" in done.stdout
    assert b"jaxtutor pack new DIR" in done.stdout


def test_new_and_add_tell_what_they_made_and_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = jaxtutor("pack", "new", "fresh", pack=None)
    assert done.returncode == 0
    assert b"fresh/pack.yaml\n" in done.stdout
    assert b"Next: jaxtutor pack lint fresh\n" in done.stdout
    assert jaxtutor("pack", "new", "fresh", pack=None).returncode == 2
    done = jaxtutor("pack", "add", "cosine", pack=Path("fresh"))
    assert done.returncode == 0
    assert b"Edit fresh/basics/cosine.yaml, then run: " in done.stdout
    done = jaxtutor("pack", "add", "cosine", pack=Path("fresh"))
    assert done.returncode == 2
    assert done.stderr.startswith(b"jaxtutor: fresh/basics/cosine.yaml exists;")


@for_each(("code", "edits", "message"), HIDING)
def test_what_wrong_answers_hide_behind_is_remarked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    edits: list[tuple[str, str]],
    message: str,
):
    pack = made(tmp_path, monkeypatch)
    edit(pack, *edits)
    found = [one.message for one in lint(pack).remarks if one.code == code]
    assert bool(found) == bool(message), found
    assert all(message in one for one in found), found


@for_each(
    ("expression", "told"),
    [
        ("columns(x)", ""),
        ("[columns(x), standardize(x[:, 0])]", ""),
        ("{'a': columns(x)}", ""),
        ("[columns(r) for r in x]", ""),
        ("jax.tree.leaves(columns(x))", ""),
        ("jax.jit(columns)(x)", ""),
        ("columns(x) - x", ""),
        ("10 * columns(x)[0]", ""),
        ("columns(jnp.stack([x[0], x[0]]))", ""),
        ("(lambda y: columns(y))(x)", ""),
        ("columns(x) > 0", "a comparison"),
        ("not columns(x)", "a truth value"),
        ("columns(x) - standardize(x)", "a value computed from two answers"),
        ("jnp.stack([columns(x)])", "`jnp.stack`"),
        ("jax.nn.relu(columns(x))", "`jax.nn.relu`"),
        ("columns(x).std()", "`.std()`"),
        ("columns(x).shape", "`.shape`"),
        ("hash(columns(x)) == hash(columns(x))", "a comparison"),
        ("hash(columns(x))", "the builtin `hash`"),
        ("isinstance(columns(x), list)", "the builtin `isinstance`"),
        ("len(columns(x))", "the builtin `len`"),
        ("[y.std() > 0 for y in columns(x)]", "a comparison"),
        ("(lambda y: y.mean())(columns(x))", "`.mean()`"),
        ("all(y for y in columns(x))", "the builtin `all`"),
        ("columns(x) if x.sum() else columns(x).max()", "`.max()`"),
    ],
)
def test_what_concludes_inside_is_told_from_what_returns_raw_values(expression: str, told: str):
    assert conclusion(expression, {"x"}) == told


def test_what_concludes_inside_is_remarked_unless_it_is_marked_as_evidence(pack: Path):
    check = "  - {name: spread, value: 'columns(x).std()', expect: 'columns(x).std()', why: w%s}\n"
    edit(pack, (CHECKS, check % "" + CHECKS))
    (remark,) = lint(pack).remarks
    assert remark.code == "concluded-inside"
    assert "`.std()` is computed in the learner's process, which can fake it" in remark.message
    edit(pack, (check % "", check % ", evidence: true"))
    assert [one.code for one in lint(pack).remarks] == ["evidence-alone"]
    edit(pack, (check % ", evidence: true", check % ", evidence: true, after: all columns"))
    assert lint(pack).remarks == ()


@pytest.mark.parametrize(
    ("code", "edits"),
    [
        ("constant-reference", [("return (x - x.mean()) / x.std()", "return 0 * x[0] + 1")]),
        ("zero-gradient", [("(columns(x) ** 3).sum() + (standardize(x[:, 0]) ** 3).sum()",
                            "(columns(x) ** 0).sum() + (standardize(x[:, 0]) ** 0).sum()")]),
        ("hidden-by-large", [("value: columns(x)\n", "value: columns(x)\n    tol: 0.9\n")]),
        ("no-reference", [("return (x - x.mean()) / x.std()", "return x + torch.rand(1)")]),
        ("no-reference", [("return (x - x.mean()) / x.std()", "return x * torch.nan")]),
        ("no-reference", [("return (x - x.mean()) / x.std()", "return x.nowhere()")]),
    ],
)  # fmt: skip
def test_expectations_that_any_answer_meets_are_remarked(
    pack: Path, forks: Forks, code: str, edits: list[tuple[str, str]]
):
    edit(pack, *edits)
    assert code not in {one.code for one in lint(pack).remarks}
    assert code in {one.code for one in lint(pack, forks.reference).remarks}


def test_a_size_may_be_one_too_unless_pytorch_has_nothing_to_give_then(pack: Path, forks: Forks):
    lines = edit(pack, ("  d: [3, 4, 1]\n", "  d: [3, 4]\n")).splitlines()
    (remark,) = lint(pack, forks.reference).remarks  # nothing of n: one number has no deviation
    assert (remark.code, remark.message) == ("never-one", "the size 'd' is never 1")
    assert remark.remedy == "add it: d: [3, 4, 1]"
    assert lines[remark.line - 1][remark.column - 1 :] == "[3, 4]"
