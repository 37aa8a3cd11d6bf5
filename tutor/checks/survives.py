"""`survives`: the learner's functions work under `jit`, `grad` and `vmap`.

Generated from the lesson's `survives:`. Tracing happens in the learner's process and so is only
evidence; value checks run first.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from tutor.check import Case, Check, Finding
from tutor.checks.agreement import agree, otherwise
from tutor.checks.value import Value
from tutor.expressions import calls_of, texts
from tutor.lesson import Lesson, under_transformations
from tutor.tree import Tree, TreeError, entry, items, text

CALLING = ("value", "shape", "distribution", "same", "bounds", "permutation")
"""Kinds whose expressions call the functions as learners should."""


class Call(Struct, frozen=True):
    """A function of the learner, and the arguments that a check passes to it."""

    function: str
    args: tuple[str, ...]


class Survives(Check, frozen=True, kw_only=True):
    """Every call can be traced under every transformation of its arrays."""

    kind: ClassVar[str] = "survives"
    inside: ClassVar[str] = "tutor.checks.inside.survives"
    structural: ClassVar[bool] = True
    default_cases: ClassVar[int] = 1

    survives: tuple[str, ...]
    calls: tuple[Call, ...]

    @property
    def expression(self) -> str:
        return ", ".join(dict.fromkeys(call.function for call in self.calls))

    def observe(self) -> dict[str, Any]:
        calls = [{"function": call.function, "args": call.args} for call in self.calls]
        return {"survives": self.survives, "calls": calls}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        calls = items(observed)
        if [entry(call, "function") for call in calls] != [call.function for call in self.calls]:
            raise TreeError("expected the functions that were traced")
        for call in calls:
            if finding := _otherwise(call):
                return finding
        return None


def _otherwise(call: Tree) -> Finding | None:
    """Return a finding if a call gave something else when it was compiled. What two ordinary calls
    give differently, such as the codes of `checkify`'s errors, may differ here, too."""
    seen = [items(leaves) for leaves in items(entry(call, "seen"))]
    how = f"compiled ({text(entry(call, 'function'))})"
    for compiled, called, again in zip(*seen, strict=False):
        if agree(called, again) and (finding := otherwise(called, compiled, how)):
            return finding
    return None


def survival(lesson: Lesson, names: frozenset[str]) -> Survives | None:
    """Return the check for a lesson's `survives:`, if it has one.

    **Arguments:** `names`: the names that the learner's code defines.
    """
    if not lesson.survives:
        return None
    calls: dict[str, Call] = {}
    needed: list[str] = []
    inputs: dict[str, Any] = {}
    for check in lesson.checks:
        marked = isinstance(check, Value) and check.evidence
        if check.kind not in CALLING or marked or check.devices or check.bonus:
            continue
        if any(inputs.get(name, draw) != draw for name, draw in check.inputs.items()):
            continue  # another check gives the same name another value
        new_calls = [
            call
            for text in texts(check.observe())
            for call in calls_of(text, names)
            if call[0] not in calls
        ]
        for function, args in new_calls:
            calls.setdefault(function, Call(function, args))
        if new_calls:
            needed.append(check.title)
            inputs |= check.inputs
    if not calls:
        return None
    return Survives(
        name=f"works {under_transformations(lesson.survives).replace('`', '')}",
        survives=lesson.survives,
        calls=tuple(calls.values()),
        inputs=inputs,
        after=tuple(needed),
        why=f"Every function of this lesson must work {under_transformations(lesson.survives)}.",
    )


def with_survival(lesson: Lesson, names: frozenset[str]) -> Lesson:
    """Return the lesson with its `survives` check, if any, added at the end."""
    check = survival(lesson, names)
    if check is None:
        return lesson
    return msgspec.structs.replace(lesson, checks=(*lesson.checks, check))


def own_checks(lesson: Lesson) -> Sequence[Check]:
    """Return the checks that the author wrote."""
    return [check for check in lesson.checks if check.kind != Survives.kind]
