"""Faults found at run time are located in the lesson's file."""

from pathlib import Path

import pytest

from tutor.engine.plan import plan
from tutor.inputs.drawing import DRAWING, DrawError
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.pack.places import Places, locate
from tutor.report import CheckResult, Fault, Frame, Report

LESSON = """\
id: one
title: One
track: basics
minutes: 1
brief: Write f.
torch: |
  def f(x):
      return x
harness: |
  def g(x):
      return x
starter: |
  def f(x):
      raise NotImplementedError
hints: [Return it.]
sizes: {n: [3, 4]}
inputs:
  x: normal(n)
  ends: integers(5, 9, n)
checks:
  - name: elsewhere
    value: f(x)
    jax: "<0.5"
  - name: first
    value: f(x)
  - name: second
    expect: f(mask)
    value: f(mask)
    inputs:
      mask: sequence_mask(ends, 3)
  - name: third
    shape: f(x)
    is: "[n]"
survives: [jit]
"""


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pack:
    (tmp_path / "basics").mkdir()
    (tmp_path / "basics/one.yaml").write_text(LESSON)
    (tmp_path / "pack.yaml").write_text(
        "format: 1\nid: p\ntitle: P\ntracks:\n  - {id: basics, title: B, lessons: [one]}\n"
    )
    monkeypatch.chdir(tmp_path)
    return load_pack(tmp_path)


def found(place: str) -> str:
    """The text at a place."""
    file, line = place.split(":")
    assert file == "basics/one.yaml"
    return LESSON.splitlines()[int(line) - 1].strip()


def report(*checks: CheckResult, fault: Fault | None = None) -> Report:
    return Report(lesson="one", verdict="internal", checks=checks, fault=fault)


def test_checks_are_counted_without_those_for_other_releases(pack: Pack):
    places = Places(pack, pack.lesson("one"))
    assert found(places.of_check("first")) == "value: f(x)"
    assert places.of_check("first") == "basics/one.yaml:25"
    assert found(places.of_check("second")) == "value: f(mask)"
    assert found(places.of_check("second", "expect")) == "expect: f(mask)"
    assert found(places.of_check("third")) == "shape: f(x)"
    assert found(places.of_check("works under jit")) == "survives: [jit]"
    assert found(places.of("checks", 1, "inputs", "mask")) == "mask: sequence_mask(ends, 3)"
    assert found(places.of("inputs", "ends", "further")) == "ends: integers(5, 9, n)"


@pytest.mark.parametrize(("line", "row"), [(1, 7), (2, 8), (5, 10), (6, 11)])
def test_what_raises_is_located_in_the_code(pack: Pack, line: int, row: int):
    """Lines of the code count those of `torch`, a blank line, and those of `harness`."""
    fault = Fault("broken-pack", "it raised", frames=(Frame(line, "f", "x"),))
    place = locate(pack, pack.lesson("one"), report(fault=fault), fault)
    assert place == f"basics/one.yaml:{row}"
    assert found(place) == pack.lesson("one").reference_code.splitlines()[line - 1].strip()


def test_what_cannot_be_drawn_is_located_in_the_inputs(pack: Pack):
    lesson = pack.lesson("one")
    with pytest.raises(DrawError) as caught:
        plan(lesson, 0)
    assert caught.value.part == f"{DRAWING}mask of second"
    fault = Fault("broken-pack", "it cannot be drawn", running=caught.value.part)
    place = locate(pack, lesson, report(fault=fault), fault)
    assert found(place) == "mask: sequence_mask(ends, 3)"
    fault = Fault("broken-pack", "it cannot be drawn", running=f"{DRAWING}x of second")
    assert found(locate(pack, lesson, report(fault=fault), fault)) == "x: normal(n)"


def test_what_a_check_expects_is_located_there(pack: Pack):
    fault = Fault("broken-pack", "it gives NaN")
    result = CheckResult("second", "value", "internal", fault=fault)
    place = locate(pack, pack.lesson("one"), report(result), fault)
    assert found(place) == "expect: f(mask)"


def test_a_file_that_is_no_longer_there_is_only_named(pack: Pack, tmp_path: Path):
    lesson = pack.lesson("one")
    (tmp_path / "basics/one.yaml").unlink()
    fault = Fault("broken-pack", "it raised")
    assert locate(pack, lesson, report(fault=fault), fault) == "basics/one.yaml"
    assert Places(pack, lesson).of_check("first") == "basics/one.yaml"


def test_a_place_within_the_pack_does_not_tell_where_that_is(
    pack: Pack, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir("/")
    places = Places(pack, pack.lesson("one"), within_pack=True)
    assert places.of_check("first") == "basics/one.yaml:25"
    assert Places(pack, pack.lesson("one")).of_check("first").endswith("basics/one.yaml:25")


def test_a_file_that_has_changed_since_is_read_as_it_is(pack: Pack, tmp_path: Path):
    lesson = pack.lesson("one")
    file = tmp_path / "basics/one.yaml"
    file.write_text(file.read_text().replace('jax: "<0.5"', "jax: nonsense"))
    assert Places(pack, lesson).of_check("first").startswith("basics/one.yaml:")
