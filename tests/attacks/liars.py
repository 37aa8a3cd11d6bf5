"""Submissions that do no work and fake the functions that checks' expressions call.

A run of the right answer records what `jnp.stack`, `sorted` and the like return. The liar's own
functions return zeros; its `jnp.stack`, in its module and in the library, returns the recording.
"""

import ast
import json
from collections.abc import Iterator, Sequence

from tutor.authoring.idle import make_idle, required
from tutor.expressions import BUILTINS, free_names, texts
from tutor.lesson import Lesson

MARK = "recorded: "


def names_used(lesson: Lesson) -> Iterator[str]:
    """Return every `jnp.stack`, `jax.tree.leaves` and builtin that the expressions call."""
    seen = set()
    for check in lesson.checks:
        for text in texts(check.observe()):
            free = free_names(text).keys()
            for node in ast.walk(ast.parse(text.strip(), mode="eval")):
                if not isinstance(node, ast.Call):
                    continue
                name = ast.unparse(node.func)
                if not all(part.isidentifier() for part in name.split(".")):
                    continue
                root = name.partition(".")[0]
                if root in free and (root in ("jax", "jnp", "np") or name in BUILTINS):
                    seen.add(name)
    yield from sorted(seen)


_OWNER = """
    import builtins, json, jax, jax.numpy as jnp, numpy as np

    *path, name = {name!r}.split(".")
    owner = {{"jax": jax, "jnp": jnp, "np": np}}[path[0]] if path else builtins
    for part in path[1:]:
        owner = getattr(owner, part)
    real = getattr(owner, name)
"""

_RECORDER = (
    """

def _record():
"""
    + _OWNER
    + """
    def plain(value):
        if isinstance(value, (jax.Array, np.ndarray)) and value.size < 5000:
            return {{"array": np.asarray(value).tolist(), "dtype": str(value.dtype)}}
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        return value if isinstance(value, (bool, int, float, str)) else True

    def spy(*arguments, **named):
        result = real(*arguments, **named)
        try:
            print({mark!r} + {name!r} + " " + json.dumps(plain(result)))
        except Exception:
            pass
        return result

    setattr(owner, name, spy)


_record()
"""
)

_LIAR = (
    """

def _lie():
"""
    + _OWNER
    + """
    recorded, calls = json.loads({recorded!r}), []

    def value(data):
        if isinstance(data, dict):
            return jnp.asarray(np.asarray(data["array"], data["dtype"]))
        return [value(one) for one in data] if isinstance(data, list) else data

    def liar(*arguments, **named):
        calls.append(0)
        return value(recorded[(len(calls) - 1) % len(recorded)]) if recorded else True

    class Namespace:
        def __init__(self, instead, attribute):
            self._instead, self._attribute = instead, attribute

        def __getattr__(self, attribute):
            return liar if attribute == self._attribute else getattr(self._instead, attribute)

    if not path:
        globals()[name] = liar
    elif len(path) == 1:
        globals()[path[0]] = Namespace(owner, name)
    setattr(owner, name, liar)


_lie()
"""
)


def recorder(names: Sequence[str], solution: str) -> str:
    """Return the right answer, changed to print what each of `names` returns."""
    return solution + "".join(_RECORDER.format(name=name, mark=MARK) for name in names)


def _recorded(name: str, printed: str) -> Iterator[object]:
    """Return the recording, without a line that was cut because output is bounded."""
    for line in printed.splitlines():
        if line.startswith(f"{MARK}{name} "):
            try:
                yield json.loads(line.removeprefix(f"{MARK}{name} "))
            except json.JSONDecodeError:
                continue


def liar(name: str, solution: str, lesson: Lesson, printed: str) -> str:
    """Return the answer that does no work, with `name` replaced."""
    recorded = json.dumps([*_recorded(name, printed)][:200])
    code = solution
    for function in required(lesson):
        code = make_idle(code, function, "zeros")
    return code + _LIAR.format(name=name, recorded=recorded)
