"""What the kinds that train share: examples of which some are held out, and their predictions."""

from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.compare import apart
from tutor.inputs import examples
from tutor.inputs.datasets import DATASETS, Datasets
from tutor.inputs.drawing import DrawError
from tutor.inputs.streams import generator
from tutor.report import Accuracy
from tutor.sandbox.conventions import HELD_OUT
from tutor.tree import Leaf, Tree, TreeError

MOST_HELD_OUT = 360
"""By default, a fifth of the examples, but not more than this."""


DataName = Annotated[
    str,
    Meta(
        max_length=300,
        description="A data set of jaxtutor or of the lesson's `data`, or a call that generates "
        "one with plain numbers, such as `blobs(600, 2, classes=3)`.",
        extra={"holds": "data"},
    ),
]


class Answers(NamedTuple):
    """The labels of held-out examples, and the number of classes; 0 if they are targets."""

    labels: Any
    classes: int


class HeldOut(Check, frozen=True, kw_only=True):
    """A check that trains on examples `x` and `y`, and may predict for others, whose labels stay in
    the main process. The seed decides which.

    Subclasses have a field `predict`.
    """

    inside: ClassVar[str]
    held_back: ClassVar[frozenset[str]] = frozenset({HELD_OUT})
    inside_afterwards: ClassVar[str] = "tutor.checks.inside.held_out"
    default_cases: ClassVar[int] = 1

    data: DataName = ""
    held_out: Annotated[
        Annotated[int, Meta(ge=10, le=50_000)] | None,
        Meta(
            description="Number of held-out examples; a fifth of them by default, at most "
            f"{MOST_HELD_OUT}."
        ),
    ] = None
    accuracy: Annotated[
        Annotated[float, Meta(gt=0, lt=1)] | None,
        Meta(description="Accuracy to reach on the held-out examples, whose labels are classes."),
    ] = None
    error: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="Largest mean squared error on the held-out examples, whose labels are "
            "decimal targets."
        ),
    ] = None

    watch: Annotated[
        JaxExpr | None,
        Meta(
            description="A function of the learner's that makes a step and returns the loss last; "
            "the app shows the losses while the training calls it."
        ),
    ] = None

    @property
    def predicts(self) -> bool:
        """Whether anything is predicted, and so examples are held out."""
        return bool(self.data and getattr(self, "predict", None))

    def extra_names(self) -> frozenset[str]:
        return self.reference_names() | ({"trained"} if self.predicts else set())

    def reference_names(self) -> frozenset[str]:
        return frozenset({"x", "y"} if self.data else ())

    def extra_inputs(
        self, seed: tuple[int, ...], datasets: Datasets = DATASETS
    ) -> tuple[dict[str, Tree], Any]:
        if not self.data:
            return {}, None
        x, y = examples.load(self.data, datasets, seed)
        self._refuse_labels(y)
        count = 0
        if self.predicts:
            count = self.held_out or min(MOST_HELD_OUT, -(-len(x) // 5))
        if len(x) <= count:
            raise DrawError(f"held_out: there are only {len(x)} {examples.noun(self.data)}")
        rows = generator(seed).permutation(len(x))
        held, kept = rows[:count], rows[count:]
        inputs: dict[str, Tree] = {"x": Leaf(x[kept], "array"), "y": Leaf(y[kept], "array")}
        if not self.predicts:
            return inputs, None
        inputs[HELD_OUT] = Leaf(x[held], "array")
        classes = int(y.max()) + 1 if y.dtype.kind == "i" else 0
        return inputs, Answers(y[held], classes)

    def _refuse_labels(self, y: Any) -> None:
        name = examples.noun(self.data)
        if self.accuracy is not None and y.dtype.kind == "f":
            raise DrawError(f"accuracy: {name} has decimal targets, not classes; use `error`")
        if self.error is not None and y.dtype.kind != "f":
            raise DrawError(f"error: {name} has classes, not decimal targets; use `accuracy`")

    def unusable_predictions(self, predictions: Tree, case: Case) -> Finding | None:
        """Return why predictions for held-out examples cannot be compared with their labels."""
        values = _numbers(predictions)
        labels, classes = case.secret
        count = len(labels)
        shapes = [(count, classes), (count,)] if classes else [(count,)]
        if values.shape[:1] != (count,) or values.ndim > len(shapes) or 0 in values.shape:
            expected = f"scores {shapes[0]} or labels {shapes[-1]}" if classes else f"{shapes[0]}"
            what = f"predictions of shape {values.shape} for {count} examples; expected {expected}"
            return Finding(what)
        if not np.isfinite(values).all():
            return Finding("the predictions contain NaN or infinity, as when training diverged")
        return None

    def wrong_predictions(self, predictions: Tree, case: Case) -> Finding | None:
        """Return what is wrong with usable predictions."""
        reached = self._reached(_numbers(predictions), case)
        if self.accuracy is not None and reached < self.accuracy:
            shown = f"{reached:.3f}"
            if float(shown) >= self.accuracy:
                shown, _ = apart(reached, self.accuracy)
            return Finding(f"{self._words(shown, case)}, expected at least {self.accuracy:g}")
        if self.error is not None and reached > self.error:
            shown, most = apart(reached, self.error, 4)
            return Finding(f"{self._words(shown, case)}, expected at most {most}")
        return None

    def accuracy_of(self, predictions: Tree, case: Case) -> Accuracy | None:
        """Return how many classes are predicted; None for targets and unusable predictions."""
        if not case.secret.classes:
            return None
        try:
            if self.unusable_predictions(predictions, case):
                return None
            return Accuracy(self._reached(_numbers(predictions), case), self.accuracy)
        except TreeError:  # `judge` says so, unless something else comes first
            return None

    def note_on_predictions(self, predictions: Tree, case: Case) -> str:
        """Return how good the predictions are."""
        reached = self._reached(_numbers(predictions), case)
        return self._words(f"{reached:.3f}" if case.secret.classes else f"{reached:.4g}", case)

    def _reached(self, values: Any, case: Case) -> float:
        labels, classes = case.secret
        if not classes:
            return float(((values - labels) ** 2).mean())
        guesses = values.argmax(axis=1) if values.ndim == 2 else values
        return float((guesses == labels).mean())

    def _words(self, reached: str, case: Case) -> str:
        labels, classes = case.secret
        measure = "accuracy" if classes else "mean squared error"
        return f"{measure} {reached} on {len(labels)} held-out {examples.noun(self.data)}"


def _numbers(predictions: Tree) -> Any:
    """Return predictions as float64. Raises: TreeError: they are not an array of real numbers."""
    if (
        not isinstance(predictions, Leaf)
        or predictions.array is None
        or predictions.array.dtype.kind == "c"
    ):
        raise TreeError("the predictions are not an array of real numbers")
    with np.errstate(invalid="ignore"):
        return predictions.array.astype(np.float64)
