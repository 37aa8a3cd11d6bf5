"""Explanations are listed, searched and shown whole, and so is what a function says of itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stopwatch import GUARD
from tutor.explain.index import entries, entry_named, search

SITES = (
    "https://docs.jax.dev/", "https://flax.readthedocs.io/", "https://flax-linen.readthedocs.io/",
    "https://optax.readthedocs.io/",
)  # fmt: skip


def jaxtutor(*arguments: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tutor", "explain", *arguments]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=GUARD, check=False
    )


def test_every_word_is_found():
    found = [entry.id for entry in search(["tracer", "if"])]
    assert found and set(found) <= entries().keys()
    assert "branch-on-a-tracer" in found
    assert not search(["tracer", "nosuchword"])


def test_a_name_of_pytorch_is_found():
    for name in ("unsqueeze", "x.unsqueeze", "torch.unsqueeze"):
        entry = entry_named(name)
        assert entry is not None and entry.id == "unsqueeze"


def test_links_are_pages_of_the_libraries():
    links = {entry.explanation.link for entry in entries().values()} - {""}
    assert links and all(link.startswith(SITES) for link in links)


def test_a_function_of_a_library_is_shown_in_its_own_words():
    done = jaxtutor("jnp.einsum")
    assert done.returncode == 0
    assert "jax.numpy.einsum(" in done.stdout and "Einstein" in done.stdout
    assert json.loads(jaxtutor("jax.lax.scan", "--json").stdout)["signature"].startswith("(f, init")
    assert jaxtutor("jnp.nosuchname").returncode == 2


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
    assert found and {one["id"] for one in found} <= entries().keys()
    done = jaxtutor("--list", "nosuchword")
    assert (done.returncode, done.stdout) == (1, "No explanation contains 'nosuchword'.\n")


def test_a_misspelt_id_is_answered_with_a_similar_one():
    done = jaxtutor("branch-on-a-trcer")
    assert done.returncode == 2
    assert "did you mean 'branch-on-a-tracer'?" in done.stderr


def test_a_file_comes_before_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("branch-on-a-tracer").write_text("KeyError: 'x'\n")
    assert jaxtutor("branch-on-a-tracer").returncode == 1
