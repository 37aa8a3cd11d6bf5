"""Python text inside a pack: which names it takes and defines, and where it stops being Python."""

import builtins
import dis
import keyword

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.expressions import BadPython, defined_names, free_names, texts

# --- the names an expression takes ---------------------------------------------------------


@for_each(
    ("expression", "names"),
    [
        ("f(x)", {"f": (1, 1), "x": (1, 3)}),
        ("x + x", {"x": (1, 1)}),
        ("model.layer.weight", {"model": (1, 1)}),
        ("f(scale=s)", {"f": (1, 1), "s": (1, 9)}),
        ("lambda w, b=c: w @ b + d", {"c": (1, 13), "d": (1, 24)}),
        ("lambda *a, k, **o: (a, k, o, q)", {"q": (1, 30)}),
        ("lambda x: lambda y: x + y + z", {"z": (1, 29)}),
        ("(lambda x: x)(x)", {"x": (1, 15)}),
        ("lambda x=(lambda y: y): y", {"y": (1, 25)}),
        ("[v * s for v in vs if v > t]", {"s": (1, 6), "vs": (1, 17), "t": (1, 27)}),
        ("[a for a in b for c in a if c]", {"b": (1, 13)}),
        ("[w for w in w]", {"w": (1, 13)}),
        ("[w for w in ws] + w", {"ws": (1, 13), "w": (1, 19)}),
        ("{k: v for k, (v, *_) in d.items()}", {"d": (1, 25)}),
        ("sum(x ** 2 for x in xs)", {"sum": (1, 1), "xs": (1, 21)}),
        ("[(lambda: i + n)() for i in r]", {"n": (1, 15), "r": (1, 29)}),
        ("(y := f(x)) + y", {"f": (1, 7), "x": (1, 9)}),
        ("{**a, 'b': c}", {"a": (1, 4), "c": (1, 12)}),
        ("a[i:j, ..., None]", {"a": (1, 1), "i": (1, 3), "j": (1, 5)}),
        ("'text' if flag else 1", {"flag": (1, 11)}),
        ("'no names'", {}),
        ("'é☃' + foo", {"foo": (1, 8)}),
        ("größe + x", {"größe": (1, 1), "x": (1, 9)}),
        ("f(x,\n  y)", {"f": (1, 1), "x": (1, 3), "y": (2, 3)}),
        ("  f(\nx)", {"f": (1, 3), "x": (2, 1)}),
        ("\n\n  f(x)\n", {"f": (3, 3), "x": (3, 5)}),
        ("(a,\r\n b,\r c)", {"a": (1, 2), "b": (2, 2), "c": (3, 2)}),
    ],
)
def test_free_names_are_found_with_the_place_of_their_first_free_use(
    expression: str, names: dict[str, tuple[int, int]]
) -> None:
    assert free_names(expression) == names


NAMES = st.sampled_from(["a", "b", "c", "jnp", "größe"])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """Well-formed expressions of everything that binds names, and some that does not."""
    if depth == 0:
        return draw(NAMES)

    def part() -> str:
        return draw(expressions(depth - 1))

    n, m = draw(NAMES), draw(NAMES)
    forms = [
        lambda: f"{part()}({part()}, k={part()})",
        lambda: f"(lambda {n}, *{m}_: {part()})",
        lambda: f"(lambda {n}={part()}: {part()})",
        lambda: f"[{part()} for {n} in {part()} if {part()}]",
        lambda: f"{{{part()}: {part()} for {n}, {m} in {part()}}}",
        lambda: f"({part()} for {n} in {part()} for {m} in {part()})",
        lambda: f"{part()}.{n}[{part()}]",
        lambda: f"({part()} + {part()})",
    ]
    return draw(st.sampled_from(forms))()


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@given(expressions())
def test_the_free_names_are_exactly_those_that_python_looks_up_outside(expression: str) -> None:
    try:
        code = compile(expression, "", "eval")
    except SyntaxError:
        assume(False)
    looked_up: set[str] = set()
    pending = [code]
    while pending:
        one = pending.pop()
        looked_up |= {
            step.argval
            for step in dis.get_instructions(one)
            if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")
        }
        pending += [c for c in one.co_consts if hasattr(c, "co_code")]
    assert free_names(expression).keys() == looked_up


@given(expressions(), st.sampled_from(["", " ", "\n", "\n   ", "\t\n"]))
def test_every_place_is_where_the_name_stands(expression: str, lead: str) -> None:
    text = lead + expression
    lines = text.split("\n")
    for name, (line, column) in free_names(text).items():
        assert lines[line - 1][column - 1 :].startswith(name)


# --- the names a module defines ------------------------------------------------------------


def test_everything_a_top_level_binds_is_defined_and_nothing_else() -> None:
    source = """
import os, numpy as np, a.b.c
from x import y as z, w
one = two = 1
three: int = 3
four: int
(five, [six, *seven]) = q
def function(parameter): local = 1
async def coroutine(): ...
class Class:
    attribute = 1
for item in things: inside_for = 1
with f() as handle: pass
try: tried = 1
except E as error: pass
if test: maybe = 1
(walrus := 1)
[i for i in range(3)]
used
"""
    assert defined_names(source) == {
        *("os", "np", "a", "z", "w", "one", "two", "three", "five", "six", "seven", "four"),
        *("function", "coroutine", "Class", "item", "inside_for", "handle", "tried", "error"),
        *("maybe", "walrus"),
    }


# --- what is no Python ---------------------------------------------------------------------


@for_each(
    ("source", "line", "column", "message"),
    [
        ("x = 1\ny = (", 2, 5, "never closed"),
        ("def f(:\n  pass", 1, 7, "invalid syntax"),
        ("if 1:\n  x\n y", 3, 3, "unindent"),
        ("'é' + ?", 1, 7, "invalid syntax"),
        ("\n\nx = 'a", 3, 5, "unterminated string"),
        ("def f(x, x): pass", 1, 1, "duplicate argument"),
        ("def f():\n    nonlocal q", 2, 5, "no binding for nonlocal"),
        ("nonlocal x", 1, 1, "nonlocal"),
        ("def f(x):\n    global x", 2, 5, "parameter and global"),
        ("from __future__ import braces", 1, 1, "not a chance"),
        ("def f():\n  from a import *", 2, 17, "import \\*"),
        ("a\0b", 1, 1, "null bytes"),
        ("x = '\ud800'", 1, 1, "surrogates"),
        ("[" * 300, 1, 201, "too many nested"),
    ],
)
def test_a_module_that_is_no_python_is_refused_where_it_stops_being_python(
    source: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(BadPython, match=message) as caught:
        defined_names(source)
    assert caught.value.line == line
    # How a whole statement is pointed at differs between versions of Python.
    whole = ("duplicate argument", "unindent", "not a chance")
    assert column == caught.value.column or message in whole


@for_each(
    ("expression", "line", "column"),
    [
        ("f(x", 1, 2),
        ("  f(x", 1, 4),
        ("\n\n  f(x", 3, 4),
        ("f(\n x,\n $)", 3, 2),
        ("x = 1", 1, 3),
        ("", 1, 1),
        ("return x", 1, 1),
        ("import os", 1, 1),
        ("x; y", 1, 2),
    ],
)
def test_text_that_is_no_expression_is_refused_where_it_stops_being_one(
    expression: str, line: int, column: int
) -> None:
    with pytest.raises(BadPython) as caught:
        free_names(expression)
    # Where Python points at within the line differs a little between its versions.
    assert caught.value.line == line
    assert caught.value.column in (column, column + 1, 1)


def test_a_comprehension_that_rebinds_its_own_variable_is_no_expression() -> None:
    with pytest.raises(BadPython, match="cannot rebind"):
        free_names("[x := 0 for x in y]")


PYTHONISH = st.lists(
    st.sampled_from(
        [
            *keyword.kwlist,
            *"()[]{}:;,.=+-*/%@~|^&<>!\"'\\`?$#",
            *("\n", "\r", "\t", "  ", "\n    ", "\0", "\ud800", "\ufeff", "\x0c"),
            *("x", "_", "é", "0x", "1e9", "f'", 'f"""{', "}", "b'", ":=", "->", "..."),
            *("\\N{", "\\ud800", "# -*- coding: rot13 -*-", "\U0001f600"),
        ]
    ),
    max_size=25,
).map(" ".join)


def read_or_refused(text: str) -> None:
    """Both readers give names, or BadPython with a message and a place; nothing else."""
    for read in (free_names, defined_names):
        problem: BadPython | None = None
        found: dict[str, tuple[int, int]] | set[str] = set()
        try:
            found = read(text)
        except BadPython as error:
            problem = error
        assert all(isinstance(name, str) for name in found)
        assert problem is None or (str(problem) and problem.line >= 1 and problem.column >= 1)


@given(st.one_of(st.text(st.characters(), max_size=60), PYTHONISH))
@example("f'''{\n\nx}'''")
@example('(\n\nf"""\n{x}""" f"{y}")')
@example("lambda x=lambda:y:x")
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    read_or_refused(text)


@for_each(
    "repeated",
    ["(", "[", "{", "-", "not ", "lambda: ", "x.", "x[", "f(", "x if ", "*", "'a' ", "1+", "\\"],
)
def test_no_depth_of_nesting_is_anything_but_refused_or_read(repeated: str) -> None:
    closing = {"(": ")", "[": "]", "{": "}", "x[": "]", "f(": ")"}.get(repeated, "")
    for depth in (50, 99, 150, 190, 201, 500, 950, 1500, 3000, 20_000):
        read_or_refused(repeated * depth + "x" + closing * depth)


def test_nothing_in_an_expression_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    monkeypatch.setattr(builtins, "_ran", ran.append, raising=False)
    assert free_names("_ran(1)") == {"_ran": (1, 1)}
    assert free_names("[_ran(2) for x in [_ran(3)]]") == {"_ran": (1, 2)}
    assert defined_names("x = _ran(4)") == {"x"}
    assert ran == []


# --- the texts among a check's arguments ---------------------------------------------------


def test_every_text_in_nested_arguments_is_found_in_order() -> None:
    arguments = [{"expression": "f(x)", "at": ("w", "b")}, None, {"n": 3, "start": {"p": "q"}}]
    assert list(texts(arguments)) == ["f(x)", "w", "b", "q"]
