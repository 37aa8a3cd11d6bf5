"""Explanations are listed, searched, shown whole, documented, and guessed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from docs.explained import CONTRACTS, PAGES, contracts, pages
from tests.explain.pages import PAGES as KNOWN
from tests.explain.pages import links
from tests.stopwatch import GUARD
from tutor.explain import Symptom
from tutor.explain.contracts import functions
from tutor.explain.index import entries, guesses, of_name, search


def jaxtutor(*arguments: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tutor", "explain", *arguments]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=GUARD, check=False
    )


def test_every_explanation_has_a_page_that_is_up_to_date():
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    assert found == wanted, "run .venv/bin/python docs/explained.py"
    assert len(wanted) == len(entries()) + 1


def test_the_page_of_what_functions_need_is_up_to_date():
    told = "run .venv/bin/python docs/explained.py"
    assert CONTRACTS.read_text(encoding="utf-8") == contracts(), told


def test_every_link_was_checked():
    """`tests/explain/pages.py` looked these addresses up in the libraries' documentation."""
    known = set(KNOWN.read_text(encoding="utf-8").split())
    assert links() <= known, f"check these with tests/explain/pages.py: {links() - known}"


def test_every_word_is_found():
    found = [entry.id for entry in search(["tracer", "if"])]
    assert found and set(found) <= entries().keys()
    assert "branch-on-a-tracer" in found
    assert not search(["tracer", "nosuchword"])


def test_a_name_of_pytorch_is_found():
    for name in ("unsqueeze", "x.unsqueeze", "torch.unsqueeze"):
        entry = of_name(name)
        assert entry is not None and "unsqueeze" in dict(entry.names)


def test_a_message_that_no_rule_knows_is_guessed():
    message = "scan body function carry input and carry output must have the very same types"
    found = guesses(Symptom(exception="TypeError", message=message))
    assert any("scan" in entry.id for entry in found)


@pytest.mark.parametrize(
    "message", ["disk quota exceeded", "'learning_rate'", "connection reset by peer", ""]
)
def test_other_messages_are_not_guessed(message: str):
    for exception in ("KeyError", "OSError", "RuntimeError", "ValueError"):
        assert not guesses(Symptom(exception=exception, message=message))


def test_errors_of_pythons_own_are_not_guessed_unless_jax_raised_them():
    own = Symptom(
        exception="AttributeError", message="'Dense' object has no attribute 'wheight'",
        frames=("layer.wheight",), source="from flax import linen as nn",
    )  # fmt: skip
    assert not guesses(own)
    assert guesses(structs.replace(own, inside=(("flax/linen/module.py", "__getattr__"),)))


def test_what_another_function_takes_is_no_guess():
    for call in ("train() got an unexpected keyword argument 'foo'", "f() takes 1 argument"):
        assert not guesses(Symptom(exception="TypeError", message=call, names_jax=True))


def test_an_explanation_is_shown_by_its_id():
    done = jaxtutor("branch-on-a-tracer")
    assert done.returncode == 0
    assert "Fails:" in done.stdout and "Instead:" in done.stdout
    assert "https://docs.jax.dev" in done.stdout
    data = json.loads(jaxtutor("branch-on-a-tracer", "--json").stdout)
    assert data["explanation"]["id"] == "branch-on-a-tracer"


def test_explanations_are_listed_and_searched():
    done = jaxtutor("--list")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) >= len(entries())
    found = json.loads(jaxtutor("--list", "vmap", "axes", "--json").stdout)
    known = entries().keys() | {function.name for function in functions()}
    assert found and {one["id"] for one in found} <= known
    done = jaxtutor("--list", "nosuchword")
    assert (done.returncode, done.stdout) == (1, "No explanation contains 'nosuchword'.\n")


def test_a_misspelt_id_is_answered_with_a_similar_one():
    done = jaxtutor("branch-on-a-trcer")
    assert done.returncode == 2
    assert "did you mean 'branch-on-a-tracer'?" in done.stderr


def test_an_unknown_error_is_answered_with_guesses():
    text = "TypeError: scan body function carry input and carry output must be the same types\n"
    done = jaxtutor("-", text=text)
    assert done.returncode == 1
    assert "Perhaps, a guess:" in done.stdout and "jaxtutor explain " in done.stdout


def test_a_file_comes_before_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("branch-on-a-tracer").write_text("KeyError: 'x'\n")
    assert jaxtutor("branch-on-a-tracer").returncode == 1
