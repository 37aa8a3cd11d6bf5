"""What names in a failing line stand for: shapes, numbers and structures, or nothing if unsure."""

import sys
import types
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.sandbox.calls import UserCodeError
from tutor.sandbox.environment import raised
from tutor.sandbox.exceptions import MAX_VALUE, MAX_VALUES, from_raised
from tutor.sandbox.line_values import MAX_ITEMS, MAX_TEXT, line_values, summary

FILE = "submission.py"


def failed(code: str) -> tuple[Exception, types.TracebackType]:
    """Run code that fails; return the exception, and its innermost frame in the code."""
    try:
        exec(compile(code, FILE, "exec"), {"np": np})
    except Exception as error:  # noqa: BLE001 - whatever it raises
        last = traceback = error.__traceback__
        while traceback is not None:
            last = traceback if traceback.tb_frame.f_code.co_filename == FILE else last
            traceback = traceback.tb_next
        assert last is not None
        return error, last
    raise AssertionError("it did not fail")


def values(code: str) -> dict[str, str]:
    return dict(line_values(code, failed(code)[1]))


PROPERTY = """
class A:
    w = property(lambda self: 1, lambda self, w: None)

a = A()
a.__dict__["w"] = 5
y = a.w + "s"
"""


@for_each(
    ("code", "found"),
    [
        ("x, n = [1, 2], 0\ny = x[0] / n", {"x[0]": "1", "n": "0"}),
        # Only what the failing part of the line was computed from.
        ("a, b, c = 1, 'b', 3\ny = (a + b) * c", {"a": "1", "b": "'b'"}),
        ("x = np.ones((2, 3))\nh, last, more = x", {"x": "NumPy float64[2, 3]"}),
        ("for a, b in [(1, 2), 3]:\n    pass", {}),
        ("xs = [1, 2]\nfor a, b in xs:\n    pass", {"xs": "[1, 2]"}),
        ("t, v = (1, 2), 5\nt[0] = v", {"t": "(1, 2)", "v": "5"}),
        ('p = {"w": 1}\ny = p["w"] + p["b"]', {"p": "{'w': 1}"}),
        (
            "class A:\n w = 1\n def f(self, x):\n  self.w = 2\n  return self.w + x\nA().f('x')",
            {"self.w": "2", "x": "'x'"},
        ),
        ("y = (lambda a, b: a + b)(\n    1,\n    'x',\n)", {"a": "1", "b": "'x'"}),
        ("k = 3\ny = [q + k for q in ['a']]", {"q": "'a'", "k": "3"}),
        ("def f(x): return x\nn = 2\nf(n, n)", {"n": "2"}),
        ("if [] > 3: pass", {}),
        ("x, y = 'a', 1\nx += y", {"x": "'a'", "y": "1"}),
        # Not what a name stands for elsewhere, or by now.
        ("n = 0\ndef f():\n  n = n + 1\nf()", {}),
        ("x, a = 5, 1\ny = sum([x for x in (a, 's')])", {"a": "1"}),
        ("y = (x := 1) + 'a' + x", {}),
        ("x, k = 1, 's'\ntry: x + k\nexcept TypeError:\n  x = None\n  raise", {}),
        ("x, k = 1, 's'\ntry: x + k\nfinally: x = None", {}),
        ("pairs, a = [1], 7\ny = [a for a, b in pairs]", {"pairs": "[1]"}),
        (PROPERTY, {"a": "A"}),
        ("x = 'é'; n = 3; y = x + n", {"x": "'é'", "n": "3"}),
    ],
)
def test_names_are_found_with_what_they_stand_for(code: str, found: dict[str, str]):
    assert values(code) == found


class Pair(NamedTuple):
    a: int
    b: int


class Plain:
    pass


@for_each(
    ("value", "text"),
    [
        (np.float32(2), "NumPy float32[]"),
        ((np.zeros(2, np.int8),), "(NumPy int8[2],)"),
        ({"a": [1, (2, 3)]}, "{'a': [1, (2, 3)]}"),
        ([*range(9)], "[0, 1, 2, 3, …]"),
        ({n: n for n in range(9)}, "{0: 0, 1: 1, 2: 2, 3: 3, …}"),
        ([[[[[1]]]]], "[[[[…]]]]"),
        ({}, "{}"),
        ("x" * 99, repr("x" * 19 + "…")),
        pytest.param([10**5000], "[a large integer]", id="large"),
        (Pair(1, 2), "Pair"),
        (Plain(), "Plain"),
        (len, ""),
        (sys, ""),
        (Plain, ""),
        ([len, 1], "[…, 1]"),
        (None, "None"),
    ],
)
def test_a_summary_says_what_one_would_print(value: Any, text: str):
    assert summary(value) == text


JSON = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
)


@given(JSON)
def test_a_summary_looks_at_a_few_items_only(value: Any):
    assert summary(value).count(",") <= (MAX_ITEMS + 1) ** 4


HOSTILE = '''
class Loud:
    def __getattr__(self, name):
        raise SystemExit(name)
    @property
    def __class__(self):
        raise KeyboardInterrupt
    def __repr__(self):
        raise MemoryError
    def __len__(self):
        raise RecursionError

class Slots:
    __slots__ = ("w",)

x, s, deep = Loud(), Slots(), []
for _ in range(9999):
    deep = [deep]
'''  # fmt: skip


@pytest.mark.parametrize("line", ["y = 1 / 0 + x", "y = s.w + x.w", "y = deep + 1", "y = x / s.w"])
def test_no_class_of_the_learners_can_break_a_verdict(line: str):
    code = f"{HOSTILE}\n{line}\n"
    error, _ = failed(code)
    reply = raised("", UserCodeError(error, "the import"), FILE, code)
    assert reply.line == code.count("\n")
    assert len(from_raised(reply, code).values) <= MAX_VALUES


def test_what_a_sandbox_says_is_bounded_and_made_harmless():
    code = "y = '\\x1b[31m\\ud800' + 1"
    error, _ = failed(code)
    reply = raised("", UserCodeError(error, ""), FILE, code)
    many = [("x", "\x1b[31m" + "y" * 9999)] * 99
    shown = from_raised(type(reply)("", "exception", "E", "m", "", [], 1, None, many), code).values
    assert len(shown) == MAX_VALUES
    assert all(len(one) <= MAX_VALUE and one.isprintable() for one in shown)


@pytest.mark.filterwarnings("error")
def test_warnings_about_the_source_are_not_shown_again():
    code = "x = 'a'\ny = x + 1\n"
    _, last = failed(code)
    assert line_values(code + "z = '\\d'\n", last) == [("x", "'a'")]


def test_a_long_expression_takes_a_moment():
    code = f"v = 1\ny = len([{', '.join(['v'] * 30_000)}], 3)\n"
    assert values(code) == {"v": "1"}


def test_a_long_text_is_cut():
    code = "x = {'k' * 30: 1, 'l' * 30: 2, 'm' * 30: 3}\ny = x + 1"
    assert len(values(code)["x"]) == MAX_TEXT
