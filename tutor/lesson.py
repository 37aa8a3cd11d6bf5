"""The vocabulary: what a pack, a lesson, a check and a case are.

These classes are the single description of the lesson format: `tutor.pack` validates YAML
against them, `tutor.pack.schema` publishes them as JSON Schema, and their descriptions are what an
author's editor shows on hover.

A field's `extra={"holds": …}` says what its text means, so that the loader can check it:

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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, field

from tutor.report import Mismatch
from tutor.tree import Tree

FORMAT = 1
"""The pack format this version reads."""

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

# Python's `$` is also before a line end at the end, that of JSON Schema is not; so written, both
# mean the same.
ID = r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)"
EDITION = r"^([0-9A-Za-z]+([.+-][0-9A-Za-z]+)*)?$(?!\n)"

Id = Annotated[
    str,
    Meta(
        pattern=ID,
        max_length=64,
        description="Lower-case words joined by hyphens.",
    ),
]
Line = Annotated[str, Meta(min_length=1, max_length=300)]
Markdown = Annotated[str, Meta(min_length=1, max_length=20_000, description="Markdown.")]
Module = Annotated[str, Meta(min_length=1, max_length=64_000, extra={"holds": "module"})]
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


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run of this lesson may use. The upper bounds are the engine's own ceilings."""

    seconds: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            description="Processor time of the learner's code for all checks together, in seconds.",
        ),
    ] = 20.0
    memory_mb: Annotated[
        int, Meta(ge=512, le=16_384, description="Memory of the sandbox, in MiB.")
    ] = 2048
    output_kb: Annotated[
        int, Meta(ge=1, le=65_536, description="What the code may print, in KiB.")
    ] = 8192
    cpu_seconds: Annotated[
        int,
        Meta(ge=10, le=36_000, description="Processor time of the whole sandbox, in seconds."),
    ] = 1200
    threads: Annotated[
        int, Meta(ge=128, le=4096, description="Threads of the sandbox; JAX's own are about 100.")
    ] = 512
    disk_mb: Annotated[
        int, Meta(ge=1, le=1024, description="What the code may write to files, in MiB.")
    ] = 64
    files: Annotated[
        int, Meta(ge=256, le=65_536, description="How many files the code may make.")
    ] = 4096


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


class Mistake(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A wrong answer that people really give, and what they must be told."""

    name: Annotated[Line, Meta(description="What went wrong, in a few words.")]
    code: Annotated[Module | None, Meta(description="The whole wrong answer; or give `edit`.")] = (
        None
    )
    edit: Annotated[
        dict[str, str] | None,
        Meta(description="The solution with each text on the left (found exactly once) replaced."),
    ] = None
    fails: Annotated[
        Line,
        Meta(
            description="The check that catches it: its name, its kind, or `load` for the import."
        ),
    ]
    says: Annotated[
        Line | Annotated[tuple[Line, ...], Meta(min_length=1)],
        Meta(description="What the learner must be shown there; one text or several."),
    ]

    @property
    def promised(self) -> tuple[str, ...]:
        """The texts of `says`."""
        return (self.says,) if isinstance(self.says, str) else self.says

    def applied_to(self, solution: str) -> str:
        """The wrong answer's source.

        Raises:
            ValueError: an edit's text is not in `solution` exactly once.
        """
        if self.code is not None:
            return self.code
        text = solution
        for old, new in (self.edit or {}).items():
            if (found := text.count(old)) != 1:
                raise ValueError(f"mistake {self.name!r}: {old!r} is in the solution {found} times")
            text = text.replace(old, new)
        return text


class Equivalent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small change of the solution after which it is still right."""

    mutant: Annotated[Line, Meta(description="Its name, as `jaxtutor pack test` lists it.")]
    reason: Annotated[Line, Meta(description="Why no check need notice.")]


class Card(Struct, frozen=True):
    """What a list of lessons tells of one. The fields are the lesson's own."""

    title: Line
    minutes: Annotated[int, Meta(ge=1, le=240)]
    needs: tuple[Id, ...] = ()


class Lesson(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One translation: PyTorch to read, JAX to write, and how to tell that it is right."""

    id: Annotated[Id, Meta(description="Unique in the pack; the file is named `<id>.yaml`.")]
    title: Line
    track: Annotated[Id, Meta(description="The track (and folder) this lesson belongs to.")]
    needs: Annotated[tuple[Id, ...], Meta(description="Lessons to do before this one.")] = ()
    sources: Annotated[
        tuple[Line, ...], Meta(description="Where the idea is taught or documented.")
    ] = ()
    minutes: Annotated[int, Meta(ge=1, le=240, description="How long it takes.")]
    brief: Annotated[
        Markdown,
        Meta(description="The one idea: what PyTorch does, what JAX does, what to write."),
    ]
    torch: Annotated[
        Module, Meta(description="The PyTorch to translate; it runs as the reference.")
    ]
    harness: Annotated[
        Module | None,
        Meta(description="More PyTorch for the reference alone; the learner does not see it."),
    ] = None
    starter: Annotated[Module, Meta(description="What the learner starts from.")]
    hints: Annotated[
        tuple[Markdown, ...],
        Meta(min_length=1, max_length=9, description="From nudge to nearly there."),
    ]
    sizes: Annotated[
        dict[str, int | tuple[int, ...]],
        Meta(description="Named dimensions: one number, or several to draw from."),
    ] = field(default_factory=dict)
    inputs: Annotated[
        dict[str, Any],
        Meta(
            description="Hidden inputs by name, drawn anew for each case.", extra={"holds": "draws"}
        ),
    ] = field(default_factory=dict)
    checks: Annotated[tuple[Check, ...], Meta(min_length=1, extra={"holds": "checks"})]
    timed: Annotated[
        str,
        Meta(description="The value check whose expression is timed after a pass; else the first."),
    ] = ""
    survives: Annotated[
        tuple[Literal["jit", "grad", "vmap"], ...] | None,
        Meta(
            description="Under which of these the functions must work that `value` checks call "
            "with arrays: learners read it below the brief, and a check tries it. `[]` for none."
        ),
    ] = None
    mistakes: tuple[Mistake, ...] = ()
    equivalent: Annotated[
        tuple[Equivalent, ...],
        Meta(
            description="Mutants of the solution, and idle answers, that are right after all, with "
            "the reason why no check need notice them."
        ),
    ] = ()
    devices: Annotated[
        int,
        Meta(ge=1, le=8, description="Devices the lesson needs; simulated where there are fewer."),
    ] = 1
    partial: Annotated[
        bool,
        Meta(description="Whether each check gives its points; else all must pass to give any."),
    ] = True
    limits: Limits = Limits()

    @property
    def instructions(self) -> str:
        """The brief as the learner reads it, with what their functions must survive."""
        if not self.survives:
            return self.brief.rstrip()
        return f"{self.brief.rstrip()}\n\nYour functions must also work {under(self.survives)}."

    @property
    def reference_code(self) -> str:
        return self.torch if self.harness is None else f"{self.torch}\n\n{self.harness}"


def under(transformations: Sequence[str]) -> str:
    """Return `under jit, grad and vmap`, as Markdown."""
    *first, last = (f"`{name}`" for name in transformations)
    return f"under {', '.join(first)} and {last}" if first else f"under {last}"


class Track(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A chapter of the course, in the order in which its lessons are taught."""

    id: Id
    title: Line
    about: Annotated[str, Meta(max_length=1000)] = ""
    lessons: Annotated[tuple[Id, ...], Meta(min_length=1, description="Lesson ids, in order.")]


class LatePenalty(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What being late costs when submissions are graded."""

    percent_per_day: Annotated[
        float,
        Meta(ge=0, le=100, description="Of the lesson's points, for each day that has begun."),
    ] = 0.0
    grace_hours: Annotated[
        float, Meta(ge=0, le=8760, description="So late costs nothing; later, all of it counts.")
    ] = 0.0
    most_percent: Annotated[
        float, Meta(ge=0, le=100, description="However late it is, no more is taken.")
    ] = 100.0


class Grading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How submissions to any of the pack's lessons are graded."""

    late: LatePenalty = LatePenalty()


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pack.yaml`."""

    format: Annotated[int, Meta(ge=1, description="The format of this pack; now 1.")]
    id: Annotated[Id, Meta(description="Progress is kept under this name.")]
    title: Line
    version: Annotated[
        str,
        Meta(
            pattern=EDITION,
            max_length=40,
            description='Which edition this is, such as "1.2"; in quotes, or 1.10 is a number.',
        ),
    ] = ""
    about: Annotated[str, Meta(max_length=4000)] = ""
    licence: Annotated[str, Meta(max_length=200)] = ""
    requires: Annotated[
        str,
        Meta(
            pattern=r"^[0-9]+(\.[0-9]+)*$(?!\n)",
            description="The oldest jaxtutor that can read this.",
        ),
    ] = "0"
    tracks: Annotated[tuple[Track, ...], Meta(min_length=1)]
    grading: Grading = Grading()


class Pack(Struct, frozen=True):
    """An opened pack: the manifest and its lessons, in the order they are taught.

    To iterate over `lessons`, to count them or to look for one reads no lesson; to get one does,
    the first time. Where something is wrong with it, `tutor.pack.BadPack` is raised then.
    """

    root: Path
    manifest: Manifest
    lessons: Mapping[str, Lesson]

    @property
    def id(self) -> str:
        return self.manifest.id

    def lesson(self, lesson_id: str) -> Lesson:
        """Raises: KeyError: no such lesson. BadPack: it cannot be used."""
        return self.lessons[lesson_id]

    def others(self, lesson_id: str) -> set[str]:
        """The ids of all lessons but one: where that may point to."""
        return self.lessons.keys() - {lesson_id}

    def next_after(self, lesson_id: str) -> str | None:
        """The id of the lesson that follows."""
        order = list(self.lessons)
        place = order.index(lesson_id) + 1
        return order[place] if place < len(order) else None

    def solution(self, lesson_id: str) -> str | None:
        """The pack's own answer, or None where the pack travels without solutions."""
        lesson = self.lessons[lesson_id]
        for base in solution_folders(self.root):
            path = base / lesson.track / f"{lesson.id}.py"
            if path.is_file():
                return path.read_text(encoding="utf-8")
        return None

    def variants(self, lesson_id: str) -> list[Path]:
        """Right answers written otherwise: the files in the folder that is named like the lesson
        and lies beside its solution."""
        lesson = self.lessons[lesson_id]
        folders = (base / lesson.track / lesson.id for base in solution_folders(self.root))
        return sorted(path for folder in folders for path in folder.glob("*.py"))

    def likely(self, lesson_id: str) -> list[str]:
        """Code like that which people write for a lesson, the likeliest first: what the pack knows
        to be right, or its starter."""
        variants = [path.read_text(encoding="utf-8") for path in self.variants(lesson_id)]
        known = [code for code in (self.solution(lesson_id), *variants) if code is not None]
        return known or [self.lessons[lesson_id].starter]


def solution_folders(root: Path) -> tuple[Path, ...]:
    """Where a pack's solutions may be: inside it, or beside a folder called `lessons`."""
    inside = root / "solutions"
    return (inside, root.parent / "solutions") if root.name == "lessons" else (inside,)
