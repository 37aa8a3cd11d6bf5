"""The base class of checks, and the values that checks work with.

A field's `extra={"holds": …}` says what its text means, so that the pack reader can validate it:

==============  ====================================================================
``module``      Python source of a whole module
``requirement``  a package and its versions, as for pip
``markdown``    Markdown, in which a line may stand for a text of the pack
``jax``         a Python expression over the learner's names and the inputs
``torch``       a Python expression over the names of the lesson's PyTorch and the inputs
``draws``       how to draw inputs (see `tutor.inputs`)
``checks``      the list of checks, each named by its kind
``axes``        a `jax.vmap` axis specification
``spec``        expected shapes and dtypes, such as ``float32[B, 3]``
``distribution``  such as ``normal(0, 1)`` (see `tutor.checks.families`)
``number``      a number, or arithmetic with sizes
==============  ====================================================================
"""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, field

from tutor.inputs.datasets import DATASETS, Datasets
from tutor.report import Accuracy, Curves, Mismatch
from tutor.tree import ABSENT, Tree

DEFAULT_TOLERANCE = {
    **dict.fromkeys(("float64", "complex128", "float32", "complex64"), 1e-5),
    "float16": 4e-3,
    "bfloat16": 2e-2,
}
"""Tolerances by the expected dtype: an answer passes if
`max|Δ| ≤ tolerance · max(1, max|expected|)`.

float64 has float32's tolerance because the other side, JAX without x64 or PyTorch, is then
float32. Elementwise relative error would fail correct answers: cancellation takes it to 0.16 in a
float32 product of 1024×1024 matrices, while scaled error stays below 2.4e-6 for every operation
measured against PyTorch.
"""

JaxExpr = Annotated[str, Meta(min_length=1, max_length=4_000, extra={"holds": "jax"})]
TorchExpr = Annotated[str, Meta(min_length=1, max_length=4_000, extra={"holds": "torch"})]
Tolerance = Annotated[
    float,
    Meta(
        gt=0,
        le=1,
        description="Tolerance on the scaled error: max|Δ| ≤ tol · max(1, max|expected|).",
    ),
]
Nan = Annotated[
    bool,
    Meta(
        description="Whether the PyTorch code may return NaN; if it does without this flag, the "
        "lesson is reported as broken."
    ),
]


class Case(Struct, frozen=True):
    """One draw of a check's inputs.

    Each of `input_sets` maps names to inputs; most checks use one set, `compiles` and `prng`
    several with the same shapes. `secret` (held-out labels) stays in the main process.
    """

    index: int
    sizes: dict[str, int]
    input_sets: tuple[dict[str, Tree], ...]
    secret: Any = None

    @property
    def inputs(self) -> dict[str, Tree]:
        return self.input_sets[0]


FindingCode = Literal[
    "all-equal",
    "columns-dependent",
    "compiled-again",
    "compiled-in-pieces",
    "draws-dependent",
    "inputs-changed",
    "key-ignored",
    "key-reused",
    "loss-too-low",
    "not-a-jax-array",
    "not-repeatable",
    "other-when-observed",
    "process-dependent",
    "random-without-key",
    "rows-dependent",
    "tracer-escaped",
    "unanswered",
]
"""What a check can find, for rules of `tutor.explain`, which never read a message."""


class Finding(Struct, frozen=True):
    """Why a check failed, in words and as data.

    `compared` holds the expected and the actual answer if they were compared whole. `code` names
    what was found, such as `key-reused`. Explanations use these two and never the message; the
    report only says whether a question is `unanswered`.
    """

    message: str
    mismatch: Mismatch | None = None
    notes: tuple[str, ...] = ()
    compared: tuple[Tree, Tree] | None = None
    code: FindingCode | None = None


Releases = Annotated[
    str,
    Meta(
        max_length=60,
        description="Releases of JAX to which this applies, such as `>=0.11`; all by default.",
        extra={"holds": "releases"},
    ),
]


class Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hidden check. Each kind is a subclass in `tutor.checks`.

    A kind has two halves. This one runs in the main process: it chooses what the sandboxes compute
    (`observe`, `refer`) and judges their answers (`judge`). The other half is the module named by
    `inside`, imported in sandboxes only: its `observe(env, args)` runs with the learner's code and
    JAX, its `refer(env, args)` with the lesson's PyTorch.
    """

    kind: ClassVar[str]
    inside: ClassVar[str]
    default_cases: ClassVar[int] = 3
    held_back: ClassVar[frozenset[str]] = frozenset()
    """Inputs that the sandbox gets only after `inside` has answered: then `inside_afterwards` is
    asked, with all inputs, and both answers are one."""
    inside_afterwards: ClassVar[str] = ""
    structural: ClassVar[bool] = False
    """Whether it judges how the code is written, which the values of inputs hardly change."""

    name: Annotated[
        str,
        Meta(
            max_length=100,
            description="Name shown to the learner; derived from the check if absent.",
        ),
    ] = ""
    after: Annotated[
        str | tuple[str, ...],
        Meta(description="Names of earlier checks; this one is skipped unless they pass."),
    ] = ()
    why: Annotated[
        str, Meta(max_length=400, description="Shown to the learner when this check fails.")
    ] = ""
    cases: Annotated[
        Annotated[int, Meta(ge=1, le=20)] | None,
        Meta(description="Number of draws of the inputs to test."),
    ] = None
    inputs: Annotated[
        dict[str, Any],
        Meta(
            description="Additional or overriding inputs for this check.", extra={"holds": "draws"}
        ),
    ] = field(default_factory=dict)
    devices: Annotated[
        Annotated[int, Meta(ge=1, le=8)] | None,
        Meta(description="Number of devices to run this check on."),
    ] = None
    points: Annotated[
        float, Meta(ge=0, le=1000, description="Points for passing this check when graded.")
    ] = 1.0
    bonus: Annotated[
        bool, Meta(description="Whether its points are extra credit; a bonus check need not pass.")
    ] = False
    visible: Annotated[
        bool, Meta(description="Whether graded students see the result of this check.")
    ] = True
    jax: Releases = ""

    @property
    def expression(self) -> str:
        """The value of the check's own key, in one text."""
        value: str | tuple[str, ...] = getattr(self, self.kind)
        return value if isinstance(value, str) else ", ".join(value)

    @property
    def title(self) -> str:
        return self.name or f"{self.kind}: {' '.join(self.expression.split())}"

    @property
    def prerequisites(self) -> tuple[str, ...]:
        """Names of the checks that must pass before this one runs."""
        return (self.after,) if isinstance(self.after, str) else self.after

    @property
    def case_count(self) -> int:
        return self.cases or self.default_cases

    @property
    def input_sets(self) -> int:
        """Number of input sets in one case."""
        return 1

    def observe(self) -> dict[str, Any]:
        """Return arguments (JSON) for the inside half's `observe`, in the learner's sandbox."""
        return {"expression": self.expression}

    def refer(self) -> dict[str, Any] | None:
        """Return arguments (JSON) for the inside half's `refer`; None if no reference is needed."""
        return None

    def extra_inputs(
        self, seed: tuple[int, ...], datasets: Datasets = DATASETS
    ) -> tuple[dict[str, Tree], Any]:
        """Return inputs specific to this kind, and the case's `secret`.

        **Arguments:** `datasets`: those that the lesson may use.

        Raises:
            tutor.inputs.drawing.DrawError: there are none.
        """
        return {}, None

    def extra_names(self) -> frozenset[str]:
        """Return names that this check's expressions may use in addition to the inputs."""
        return frozenset()

    def reference_names(self) -> frozenset[str]:
        """Return those of the `extra_names` that expressions for PyTorch may use, too."""
        return frozenset()

    def ahead(self) -> dict[str, Any] | None:
        """Return arguments (JSON) for the inside half's `observe`, run before the learner's code is
        imported, if this kind judges what the learner wrote instead of what their code computes.
        The sandbox's answer is then `expected`, and `observed` comes from `read`."""
        return None

    def elsewhere(self) -> str | None:
        """Return an expression to evaluate in another process as well, in which Python's hashes of
        text differ, if this kind compares the two: its value becomes the entry `elsewhere` of
        `observed`."""
        return None

    def read(self, code: str) -> Tree:
        """Return what a kind with `ahead` judges of the learner's source, without running it."""
        raise NotImplementedError

    def broken(self, expected: Tree) -> str:
        """Return why an answer to `ahead` or `refer` cannot be judged: a fault of the pack. Empty
        if it can. Raises: tutor.tree.TreeError: it does not have the form this check requested."""
        return ""

    def compared(self, expected: Tree) -> Tree:
        """Return what of an answer to `refer` is compared number by number. The rest may differ
        between processors: a training multiplies rounding errors."""
        return expected

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        """Compare the answers; None means that the check passes. Raises: tutor.tree.TreeError:
        `observed` does not have the form this check requested."""
        raise NotImplementedError

    def unseen(self, observed: Tree, case: Case) -> bool:
        """Return whether the code kept from being seen what this kind looks at, such as its keys:
        a grader should know of it."""
        return False

    def evidence_of(self, observed: Tree) -> Tree:
        """Return the value of the call that a structural kind looked at. A value check of the same
        expression judges it, too. `ABSENT` if there is none."""
        absent: Tree = ABSENT
        return absent

    def note(self, observed: Tree, case: Case) -> str:
        """Return a note to show with a pass; empty for most kinds."""
        return ""

    def afterword(self, observed: Tree) -> str:
        """Return Markdown to show with the result, right or wrong; empty for most kinds."""
        return ""

    def curves(self, observed: Tree, expected: Tree | None) -> Curves | None:
        """Return a training's losses to show with the result; None for most kinds."""
        return None

    def scored(self, observed: Tree, case: Case) -> Accuracy | None:
        """Return a training's accuracy to show with the result; None for most kinds."""
        return None
