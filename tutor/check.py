"""The base class of checks, and the values that checks work with.

A field's `extra={"holds": …}` says what its text means, so that the pack reader can validate it:

==============  ====================================================================
``module``      Python source of a whole module
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

from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct, field

from tutor.report import Mismatch
from tutor.tree import Tree

DEFAULT_TOLERANCE = {
    "float64": 1e-5,
    "complex128": 1e-5,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 4e-3,
    "bfloat16": 2e-2,
}
"""By the dtype of the answer; the meaning is `max|Δ| ≤ tolerance · max(1, max|expected|)`.

float64 stands here at float32's value because the other side, JAX without x64 or PyTorch, is
then float32. Elementwise relative error is not used: in float32 it reaches 0.16 for a
1024×1024 matrix product that is right (cancellation), while scaled error stays below 2.4e-6
for every operation measured against PyTorch.
"""

JaxExpr = Annotated[str, Meta(min_length=1, max_length=4_000, extra={"holds": "jax"})]
TorchExpr = Annotated[str, Meta(min_length=1, max_length=4_000, extra={"holds": "torch"})]
Tolerance = Annotated[
    float,
    Meta(gt=0, le=1, description="Largest scaled error: max|Δ| ≤ tol · max(1, max|expected|)."),
]
Nan = Annotated[
    bool,
    Meta(
        description="Whether the PyTorch may give NaN; where it gives one and this is not said, "
        "the lesson is taken to be broken."
    ),
]


class Case(Struct, frozen=True):
    """One draw of a check's inputs.

    `input_sets` holds the drawn inputs by name; most checks use one round, `compiles` and `prng`
    several of the same shapes. `secret` stays in the main process (held-out labels).
    """

    index: int
    sizes: dict[str, int]
    input_sets: tuple[dict[str, Tree], ...]
    secret: Any = None

    @property
    def inputs(self) -> dict[str, Tree]:
        return self.input_sets[0]


class Finding(Struct, frozen=True):
    """What a judge found wrong, in words and as data.

    `compared` are the expected and the actual answer where they were compared as wholes: for
    guesses at what went wrong, not for the report.
    """

    message: str
    mismatch: Mismatch | None = None
    notes: tuple[str, ...] = ()
    compared: tuple[Tree, Tree] | None = None


class Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hidden check. Each kind is a subclass in `tutor.checks`.

    A kind has two halves. This one lives in the main process: it says what to ask
    (`observe`, `refer`) and decides about the answers (`judge`). The other half is the module
    named by `inside`, imported by the sandboxed processes only: its `observe(env, args)` runs
    beside the learner's code with JAX, its `refer(env, args)` beside the lesson's PyTorch.
    """

    kind: ClassVar[str]
    inside: ClassVar[str]
    default_cases: ClassVar[int] = 3
    optimised: ClassVar[bool] = False
    """Whether XLA's own optimisation level matters to what this kind observes."""

    name: Annotated[
        str,
        Meta(max_length=100, description="What the learner sees; made from the check if absent."),
    ] = ""
    after: Annotated[
        str | tuple[str, ...],
        Meta(description="Names of earlier checks; unless they passed, this one is skipped."),
    ] = ()
    why: Annotated[
        str, Meta(max_length=400, description="Told to the learner when this check fails.")
    ] = ""
    cases: Annotated[
        Annotated[int, Meta(ge=1, le=20)] | None,
        Meta(description="How many draws of the inputs to try."),
    ] = None
    inputs: Annotated[
        dict[str, Any],
        Meta(description="More inputs, or others, for this check.", extra={"holds": "draws"}),
    ] = field(default_factory=dict)
    devices: Annotated[
        Annotated[int, Meta(ge=1, le=8)] | None,
        Meta(description="Run this check on so many devices."),
    ] = None
    points: Annotated[
        float, Meta(ge=0, le=1000, description="What passing it is worth when it is graded.")
    ] = 1.0
    bonus: Annotated[
        bool, Meta(description="Points on top of the lesson's; graded, it need not pass.")
    ] = False
    visible: Annotated[
        bool, Meta(description="Whether students are shown what it found when they are graded.")
    ] = True

    @property
    def subject(self) -> str:
        """The text under the check's own key: what is checked."""
        value: str = getattr(self, self.kind)
        return value

    @property
    def title(self) -> str:
        return self.name or f"{self.kind}: {' '.join(self.subject.split())}"

    @property
    def needed(self) -> tuple[str, ...]:
        """The checks this one stands on."""
        return (self.after,) if isinstance(self.after, str) else self.after

    @property
    def case_count(self) -> int:
        return self.cases or self.default_cases

    @property
    def input_sets(self) -> int:
        """How many sets of inputs one case needs."""
        return 1

    def observe(self) -> dict[str, Any]:
        """Arguments (JSON) for the half inside the learner's sandbox."""
        raise NotImplementedError

    def refer(self) -> dict[str, Any] | None:
        """Arguments (JSON) for the half beside PyTorch; None if no reference is needed."""
        return None

    def supplement(self, seed: tuple[int, ...]) -> tuple[dict[str, Tree], Any]:
        """More inputs that only this kind needs, and what is kept back from the sandbox."""
        return {}, None

    def supplied(self) -> frozenset[str]:
        """Names that this check brings into its expressions, beside the inputs."""
        return frozenset()

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        """Decide, from data alone. None is a pass.

        Raises:
            tutor.tree.TreeError: `seen` is not the kind of answer this check asked for.
        """
        raise NotImplementedError

    def note(self, seen: Tree, case: Case) -> str:
        """What is worth telling beside a pass; mostly nothing."""
        return ""
