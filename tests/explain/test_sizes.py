"""How the shapes in a message differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.explain.sizes import RELATIONS, relations_in

SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("message", "relations"),
    [
        ("for broadcasting: (17, 24), (32, 24).", {"first-axis"}),
        ("for broadcasting: (8, 3), (8, 4).", {"last-axis", "one-longer"}),
        ("shape (4, 3), but (3, 4)", {"permuted"}),
        ("shape (3, 3, 8, 16), but (16, 8, 3, 3)", {"permuted"}),
        ("got float32[5] and float32[6]", {"vectors", "one-longer"}),
        ("shapes=[(5, 3), (5,)]", {"axis-missing"}),
        ("(4, 3) and (4, 3)", set()),
        ("only (4, 3)", set()),
        ("f(x, 3) and g[i, 4]", set()),
        ("no shape at all", set()),
    ],
)
def test_how_two_shapes_differ(message: str, relations: set[str]):
    assert relations_in(message) == relations


@given(SHAPES, SHAPES)
def test_the_order_of_the_shapes_does_not_matter(one: tuple[int, ...], other: tuple[int, ...]):
    assert relations_in(f"{one} and {other}") == relations_in(f"{other} and {one}")
    for name, holds in RELATIONS.items():
        assert holds(one, other) == holds(other, one), name
        assert not holds(one, one) or name == "vectors"
