"""Rules: when they apply, and what they explain.

Rules are data, in `rules/<topic>.yaml`, validated like lessons. A field's `extra={"holds": …}` says
what its text means (see `tutor.explain.reader`).
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from tutor.check import Check
from tutor.lesson import Id, Module

Patterns = Annotated[str | tuple[str, ...], Meta(extra={"holds": "patterns"})]
Words = Annotated[str | tuple[str, ...], Meta(extra={"holds": "words"})]
Text = Annotated[str, Meta(min_length=1, max_length=900)]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions, which must all hold. Of several texts under one key, one must match."""

    exception: Annotated[Words, Meta(description="The exception's class, without its module.")] = ()
    fault: Annotated[Words, Meta(description="Another fault: a code of tutor.sandbox.faults.")] = ()
    check: Annotated[Words, Meta(description="The kind of the failed check.")] = ()
    cause: Annotated[
        Words, Meta(description="A possible cause, from comparing expected and actual.")
    ] = ()
    message: Annotated[
        Patterns, Meta(description="In the message of the exception or of the check.")
    ] = ()
    line: Annotated[
        Patterns, Meta(description="In the learner's line that raised the exception.")
    ] = ()
    source: Annotated[Patterns, Meta(description="Anywhere in the learner's code.")] = ()
    beside: Annotated[Patterns, Meta(description="Also anywhere in the learner's code.")] = ()
    lacks: Annotated[Patterns, Meta(description="Not in the learner's code.")] = ()
    torch: Annotated[Patterns, Meta(description="In the PyTorch code that the check uses.")] = ()
    asked: Annotated[Patterns, Meta(description="In the check's name, expressions or `why`.")] = ()


class Trial(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small lesson, which the code under `provoke` must fail."""

    torch: Module = "import torch\n"
    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    inputs: Annotated[dict[str, Any], Meta(extra={"holds": "draws"})] = field(default_factory=dict)
    checks: Annotated[tuple[Check, ...], Meta(min_length=1, extra={"holds": "checks"})]


class Explanatory(Struct, frozen=True, kw_only=True):
    """The part of a rule that explanations need."""

    id: Annotated[Id, Meta(description="Unique among all rules.")]
    when: When
    what: Annotated[Text, Meta(description="What happened, for PyTorch developers.")]
    why: Annotated[Text, Meta(description="Why JAX behaves this way.")]
    instead: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1_500,
            description="Python code to write instead.",
        ),
    ]
    lesson: Annotated[Id, Meta(description="The lesson that teaches it, existing or planned.")]
    likely: Annotated[
        bool, Meta(description="Whether it is a guess; rules with a `cause` always are.")
    ] = False


class Rule(Explanatory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule with its tests."""

    provoke: Annotated[
        str | tuple[str, ...],
        Meta(
            description="One or more modules whose import raises the explained exception; with "
            "`trial`, submissions that fail it.",
            extra={"holds": "modules"},
        ),
    ]
    not_: Annotated[
        str | tuple[str, ...],
        Meta(
            description="Modules that fail differently (or, with `trial`, may pass).",
            extra={"holds": "modules"},
        ),
    ] = field(default=(), name="not")
    trial: Trial | None = None
    devices: Annotated[
        int, Meta(ge=1, le=8, description="Number of simulated devices for `provoke`.")
    ] = 1


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of rules."""

    about: Annotated[str, Meta(max_length=400, description="The topic of these rules.")]
    rules: Annotated[tuple[Rule, ...], Meta(min_length=1)]


def several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of a key that takes one or several."""
    return (value,) if isinstance(value, str) else value
