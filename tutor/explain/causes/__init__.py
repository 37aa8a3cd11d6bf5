"""What may have made an answer wrong: cheap guesses, each tried on expected and actual arrays.

A guess that holds names a possible cause; rules say what it means, mostly together with what
stands in the learner's code. None is certain: numbers can agree by chance.
"""

from collections.abc import Callable

from msgspec import Struct

from tutor.explain.causes import (
    functions,
    nearness,
    order,
    parts,
    sameness,
    scaling,
    shapes,
    updates,
)
from tutor.explain.causes.comparison import Comparison, Fields


class Cause(Struct, frozen=True):
    """A guess, and the fields that it fills in where it holds."""

    find: Callable[[Comparison], Fields | None]
    fields: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What it means, in a sentence."""
        return " ".join((self.find.__doc__ or "").split())


_SHAPES = ("shape", "expected_shape")

CAUSES: dict[str, Cause] = {
    "results-swapped": Cause(order.results_swapped, ("order",)),
    "part-of-the-result": Cause(parts.part_of_the_result, ("number", "count")),
    "more-than-the-result": Cause(parts.more_than_the_result, ("number", "count")),
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
    "larger": Cause(shapes.larger, _SHAPES),
    "nan": Cause(sameness.not_a_number, ("wrong", "total")),
    "zero": Cause(sameness.zero),
    "an-input": Cause(sameness.an_input, ("input",)),
    "transposed": Cause(order.transposed, ("order",)),
    "reversed": Cause(order.reversed_, ("axis",)),
    "shifted": Cause(order.shifted, ("axis", "when")),
    "reordered": Cause(order.reordered),
    "sign": Cause(scaling.sign),
    "over-devices": Cause(scaling.over_devices, ("devices",)),
    "by-devices": Cause(scaling.by_devices, ("devices",)),
    "degrees-of-freedom": Cause(scaling.degrees_of_freedom, ("count", "size")),
    "times-a-count": Cause(scaling.times_a_count, ("factor", "size")),
    "divided-by-a-count": Cause(scaling.divided_by_a_count, ("factor", "size")),
    "twice": Cause(scaling.twice),
    "half": Cause(scaling.half),
    "uphill": Cause(updates.uphill, ("input",)),
    "step-over-devices": Cause(updates.step_over_devices, ("devices",)),
    "step-times-a-count": Cause(updates.step_times_a_count, ("input", "factor", "size")),
    "other-axis": Cause(functions.other_axis, ("axis", "expected_axis")),
    "square": Cause(functions.square),
    "root": Cause(functions.root),
    "logarithm": Cause(functions.logarithm),
    "exponential": Cause(functions.exponential),
    "same-rows": Cause(sameness.rows),
    "leaf-by-leaf": Cause(scaling.leaf_by_leaf),
    "rows-stretched": Cause(nearness.rows_stretched),
    "rounded": Cause(nearness.rounded),
    "slight": Cause(nearness.slight),
    "close": Cause(nearness.close),
}
"""Every cause by name; those that leave least to chance come first."""


def causes_of(comparison: Comparison) -> dict[str, Fields]:
    """Every cause that is possible, with its fields."""
    import numpy as np

    found: dict[str, Fields] = {}
    with np.errstate(all="ignore"):
        for name, cause in CAUSES.items():
            if (fields := cause.find(comparison)) is not None:
                found[name] = fields
    return found
