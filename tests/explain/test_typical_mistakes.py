"""At least nine of ten typical mistakes of PyTorch users that raise are explained by their real
cause, and unrelated code is not explained."""

from pathlib import Path

import yaml

from tests.conftest import course
from tests.explain.conftest import Provoke
from tutor.explain.rulebook import explain
from tutor.explain.symptom import Symptom
from tutor.manifest import solution_folders

HERE = Path(__file__).parent
MISTAKES = yaml.safe_load((HERE / "mistakes.yaml").read_text())["mistakes"]
INNOCENT = yaml.safe_load((HERE / "innocent.yaml").read_text())

HEAD = "import jax\nimport jax.numpy as jnp\n"


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


def test_unrelated_code_that_raises_is_not_explained(provoke: Provoke):
    assert len(INNOCENT) >= 200
    wrong = []
    for code in INNOCENT:
        symptom = provoke(HEAD + code, 1)
        if symptom is not None and (found := explain(symptom)) is not None:
            wrong.append(f"{code!r} is explained by {found.id}")
    assert not wrong, "\n".join(wrong)


def test_the_source_of_a_right_answer_alone_is_not_explained():
    explained = []
    for folder in solution_folders(course().root):
        for path in sorted(folder.rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            for kind in ("value", "grad", "vmap", "shape", "prng", "pure", "train"):
                symptom = Symptom(message="something is off", source=source, check=kind)
                if (found := explain(symptom)) is not None:
                    explained.append(f"{path.name}, {kind}: {found.id}")
    assert not explained, "\n".join(explained)
