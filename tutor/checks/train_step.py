"""`train_step`: one step of data-parallel training is the single-device step.

Accuracy does not decide whether data-parallel training is right: on digits, steps that never
average their gradients, sum them, ignore the optimizer's new state or give every device the
whole batch still reach 0.95 and more. So the step itself is looked at, from several sides.
"""

from math import isfinite
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr, Tolerance, TorchExpr
from tutor.checks.compare import compare, number, words
from tutor.checks.permutation import missing_rows
from tutor.tree import Leaf, Tree, TreeError, entry, items, leaves, real

RATIO_TOLERANCE = 0.02
"""How close an update's size must be to a multiple of the right one to name that multiple."""


class TrainStep(Check, frozen=True, kw_only=True):
    """Evaluates `start`, then `train_step` so many times, threading its results. Every time:
    the replicas of the first state are bit-identical, the loss is the mean over the whole
    batch, the step equals the reference's, and the optimizer's state advances.

    Expressions see the inputs and the state by its names; `train_step` also sees `step`, the
    number of the step from 0, and returns the new state in the order of `start`, then the loss.
    """

    kind: ClassVar[str] = "train_step"
    inside: ClassVar[str] = "tutor.checks.inside.train_step"
    default_cases: ClassVar[int] = 1

    train_step: Annotated[JaxExpr, Meta(description="One step: (*state, loss).")]
    start: Annotated[
        dict[str, JaxExpr],
        Meta(min_length=1, description="The state before the first step: parameters first, then "
             "what the optimizer keeps."),
    ]  # fmt: skip
    finish: Annotated[
        JaxExpr, Meta(description="The parameters as one device would hold them, from the state.")
    ]
    shard: Annotated[
        JaxExpr | None, Meta(description="The function that spreads a batch over the devices.")
    ] = None
    batch: Annotated[JaxExpr | None, Meta(description="A batch to try `shard` with.")] = None
    steps: Annotated[int, Meta(ge=1, le=20)] = 2
    expect: Annotated[
        TorchExpr, Meta(description="A list with (parameters, loss) after each step.")
    ]
    tol: Tolerance | None = None

    def extra_names(self) -> frozenset[str]:
        return frozenset({*self.start, "step"})

    def observe(self) -> dict[str, Any]:
        return {
            "train_step": self.train_step,
            "start": self.start,
            "finish": self.finish,
            "shard": self.shard,
            "batch": self.batch,
            "steps": self.steps,
        }

    def refer(self) -> dict[str, Any]:
        return {"expression": self.expect}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        devices = _devices(seen)
        if self.shard is not None and (found := _shards(seen, devices)):
            return found
        before = case.inputs.get(next(iter(self.start)))
        steps = items(entry(seen, "steps"))
        if len(steps) != self.steps:
            raise TreeError(f"expected {self.steps} steps, found {len(steps)}")
        pairs = zip(steps, items(expected), strict=True)
        for number_, (step, reference) in enumerate(pairs, start=1):
            right_params, right_loss = items(reference)
            found = (
                _replicas(step, number_)
                or _loss(step, right_loss, self.tol, number_, devices)
                or self._update(step, right_params, before, number_, devices)
                or _advanced(step, number_)
            )
            if found:
                return found
            before = right_params
        return None

    def note(self, seen: Tree, case: Case) -> str:
        devices = _devices(seen)
        return f"{self.steps} steps on {devices} devices equal the single-device steps"

    def _update(
        self, step: Tree, right: Tree, before: Tree, number_: int, devices: int
    ) -> Finding | None:
        params = entry(step, "params")
        mismatch = compare(right, params, self.tol)
        if mismatch is None:
            return None
        if number_ > 1 and _advanced(step, number_):
            return _advanced(step, number_)
        reason = _reason(_ratio(before, params, right), devices)
        return Finding(
            f"after step {number_} the parameters are not those of a single-device step on the "
            f"whole batch: {words(mismatch)}{reason}",
            mismatch,
            compared=(right, params),
        )


def _shards(seen: Tree, devices: int) -> Finding | None:
    import numpy as np

    batch, pieces = entry(seen, "batch"), items(entry(seen, "pieces"))
    if not isinstance(batch, Leaf) or batch.values.ndim == 0:
        raise TreeError("expected the batch")
    whole = batch.values
    arrays = [piece.values for piece in pieces if isinstance(piece, Leaf)]
    if len(arrays) != devices:
        return Finding(
            f"the batch lies on {len(arrays)} of {devices} devices: each must get its share"
        )
    share = len(whole) // devices
    wrong = [array for array in arrays if array.shape != (share, *whole.shape[1:])]
    if wrong:
        everything = " (every device gets the whole batch)" if wrong[0].shape == whole.shape else ""
        return Finding(
            f"a device gets shape {wrong[0].shape}, expected {(share, *whole.shape[1:])}"
            f"{everything}: each of {devices} devices must get its share of the batch"
        )
    if len({array.dtype for array in arrays}) != 1:
        raise TreeError("expected shares of one dtype")
    together = msgspec.structs.replace(batch, array=np.concatenate(arrays))
    # In any order: that x and y are dealt alike is for the step to show.
    if missing := missing_rows([batch], [together]):
        return Finding(
            f"the shares put together are not the batch: {missing} of {len(whole)} rows are not "
            "among its rows"
        )
    return None


def _replicas(step: Tree, number_: int) -> Finding | None:
    replicas = items(entry(step, "replicas"))
    for device, replica in enumerate(replicas[1:], start=1):
        if mismatch := compare(replicas[0], replica, 0.0):
            # 0.0 tells apart what differs by rounding only: replicas must agree to the bit.
            return Finding(
                f"after step {number_} the replicas on devices 0 and {device} differ "
                f"({words(mismatch)}): every device has taken its own step, so the gradients "
                "were not averaged over the devices before the update",
                mismatch,
            )
    return None


def _loss(
    step: Tree, right: Tree, tolerance: float | None, number_: int, devices: int
) -> Finding | None:
    import numpy as np

    losses = [leaf for _, leaf in leaves(entry(step, "loss"))]
    if not isinstance(right, Leaf) or not losses:
        raise TreeError("expected a loss")
    if wrong := [loss.values.shape for loss in losses if loss.values.size != 1]:
        return Finding(f"the loss has shape {wrong[0]}, expected one number")
    values = [real(loss) for loss in losses]
    if len(np.unique(values)) > 1:  # for which NaN is NaN
        shown = ", ".join(number(value) for value in values)
        return Finding(
            f"after step {number_} each device returns its own loss ({shown}), expected the mean "
            f"over the whole batch on every device: {number(float(right.values))}"
        )
    if mismatch := compare(right, losses[0], tolerance):
        ratio = values[0] / float(right.values) if right.values else 0.0
        reason = _reason(ratio, devices) if ratio > 0 else ""  # a loss has no way uphill
        return Finding(
            f"after step {number_} the loss is not the mean over the whole batch: "
            f"{words(mismatch)}{reason}",
            mismatch,
        )
    return None


def _advanced(step: Tree, number_: int) -> Finding | None:
    before, after = entry(step, "optimizer before"), entry(step, "optimizer after")
    dtypes = {leaf.values.dtype.name for _, leaf in leaves(before) if leaf.array is not None}
    # Half precision may round a state to itself; one without arrays has nothing to advance.
    if not dtypes - {"bfloat16", "float16"} or compare(before, after, 0.0) is not None:
        return None
    return Finding(
        f"step {number_} returns the optimizer state it was given: the state from tx.update is "
        "lost, so momentum and step count never advance"
    )


def _devices(seen: Tree) -> int:
    found = real(entry(seen, "devices"))
    if not 1 <= found < 1 << 16:
        raise TreeError("expected a number of devices")
    return int(found)


def _ratio(before: Tree, after: Tree, right: Tree) -> float:
    """By what factor an update is the right one; 0 where it is no multiple of it."""
    import numpy as np

    def flat(tree: Tree) -> Any:
        # By path, for JAX sorts the keys of a dict and PyTorch does not.
        parts = [leaf.values.real.astype(np.float64).ravel() for _, leaf in sorted(
            leaves(tree), key=lambda pair: pair[0])]  # fmt: skip
        return np.concatenate(parts) if parts else np.zeros(0)

    with np.errstate(invalid="ignore", over="ignore"):
        start, got, want = flat(before), flat(after), flat(right)
        if not start.shape == got.shape == want.shape:
            return 0.0
        update, wanted = got - start, want - start
        size = float(wanted @ wanted)
        ratio = float(update @ wanted) / size if size else 0.0
        close = np.abs(update - ratio * wanted).max(initial=0.0)
    return ratio if close <= RATIO_TOLERANCE * abs(ratio) * np.abs(wanted).max(initial=0.0) else 0.0


def _reason(ratio: float, devices: int) -> str:
    """What a factor suggests, or nothing."""
    if not isfinite(ratio):
        return ""
    if abs(ratio + 1) < RATIO_TOLERANCE:
        return "; the update goes uphill: its sign is wrong"
    if devices > 1 and abs(ratio / devices - 1) < RATIO_TOLERANCE:
        return (
            f"; that is {devices} times too much, as when the {devices} devices are summed over "
            "(psum) and not averaged (pmean)"
        )
    if ratio > 1.5 and abs(ratio / round(ratio) - 1) < RATIO_TOLERANCE:
        return (
            f"; that is {round(ratio)} times too much, as when examples are summed and not averaged"
        )
    return ""
