"""At least nine of ten typical mistakes of PyTorch users are explained by their real cause, and
unrelated code is not explained."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from msgspec.structs import replace

from tests.conftest import course
from tests.course.sample import sample_of
from tests.explain.conftest import Kept, Provoke
from tests.explain.silent import Tried, silent_mistakes
from tutor.checks.compare import compare, words
from tutor.explain.causes import causes_of
from tutor.explain.causes.comparison import comparison
from tutor.explain.rulebook import explain, rules
from tutor.explain.symptom import Symptom
from tutor.manifest import solution_folders
from tutor.tree import Leaf

HERE = Path(__file__).parent
MISTAKES = yaml.safe_load((HERE / "mistakes.yaml").read_text())["mistakes"]
INNOCENT = yaml.safe_load((HERE / "innocent.yaml").read_text())
COURSE = course()
WANTED = yaml.safe_load((HERE / "course.yaml").read_text())

ANSWERS = sorted(f for base in solution_folders(COURSE.root) for f in base.rglob("*.py"))

HEAD = "import jax\nimport jax.numpy as jnp\n"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take a sample of the course's answers, with `--proofs` all of them."""
    if "path" in metafunc.fixturenames:
        paths = ANSWERS
        if not metafunc.config.getoption("proofs"):
            paths = sample_of(metafunc.config).of(paths, lambda path: path.stem, lambda path: None)
        metafunc.parametrize("path", paths, ids=lambda path: path.stem)


LESSONS = """
arrays-hello arrays-at-updates arrays-indexing arrays-dtypes arrays-interop grad-basics
grad-higher jvp-vjp-hvp grad-custom grad-nan-safe grad-maml vmap-basics vmap-per-example-grads
vmap-cond vmap-ensembles jit-whole-step jit-static-args jit-tracing control-flow-cond
control-flow-scan control-flow-while memory-donate-remat benchmark-honestly debug-toolbox
random-keys random-fold-in-vmap random-key-hunt pytrees-params pytrees-custom
stateless-training-loop linen-mlp linen-batchnorm-dropout nnx-mlp port-torch-weights
attention-block rnn-lstm-scan equinox-jaxtyping optax-basics optax-schedules-clipping
optax-freeze-decay-mask grad-accumulation mixed-precision pmap-collectives pmap-train-mlp
pmap-to-shard-map data-loading parity-digits rl-envs-vmap-scan checkpoint-resume mini-flax
"""
"""Lessons planned for the course; rules may name them before they exist."""


def test_nine_of_ten_mistakes_that_raise_are_explained(provoke: Provoke):
    missed = []
    for mistake in MISTAKES:
        symptom = provoke(HEAD + mistake["code"], mistake.get("devices", 1))
        assert symptom is not None, f"{mistake['name']}: nothing went wrong"
        found = explain(symptom)
        wanted = [mistake["rule"]] if isinstance(mistake["rule"], str) else mistake["rule"]
        if found is None or found.id not in wanted:
            missed.append(f"{mistake['name']}: {found and found.id}: {symptom.message}")
    assert len(missed) <= len(MISTAKES) / 10, "\n".join(missed)


SILENT, LEFT_OUT = silent_mistakes()


@pytest.fixture(scope="module")
def tried(kept: Kept) -> list[Tried]:
    """Try every silent mistake, and its right code with unrelated numbers."""
    return [silent.tried(HEAD, kept) for silent in SILENT]


@pytest.mark.proof
def test_nine_of_ten_silent_mistakes_are_explained_by_their_cause_and_none_by_another(
    tried: list[Tried],
):
    assert len(SILENT) >= 150 and LEFT_OUT >= 20
    missed, wrong = [], []
    for silent, one in zip(SILENT, tried, strict=True):
        assert one.wrong is not None, f"{silent.name}: nothing is wrong"
        found = explain(one.wrong)
        if found is None:
            missed.append(f"{silent.name}: {one.wrong.message}")
        elif found.id not in silent.wanted:
            wrong.append(f"{silent.name}: {found.id}: {one.wrong.message}")
    assert not wrong, "\n".join(wrong)
    assert len(missed) <= len(SILENT) / 10, "\n".join(missed)


@pytest.mark.proof
def test_right_code_with_unrelated_wrong_numbers_is_not_explained(tried: list[Tried]):
    """The checks, inputs, PyTorch and right code of all silent mistakes, with unrelated answers."""
    symptoms = [symptom for one in tried for symptom in one.unrelated]
    assert len(symptoms) >= 200
    explained = [(found.id, symptom) for symptom in symptoms if (found := explain(symptom))]
    assert not explained, "\n".join(f"{rule}: {symptom}" for rule, symptom in explained)


def test_unrelated_code_that_raises_is_not_explained(provoke: Provoke):
    assert len(INNOCENT) >= 200
    wrong = []
    for code in INNOCENT:
        symptom = provoke(HEAD + code, 1)
        if symptom is not None and (found := explain(symptom)) is not None:
            wrong.append(f"{code!r} is explained by {found.id}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", WANTED)
def test_a_wrong_answer_is_explained_by_its_cause_or_not_at_all(name: str, kept: Kept):
    """Mistakes of the course's lessons, in the checks that first find them (which `jaxtutor pack
    test` proves). Those of a lesson that `course.yaml` does not list need no entry."""
    lesson = COURSE.lesson(name)
    # Only the messages matter here, even on a busy machine.
    lesson = replace(lesson, limits=replace(lesson.limits, seconds=300))
    solution = COURSE.solution(name)
    assert solution is not None
    wanted = WANTED[name]
    mistakes = {mistake.name: mistake for mistake in lesson.mistakes}
    found = {}
    for mistake in (mistakes[one] for one in wanted):
        check = next(
            (c for c in lesson.checks if mistake.fails in (c.name, c.kind)), lesson.checks[0]
        )
        (symptom,) = kept.symptoms(lesson, mistake.applied_to(solution), check)
        assert symptom is not None, f"{mistake.name}: nothing is wrong"
        explained = explain(symptom)
        found[mistake.name] = explained.id if explained is not None else None
    assert found == wanted


def test_source_alone_is_not_explained(path: Path):
    """The source of a right answer does not explain unrelated numbers with an empty message."""
    source = path.read_text(encoding="utf-8")
    for kind in ("value", "grad", "vmap", "shape", "prng", "pure", "train"):
        symptom = Symptom(message="something is off", source=source, check=kind)
        assert explain(symptom) is None


def test_unrelated_wrong_numbers_are_not_explained(path: Path):
    source = path.read_text(encoding="utf-8")
    random = np.random.default_rng(len(source))
    for shape in ((), (5,), (4, 3), (2, 3, 4)):
        expected, actual, x = (
            Leaf(random.normal(size=shape).astype(np.float32), "jax.Array") for _ in range(3)
        )
        mismatch = compare(expected, actual)
        assert mismatch is not None
        against = comparison(mismatch, expected, actual, None, {"x": x}, {"n": 5, "d": 3}, 4)
        assert against is not None
        symptom = Symptom(
            message=words(mismatch), source=source, check="value", causes=causes_of(against)
        )
        assert explain(symptom) is None


def test_there_are_enough_rules_and_each_names_a_lesson_of_the_course():
    assert len(rules()) >= 120
    assert {rule.lesson for rule in rules()} <= {*LESSONS.split(), *COURSE.lessons}
