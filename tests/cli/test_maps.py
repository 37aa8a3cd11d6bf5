"""`jaxtutor list`: maps of tracks, reviews, and known lessons."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_commands import edit
from tests.command import called
from tests.conftest import MINI
from tests.project.test_imports import imported_by
from tests.terminal.screen import jaxtutor as in_terminal
from tutor.learner.progress import Progress
from tutor.report import Report

SCREENS = Path(__file__).parents[1] / "packs" / "screens" / "lessons"


@pytest.fixture
def reviewed(tmp_path: Path) -> Path:
    """Return a pack of one track with a review."""
    root = Path(shutil.copytree(MINI.parent, tmp_path / "pack")) / "lessons"
    edit(root / "pack.yaml", "[double, tall]", "[double, tall]\n    review: tall")
    return root


def passes(lesson: str) -> None:
    with Progress() as progress:
        progress.record("mini", Report(lesson, "pass", ()))


# --- reviews -----------------------------------------------------------------------------------


def test_a_review_is_marked(reviewed: Path):
    lines = called("list", pack=reviewed).stdout.decode().splitlines()
    assert lines == ["Basics", "    double  Twice as much", "    tall    Upright (review)"]
    edit(reviewed / "basics" / "tall.yaml", "title: Upright", "title: A review of all")
    assert called("list", pack=reviewed).stdout.decode().splitlines()[2] == (
        "    tall    A review of all"
    )


def test_a_passed_review_marks_the_other_lessons_as_known(reviewed: Path):
    passes("tall")
    assert called("list", pack=reviewed).stdout.decode().splitlines() == [
        "Basics",
        "  ~ double  Twice as much",
        "  ✓ tall    Upright (review)",
        "",
        "~ counts as known: you passed the review of the track",
    ]
    lessons = json.loads(called("list", "--json", pack=reviewed).stdout)["lessons"]
    assert [(one["status"], one["review"]) for one in lessons] == [
        ("known", False),
        ("passed", True),
    ]
    with Progress() as progress:
        assert progress.statuses("mini") == {"tall": "passed"}  # as stored
    passes("double")
    assert "~" not in called("list", pack=reviewed).stdout.decode()


# --- maps --------------------------------------------------------------------------------------


def test_the_whole_map_is_printed_by_track():
    done = called("list", "--map", pack=SCREENS)
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[0].split() == ["PyTorch", "JAX", "lesson"]
    assert (lines[1], lines.count("Randomness")) == ("Batching", 1)
    column = lines[0].index("JAX")
    assert lines[2][column:].startswith(
        "jax.vmap(predict, in_axes=(None, None, 0))(w, b, xs)  rows"
    )
    assert lines[-2][column:] == "jax.random.permutation(key, n)"
    assert lines[-1] == "    # Split the key for every draw."


def test_only_rows_with_the_word_are_printed():
    lines = called("list", "--map", "EINSUM", pack=SCREENS).stdout.decode().splitlines()
    assert lines[1:] == [
        "Batching",
        "  torch.einsum('bi,bj->bij', a, b)  jnp.einsum('bi,bj->bij', a, b)  pairs",
    ]
    found = called("list", "--map", "split the key", pack=SCREENS).stdout.decode()
    assert "torch.randperm(n)" in found and "torch.randn" not in found


def test_a_map_as_json():
    done = called("list", "--map", "randn", "--json", pack=SCREENS)
    assert json.loads(done.stdout) == {
        "map": [
            {
                "track": "randomness",
                "torch": "torch.randn(n, d)",
                "jax": "jax.random.normal(key, (n, d))",
                "lesson": "draws",
                "note": None,
            }
        ]
    }


@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_no_row_exits_with_1_and_says_what_to_do(json_: list[str]):
    done = called("list", "--map", "no such thing", *json_, pack=SCREENS)
    assert done.returncode == 1
    assert done.stdout == (b'{"map":[]}\n' if json_ else b"")
    assert done.stderr.decode() == (
        "No row contains 'no such thing'. To see all rows, run: "
        f"jaxtutor list --map --pack {SCREENS}\n"
    )


def test_a_pack_without_maps_says_so():
    done = called("list", "--map", "x", pack=MINI)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"No track of this pack has a map.\n"


def test_a_map_needs_no_readable_lesson(tmp_path: Path):
    root = Path(shutil.copytree(SCREENS, tmp_path / "lessons"))
    (root / "batching" / "rows.yaml").write_text("title: [")
    assert called("list", "--map", pack=root).returncode == 0


def test_a_map_is_wrapped_in_a_terminal():
    with in_terminal("list", "--map", "cdist", "--pack", str(SCREENS), columns=60) as terminal:
        text = terminal.until("None))(a, b)")
        assert terminal.wait() == 0
    lines = [line for line in text.splitlines() if line]
    assert lines[2].startswith("  torch.cdist(a, b)  jax.vmap(")
    assert lines[2].endswith("pairs")
    assert len(lines) == 4 and lines[3].strip()


def test_the_map_reads_no_yaml_the_second_time():
    for _ in range(2):
        found = imported_by("-m", "tutor", "list", "--map", "--pack", str(SCREENS))
        assert not found & {"logging", "traceback", "numpy", "textual", "rich", "sqlite3"}
    assert "yaml" not in found
