"""Lessons: the fields of a lesson file.

With `tutor.check` and `tutor.manifest`, these classes are the only description of the pack format:
`tutor.pack` validates YAML against them, `tutor.pack.schema` publishes them as JSON Schema, and
editors show their descriptions on hover.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, field

from tutor.check import Check, Releases
from tutor.inputs.datasets import DataFile, Datasets, with_data
from tutor.report import Failure, Report

# Python's `$` also matches before a final newline, JSON Schema's does not; `(?!\n)` makes both the
# same.
ID = r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)"

Id = Annotated[
    str, Meta(pattern=ID, max_length=64, description="Lower-case words joined by hyphens.")
]
Line = Annotated[str, Meta(min_length=1, max_length=300)]
MAX_TEXT = 20_000
Markdown = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_TEXT,
        description="Markdown. A line `{{name}}` stands for the pack's file texts/name.md.",
        extra={"holds": "markdown"},
    ),
]
Module = Annotated[str, Meta(min_length=1, max_length=64_000, extra={"holds": "module"})]
Requirement = Annotated[str, Meta(min_length=1, max_length=200, extra={"holds": "requirement"})]
Texts = Line | Annotated[tuple[Line, ...], Meta(min_length=1)]
"""One text, or several."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Resource limits of a run. The engine sets the upper bounds."""

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
    output_kb: Annotated[int, Meta(ge=1, le=65_536, description="Maximum output, in KiB.")] = 8192
    cpu_seconds: Annotated[
        int, Meta(ge=10, le=36_000, description="Processor time of the whole sandbox, in seconds.")
    ] = 1200
    threads: Annotated[
        int, Meta(ge=128, le=4096, description="Threads of the sandbox; JAX itself uses about 100.")
    ] = 512
    disk_mb: Annotated[
        int, Meta(ge=1, le=1024, description="Maximum data written to files, in MiB.")
    ] = 64
    files: Annotated[
        int, Meta(ge=256, le=65_536, description="Maximum number of files created.")
    ] = 4096


class Mistake(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A common wrong answer, and the message that it must produce."""

    name: Annotated[Line, Meta(description="The mistake, in a few words.")]
    code: Annotated[
        Module | None, Meta(description="The complete wrong answer; alternatively use `edit`.")
    ] = None
    edit: Annotated[
        dict[str, str] | None,
        Meta(
            description="Replacements in the solution's text, indentation and line breaks "
            "included; each key must occur exactly once."
        ),
    ] = None
    fails: Annotated[
        Line,
        Meta(description="The check that must fail: its name, its kind, or `load` for the import."),
    ]
    says: Annotated[
        Texts,
        Meta(description="Text, or list of texts, that the failed check's report must contain."),
    ]
    jax: Releases = ""

    @property
    def expected_texts(self) -> tuple[str, ...]:
        """`says` as a tuple."""
        return (self.says,) if isinstance(self.says, str) else self.says

    def applied_to(self, solution: str) -> str:
        """Return the wrong answer's source. Raises: ValueError: the old text of an edit does not
        occur exactly once in `solution`."""
        if self.code is not None:
            return self.code
        text = solution
        for old, new in (self.edit or {}).items():
            if (found := text.count(old)) != 1:
                raise ValueError(
                    f"mistake {self.name!r}: {old!r} must occur once in the solution, got {found}"
                )
            text = text.replace(old, new)
        return text


class FailureHint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hint for answers that fail in a certain way. It is offered, and shown if asked for."""

    fails: Annotated[
        Line,
        Meta(
            description="The check that must be the first to fail: its name, its kind, or `load` "
            "for the import."
        ),
    ]
    says: Annotated[
        Texts | None,
        Meta(description="Text, or list of texts, that its report must contain; by default none."),
    ] = None
    hint: Annotated[Markdown, Meta(description="The hint, in Markdown.")]

    @property
    def expected_texts(self) -> tuple[str, ...]:
        """`says` as a tuple."""
        return (self.says,) if isinstance(self.says, str) else self.says or ()

    def fits(self, failure: Failure) -> bool:
        """Return whether an answer that failed so is offered this hint, unless an earlier one
        fits."""
        return self.fails in failure.names and not failure.lacks(self.expected_texts)


class Equivalent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mutant of the solution that is still correct."""

    mutant: Annotated[
        Line, Meta(description="The mutant's name, as listed by `jaxtutor pack test`.")
    ]
    reason: Annotated[Line, Meta(description="Why no check needs to fail.")]


class LessonSummary(Struct, frozen=True):
    """The fields of a lesson that lists show."""

    title: Line
    minutes: Annotated[int, Meta(ge=1, le=240)]
    needs: tuple[Id, ...] = ()


class Lesson(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One translation exercise: PyTorch to read, JAX to write, and the checks of the result."""

    id: Annotated[Id, Meta(description="Unique in the pack; the file is named `<id>.yaml`.")]
    title: Annotated[Line, Meta(description="Title in lists, and above the lesson.")]
    track: Annotated[Id, Meta(description="The track (and directory) of this lesson.")]
    needs: Annotated[tuple[Id, ...], Meta(description="Lessons to do before this one.")] = ()
    sources: Annotated[
        tuple[Line, ...], Meta(description="References that teach or document the idea.")
    ] = ()
    requires: Annotated[
        tuple[Requirement, ...],
        Meta(
            max_length=20,
            description="Further packages that must be installed, as for pip: `equinox>=0.11`. "
            "Without them the lesson is skipped.",
        ),
    ] = ()
    minutes: Annotated[int, Meta(ge=1, le=240, description="Estimated minutes to complete.")]
    brief: Annotated[
        Markdown,
        Meta(description="The lesson text: what PyTorch does, what JAX does, and the task."),
    ]
    torch: Annotated[
        Module, Meta(description="The PyTorch code to translate, also run as the reference.")
    ] = ""
    harness: Annotated[
        Module | None,
        Meta(description="PyTorch code appended to the reference, hidden from the learner."),
    ] = None
    jax_harness: Annotated[
        Module | None,
        Meta(
            description="JAX code, hidden from the learner, whose functions the checks' "
            "expressions may use; they get the learner's functions as arguments."
        ),
    ] = None
    starter: Annotated[
        Module,
        Meta(
            description="Initial contents of the learner's file; made from the solution if that "
            "marks regions and this is absent."
        ),
    ] = ""
    starter_fails: Annotated[
        str,
        Meta(
            description="Name of the check at which the starter fails, if it is code to be fixed: "
            "it loads, and earlier checks pass."
        ),
    ] = ""
    hints: Annotated[
        tuple[Markdown, ...],
        Meta(min_length=1, max_length=9, description="Hints, from vague to explicit."),
    ]
    failure_hints: Annotated[
        tuple[FailureHint, ...],
        Meta(
            max_length=50,
            description="Hints for certain failures: the first one that fits is offered.",
        ),
    ] = ()
    after_pass: Annotated[
        Markdown | None,
        Meta(description="Shown after a pass: what was learnt, what the documentation says next."),
    ] = None
    sizes: Annotated[
        dict[str, int | tuple[int, ...]],
        Meta(description="Named dimensions: an integer, or a list to draw from."),
    ] = field(default_factory=dict)
    inputs: Annotated[
        dict[str, Any],
        Meta(description="Hidden inputs by name, redrawn for each case.", extra={"holds": "draws"}),
    ] = field(default_factory=dict)
    data: Annotated[
        dict[str, DataFile],
        Meta(
            description="Data sets by name, from files of the pack; each is a draw, and can be "
            "the `data` of checks that train."
        ),
    ] = field(default_factory=dict)
    checks: Annotated[
        tuple[Check, ...],
        Meta(min_length=1, description="The hidden checks.", extra={"holds": "checks"}),
    ]
    timed: Annotated[
        str, Meta(description="Name of the value check to time after a pass; the first by default.")
    ] = ""
    survives: Annotated[
        tuple[Literal["jit", "grad", "vmap"], ...] | None,
        Meta(
            description="Transformations that functions called with arrays by the checks must "
            "support; shown below the brief, and checked. `[]` for none."
        ),
    ] = None
    mistakes: Annotated[
        tuple[Mistake, ...],
        Meta(description="Common wrong answers, each with the check that must catch it."),
    ] = ()
    equivalent: Annotated[
        tuple[Equivalent, ...],
        Meta(
            description="Mutants of the solution, and idle answers, that are correct, each with "
            "the reason."
        ),
    ] = ()
    devices: Annotated[
        int,
        Meta(
            ge=1, le=8, description="Number of devices required; simulated if fewer are available."
        ),
    ] = 1
    partial: Annotated[
        bool,
        Meta(description="Whether each passed check earns its points; if false, all must pass."),
    ] = True
    limits: Annotated[Limits, Meta(description="Resource limits of a run.")] = Limits()
    recorded: str = ""
    """The file of recorded answers (`tutor.engine.recorded`), set by the reader of the pack."""

    NOT_IN_YAML: ClassVar[tuple[str, ...]] = ("recorded",)

    @property
    def datasets(self) -> Datasets:
        """The data sets that draws and checks may use: jaxtutor's and its own."""
        return with_data(self.data)

    @property
    def instructions(self) -> str:
        """The brief as shown to the learner, with the required transformations."""
        if not self.survives:
            return self.brief.rstrip()
        required = under_transformations(self.survives)
        return f"{self.brief.rstrip()}\n\nYour functions must also work {required}."

    def failure_hint(self, report: Report) -> int:
        """Return the number, from 1, of the failure hint that an answer with this report is
        offered; 0 if there is none."""
        failure = report.first_failure
        if failure is None:
            return 0
        fitting = (n for n, hint in enumerate(self.failure_hints, 1) if hint.fits(failure))
        return next(fitting, 0)

    @property
    def reference_code(self) -> str:
        return self.torch if self.harness is None else f"{self.torch}\n\n{self.harness}"


def under_transformations(transformations: Sequence[str]) -> str:
    """Return `under jit, grad and vmap`, as Markdown."""
    *first, last = (f"`{name}`" for name in transformations)
    return f"under {', '.join(first)} and {last}" if first else f"under {last}"
