"""Possible causes of wrong answers: cheap tests on expected and actual arrays.

A test recognises a cause only if it reproduces the wrong numbers, or the places where they are,
from the right ones and the inputs; where it names something in the code, that is in the code. Rules
state what holds, as a fact about the numbers. Only one whose `source` shows in the code what made
them so says what to write instead.
"""

from collections.abc import Callable
from itertools import product

from msgspec import Struct

from tutor.arrays import np
from tutor.explain.causes import (
    formulas,
    order,
    positions,
    recurrence,
    sameness,
    scaling,
    shapes,
    steps,
)
from tutor.explain.causes.comparison import Comparison, Fields


class Cause(Struct, frozen=True):
    """A test for a cause, and the fields that it returns for a rule's texts."""

    find: Callable[[Comparison], Fields | None]
    returned: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields. `where` is the part of the answer that has the cause."""
        return (*self.returned, "where")


FEW = 4

MAX_PARTS = 24
"""Arrays of an answer that are examined one by one."""

CAUSES: dict[str, Cause] = {
    "result-missing": Cause(shapes.result_missing, ("number", "count")),
    "names-for-numbers": Cause(shapes.names_for_numbers, ("name", "input")),
    "axis-at-the-front": Cause(shapes.axis_at_the_front, ("shape", "expected_shape", "axis")),
    "first-axes-swapped": Cause(shapes.first_axes_swapped, ("shape", "expected_shape")),
    "axes-swapped": Cause(shapes.axes_swapped, ("shape", "expected_shape")),
    "another-input": Cause(shapes.of_another_input, ("input", "expected_input")),
    "steps-missing": Cause(
        shapes.steps_missing, ("shape", "expected_shape", "axis", "count", "end")
    ),
    "nan": Cause(sameness.not_a_number),
    "zero": Cause(sameness.zero),
    "update-not-assigned": Cause(sameness.update_not_assigned, ("input",)),
    "an-input": Cause(sameness.an_input, ("input",)),
    "shifted": Cause(order.shifted, ("axis", "when")),
    "reshaped": Cause(order.reshaped),
    "reordered": Cause(order.reordered),
    "by-a-divisor": Cause(scaling.by_a_divisor, ("number", "count", "size")),
    "by-a-degree-of-freedom": Cause(scaling.by_a_degree_of_freedom, ("count", "fewer", "size")),
    "by-all-entries": Cause(scaling.by_all_entries, ("what", "count", "expected_count", "input")),
    "by-a-number": Cause(scaling.by_a_number, ("what", "how", "name")),
    "by-the-devices": Cause(scaling.by_the_devices, ("what", "factor")),
    "too-large-by-a-count": Cause(scaling.too_large_by_a_count, ("what", "factor", "size")),
    "by-a-count": Cause(scaling.by_a_count, ("what", "factor", "how", "size")),
    "uphill": Cause(steps.uphill, ("input",)),
    "function-too-many": Cause(sameness.function_too_many, ("function",)),
    "another-cell": Cause(formulas.another_cell, ("formula", "expected_formula")),
    "another-network": Cause(formulas.another_network, ("formula", "expected_formula")),
    "other-recurrence": Cause(recurrence.other_recurrence, ("axis", "formula", "expected_formula")),
    "other-start": Cause(recurrence.other_start, ("axis", "start", "expected_start")),
    "old-for-new": Cause(steps.old_for_new, ("input", "ratio")),
    "set-for-add": Cause(positions.set_for_add, ("input",)),
    "wrong-where": Cause(positions.wrong_where, ("input", "value")),
}
"""All causes by name, the most precise first."""


def causes_of(comparison: Comparison) -> dict[str, Fields]:
    """Return all possible causes with their fields: first those of everything that differs, then
    those of a single array."""
    parts = list(comparison.each())[:MAX_PARTS] if len(comparison.pairs) > 1 else []
    # A ratio or an equality of one number out of many is chance.
    if sum(pair.expected.size == 1 for pair in comparison.pairs) > FEW:
        parts = [part for part in parts if part.pairs[0].expected.size > 1]
    found: dict[str, Fields] = {}
    with np.errstate(all="ignore"):
        for name, cause in CAUSES.items():
            if (fields := cause.find(comparison)) is not None:
                found[name] = {**fields, "where": comparison.where}
        for (name, cause), part in product(CAUSES.items(), parts):
            if name not in found and (fields := cause.find(part)) is not None:
                found[name] = {**fields, "where": part.where}
    return found
