"""`pure`: a function depends on its inputs alone, as `jit` assumes."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.compare import compare, words
from tutor.foreign.plain_text import cut
from tutor.tree import Tree, entry, items, text

REPEAT_TOLERANCE = 1e-6


class Pure(Check, frozen=True, kw_only=True):
    """Two calls agree, inputs and globals are unchanged, promises about indices hold, `jit` changes
    nothing, and no tracer escapes."""

    kind: ClassVar[str] = "pure"
    inside: ClassVar[str] = "tutor.checks.inside.pure"
    structural: ClassVar[bool] = True
    default_cases: ClassVar[int] = 1

    pure: Annotated[JaxExpr, Meta(description="Expression to evaluate with the learner's code.")]
    jit: Annotated[
        bool, Meta(description="Also check under `jit`, with the input arrays as arguments.")
    ] = True

    across_processes: Annotated[
        bool,
        Meta(
            description="Also evaluate the expression in another process, in which Python's "
            "`hash` of text and the order of sets differ."
        ),
    ] = False

    def elsewhere(self) -> str | None:
        return self.pure if self.across_processes else None

    def observe(self) -> dict[str, Any]:
        return {"expression": self.pure, "jit": self.jit}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        first = entry(observed, "first")
        if mismatch := compare(first, entry(observed, "again"), REPEAT_TOLERANCE):
            return Finding(
                f"two calls with the same inputs gave different results: {words(mismatch)}",
                mismatch,
                code="not-repeatable",
            )
        if self.across_processes and (
            mismatch := compare(first, entry(observed, "elsewhere"), REPEAT_TOLERANCE)
        ):
            return Finding(
                "another Python process gives a different result for the same inputs: "
                f"{words(mismatch)}. Python's `hash` of text and the order of a set are others in "
                "each process",
                mismatch,
                code="process-dependent",
            )
        if mismatch := compare(
            entry(observed, "inputs before"), entry(observed, "inputs after"), 0.0
        ):
            message = f"the call changed its inputs: {words(mismatch)}"
            return Finding(message, mismatch, code="inputs-changed")
        for argument in items(entry(observed, "written")):
            message = f"{cut(text(argument), 300)}: return a new value instead"
            return Finding(message, code="inputs-changed")
        for promise in items(entry(observed, "promises")):
            return Finding(f"{cut(text(promise), 400)}: the result is undefined")
        if not self.jit:
            return None
        for name in items(entry(observed, "changed")):
            return Finding(
                f"the call changes the global {cut(text(name), 100)!r}. Under jit that happens "
                "once, during tracing, and never again: take the old value as an argument and "
                "return the new one"
            )
        if leak := text(entry(observed, "leak")):
            return Finding(
                f"a tracer escaped from the function: {cut(leak, 600)}. Return the value instead",
                code="tracer-escaped",
            )
        for name in items(entry(observed, "globals")):
            return Finding(
                f"a tracer escaped from the function into the global {cut(text(name), 100)!r}: "
                "return the value instead",
                code="tracer-escaped",
            )
        if mismatch := compare(first, entry(observed, "jitted")):
            return Finding(f"under jax.jit the result is different: {words(mismatch)}", mismatch)
        return None

    def evidence_of(self, observed: Tree) -> Tree:
        return entry(observed, "first")
