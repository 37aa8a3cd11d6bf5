"""Idle answers: the solution with one function that returns zeros, its input or the like.

Each must fail at least one check. The function still runs, for the shapes of its results, and then
throws the numbers away.
"""

import ast
from collections.abc import Iterator

from msgspec import Struct

from tutor.expressions import free_names, texts
from tutor.lesson import Lesson


class Idle(Struct, frozen=True):
    """An idle answer. Reports and `equivalent` use `name`."""

    name: str
    code: str


def idle_answers(lesson: Lesson, solution: str) -> Iterator[Idle]:
    """Yield every required function, idle in every way."""
    for function in required(lesson):
        for way in WAYS:
            yield Idle(f"idle@{function} -> {way}", make_idle(solution, function, way))


def make_idle(solution: str, function: str, way: str) -> str:
    """Return the solution with one function idle."""
    return _TEMPLATE.format(solution=solution, function=function, way=way, leaf=WAYS[way])


def required(lesson: Lesson) -> list[str]:
    """Return the functions and classes that the learner must write or mend: those that raise
    `NotImplementedError` in the starter, and those that checks use."""
    tree = ast.parse(lesson.starter)
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    used = {
        name
        for check in lesson.checks
        for text in texts(check.observe())
        for name in free_names(text)
    }
    return [node.name for node in defined if _unwritten(node) or node.name in used]


def _unwritten(node: ast.AST) -> bool:
    raised = (n.exc for n in ast.walk(node) if isinstance(n, ast.Raise) and n.exc is not None)
    names = (n.id for exc in raised for n in ast.walk(exc) if isinstance(n, ast.Name))
    return "NotImplementedError" in names


WAYS = {
    "zeros": "np.zeros(leaf.shape)",
    "ones": "np.ones(leaf.shape)",
    "NaN": "np.full(leaf.shape, np.nan if leaf.dtype.kind not in 'biu' else 0)",
    "a constant": "np.full(leaf.shape, 0.3 if leaf.dtype.kind not in 'biu' else 3)",
    "random numbers": "np.random.default_rng(0).normal(0, 2, leaf.shape)",
    "its input": "None",
}
"""Ways to do no work, each with the expression that replaces an array. A function returns its input
where an argument has the structure and shapes of the result, or of a part: untrained parameters. A
function that is returned, alone or in a tree, is idle in the same way, and so is each result of a
generator. Of a class it is `__call__`, or every method."""

_TEMPLATE = """\
{solution}


def _idle():
    import functools
    import inspect
    from collections.abc import Iterator

    import jax
    import jax.numpy as jnp
    import numpy as np

    way, given = {way!r}, {function}

    def instead(leaf):
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(instead(np.asarray(leaf)))
        if not hasattr(leaf, "dtype"):
            return leaf
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(jnp.zeros_like(jax.random.key_data(leaf)))
        made = {leaf}
        if isinstance(leaf, np.ndarray | np.generic):
            return made.astype(leaf.dtype)
        return jnp.asarray(made).astype(leaf.dtype)

    def is_function(leaf):
        return callable(leaf) and not hasattr(leaf, "dtype")

    def form(tree):
        return jax.tree.structure(tree), [jnp.shape(leaf) for leaf in jax.tree.leaves(tree)]

    def untouched(result, arguments):
        same = [one for one in arguments if form(one) == form(result)]
        if same:
            return same[0]
        if type(result) in (tuple, list):
            return type(result)(untouched(part, arguments) for part in result)
        return jax.tree.map(jnp.zeros_like, result)

    def replaced(result, arguments):
        if any(map(is_function, jax.tree.leaves(result))):
            return jax.tree.map(within, result)
        if way == "its input":
            return untouched(result, arguments)
        return jax.tree.map(instead, result)

    def made_idle(function):
        @functools.wraps(function)
        def idle(*arguments, **named):
            result = function(*arguments, **named)
            arguments = [*arguments, *named.values()]
            if isinstance(result, Iterator):
                trees = [one for one in arguments if not isinstance(one, Iterator)]
                return (replaced(one, trees) for one in result)
            return replaced(result, arguments)

        return idle

    def within(leaf):
        if is_function(leaf):
            return made_idle(leaf)
        return jnp.zeros_like(leaf) if way == "its input" else instead(leaf)

    def methods(cls):
        if "__call__" in vars(cls):
            return ["__call__"]
        named = [name for name, value in vars(cls).items() if inspect.isfunction(value)]
        return [name for name in named if name[0] != "_" and name != "tree_flatten"]

    if isinstance(given, type):
        for name in methods(given):
            setattr(given, name, made_idle(vars(given)[name]))
        return given
    return made_idle(given)


{function} = _idle()
"""
