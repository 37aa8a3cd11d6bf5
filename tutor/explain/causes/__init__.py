"""Possible causes of wrong answers: cheap tests on expected and actual arrays.

Rules explain the causes that hold, usually together with patterns in the learner's code. None is
certain: numbers can agree by chance.
"""

from collections.abc import Callable

from msgspec import Struct

from tutor.explain.causes import (
    functions,
    history,
    inputs,
    nearness,
    order,
    parts,
    positions,
    sameness,
    scaling,
    shapes,
    updates,
    written,
)
from tutor.explain.causes.comparison import Comparison, Fields


class Cause(Struct, frozen=True):
    """A test for a cause, and the fields that it returns."""

    find: Callable[[Comparison], Fields | None]
    fields: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """The test's description, in a sentence."""
        return " ".join((self.find.__doc__ or "").split())


_SHAPES = ("shape", "expected_shape")

CAUSES: dict[str, Cause] = {
    "results-swapped": Cause(order.results_swapped, ("order",)),
    "indices-missing": Cause(parts.indices_missing),
    "part-of-the-result": Cause(parts.part_of_the_result, ("number", "count")),
    "more-than-the-result": Cause(parts.more_than_the_result, ("number", "count")),
    "result-missing": Cause(parts.a_result_missing, ("number", "count")),
    "entry-of-the-result": Cause(parts.entry_of_the_result, ("entry",)),
    "entries-missing": Cause(parts.entries_missing, ("entry",)),
    "names-for-numbers": Cause(parts.names_for_numbers, ("name", "input")),
    "cut-otherwise": Cause(parts.cut_otherwise, ("count", "expected_count")),
    "columns": Cause(parts.columns),
    "parts-add-up": Cause(parts.parts_add_up, ("count",)),
    "tuples-for-arrays": Cause(parts.tuples_for_arrays, ("count",)),
    "copies": Cause(shapes.copies, (*_SHAPES, "devices")),
    "axis-of-one": Cause(shapes.axis_of_one, (*_SHAPES, "how")),
    "axes-swapped": Cause(shapes.axes_swapped, (*_SHAPES, "order")),
    "laid-out": Cause(shapes.laid_out, _SHAPES),
    "blocks": Cause(shapes.blocks, (*_SHAPES, "count")),
    "one-each": Cause(shapes.one_each, (*_SHAPES, "how", "axis", "count")),
    "reduced": Cause(shapes.reduced, (*_SHAPES, "how", "axis", "count")),
    "every-pair": Cause(shapes.every_pair, (*_SHAPES, "count")),
    "one-of-many": Cause(shapes.one_of_many, (*_SHAPES, "row", "count")),
    "another-input": Cause(shapes.of_another_input, ("input", "expected_input")),
    "padded": Cause(shapes.padded, _SHAPES),
    "larger": Cause(shapes.larger, _SHAPES),
    "last-axis-only": Cause(inputs.last_axis_only, (*_SHAPES, "input")),
    "nan": Cause(sameness.not_a_number, ("wrong", "total")),
    "number-for-nan": Cause(sameness.number_for_nan),
    "infinite": Cause(sameness.infinite),
    "saturated": Cause(sameness.saturated),
    "zero": Cause(sameness.zero),
    "transposed": Cause(order.transposed, ("order",)),
    "update-dropped": Cause(positions.update_dropped, ("input", "index")),
    "no-such-branch": Cause(positions.no_such_branch, ("input", "index", "count")),
    "an-input": Cause(sameness.an_input, ("input",)),
    "as-before": Cause(history.as_before),
    "piled-up": Cause(history.piled_up, ("count",)),
    "results-alike": Cause(sameness.results_alike, ("count",)),
    "reversed": Cause(order.reversed_, ("axis",)),
    "shifted": Cause(order.shifted, ("axis", "when")),
    "reordered": Cause(order.reordered),
    "not-transposed": Cause(inputs.not_transposed, ("input",)),
    "sign": Cause(scaling.sign),
    "over-devices": Cause(scaling.over_devices, ("devices",)),
    "by-devices": Cause(scaling.by_devices, ("devices",)),
    "divided-by-a-number": Cause(written.divided_by_a_number, ("number", "count", "size")),
    "degrees-of-freedom": Cause(scaling.degrees_of_freedom, ("count", "size")),
    "times-a-count": Cause(scaling.times_a_count, ("factor", "size")),
    "divided-by-a-count": Cause(scaling.divided_by_a_count, ("factor", "size")),
    "by-a-root": Cause(scaling.by_a_root, ("count", "size")),
    "twice": Cause(scaling.twice),
    "half": Cause(scaling.half),
    "uphill": Cause(updates.uphill, ("input",)),
    "step-over-devices": Cause(updates.step_over_devices, ("devices",)),
    "step-times-a-count": Cause(updates.step_times_a_count, ("input", "factor", "size")),
    "other-axis": Cause(functions.other_axis, ("axis", "expected_axis")),
    "clipped-at-zero": Cause(sameness.clipped_at_zero),
    "square": Cause(functions.square),
    "root": Cause(functions.root),
    "logarithm": Cause(functions.logarithm),
    "exponential": Cause(functions.exponential),
    "wrapped": Cause(sameness.wrapped, ("bits", "number")),
    "dropped-out": Cause(sameness.dropped_out),
    "complement": Cause(sameness.complement),
    "repeated-indices": Cause(positions.repeated, ("input",)),
    "set-for-add": Cause(positions.set_for_add, ("input",)),
    "empty-rows": Cause(positions.empty_rows, ("count", "total")),
    "clamped": Cause(positions.clamped, ("input", "count", "size")),
    "zero-out-of-range": Cause(positions.zero_out_of_range, ("input", "count", "size")),
    "last-part": Cause(positions.last_part, ("input", "index")),
    "where-zero": Cause(positions.where_zero, ("input",)),
    "right-until": Cause(positions.right_until, ("position",)),
    "constant-from": Cause(positions.constant_from, ("position",)),
    "now-and-then": Cause(positions.now_and_then, ("step",)),
    "same-rows": Cause(sameness.rows),
    "leaf-by-leaf": Cause(scaling.leaf_by_leaf),
    "within-a-limit": Cause(inputs.within_a_limit, ("input",)),
    "more-under-the-root": Cause(nearness.more_under_the_root),
    "rows-stretched": Cause(nearness.rows_stretched),
    "rows-scaled": Cause(nearness.rows_scaled),
    "standardised": Cause(nearness.standardised),
    "not-standardised": Cause(nearness.not_standardised),
    "rounded": Cause(nearness.rounded),
    "proportional": Cause(scaling.proportional, ("ratio",)),
    "no-spread": Cause(sameness.no_spread),
    "off-centre": Cause(sameness.off_centre),
    "uneven-pieces": Cause(written.uneven_pieces, ("number", "input")),
    "frozen-moved": Cause(updates.frozen_moved, ("input",)),
    "slight": Cause(nearness.slight),
    "close": Cause(nearness.close),
    "false": Cause(sameness.false),
    "input-not-used": Cause(written.input_not_used, ("input",)),
    "field-not-used": Cause(written.field_not_used, ("field",)),
    "square-input": Cause(inputs.square_input, ("input",)),
    "one-column": Cause(inputs.one_column),
}
"""All causes by name, the most precise first."""


def causes_of(comparison: Comparison) -> dict[str, Fields]:
    """Return all possible causes with their fields."""
    import numpy as np

    found: dict[str, Fields] = {}
    with np.errstate(all="ignore"):
        for name, cause in CAUSES.items():
            if (fields := cause.find(comparison)) is not None:
                found[name] = fields
    return found
