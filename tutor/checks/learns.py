"""`learns`: the losses of a training are those of the reference, step by step.

The step at which two curves part says what differs: at step 0 nothing has been updated yet, and at
step 1 there was one update, in which the optimizer's state does not matter.
"""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.arrays import Floats, np
from tutor.check import Case, Finding, JaxExpr, Tolerance, TorchExpr
from tutor.checks.bounds import parsed
from tutor.checks.compare import apart, number, tolerance_for
from tutor.checks.held_out import HeldOut
from tutor.foreign.plain_text import cut
from tutor.inputs import arithmetic
from tutor.report import Accuracy, Curves
from tutor.tree import Leaf, Tree, TreeError, brief, entry

REFERENCE = "reference"
"""Name of the reference's last loss in `below`."""

TOLERANCE = 10
"""Times the tolerance of one value: rounding errors grow from step to step."""

RATIO_TOLERANCE = 1e-4
MAX_RATIO = 1000
"""A loss counts as a multiple of the right one up to this factor, with this relative error."""

SHOWN = 200
"""At most this many losses of a training are shown, at equal distances."""

UPHILL = 0.25
"""A loss that rises by at least this share of what the right one falls goes uphill."""


class Learns(HeldOut, frozen=True, kw_only=True):
    """The first losses of `learns` in JAX equal those of `expect` in PyTorch. With `predict`, the
    training also returns what predicts held-out examples well enough."""

    kind: ClassVar[str] = "learns"
    inside: ClassVar[str] = "tutor.checks.inside.learns"

    learns: Annotated[
        JaxExpr,
        Meta(
            description="A training: the loss of each step before its update, or the pair (losses, "
            "trained). With `data`, `x` and `y` are the examples."
        ),
    ]
    expect: Annotated[
        TorchExpr | None,
        Meta(
            description="The training in PyTorch: the losses, or a pair that begins with them; the "
            "same text if absent."
        ),
    ] = None
    predict: Annotated[
        JaxExpr | None,
        Meta(
            description="Scores (n, classes), labels or targets (n,) for held-out examples `x`, "
            "given `trained`."
        ),
    ] = None
    first: Annotated[
        int, Meta(ge=2, le=10_000, description="Number of losses that must equal PyTorch's.")
    ] = 5
    tol: Tolerance | None = None
    below: Annotated[
        float | str | None,
        Meta(
            description="The most that the last loss may be: a number, or arithmetic with "
            "PyTorch's last loss, such as `reference * 1.1`.",
            extra={"holds": "below"},
        ),
    ] = None

    def observe(self) -> dict[str, Any]:
        predict = self.predict if self.predicts else None
        return {"learns": self.learns, "predict": predict, "watch": self.watch}

    def refer(self) -> dict[str, Any]:
        return {"expression": self.expect or self.learns}

    def broken(self, expected: Tree) -> str:
        losses, what = _losses(expected)
        if losses is None or not isinstance(expected, Leaf):
            return f"must give a list of losses, or a pair that begins with one; it gives {what}"
        if len(losses) < 2:
            return f"must give the losses of two or more steps, got {len(losses)}"
        if (step := _not_finite(losses)) is not None:
            return f"the loss is {_shown(losses[step])} at step {step}"
        bound = self._bound(losses)
        if bound is not None and losses[-1] > bound:
            return f"its last loss is {number(losses[-1])}, above {number(bound)}, which is `below`"
        return ""

    def compared(self, expected: Tree) -> Tree:
        losses, _ = _losses(expected)
        if losses is None or not isinstance(expected, Leaf):
            return expected
        return Leaf(expected.values[: self.first], expected.type)

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        right, _ = _losses(expected)
        if right is None or not isinstance(expected, Leaf):
            raise TreeError("expected the losses of PyTorch")
        given = entry(observed, "losses")
        losses, what = _losses(given)
        if losses is None or len(losses) != len(right):
            return Finding(_wrong_form(given, what or _count(losses), len(right)))
        tolerance = self.tol or TOLERANCE * tolerance_for(expected)
        return self._judge_losses(losses, right, tolerance) or self._judge_trained(observed, case)

    def note(self, observed: Tree, case: Case) -> str:
        losses, _ = _losses(entry(observed, "losses"))
        assert losses is not None
        found = f"{len(losses)} losses, from {number(losses[0])} to {number(losses[-1])}"
        if self.predicts:
            found += f"; {self.note_on_predictions(entry(observed, 'predictions'), case)}"
        return found

    def curves(self, observed: Tree, expected: Tree | None) -> Curves | None:
        losses, _ = _losses(entry(observed, "losses"))
        right, _ = _losses(expected)
        if losses is None or right is None or len(losses) != len(right):
            return None
        every = -(-len(right) // SHOWN)
        steps = range(0, len(right), every)
        return Curves(tuple(steps), _finite(losses[::every]), _finite(right[::every]))

    def scored(self, observed: Tree, case: Case) -> Accuracy | None:
        if not self.predicts or not isinstance(observed, dict) or "predictions" not in observed:
            return None
        return self.accuracy_of(observed["predictions"], case)

    def _judge_losses(self, losses: Floats, right: Floats, tolerance: float) -> Finding | None:
        limit = tolerance * max(1.0, float(abs(right[: self.first]).max()))
        step = _parting(losses, right, limit)
        broken_off = _not_finite(losses)
        if broken_off is not None and (step is None or broken_off <= step or step >= self.first):
            return Finding(_diverged(losses, broken_off))
        if step is not None and step < self.first:
            return Finding(_cause(step, losses, right, limit))
        bound = self._bound(right)
        if bound is None:
            return None
        if losses[-1] <= bound:
            return _too_good(losses[-1], right[-1], bound, limit)
        where = f"; the losses leave PyTorch's at step {step}" if step is not None else ""
        last, most = apart(losses[-1], bound)
        return Finding(
            f"the last loss is {last}, expected at most {most} "
            f"(PyTorch's is {number(right[-1])}){where}"
        )

    def _judge_trained(self, observed: Tree, case: Case) -> Finding | None:
        if not self.predicts:
            return None
        if not isinstance(observed, dict) or "predictions" not in observed:
            return Finding(
                "the losses are right, but nothing else is returned; expected the pair "
                "(losses, trained), with the parameters after the last update"
            )
        predictions = observed["predictions"]
        if (finding := self.unusable_predictions(predictions, case)) is not None:
            return finding
        if (finding := self.wrong_predictions(predictions, case)) is None:
            return None
        return Finding(
            f"{finding.message}. The losses are right, so either the second part of the result is "
            "not the trained parameters, those after the last update, or the predictions are not "
            "computed from them"
        )

    def _bound(self, right: Floats) -> float | None:
        if not isinstance(self.below, str):
            return self.below
        return float(arithmetic.value(parsed(self.below), {REFERENCE: float(right[-1])}))


def _too_good(loss: float, right: float, bound: float, limit: float) -> Finding | None:
    """Find a last loss that is lower than a training reaches.

    Rounding takes a right training's loss as far down as up, so PyTorch's loss may be divided by
    what it is multiplied by to get the bound; at least half of it always passes, and so do losses
    that rounding cannot tell from the lowest. A loss that may be negative has no ratio: it may be
    as far below PyTorch's as the bound is above, or half of PyTorch's.
    """
    if right > 0:
        lowest = min(right / 2, right**2 / bound)
    else:
        lowest = right - max(abs(right) / 2, bound - right)
    if loss >= lowest - limit:
        return None
    return Finding(
        f"the last loss is {number(loss)}, far below PyTorch's {number(right)} on the same batch "
        f"(at least {number(lowest)} was expected). Is it the loss of that batch, before its "
        "update?",
        code="loss-too-low",
    )


def _losses(tree: Tree) -> "tuple[Floats | None, str]":
    """Return losses as an array (n,), or what the tree is instead."""
    if isinstance(tree, Leaf):
        values = _real(tree)
        if values is None:
            return None, brief(tree)
        if values.ndim == 1:
            return values, ""
        return None, "one loss" if not values.ndim else f"losses of shape {values.shape}"
    if not isinstance(tree, list | tuple):
        return None, brief(tree)
    found = []
    for step, one in enumerate(tree):
        values = _real(one) if isinstance(one, Leaf) else None
        if values is None or values.ndim:
            return None, f"{brief(one)} as the loss of step {step}"
        found.append(float(values))
    return np.array(found), ""


def _real(leaf: Leaf) -> Any:
    """Return a leaf's real numbers as float64; None if it has none."""
    if leaf.array is None or leaf.type == "key" or leaf.array.dtype.kind == "c":
        return None
    with np.errstate(invalid="ignore"):
        return leaf.array.astype(np.float64)


def _wrong_form(given: Tree, what: str, steps: int) -> str:
    what = cut(what, 200)
    if isinstance(given, dict):
        return (
            f"{what} comes first, expected {steps} losses: return (losses, trained), losses first"
        )
    if what.startswith("losses of shape"):
        return f"{what}, expected ({steps},): one number for each step"
    return f"{what}, expected {steps}: one for each step of PyTorch's training"


def _count(losses: "Floats | None") -> str:
    count = 0 if losses is None else len(losses)
    return f"{count} {'loss' if count == 1 else 'losses'}"


def _not_finite(losses: Floats) -> int | None:
    """Return the first step whose loss is NaN or infinite."""
    wrong = np.flatnonzero(~np.isfinite(losses))
    return int(wrong[0]) if wrong.size else None


def _finite(losses: Floats) -> tuple[float | None, ...]:
    """Return losses as plain numbers, with None for those that are not finite."""
    return tuple(loss if abs(loss) < float("inf") else None for loss in losses.tolist())


def _parting(losses: Floats, right: Floats, limit: float) -> int | None:
    """Return the first step at which two curves differ. NaN differs from everything."""
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~(abs(losses - right) <= limit))
    return int(wrong[0]) if wrong.size else None


def _shown(loss: float) -> str:
    """Return a loss that is not finite in words."""
    return "NaN" if loss != loss else "infinite"


def _diverged(losses: Floats, step: int) -> str:
    what = f"the loss is {_shown(losses[step])} at step {step}"
    if step == 0:
        return f"{what}, before any update: look for log(0) or 0 / 0 in the loss function"
    return (
        f"{what}, after {number(losses[step - 1])}: the training diverges, or the loss function "
        "takes log(0) or 0 / 0 there"
    )


def _cause(step: int, losses: Floats, right: Floats, limit: float) -> str:
    """Return what the first step at which the losses differ from the right ones suggests."""
    got, want = apart(losses[step], right[step])
    what = f"the loss at step {step} is {got}, expected {want}"
    if step == 0:
        return f"{what}{_before_any_update(losses, right, limit)}"
    if (abs(losses - losses[0]) <= 1e-6 * max(1.0, abs(losses[0]))).all():
        return (
            f"the loss is the same at every step, {number(losses[0])}, expected {want} at step "
            f"{step}: the updated parameters are dropped. PyTorch's optimizer.step() changes "
            "parameters in place; in JAX an update returns new ones, from which the next step must "
            "start"
        )
    if step == 1:
        rise, fall = losses[1] - losses[0], right[0] - right[1]
        if fall > 0 and rise > UPHILL * fall:
            return (
                f"{what}: the loss rises from {number(losses[0])}, where PyTorch's falls. The "
                "first update goes uphill, as when its sign is wrong, or far too far, as when the "
                "learning rate or the scale of the inputs is"
            )
        return (
            f"{what}; step 0, before any update, agrees. So look at the first update: its "
            "gradient, the learning rate, the sign, and whether the next step uses the parameters "
            "that it returns"
        )
    return (
        f"{what}; steps 0 to {step - 1} agree, after {_updates(step - 1)}. So look at what changes "
        "between steps: is the optimizer's state (momentum, step count) passed on, is the order "
        "of the batches PyTorch's, and are the same parameters trained?"
    )


def _updates(count: int) -> str:
    return "one update" if count == 1 else f"{count} updates"


def _before_any_update(losses: Floats, right: Floats, limit: float) -> str:
    after_one = _parting(losses[:-1], right[1:], limit)
    if after_one is None or after_one > 1:
        return (
            ", which is PyTorch's loss at step 1: the losses are computed after the update; "
            "compute each before it, as loss.backward() and optimizer.step() follow the loss"
        )
    factor = float(losses[0] / right[0]) if right[0] else 0.0
    if times := _whole(factor):
        return f": that is {times} times as much"
    if factor and (times := _whole(1 / factor)):
        return f": PyTorch's is {times} times as much"
    return (
        ", before any update: the loss function, the initial parameters or the first batch differs"
    )


def _whole(ratio: float) -> int:
    """Return the number from 2 up that a ratio is; 0 if it is none."""
    times = round(ratio) if 1.5 < ratio < MAX_RATIO else 0
    return times if times and abs(ratio / times - 1) < RATIO_TOLERANCE else 0
