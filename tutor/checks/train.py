"""`train`: training works, measured on examples whose labels the learner's code never sees."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.check import Case, Finding, JaxExpr
from tutor.checks.held_out import DataName, HeldOut
from tutor.report import Accuracy
from tutor.tree import Tree, entry


class Train(HeldOut, frozen=True, kw_only=True):
    """`train` is evaluated with the training data as `x` and `y`, then `predict` with the result as
    `trained` and the held-out data as `x`. The judge computes the accuracy or the error; only it
    has the held-out labels.
    """

    kind: ClassVar[str] = "train"
    inside: ClassVar[str] = "tutor.checks.inside.train"

    train: Annotated[
        JaxExpr,
        Meta(
            description="Trains on `x` float32 (n, features) and `y` (n,), int32 classes or "
            "float32 targets; any result."
        ),
    ]
    predict: Annotated[
        JaxExpr,
        Meta(
            description="Scores (n, classes) or labels (n,) for `x`, given `trained`; for targets, "
            "numbers (n,)."
        ),
    ]
    data: DataName = "digits"

    def observe(self) -> dict[str, Any]:
        return {"train": self.train, "predict": self.predict, "watch": self.watch}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        predictions = entry(observed, "predictions")
        unusable = self.unusable_predictions(predictions, case)
        return unusable or self.wrong_predictions(predictions, case)

    def scored(self, observed: Tree, case: Case) -> Accuracy | None:
        return self.accuracy_of(entry(observed, "predictions"), case)

    def note(self, observed: Tree, case: Case) -> str:
        return self.note_on_predictions(entry(observed, "predictions"), case)
