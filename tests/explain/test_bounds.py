"""No pasted text, and nothing that a sandbox says, can hold up the process that reads it. Each of
these took minutes where a search was quadratic."""

from pathlib import Path

import pytest

from tutor.explain.own_code import MAX_FILE, with_own_code
from tutor.explain.symptom import Symptom, of_fault
from tutor.explain.traceback import explain_text
from tutor.report import Called, LibraryFrame
from tutor.sandbox.exceptions import from_raised
from tutor.sandbox.protocol import (
    MAX_EXCEPTION_TEXT,
    MAX_HELP,
    MAX_INSIDE,
    MAX_STEPS,
    Raised,
    Step,
)

FRAME = 'Traceback (most recent call last):\n  File "x.py", line 3, in f\n    jnp.dot(a)\n'


@pytest.mark.parametrize(
    "text",
    [
        FRAME + "TypeError: " + "a" * 900_000,
        'File "x.py", line ' + "9" * 900_000 + ", in f\n    f(x)\nTypeError: a",
        "----> " + "9" * 900_000 + " f(x)\nTypeError: a",
        "> f(x)\n\nx.py:3: in f\n" + "E   TypeError: b\n" * 50_000,
        FRAME + "TypeError: " + "f(" * 400_000,
    ],
    ids=["message", "number", "arrow", "pytest", "brackets"],
)
def test_hostile_texts_are_read_in_a_moment(text: str):
    symptom, explanation = explain_text(text)
    assert symptom is not None and symptom.exception == "TypeError"
    assert explanation is None


def test_a_file_of_blank_lines_is_searched_in_a_moment(tmp_path: Path):
    (tmp_path / "train.py").write_text("f(x)\n" + "\n" * (MAX_FILE - 10))
    symptom = Symptom(exception="TypeError", source="f(x)", places=((f"{tmp_path}/train.py", 1),))
    assert with_own_code(symptom).source.startswith("f(x)")


def test_what_a_sandbox_says_is_cut_to_what_it_may_say():
    long = "a" * 3_000_000
    step = Step(1, long, inside=[LibraryFrame(long, 1, long, long)] * 9_000)
    values = [(long, long)] * 9_000
    called = Called(long, long, long)
    reply = Raised("", "exception", long, long, long, [step] * 9_000, 1, None, values, called)
    fault = from_raised(reply, "f(x)\n")
    assert len(fault.detail) <= MAX_EXCEPTION_TEXT
    assert len(fault.frames) <= MAX_STEPS
    assert all(len(one.inside) <= MAX_INSIDE for one in fault.frames)
    assert fault.called is not None and len(fault.called.about) == MAX_HELP
    assert len(repr(fault)) < 13 * MAX_EXCEPTION_TEXT


def test_lines_are_counted_as_python_counts_them():
    source = "s = 'a\u2028b'  # \x0c\nx = 1\ny = x + s\n"
    fault = from_raised(Raised("", "exception", "TypeError", "no", "", [Step(3, "f")], 3), source)
    assert fault.frames[-1].source == "y = x + s"
    assert of_fault(fault, source).line == "y = x + s"


def test_all_of_a_message_about_a_leaked_tracer_is_read_in_pytests_layout():
    text = (
        "> f(x)\n\ntrain.py:3:\nE   jax.errors.UnexpectedTracerError: an unexpected tracer."
        f"\nE   {'-' * 30}\nE   The leaked intermediate value was created on line train.py:9:1\n"
    )
    symptom, _ = explain_text(text)
    assert symptom is not None and "train.py:9:1" in symptom.message
