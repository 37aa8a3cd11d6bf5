"""What a rule is: when it applies, and what it says.

Rules are data, in `rules/<topic>.yaml`, read with the same care as lessons. A field's
`extra={"holds": …}` says what its text means (see `tutor.explain.reader`).
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from tutor.check import Check
from tutor.lesson import Id, Module

Patterns = Annotated[str | tuple[str, ...], Meta(extra={"holds": "patterns"})]
Words = Annotated[str | tuple[str, ...], Meta(extra={"holds": "words"})]
Told = Annotated[str, Meta(min_length=1, max_length=900)]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be found, all of it. Of several texts under one key one is enough."""

    exception: Annotated[Words, Meta(description="The exception's class, without its module.")] = ()
    fault: Annotated[
        Words, Meta(description="Another way to break: a code of tutor.sandbox.faults.")
    ] = ()
    check: Annotated[Words, Meta(description="The kind of the check that did not pass.")] = ()
    cause: Annotated[
        Words, Meta(description="What a comparison of expected and actual suggests.")
    ] = ()
    message: Annotated[
        Patterns, Meta(description="In the exception's message, or in what the check has found.")
    ] = ()
    line: Annotated[
        Patterns, Meta(description="In the learner's own line where the exception was raised.")
    ] = ()
    source: Annotated[Patterns, Meta(description="Anywhere in the learner's code.")] = ()
    beside: Annotated[
        Patterns, Meta(description="This as well, anywhere in the learner's code.")
    ] = ()
    lacks: Annotated[Patterns, Meta(description="None of these anywhere in their code.")] = ()
    torch: Annotated[
        Patterns, Meta(description="In the lesson's PyTorch, as far as the check reaches it.")
    ] = ()
    asked: Annotated[
        Patterns, Meta(description="In what the check asks: its name, its expressions, its `why`.")
    ] = ()


class Trial(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lesson in small, that the code under `provoke` does not pass."""

    torch: Module = "import torch\n"
    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    inputs: Annotated[dict[str, Any], Meta(extra={"holds": "draws"})] = field(default_factory=dict)
    checks: Annotated[tuple[Check, ...], Meta(min_length=1, extra={"holds": "checks"})]


class Explanatory(Struct, frozen=True, kw_only=True):
    """A rule as far as it is needed to explain something."""

    id: Annotated[Id, Meta(description="Unique among all rules.")]
    when: When
    what: Annotated[Told, Meta(description="What happened, to somebody who thinks in PyTorch.")]
    why: Annotated[Told, Meta(description="Why JAX does it so.")]
    instead: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1_500,
            description="What to write instead: Python.",
        ),
    ]
    lesson: Annotated[Id, Meta(description="The lesson that teaches it, there or to come.")]
    likely: Annotated[
        bool, Meta(description="It need not be the cause. Whatever has a `cause` is only likely.")
    ] = False


class Rule(Explanatory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule with what proves it."""

    provoke: Annotated[
        str | tuple[str, ...],
        Meta(
            description="A module, or several, whose import raises what is explained here; with "
            "`trial`, one that does not pass it.",
            extra={"holds": "modules"},
        ),
    ]
    not_: Annotated[
        str | tuple[str, ...],
        Meta(
            description="Modules that go wrong in another way (or, with `trial`, in no way).",
            extra={"holds": "modules"},
        ),
    ] = field(default=(), name="not")
    trial: Trial | None = None
    devices: Annotated[
        int, Meta(ge=1, le=8, description="Devices that `provoke` needs; simulated.")
    ] = 1


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of rules."""

    about: Annotated[str, Meta(max_length=400, description="What these rules are about.")]
    rules: Annotated[tuple[Rule, ...], Meta(min_length=1)]


def several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """The texts under a key that takes one or several."""
    return (value,) if isinstance(value, str) else value
