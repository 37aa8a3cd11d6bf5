"""`train_step`: one step of data-parallel training equals the single-device step.

Accuracy cannot show whether data-parallel training is right: on digits, steps that never average
their gradients, sum them, drop the optimizer's new state or give every device the whole batch still
reach 0.95 and more. So this check judges the step itself.
"""

from math import isfinite
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr, Tolerance, TorchExpr
from tutor.checks.compare import compare, number, words
from tutor.checks.permutation import missing_rows
from tutor.tree import Leaf, Tree, TreeError, entry, items, leaves, real

RATIO_TOLERANCE = 0.02
"""Relative error with which an update counts as a multiple of the right one."""


class TrainStep(Check, frozen=True, kw_only=True):
    """Evaluates `start`, then `train_step` repeatedly on its own results. After each step the
    replicas of the parameters are bit-identical, the loss is the mean over the whole batch, the
    step equals the reference's, and the optimizer's state has advanced.

    Expressions may use the inputs and the names of the state; `train_step` also `step`, the step's
    number from 0. It returns the new state in the order of `start`, then the loss.
    """

    kind: ClassVar[str] = "train_step"
    inside: ClassVar[str] = "tutor.checks.inside.train_step"
    default_cases: ClassVar[int] = 1

    train_step: Annotated[JaxExpr, Meta(description="One step: (*state, loss).")]
    start: Annotated[
        dict[str, JaxExpr],
        Meta(min_length=1, description="The state before the first step: the parameters, then the "
             "optimizer's state."),
    ]  # fmt: skip
    finish: Annotated[JaxExpr, Meta(description="The parameters of one device, from the state.")]
    shard: Annotated[
        JaxExpr | None, Meta(description="Function that shards a batch over the devices.")
    ] = None
    batch: Annotated[JaxExpr | None, Meta(description="Batch to test `shard` with.")] = None
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

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        devices = _devices(observed)
        if self.shard is not None and (finding := _judge_shards(observed, devices)):
            return finding
        before = case.inputs.get(next(iter(self.start)))
        steps = items(entry(observed, "steps"))
        if len(steps) != self.steps:
            raise TreeError(f"expected {self.steps} steps, found {len(steps)}")
        pairs = zip(steps, items(expected), strict=True)
        for step_number, (step, reference) in enumerate(pairs, start=1):
            right_params, right_loss = items(reference)
            finding = (
                _replicas(step, step_number)
                or _loss(step, right_loss, self.tol, step_number, devices)
                or self._update(step, right_params, before, step_number, devices)
                or _advanced(step, step_number)
            )
            if finding:
                return finding
            before = right_params
        return None

    def note(self, observed: Tree, case: Case) -> str:
        devices = _devices(observed)
        return f"{self.steps} steps on {devices} devices equal the single-device steps"

    def _update(
        self, step: Tree, right: Tree, before: Tree, step_number: int, devices: int
    ) -> Finding | None:
        params = entry(step, "params")
        mismatch = compare(right, params, self.tol)
        if mismatch is None:
            return None
        if step_number > 1 and _advanced(step, step_number):
            return _advanced(step, step_number)
        reason = _reason(_ratio(before, params, right), devices)
        return Finding(
            f"after step {step_number} the parameters are not those of a single-device step on the "
            f"whole batch: {words(mismatch)}{reason}",
            mismatch,
            compared=(right, params),
        )


def _judge_shards(observed: Tree, devices: int) -> Finding | None:
    batch, pieces = entry(observed, "batch"), items(entry(observed, "pieces"))
    if not isinstance(batch, Leaf) or batch.values.ndim == 0:
        raise TreeError("expected the batch")
    whole = batch.values
    arrays = [piece.values for piece in pieces if isinstance(piece, Leaf)]
    if len(arrays) != devices:
        return Finding(
            f"the batch is on {len(arrays)} of {devices} devices: each must get its share"
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
        raise TreeError("expected shards of one dtype")
    together = msgspec.structs.replace(batch, array=np.concatenate(arrays))
    # In any order: whether x and y are sharded alike shows in the step.
    if missing := missing_rows([batch], [together]):
        return Finding(
            f"the shards together are not the batch: {missing} of {len(whole)} rows are not in it"
        )
    return None


def _replicas(step: Tree, step_number: int) -> Finding | None:
    replicas = items(entry(step, "replicas"))
    for device, replica in enumerate(replicas[1:], start=1):
        if mismatch := compare(replicas[0], replica, 0.0):  # not even by rounding
            return Finding(
                f"after step {step_number} the replicas on devices 0 and {device} differ "
                f"({words(mismatch)}): every device took its own step, so the gradients "
                "were not averaged over the devices before the update",
                mismatch,
            )
    return None


def _loss(
    step: Tree, right: Tree, tolerance: float | None, step_number: int, devices: int
) -> Finding | None:
    losses = [leaf for _, leaf in leaves(entry(step, "loss"))]
    if not isinstance(right, Leaf) or not losses:
        raise TreeError("expected a loss")
    if wrong := [loss.values.shape for loss in losses if loss.values.size != 1]:
        return Finding(f"the loss has shape {wrong[0]}, expected a scalar")
    values = [real(loss) for loss in losses]
    if len(np.unique(values)) > 1:  # `unique` treats NaN as equal to NaN
        shown = ", ".join(number(value) for value in values)
        return Finding(
            f"after step {step_number} each device returns its own loss ({shown}), expected the "
            f"mean over the whole batch on every device: {number(float(right.values))}"
        )
    if mismatch := compare(right, losses[0], tolerance):
        ratio = values[0] / float(right.values) if right.values else 0.0
        reason = _reason(ratio, devices) if ratio > 0 else ""  # a sign has no meaning for a loss
        return Finding(
            f"after step {step_number} the loss is not the mean over the whole batch: "
            f"{words(mismatch)}{reason}",
            mismatch,
            compared=(right, losses[0]),
        )
    return None


def _advanced(step: Tree, step_number: int) -> Finding | None:
    before, after = entry(step, "optimizer before"), entry(step, "optimizer after")
    dtypes = {leaf.values.dtype.name for _, leaf in leaves(before) if leaf.array is not None}
    # Half precision may round a state to itself; a state without arrays cannot advance.
    if not dtypes - {"bfloat16", "float16"} or compare(before, after, 0.0) is not None:
        return None
    return Finding(
        f"step {step_number} returns the optimizer state it was given, so momentum and step count "
        "never advance"
    )


def _devices(observed: Tree) -> int:
    count = real(entry(observed, "devices"))
    if not 1 <= count < 1 << 16:
        raise TreeError("expected a number of devices")
    return int(count)


def _ratio(before: Tree, after: Tree, right: Tree) -> float:
    """Return the factor between an update and the right one; 0 if it is not a multiple of it."""

    def flat(tree: Tree) -> Any:
        # By path: JAX sorts the keys of a dict, PyTorch does not.
        parts = [leaf.values.real.astype(np.float64).ravel() for _, leaf in sorted(
            leaves(tree), key=lambda pair: pair[0])]  # fmt: skip
        return np.concatenate(parts) if parts else np.zeros(0)

    with np.errstate(invalid="ignore", over="ignore"):
        start, got, want = flat(before), flat(after), flat(right)
        if not start.shape == got.shape == want.shape:
            return 0.0
        update, right_update = got - start, want - start
        size = float(right_update @ right_update)
        ratio = float(update @ right_update) / size if size else 0.0
        close = np.abs(update - ratio * right_update).max(initial=0.0)
    return (
        ratio
        if close <= RATIO_TOLERANCE * abs(ratio) * np.abs(right_update).max(initial=0.0)
        else 0.0
    )


def _reason(ratio: float, devices: int) -> str:
    """Describe a factor for the end of a message: its sign, or the whole number that it is. "" for
    any other factor."""
    if not isfinite(ratio):
        return ""
    if abs(ratio + 1) < RATIO_TOLERANCE:
        return "; the update goes uphill: its sign is wrong"
    if ratio < 1.5 or abs(ratio / round(ratio) - 1) >= RATIO_TOLERANCE:
        return ""
    as_many = ", as many times as there are devices" if round(ratio) == devices else ""
    return f"; that is {round(ratio)} times too large{as_many}"
