"""Deep and long sources are judged, or refused with a line, by everything that reads them; none is
a fault of jaxtutor's."""

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import all_cases
from tests.command import called
from tests.unit.test_python_source import NESTED
from tutor.engine.session import Session
from tutor.explain.traceback import explain_text
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import Report

RIGHT = "def double(x):\n    return 2 * x\n"


def nested(name: str, depth: int) -> str:
    before, after = NESTED[name]
    return f"x = y = 1\n\ndef other(f):\n    return {before * depth}x{after * depth}\n\n{RIGHT}"


def blocks(head: str, depth: int) -> str:
    lines = "".join(f"{' ' * level}{head}\n" for level in range(depth))
    return f"x = 1\n{lines}{' ' * depth}pass\n{RIGHT}"


STRANGE = {
    **{f"{name} {depth}": nested(name, depth) for name in NESTED for depth in (90, 2_500, 9_000)},
    **{
        f"{head} {depth}": blocks(head, depth)
        for head in ("if x:", "def f():", "class A:", "for i in [x]:", "while x: x = 0;", "try:")
        for depth in (15, 90, 1_000)
    },
    "elif": "x = 0\nif x:\n    pass\n" + "elif x:\n    pass\n" * 9_000 + RIGHT,
    "lines": "x = 1\n" * 30_000 + RIGHT,
    "list": "x = [" + "1," * 60_000 + "]\n" + RIGHT,
    "text": "x = '" + "a" * 900_000 + "'\n" + RIGHT,
    "comment": "#" + " " * 900_000 + "\n" + RIGHT,
    "blank": " " * 900_000 + "\n" + RIGHT,
    "parentheses": "(" * 500_000,
    "quotes": RIGHT + "'''" + "\n" * 900_000,
    "10 MB": "x = 1\n" * 1_700_000 + RIGHT,
}
LONGEST = {name: source for name, source in STRANGE.items() if not name.endswith(("90", "500"))}


def assert_judged(report: Report) -> None:
    """Assert that right code passes, or is refused as text, where that is known with the line."""
    if report.verdict != "pass":
        assert report.fault is not None and report.fault.code in ("syntax-error", "bad-source")
        assert report.fault.line or report.fault.code == "bad-source"


def checked(lesson: Lesson, code: str, forks: Forks) -> Report:
    with Session(lesson, code, sandboxes=forks) as session:
        return session.check()


def test_strange_sources_are_checked(mini: Pack, forks: Forks):
    with all_cases() as case:
        for name, source in STRANGE.items():
            with case(name):
                assert_judged(checked(mini.lesson("double"), source, forks))


@given(st.sampled_from(sorted(NESTED)), st.integers(1, 12_000))
@settings(deadline=None, max_examples=25, suppress_health_check=[*HealthCheck])
def test_nested_sources_are_checked_at_any_depth(mini: Pack, forks: Forks, name: str, depth: int):
    assert_judged(checked(mini.lesson("double"), nested(name, depth), forks))


def test_what_is_too_deep_is_refused_with_its_line(mini: Pack, forks: Forks):
    """Python says "out of memory" of some of it, which would be a false cause."""
    for name in ("sum", "negation", "lambda"):
        fault = checked(mini.lesson("double"), nested(name, 9_000), forks).fault
        assert fault is not None and "too deeply nested" in fault.message and fault.line == 4


def test_strange_sources_are_graded_one_by_one(forked: None, tmp_path: Path):
    folder = tmp_path / "hw"
    folder.mkdir()
    for number, source in enumerate(LONGEST.values()):
        (folder / f"s{number}.py").write_text(source)
    cell = {"cell_type": "code", "source": STRANGE["10 MB"]}
    (folder / "notebook.ipynb").write_text(json.dumps({"cells": [cell]}))
    (folder / "anna.py").write_text(RIGHT)
    out = tmp_path / "out"
    done = called("grade", str(folder), "--lesson", "double", "--out", str(out), "--jobs", "1")
    assert done.returncode == 3, done.stderr  # of what is larger than 1 MiB
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    verdicts = {result["submission"]: result["verdict"] for result in results}
    assert len(verdicts) == len(LONGEST) + 2 and verdicts["anna"] == "pass"
    assert set(verdicts.values()) == {"pass", "error", "ungraded"}


def test_tracebacks_of_strange_sources_are_explained(tmp_path: Path):
    path = tmp_path / "train.py"
    with all_cases() as case:
        for name, source in STRANGE.items():
            path.write_text(f"{source[:200_000]}\njnp.dot(a)\n")
            line = path.read_text().count("\n")
            text = (
                f'Traceback (most recent call last):\n  File "{path}", line {line}, in f\n'
                "    jnp.dot(a)\nTypeError: dot() missing 1 required positional argument: 'b'\n"
            )
            with case(name):
                symptom, _ = explain_text(text)
                assert symptom is not None and symptom.exception == "TypeError"
