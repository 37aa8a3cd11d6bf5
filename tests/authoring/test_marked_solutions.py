"""A lesson without a starter gets one from the marked regions of its solution."""

from pathlib import Path

import pytest

from tests.command import jaxtutor
from tutor.authoring.lint import lint
from tutor.authoring.new import new_pack
from tutor.authoring.pack_test import PackTest, TrialOptions
from tutor.authoring.proofs import fingerprint
from tutor.authoring.trial import trials
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack
from tutor.pack.archive import Files
from tutor.pack.catalogue import Catalogue
from tutor.pack.contents import gather
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import parse

LESSON, SOLUTION = "basics/standardize.yaml", "solutions/basics/standardize.py"
MARKED = '''\
import jax


def standardize(x):
    """x (n,) -> (n,), with mean 0 and standard deviation 1."""
    # solution
    return (x - x.mean()) / x.std(ddof=1)
    # end


def columns(x):
    """x (n, d) -> (n, d), column by column."""
    # solution
    # instead: return jax.vmap(standardize)(x)
    return jax.vmap(standardize, in_axes=1, out_axes=1)(x)
    # end
'''
SHOWN = "".join(
    f"{row}\n" for row in MARKED.splitlines() if not row.strip().startswith("# ")
)  # fmt: skip
STARTER = '''\
import jax


def standardize(x):
    """x (n,) -> (n,), with mean 0 and standard deviation 1."""
    raise NotImplementedError


def columns(x):
    """x (n, d) -> (n, d), column by column."""
    return jax.vmap(standardize)(x)
'''


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pack of `pack new`, with the starter moved into the solution."""
    monkeypatch.chdir(tmp_path)
    new_pack(Path("mine"))
    text = (Path("mine") / LESSON).read_text()
    before, _, rest = text.partition("starter: |\n")
    _, _, after = rest.partition("\nhints:")
    (Path("mine") / LESSON).write_text(f"{before}hints:{after}")
    (Path("mine") / SOLUTION).write_text(MARKED)
    return Path("mine")


def without_starter(root: Path) -> bool:
    node, _ = parse((root / LESSON).read_bytes(), LESSON)
    return "starter" not in plain(node)


def placed(files: Files, folder: Path) -> Pack:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return load_pack(folder)


def test_the_starter_and_what_people_see_come_from_one_file(root: Path):
    assert without_starter(root)
    assert not lint(root).remarks and not lint(root).problems
    pack = load_pack(root)
    assert pack.lesson("standardize").starter == STARTER
    assert pack.solution("standardize") == SHOWN
    assert pack.sample_submissions("standardize")[0] == SHOWN
    assert Catalogue(pack).summary("standardize").minutes == 5


def test_trials_and_proofs_depend_on_it(root: Path):
    pack = load_pack(root)
    tried, failed = trials(pack, pack.lesson("standardize"), (0,), with_variants=False)
    assert not failed
    codes = {trial.kind: trial.code for trial in tried if trial.kind in ("starter", "solution")}
    assert codes == {"starter": STARTER, "solution": SHOWN}
    before = fingerprint(pack, "standardize")
    (root / SOLUTION).write_text(MARKED.replace("(standardize)(x)", "(standardize, 1)(x)"))
    assert fingerprint(load_pack(root), "standardize") != before


def test_pack_test_holds(root: Path):
    done = jaxtutor("pack", "test", "mine", "--seeds", "1", pack=None)
    assert done.returncode == 0, done.stdout


def test_mutants_have_the_lines_of_the_file(root: Path):
    options = TrialOptions(seeds=1, mutate=True)
    (work,) = PackTest(load_pack(root), ["standardize"], options)._works
    rows = MARKED.splitlines()
    found = {(one.name.partition("@")[0], rows[one.line - 1].strip()) for one in work._mutants}
    assert len(work._mutants) > 5
    assert {row for _, row in found} <= {row.strip() for row in SHOWN.splitlines()}
    assert any(row.startswith("return jax.vmap(standardize, in_axes=1") for _, row in found)


def test_a_pack_for_learners_has_the_starter_and_no_solution(root: Path, tmp_path: Path):
    _, files = gather(load_pack(root), "learners")
    assert not any(name.startswith("solutions") for name in files)
    assert b"# solution" not in files[LESSON]
    pack = placed(files, tmp_path / "for-learners")
    assert pack.lesson("standardize").starter == STARTER
    assert pack.solution("standardize") is None


@pytest.mark.parametrize("purpose", ["grading", "everything"])
def test_other_packs_keep_the_marked_solution(root: Path, tmp_path: Path, purpose: str):
    _, files = gather(load_pack(root), purpose)  # type: ignore[arg-type]
    assert files[LESSON] == (root / LESSON).read_bytes()
    pack = placed(files, tmp_path / "built")
    assert pack.lesson("standardize").starter == STARTER
    assert pack.solution("standardize") == SHOWN


def test_a_starter_in_the_lesson_counts_with_a_remark(root: Path):
    own = "starter: |\n  def standardize(x):\n      pass\n\n  def columns(x):\n      pass\n"
    text = (root / LESSON).read_text()
    (root / LESSON).write_text(text.replace("hints:", f"{own}hints:", 1))
    remark = next(one for one in lint(root).remarks if one.code == "two-starters")
    line = (root / LESSON).read_text().splitlines()[remark.line - 1]
    assert line == "starter: |"
    pack = load_pack(root)
    assert pack.lesson("standardize").starter.startswith("def standardize(x):\n    pass")
    assert pack.solution("standardize") == SHOWN


@pytest.mark.parametrize(
    ("old", "new", "place", "said", "remedy"),
    [
        ("    # end\n\n\ndef", "\n\ndef", "12:5", "a region begins in the one that began at line 6",
         "write `# end` before it"),
        ("    # solution\n    return", "    return", "7:5", "`# end` ends no region",
         "write `# solution` above it, or remove it"),
        ("    return (x", "    y = = (x", "7:9", "invalid Python: invalid syntax", "correct it"),
        ("# instead: return", "# instead: retrun", "13:5",
         "the starter made from this region is not valid Python: invalid syntax",
         "mark whole statements, or write `# instead: …` with what stands there"),
    ],
)  # fmt: skip
def test_a_marker_out_of_place_is_a_problem_of_the_solution(
    root: Path, old: str, new: str, place: str, said: str, remedy: str
):
    text = MARKED.replace(old, new, 1)
    assert text != MARKED
    (root / SOLUTION).write_text(text)
    (problem,) = lint(root).problems
    assert str(problem) == f"mine/{SOLUTION}:{place}: {said}; {remedy}"


def test_a_lesson_needs_a_starter_or_a_marked_solution(root: Path):
    (root / SOLUTION).write_text(SHOWN)
    (problem,) = lint(root).problems
    assert str(problem).startswith(f"mine/{SOLUTION}:1:1: the lesson has no `starter`, and no reg")
    (root / SOLUTION).write_bytes(b"\xff")
    (problem,) = lint(root).problems
    assert str(problem).startswith(f"mine/{SOLUTION}:1:1: not UTF-8: byte 0xff")
    (root / SOLUTION).unlink()
    with pytest.raises(BadPack) as error:
        load_pack(root).lesson("standardize")
    assert "mine/basics/standardize.yaml:2:1: 'starter' is missing; add a line `starter: …`, " in (
        str(error.value)
    )
