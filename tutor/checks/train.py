"""`train`: training works, measured on examples whose labels the learner's code never sees."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr
from tutor.inputs.datasets import DATASETS
from tutor.inputs.functions import DrawError
from tutor.tree import Leaf, Tree, TreeError

if TYPE_CHECKING:
    DatasetName: TypeAlias = str
else:
    DatasetName = Literal[tuple(DATASETS)]


class Train(Check, frozen=True, kw_only=True):
    """`train` is evaluated with the training data as `x` and `y`, then `predict` with the result as
    `trained` and the held-out data as `x`. The judge computes the accuracy; only it has the
    held-out labels.

    The seed determines which rows are held out.
    """

    kind: ClassVar[str] = "train"
    inside: ClassVar[str] = "tutor.checks.inside.train"
    default_cases: ClassVar[int] = 1
    optimised: ClassVar[bool] = True

    train: Annotated[
        JaxExpr,
        Meta(description="Trains on `x` float32 (n, features) and `y` int32 (n,); any result."),
    ]
    predict: Annotated[
        JaxExpr,
        Meta(description="Scores (n, classes) or labels (n,) for `x`, given `trained`."),
    ]
    data: DatasetName = "digits"
    held_out: Annotated[int, Meta(ge=50, le=900, description="Number of held-out examples.")] = 360
    accuracy: Annotated[
        float, Meta(gt=0, lt=1, description="Accuracy to reach on the held-out examples.")
    ]

    def extra_names(self) -> frozenset[str]:
        return frozenset({"x", "y", "trained"})

    def extra_inputs(self, seed: tuple[int, ...]) -> tuple[dict[str, Tree], Any]:
        from tutor.inputs.streams import generator

        x, y = DATASETS[self.data].load()
        if len(x) <= self.held_out:
            raise DrawError(f"held_out: there are only {len(x)} {self.data}")
        rows = generator(seed).permutation(len(x))
        held, kept = rows[: self.held_out], rows[self.held_out :]
        inputs: dict[str, Tree] = {
            "x": Leaf(x[kept], "array"),
            "y": Leaf(y[kept], "array"),
            "held out": Leaf(x[held], "array"),
        }
        return inputs, y[held]

    def observe(self) -> dict[str, Any]:
        return {"train": self.train, "predict": self.predict}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        import numpy as np

        labels = case.secret
        if (
            not isinstance(observed, Leaf)
            or observed.array is None
            or observed.array.dtype.kind == "c"
        ):
            raise TreeError("the predictions are not an array of real numbers")
        with np.errstate(invalid="ignore"):
            predictions = observed.array.astype(np.float64)
        shape = predictions.shape
        if shape[:1] != labels.shape or len(shape) not in (1, 2) or 0 in shape:
            classes = DATASETS[self.data].load()[1].max() + 1
            return Finding(
                f"predictions of shape {shape} for {len(labels)} examples; expected "
                f"scores ({len(labels)}, {classes}) or labels ({len(labels)},)"
            )
        if not np.isfinite(predictions).all():
            return Finding("the predictions contain NaN or infinity: training diverged")
        guesses = predictions.argmax(axis=1) if predictions.ndim == 2 else predictions
        reached = float((guesses == labels).mean())
        if reached < self.accuracy:
            return Finding(
                f"accuracy {reached:.3f} on {len(labels)} held-out {self.data}, "
                f"expected at least {self.accuracy:g}"
            )
        return None

    def note(self, observed: Tree, case: Case) -> str:
        import numpy as np

        assert isinstance(observed, Leaf)
        scores = observed.values
        guesses = scores.argmax(axis=1) if scores.ndim == 2 else scores
        reached = float(np.mean(guesses == case.secret))
        return f"accuracy {reached:.3f} on {len(case.secret)} held-out {self.data}"
