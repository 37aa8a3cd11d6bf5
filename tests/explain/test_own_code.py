"""The files that a pasted traceback names are read, if they are on this machine and unchanged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.explain.test_traceback import read_traceback
from tutor.explain import Symptom
from tutor.explain.own_code import MAX_FILE, with_own_code

PROGRAM = """
import jax.numpy as jnp
from flax import nnx

def unrelated():
    return jnp.zeros(3)

class Tagger(nnx.Module):
    def __init__(self, rngs):
        self.encoder = nnx.RNN(nnx.GRUCell(8, 16, rngs=rngs))

    def __call__(self, x):
        outputs, last = self.encoder(x)
        return last

model = Tagger(nnx.Rngs(0))
model(jnp.ones((4, 20, 8)))
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a program, and what it printed when it failed."""
    program = tmp_path_factory.mktemp("own") / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert "ValueError: too many values to unpack" in done.stderr
    return program, done.stderr


def test_only_code_that_the_lines_can_reach_counts(failed: tuple[Path, str]):
    symptom = read_traceback(failed[1])
    assert symptom is not None
    source = with_own_code(symptom).source
    assert "nnx.RNN" in source and "unrelated" not in source


def test_a_file_that_has_changed_is_not_the_one_that_failed(failed: tuple[Path, str]):
    symptom = read_traceback(failed[1].replace("outputs, last = self", "h, last = self"))
    assert symptom is not None
    assert with_own_code(symptom) == symptom


def at(file: str | Path, line: str = "f(x)") -> Symptom:
    return Symptom(exception="TypeError", source=line, places=((str(file), 1),))


def test_what_is_no_readable_python_file_is_left_alone(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("f(x)\n")
    (tmp_path / "large.py").write_text("f(x)\n" + "#" * MAX_FILE)
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")  # reading it would never end
    names = ["notes.txt", "large.py", "folder.py", "pipe.py", "missing.py", "nul\0.py"]
    for file in [*(tmp_path / name for name in names), "~nobody-here/train.py", "x" * 5000 + ".py"]:
        assert with_own_code(at(file)) == at(file)


def test_the_whole_statement_is_read(tmp_path: Path):
    (tmp_path / "train.py").write_text("total = f(\n    x,\n    y,\n)\n")
    symptom = with_own_code(at(tmp_path / "train.py", "total = f("))
    assert symptom.line == "total = f(x, y)"


def test_a_file_in_another_encoding_is_read(tmp_path: Path):
    (tmp_path / "train.py").write_bytes(b"f(x)  # \xe9\nimport jax\n")
    symptom = at(tmp_path / "train.py", "f(x)  # \ufffd")
    assert "import jax" in with_own_code(symptom).source
