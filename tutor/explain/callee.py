"""Whose function a message is about: `scan() missing 1 required positional argument` is said of
`jax.lax.scan`, and of anybody's own `scan`."""

import re

from tutor.explain.rule import Rule, several
from tutor.explain.symptom import Symptom

_CALLEE = re.compile(r"(?<![\w.<>])([\w.<>]{1,200})\(\) (?:missing|got|takes|accepts)")

LIBRARIES = frozenset(
    (
        "jax", "jnp", "np", "lax", "nn", "nnx", "linen", "flax", "optax", "random", "jr", "jrandom",
        "tree", "tree_util", "jtu", "initializers", "shard_map", "sharding", "debug", "eqx",
        "checkify", "distributed", "experimental", "numpy", "image", "ops", "stats", "linalg",
        "struct", "training", "train_state", "losses", "schedules", "collectives", "jsp", "contrib",
        "transforms", "tree_utils", "fft", "special", "signal", "ndimage", "integrate", "optimize",
        "cluster", "interpolate", "sparse", "ode", "dlpack", "spatial", "jsl", "jss",
        "serialization", "checkpoints", "traverse_util", "jax_utils", "common_utils", "core",
    )
)  # fmt: skip
"""Names under which people import JAX, Flax and Optax, and their submodules."""

UNMISTAKABLE = frozenset(
    (
        "jit", "vmap", "pmap", "value_and_grad", "jacfwd", "jacrev", "hessian", "custom_vjp",
        "custom_jvp", "fori_loop", "while_loop", "make_jaxpr", "eval_shape", "tree_map",
        "make_mesh", "device_put", "one_hot", "pure_callback", "io_callback",
    )
)  # fmt: skip
"""Functions that are JAX's even if they are called without a module, and nothing else in the text
names JAX."""

OF_TORCH_TOO = frozenset(
    ("Linear", "LayerNorm", "GroupNorm", "RMSNorm", "Dropout", "LSTMCell", "GRUCell", "Sequential")
)
"""Layers that are called the same in `torch.nn` and in Flax."""

_OWN_CLASS = re.compile(
    r"'(TrainState|GradientTransformation|Optimizer|Mesh|State)' object (?:has no|is not)"
)
_FIELD_OF_TRAIN_STATE = re.compile(
    r"'TrainState' object has no attribute '"
    r"(?:apply_gradients|create|replace|step|apply_fn|params|tx|opt_state)'"
)
"""Flax's has these, so it is the user's own class."""
_ANY_CLASS = re.compile(r"\}(?:\.__init__)?\(\)")
"""In a pattern that means the constructor of any class: `{module:name}() takes no arguments`."""
_OPTIMIZER = re.compile(r"(?:tx|\w*opt\w*|solver)\.")


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
        return _is_another_method(rule, symptom.message) or _is_another_class(symptom)
    closure = callee in ("init_fn", "update_fn") and "<locals>" not in symptom.message
    if closure and not symptom.names_jax and re.search(rf"(?<![\w.]){callee}\(", symptom.line):
        return True  # those of optax are called as `tx.init` and `tx.update`
    name = re.escape(callee)
    patterns = several(rule.when.message)
    if any(_ANY_CLASS.search(one) for one in patterns) and _is_a_class(name, symptom):
        return False
    if "<locals>" in symptom.message and any("<locals>" in one for one in patterns):
        return False  # the rule is about functions that are made inside others
    named = any(one in pattern for pattern in patterns for one in (f"{callee}(", f"{callee}.__i"))
    defined = bool(re.search(rf"\b(?:def|class) {name}\b", symptom.source))
    before = re.findall(rf"([\w.]*)(?<!\w){name}\(", symptom.line)
    if any(_is_library(one) for one in before):
        return "nn." in before and _is_torch(callee, symptom)
    if before:
        # The source is on one line: an import ends where a statement of another kind begins.
        ends = r"def|class|import|from|for|if|return"
        imported = re.search(
            rf"\bimport (?:(?!\b(?:{ends})\b)[\w., ()])*?\b{name}\b", symptom.source
        )
        bare = not any(before)
        known = symptom.names_jax or callee in UNMISTAKABLE
        return not (bare and (imported or (named and not defined and known)))
    return named and defined


def _is_a_class(name: str, symptom: Symptom) -> bool:
    """Return whether the learner's code defines a class of this name."""
    return re.search(rf"\bclass {name}\b", symptom.source) is not None


def _is_torch(layer: str, symptom: Symptom) -> bool:
    """Return whether `nn` is `torch.nn`, as far as the learner's code shows it."""
    if "torch." in symptom.source and "jax" not in symptom.source:
        return True
    if layer == "Linear":  # linen calls it `Dense`
        return "nnx" not in symptom.source
    return layer in OF_TORCH_TOO and not symptom.names_jax


def _is_another_class(symptom: Symptom) -> bool:
    """Return whether a message is about the user's own class that is called like one of Flax's."""
    found = _OWN_CLASS.search(symptom.message)
    if _FIELD_OF_TRAIN_STATE.search(symptom.message):
        return True
    if found is None or symptom.names_jax or not symptom.line:
        return False
    return found[1] != "GradientTransformation" or not _OPTIMIZER.search(symptom.line)


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
