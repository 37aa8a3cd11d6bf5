"""Patterns match, are fast on any text, and are rejected if invalid."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.explain.pattern import MAX_TEXT, BadPattern, compile_pattern, fill, flat, uses
from tutor.explain.rulebook import rules


@pytest.mark.parametrize(
    ("pattern", "text", "fields"),
    [
        ("has no attribute 'x'", "'A' object has no attribute 'x'", {}),
        ("got {n:int}", "axis: got 12 and 3", {"n": "12"}),
        ("shape {s:shape} is", "of shape (3, 4) is (5,)", {"s": "(3, 4)"}),
        ("with {a:array}.", "traced with ~int32[3,4]. Then", {"a": "~int32[3,4]"}),
        ("{x:dotted}.cuda(", "y = self.model.cuda()", {"x": "self.model"}),
        ("{x:name}(", "sum(x)", {"x": "sum"}),
        ("{x:name}(", "jnp.sum(x)", None),
        ("name: {name:name}.", "axis name: data. To fix", {"name": "data"}),
        ("sum({}dim={d:argument}", "x.sum(y, dim=1)", {"d": "1"}),
        ("a {x} b {y} c", "a 1 b 2 b 3 c", {"x": "1", "y": "2 b 3"}),
        ("ends in {x}", "it ends in all of this", {"x": "all of this"}),
        ("two words", "two\n   words", {}),
        ("sum(", "cumsum(x)", None),  # words are whole
        ("if", "elif x", None),
        ("mean", "meaning", None),
        ("_private", "a_private", None),
        ("got {n:int}.", "got many.", None),
        ("x" * 10, "", None),
    ],
)
def test_a_pattern_matches_and_returns_its_fields(
    pattern: str, text: str, fields: dict[str, str] | None
):
    assert compile_pattern(pattern).search(flat(text)) == fields


@pytest.mark.parametrize(
    ("pattern", "words", "column"),
    [
        ("a {x}{y}", "adjacent fields", 6),
        ("a {x} {x}", "duplicate field 'x'", 7),
        ("a {x:integer}", "unknown kind 'integer'", 3),
        ("{x}", "must contain text", 1),
        ("", "must contain text", 1),
    ],
)
def test_an_invalid_pattern_is_rejected(pattern: str, words: str, column: int):
    with pytest.raises(BadPattern, match=words) as caught:
        compile_pattern(pattern)
    assert caught.value.column == column


def test_braces_that_are_not_a_field_are_text():
    assert compile_pattern("{'a': 1}").search("x = {'a': 1}") == {}


@given(st.text(max_size=300), st.dictionaries(st.sampled_from("xyz"), st.text(max_size=5)))
def test_filling_keeps_unknown_fields(text: str, values: dict[str, str]):
    filled = fill(text, values)
    if not set(values) & {name for name, _ in uses(text)}:
        assert filled == text


def test_values_are_not_filled_in_again():
    assert fill("{x} {y}", {"x": "{y}", "y": "1"}) == "{y} 1"


PATTERNS = sorted(
    {
        pattern
        for rule in rules()
        for where in (rule.when.message, rule.when.line, rule.when.source, rule.when.lacks)
        for pattern in ([where] if isinstance(where, str) else where)
    }
)


def test_matching_is_fast_on_repetitive_text():
    """Each pattern searches its worst case: its own beginning, repeated."""
    began = time.process_time()
    for pattern in PATTERNS:
        compile_pattern(pattern).search(flat((pattern.partition("{")[0] or "ab ") * MAX_TEXT))
    assert time.process_time() - began < 0.05 * len(PATTERNS)
