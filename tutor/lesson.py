"""Lessons: the fields of a lesson file.

With `tutor.check` and `tutor.manifest`, these classes are the only description of the pack format:
`tutor.pack` validates YAML against them, `tutor.pack.schema` publishes them as JSON Schema, and
editors show their descriptions on hover.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from tutor.check import Check

# Python's `$` is also before a line end at the end, that of JSON Schema is not; so written, both
# mean the same.
ID = r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)"

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
