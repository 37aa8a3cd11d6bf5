"""Python that a stranger wrote is read or refused, however deep or long: nothing that the main
process does with it falls over."""

import ast
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.checks.answers import Answered, Unanswered
from tutor.engine.looks import looks
from tutor.foreign.python_source import MAX_SHOWN, parse, quoted
from tutor.ui.run_ahead import parses
from tutor.ui.screens.solution_diff import docstring_lines

NESTED = {
    "sum": ("1 + ", ""),
    "negation": ("-", ""),
    "not": ("not ", ""),
    "attribute": ("", ".y"),
    "call": ("", "()"),
    "index": ("", "[0]"),
    "list": ("[", "]"),
    "tuple": ("(", ",)"),
    "dict": ("{0: ", "}"),
    "lambda": ("lambda: ", ""),
    "condition": ("1 if 1 else ", ""),
    "comparison": ("1 < ", ""),
    "await": ("await ", ""),
    "comprehension": ("[", " for _ in x]"),
    "string": ("'a' ", "'b'"),
    "walrus": ("(y := ", ")"),
    "starred": ("f(*", ")"),
}
"""What stands before and after an inner expression."""


@given(st.sampled_from(sorted(NESTED)), st.integers(1, 20_000))
@settings(deadline=None, max_examples=120)
def test_nested_expressions_are_read_or_refused(name: str, depth: int):
    before, after = NESTED[name]
    source = f"a = {before * depth}x{after * depth}\n"
    with suppress(SyntaxError):
        tree = parse(source)
        assert isinstance(tree.body[0], ast.Assign)
        assert 0 < len(quoted(source, tree.body[0].value)) <= MAX_SHOWN
    with suppress(SyntaxError, Unanswered):
        Answered(source).answer("a")
    docstring_lines(source)
    parses(source)
    looks(source)


@given(st.integers(1, 3_000))
@settings(deadline=None, max_examples=20)
def test_nested_statements_are_read_or_refused(depth: int):
    for head in ("if x:", "def f():", "class A:", "for i in x:", "try:"):
        source = "".join(f"{' ' * i}{head}\n" for i in range(depth)) + " " * depth + "pass\n"
        with suppress(SyntaxError):
            parse(source)
        docstring_lines(source)
        looks(source)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(source: str):
    with suppress(SyntaxError):
        parse(source)
    looks(source)


@for_each(
    ("source", "message"),
    [
        ("x = 1\0", "null bytes"),
        (f"x = {'-' * 9_000}1", "too deeply nested"),
        (f"x = 1{' + 1' * 9_000}", "too deeply nested"),
        ("x = (", "never closed"),
        ("x = 1\n" * 2_000_000, "larger than 1024 KiB"),
    ],
)
def test_what_is_refused_says_why(source: str, message: str):
    with pytest.raises(SyntaxError, match=message):
        parse(source)


def test_chains_of_names_are_followed_or_refused():
    source = "a0 = (1,)\n" + "".join(f"a{i} = a{i - 1} + (1,)\n" for i in range(1, 3_000))
    with pytest.raises(Unanswered, match="is code"):
        Answered(source).answer("a2999")


def test_several_threads_can_parse_at_once() -> None:
    """Python 3.11 raises SystemError if another thread makes a tree meanwhile."""
    source = "x = [" + ", ".join(f"f({n}, [y * {n} + 1])" for n in range(400)) + "]\n"
    with ThreadPoolExecutor(4) as threads:
        trees = list(threads.map(parse, [source] * 60))
    assert all(len(tree.body) == 1 for tree in trees)
