"""Whose function a message is about: `scan() missing 1 required positional argument` is said of
`jax.lax.scan`, and of anybody's own `scan`."""

import re

from tutor.explain.rule import Rule, several
from tutor.explain.symptom import Symptom

_CALLEE = re.compile(r"([\w.<>]+)\(\) (?:missing|got|takes|accepts)")

LIBRARIES = frozenset(
    (
        "jax", "jnp", "np", "lax", "nn", "nnx", "linen", "flax", "optax", "random", "jr", "jrandom",
        "tree", "tree_util", "jtu", "initializers", "shard_map", "sharding", "debug", "eqx",
        "checkify", "experimental", "numpy", "image", "ops", "stats", "linalg", "struct",
        "training", "train_state", "losses", "schedules", "collectives", "jsp",
    )
)  # fmt: skip
"""Names under which people import JAX, Flax and Optax, and their submodules."""


def callee_of(message: str) -> str:
    """Return the function or class whose arguments a message is about; empty if there is none, or
    if it is a method, whose class the message names."""
    found = _CALLEE.search(message)
    if found is None or "." in found[1].rpartition("<locals>.")[2].removesuffix(".__init__"):
        return ""
    return found[1].rpartition("<locals>.")[2].removesuffix(".__init__")


def is_somebody_elses(rule: Rule, symptom: Symptom) -> bool:
    """Return whether a message is about a function that is not the one that a rule means.

    The learner's line shows it: `jax.lax.scan(` is JAX's, `self.scan(` and, where the code defines
    it, `scan(` are not.
    """
    callee = callee_of(symptom.message)
    if not callee:
        return _is_another_method(rule, symptom.message)
    name = re.escape(callee)
    named = any(callee in pattern for pattern in several(rule.when.message))
    defined = bool(re.search(rf"\b(?:def|class) {name}\b", symptom.source))
    before = re.findall(rf"([\w.]*)(?<!\w){name}\(", symptom.line)
    if any(_is_library(one) for one in before):
        return "torch." in symptom.source and "jax" not in symptom.source and "nn." in before
    if before:
        imported = re.search(rf"\bimport [^;]*\b{name}\b", symptom.source)
        bare = not any(before)
        return not (bare and (imported or (named and not defined)))
    return named and defined


def _is_another_method(rule: Rule, message: str) -> bool:
    """Return whether a message about `Barcode.scan()` was taken for one about `scan()`."""
    found = _CALLEE.search(message)
    method = found[1].rpartition(".")[2] if found is not None and "." in found[1] else ""
    patterns = [one for one in several(rule.when.message) if method and f"{method}()" in one]
    special = method.startswith("__")
    return bool(patterns) and not special and not any(f".{method}()" in one for one in patterns)


def is_certain(symptom: Symptom) -> bool:
    """Return whether the learner's line shows that a message is about a library's function."""
    callee = callee_of(symptom.message)
    if not callee:
        return True
    before = re.findall(rf"([\w.]*)(?<!\w){re.escape(callee)}\(", symptom.line)
    return any(map(_is_library, before)) or (bool(symptom.line) and not before)


def _is_library(before: str) -> bool:
    parts = before.rstrip(".").split(".")
    return before.endswith(".") and parts[-1] in LIBRARIES and parts[0] in LIBRARIES
