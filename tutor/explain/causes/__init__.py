"""Possible causes of wrong answers: cheap tests on expected and actual arrays.

Rules explain the causes that hold, usually together with patterns in the learner's code. None is
certain: numbers can agree by chance.
"""

from collections.abc import Callable

from msgspec import Struct

from tutor.explain.causes import (
    against_torch,
    factors,
    functions,
    history,
    inputs,
    nearness,
    order,
    parts,
    places,
    positions,
    recurrence,
    sameness,
    scaling,
    shapes,
    stale,
    statistics,
    terms,
    training,
    unused,
    updates,
    variants,
    written,
)
from tutor.explain.causes.comparison import Comparison, Fields


class Cause(Struct, frozen=True):
    """A test for a cause, and the fields that it returns.

    `each`: a single array of several is enough, if the test does not hold for all that differ.
    `vague`: it says what is wrong and not why, so rules about it come after those that know both.
    """

    find: Callable[[Comparison], Fields | None]
    returned: tuple[str, ...] = ()
    each: bool = False
    vague: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields for a rule's texts. `where` is the part of the answer that has the cause."""
        return (*self.returned, "where")

    @property
    def about(self) -> str:
        """The test's description, in a sentence."""
        return " ".join((self.find.__doc__ or "").split())


FEW = 4

MAX_PARTS = 24
"""Arrays of an answer that are examined one by one."""

_SHAPES = ("shape", "expected_shape")

_FORMULAS = ("formula", "expected_formula")

_RUN = ("axis", "start", "last", "positions", "length")

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
    "slice-of-the-result": Cause(shapes.slice_of_the_result, (*_SHAPES, "axis", "count", "end")),
    "slice-is-the-result": Cause(shapes.slice_is_the_result, (*_SHAPES, "axis", "count", "end")),
    "another-length": Cause(
        shapes.another_length,
        (*_SHAPES, "axis", "length", "size", "expected_length", "expected_size"),
        vague=True,
    ),
    "nan": Cause(sameness.not_a_number, ("wrong", "total")),
    "number-for-nan": Cause(sameness.number_for_nan),
    "infinite": Cause(sameness.infinite),
    "saturated": Cause(sameness.saturated),
    "zero": Cause(sameness.zero, each=True),
    "transposed": Cause(order.transposed, ("order",), each=True),
    "update-dropped": Cause(positions.update_dropped, ("input", "index")),
    "no-such-branch": Cause(positions.no_such_branch, ("input", "index", "count")),
    "nearest-branch": Cause(positions.nearest_branch, ("input",)),
    "update-not-assigned": Cause(written.update_not_assigned, ("input",), each=True),
    "an-input": Cause(sameness.an_input, ("input",), each=True),
    "as-before": Cause(history.as_before, each=True),
    "piled-up": Cause(history.piled_up, ("count",)),
    "results-alike": Cause(sameness.results_alike, ("count",)),
    "reversed": Cause(order.reversed_, ("axis",), each=True),
    "shifted": Cause(order.shifted, ("axis", "when"), each=True),
    "reordered": Cause(order.reordered, each=True),
    "not-transposed": Cause(inputs.not_transposed, ("input",)),
    "sign": Cause(scaling.sign, each=True),
    "over-devices": Cause(scaling.over_devices, ("devices",), each=True),
    "by-devices": Cause(scaling.by_devices, ("devices",), each=True),
    "divided-by-a-number": Cause(written.divided_by_a_number, ("number", "count", "size")),
    "degrees-of-freedom": Cause(scaling.degrees_of_freedom, ("count", "size"), each=True),
    "times-a-count": Cause(scaling.times_a_count, ("factor", "size"), each=True),
    "divided-by-a-count": Cause(scaling.divided_by_a_count, ("factor", "size"), each=True),
    "by-a-root": Cause(scaling.by_a_root, ("count", "size"), each=True),
    "count-for-another": Cause(
        factors.count_for_another,
        ("input", "selected", "count", "expected_count", "how"),
        each=True,
    ),
    "times-an-input": Cause(factors.times_an_input, ("input", "how"), each=True, vague=True),
    "over-an-input": Cause(factors.over_an_input, ("input", "how"), each=True, vague=True),
    "twice": Cause(scaling.twice, each=True),
    "half": Cause(scaling.half, each=True),
    "uphill": Cause(updates.uphill, ("input",), each=True),
    "step-over-devices": Cause(updates.step_over_devices, ("devices",), each=True),
    "weights-exchanged": Cause(updates.weights_exchanged, ("input", "weight"), each=True),
    "step-times-a-count": Cause(updates.step_times_a_count, ("input", "factor", "size"), each=True),
    "step-by-another-count": Cause(
        updates.step_by_another_count,
        ("input", "mask", "count", "expected_count", "how"),
        each=True,
    ),
    "step-without-the-rate": Cause(updates.step_without_the_rate, ("input", "rate"), each=True),
    "step-times-the-rate": Cause(updates.step_times_the_rate, ("input", "rate"), each=True),
    "other-axis": Cause(functions.other_axis, ("axis", "expected_axis"), each=True),
    "clipped-at-zero": Cause(sameness.clipped_at_zero, each=True),
    "square": Cause(functions.square, each=True),
    "root": Cause(functions.root, each=True),
    "logarithm": Cause(functions.logarithm, each=True),
    "exponential": Cause(functions.exponential, each=True),
    "function-too-many": Cause(functions.function_too_many, ("function",), each=True),
    "function-missing": Cause(functions.function_missing, ("function",), each=True),
    "wrapped": Cause(sameness.wrapped, ("bits", "number")),
    "dropped-out": Cause(sameness.dropped_out),
    "complement": Cause(sameness.complement, ("constant",), each=True),
    "another-row": Cause(places.another_row, ("input", "row", "expected_row", "count"), each=True),
    "another-attention": Cause(variants.another_attention, _FORMULAS, each=True),
    "another-normalisation": Cause(variants.another_normalisation, _FORMULAS, each=True),
    "another-pooling": Cause(variants.another_pooling, _FORMULAS, each=True),
    "another-loss": Cause(variants.another_loss, _FORMULAS, each=True),
    "another-cell": Cause(variants.another_cell, _FORMULAS),
    "another-network": Cause(variants.another_network, _FORMULAS, each=True),
    "other-recurrence": Cause(
        recurrence.other_recurrence, ("axis", "formula", "expected_formula"), each=True
    ),
    "other-start": Cause(recurrence.other_start, ("axis", "start", "expected_start"), each=True),
    "old-for-new": Cause(stale.old_for_new, ("input", "ratio"), each=True),
    "part-scaled": Cause(
        stale.part_scaled, ("input", "kept", "ratio", "name"), each=True, vague=True
    ),
    "multiple-of-an-input": Cause(
        stale.multiple_of_an_input,
        ("input", "ratio", "name", "how"),
        each=True,
        vague=True,
    ),
    "loss-after-the-step": Cause(training.loss_after_the_step, ("function",), vague=True),
    "frozen-shrunk": Cause(stale.frozen_shrunk, ("input", "ratio"), each=True),
    "frozen-moved": Cause(updates.frozen_moved, ("input",)),
    "only-frozen-moved": Cause(updates.only_frozen_moved, ("input",)),
    "term-missing": Cause(terms.term_missing, ("input",), each=True),
    "term-too-many": Cause(terms.term_too_many, ("input",), each=True),
    "term-of-the-wrong-sign": Cause(terms.term_of_the_wrong_sign, ("input",), each=True),
    "factor-missing": Cause(terms.factor_missing, ("input",), each=True),
    "factor-too-many": Cause(terms.factor_too_many, ("input",), each=True),
    "another-result": Cause(places.another_result, ("other",), each=True),
    "another-statistic": Cause(
        statistics.another_statistic, ("statistic", "expected_statistic"), each=True
    ),
    "zeros-missing": Cause(places.zeros_missing, ("constant", "count"), each=True, vague=True),
    "zeros-too-many": Cause(places.zeros_too_many, ("constant", "count"), each=True, vague=True),
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
    "same-rows": Cause(sameness.rows, each=True),
    "state-made-anew": Cause(training.state_made_anew, ("code", "function")),
    "leaf-by-leaf": Cause(scaling.leaf_by_leaf),
    "within-a-limit": Cause(inputs.within_a_limit, ("input",)),
    "more-under-the-root": Cause(nearness.more_under_the_root),
    "rows-stretched": Cause(nearness.rows_stretched, each=True),
    "rows-scaled": Cause(nearness.rows_scaled),
    "standardised": Cause(nearness.standardised, each=True),
    "not-standardised": Cause(nearness.not_standardised, each=True),
    "rounded": Cause(nearness.rounded),
    "gelu-form": Cause(nearness.gelu_form, ("form", "expected_form"), each=True, vague=True),
    "proportional": Cause(scaling.proportional, ("ratio",)),
    "factor": Cause(factors.factor, ("ratio", "name"), each=True, vague=True),
    "step-scaled": Cause(updates.step_scaled, ("input", "ratio", "name"), vague=True),
    "constant-more": Cause(terms.constant_more, ("number", "how", "name"), each=True, vague=True),
    "wrong-where": Cause(places.wrong_where, ("input", "value"), each=True),
    "factor-per-row": Cause(terms.factor_per_row, each=True, vague=True),
    "factor-per-column": Cause(terms.factor_per_column, each=True, vague=True),
    "row-alike": Cause(terms.row_alike, each=True, vague=True),
    "offset-per-row": Cause(terms.offset_per_row, each=True, vague=True),
    "wrong-from": Cause(places.wrong_from, _RUN, each=True, vague=True),
    "wrong-at-first": Cause(places.wrong_at_first, _RUN, each=True, vague=True),
    "wrong-in-the-middle": Cause(places.wrong_in_the_middle, _RUN, each=True, vague=True),
    "argument-not-used": Cause(unused.argument_not_used, ("argument", "function"), vague=True),
    "name-not-used": Cause(unused.name_not_used, ("name",), vague=True),
    "entry-not-read": Cause(written.entry_not_read, ("entry",), vague=True),
    "no-spread": Cause(sameness.no_spread),
    "off-centre": Cause(sameness.off_centre),
    "uneven-pieces": Cause(written.uneven_pieces, ("number", "input")),
    "digits-lost": Cause(nearness.digits_lost),
    "slight": Cause(nearness.slight),
    "close": Cause(nearness.close),
    "false": Cause(sameness.false),
    "input-not-used": Cause(written.input_not_used, ("input",)),
    "field-not-used": Cause(written.field_not_used, ("field",)),
    "function-not-called": Cause(against_torch.function_not_called, ("function",), vague=True),
    "another-number-of-calls": Cause(
        against_torch.another_number_of_calls,
        ("function", "count", "expected_count"),
        vague=True,
    ),
    "function-only-here": Cause(against_torch.function_only_here, ("function",), vague=True),
    "mask-as-it-is": Cause(against_torch.mask_as_it_is, ("mask",), vague=True),
    "another-number": Cause(
        against_torch.another_number, ("number", "expected_number"), vague=True
    ),
    "sum-or-mean": Cause(against_torch.sum_or_mean, ("function", "expected_function"), vague=True),
    "other-reduction-axis": Cause(
        against_torch.other_reduction_axis, ("axis", "expected_axis"), vague=True
    ),
    "one-step-too-many": Cause(training.one_step_too_many, ("counter", "limit"), vague=True),
    "one-column": Cause(inputs.one_column, vague=True),
    "square-input": Cause(inputs.square_input, ("input",), vague=True),
}
"""All causes by name, the most precise first."""


def causes_of(comparison: Comparison) -> dict[str, Fields]:
    """Return all possible causes with their fields: first those of everything that differs, then
    those of a single array."""
    import numpy as np

    found: dict[str, Fields] = {}
    with np.errstate(all="ignore"):
        for name, cause in CAUSES.items():
            if (fields := cause.find(comparison)) is not None:
                found[name] = {**fields, "where": comparison.where}
        if len(comparison.pairs) < 2:
            return found
        # A ratio or an equality of one number out of many is chance.
        several = sum(pair.expected.size == 1 for pair in comparison.pairs) > FEW
        parts = [
            part
            for part in list(comparison.each())[:MAX_PARTS]
            if not several or part.pairs[0].expected.size > 1
        ]
        for name, cause in CAUSES.items():
            if not cause.each or name in found:
                continue
            for part in parts:
                if (fields := cause.find(part)) is not None:
                    found[name] = {**fields, "where": part.where}
                    break
    return found
