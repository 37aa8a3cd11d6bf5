"""Find expressions that judge values in the learner's process, where a submission can fake them.

`f(x).std() < 1` proves nothing: a submission may replace `jnp.std`, or return an object with its
own `std` and `__lt__`. An expression should return the numbers for the main process to judge. The
same goes for the functions of `jax_harness` that it calls: see `tutor.authoring.flow`.
"""

import ast
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from tutor.authoring.flow import FunctionNode, Values, imports, local_functions, parameters, results
from tutor.expressions import BUILTINS, JAX_HELPERS, own_names

STRUCTURAL = frozenset({"dict", "enumerate", "list", "reversed", "tuple", "zip"})
"""Builtins that arrange values and compute nothing."""

TRANSFORMATIONS = frozenset(
    {
        *("jit", "vmap", "grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian"),
        *("vjp", "jvp", "linearize", "checkpoint", "eval_shape", "block_until_ready", "device_get"),
        *("pmap", "shard_map", "tree", "tree_util"),
    }
)
"""Names in `jax` that return what the learner's function returns, or take trees apart."""

COMPUTING = frozenset({"math", "operator", "statistics"})
"""Modules of the standard library that compute."""

REDUCTIONS = frozenset(
    {
        *("all", "any", "argmax", "argmin", "item", "max", "mean", "min", "prod", "std", "sum"),
        *("var", "tolist", "is_deleted"),
    }
)
"""Methods of arrays that reduce them."""

DESCRIPTIONS = frozenset({"shape", "dtype", "ndim", "size", "sharding", "weak_type"})
"""Attributes that an object can have whatever its values are."""


class _Scope(Struct, frozen=True):
    """What names stand for.

    `ours`: names that hold nothing of the learner's; None in a function of the harness, where
    `theirs` lists the others. `found`: names that hold a conclusion, described. `functions` are
    those of the harness, and the `local` ones of the function that is being read; `modules`: its
    imports with their whole names; `under_way`: the functions that are being read.
    """

    ours: frozenset[str] | None
    theirs: frozenset[str] = frozenset()
    found: Mapping[str, str] = {}
    functions: Mapping[str, FunctionNode] = {}
    modules: Mapping[str, str] = {}
    under_way: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()

    def uses_submission(self, node: ast.AST) -> bool:
        """Return whether any part may come from the learner's code."""
        names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        if self.ours is None:
            return any(name in self.theirs for name in names)
        known = self.ours | JAX_HELPERS | BUILTINS
        return any(name not in known for name in names)


def conclusion(expression: str, given: Iterable[str], harness: str = "") -> str:
    """Describe what an expression computes inside instead of returning it; empty if nothing.

    **Arguments:** `given`: the inputs; anything may be computed from these alone; `harness`: the
    source of the lesson's `jax_harness`.
    """
    tree = ast.parse(expression.strip(), mode="eval").body
    module = ast.parse(harness)
    return _conclusion(
        tree,
        _Scope(
            ours=frozenset({*given, *own_names(harness)}),
            functions=local_functions(module),
            modules=imports(module),
        ),
    )


def _conclusion(node: ast.expr, scope: _Scope) -> str:
    if not scope.uses_submission(node):
        return ""
    match node:
        case ast.Name(id=name):
            return scope.found.get(name, "")
        case ast.Compare():
            return "a comparison"
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "a truth value"
        case ast.BinOp(left=left, right=right) if scope.uses_submission(
            left
        ) and scope.uses_submission(right):
            return "a value computed from two answers"
        case ast.Call():
            return _of_call(node, scope)
        case ast.Attribute(attr=name) if name in DESCRIPTIONS:
            return f"`.{name}`"
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element):
            return _conclusion(element, scope)
        case ast.Lambda(body=body):
            return _conclusion(body, scope)
    return _first(node, scope)


def _first(node: ast.AST, scope: _Scope) -> str:
    children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return next(filter(None, (_conclusion(child, scope) for child in children)), "")


def _of_call(node: ast.Call, scope: _Scope) -> str:
    match node.func:
        case ast.Name(id=name) if name in scope.functions:
            return _of_function(name, node, scope)
        case ast.Name(id=name) if name in scope.modules:
            return _of_path(name, node, scope)
        case ast.Name(id=name) if name in STRUCTURAL:
            return next(filter(None, (_conclusion(one, scope) for one in node.args)), "")
        case ast.Name(id=name) if name in BUILTINS:
            return f"the builtin `{name}`"
        case ast.Lambda():
            parts = (_conclusion(part, scope) for part in (node.func, *node.args))
            return next(filter(None, parts), "")
        case ast.Call(func=maker) if scope.uses_submission(maker):  # make(ours)(x)
            return ""
        case ast.Call(args=transformed):  # jax.vmap(f)(x)
            return _of_mapped(transformed, scope)
        case ast.Attribute():
            return _of_path(ast.unparse(node.func), node, scope)
    return ""


def _of_path(path: str, node: ast.Call, scope: _Scope) -> str:
    """Describe the call of a function by its dotted name."""
    start, dot, end = path.partition(".")
    root, _, rest = f"{scope.modules.get(start, start)}{dot}{end}".partition(".")
    if root == "jax" and rest.partition(".")[0] in TRANSFORMATIONS:
        return _of_mapped(node.args, scope)
    if root in ("jnp", "np", "numpy", "jax") or (root in COMPUTING and start in scope.modules):
        return f"`{path}`"
    name = path.rpartition(".")[2]
    return f"`.{name}()`" if dot and name in REDUCTIONS else ""


# --- functions of the harness ----------------------------------------------------------------


def _of_mapped(arguments: Iterable[ast.expr], scope: _Scope) -> str:
    """Describe what functions of the harness conclude that are passed to a transformation."""
    names = (one.id for one in arguments if isinstance(one, ast.Name))
    return next(filter(None, (_of_function(n, None, scope) for n in names)), "")


def _of_function(name: str, call: ast.Call | None, scope: _Scope) -> str:
    """Describe what a function of the harness concludes from its arguments.

    **Arguments:** `call`: None if everything that it is called with may be the learner's.
    """
    function = scope.functions.get(name)
    if function is None or name in scope.under_way:
        return ""
    inside = replace(scope, under_way=scope.under_way | {name})
    if name not in scope.local:
        inside = _bound(function, call, inside)
    returned = results(function)
    if found := next(filter(None, (_conclusion(one, inside) for one in returned)), ""):
        return found
    if all(inside.uses_submission(one) for one in returned) and returned:
        return ""
    # It returns something else than an answer, which depends on what it found.
    for node in ast.walk(function):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                if inside.uses_submission(test):
                    return _conclusion(test, inside) or "a truth value"
            case ast.Try(body=body) if any(map(inside.uses_submission, body)):
                return "a caught exception"
    return ""


def _bound(function: FunctionNode, call: ast.Call | None, scope: _Scope) -> _Scope:
    """Return the scope within a function that is called so."""
    outer = scope
    passed = dict.fromkeys(parameters(function)) if call is None else _arguments(function, call)
    values = Values(
        function,
        theirs={name for name, one in passed.items() if one is None or outer.uses_submission(one)},
        found={
            name: about
            for name, one in passed.items()
            if one is not None and (about := _conclusion(one, outer))
        },
    )
    own = local_functions(function)
    scope = replace(scope, ours=None, functions={**scope.functions, **own}, local=frozenset(own))
    while True:
        scope = replace(scope, theirs=frozenset(values.theirs), found=dict(values.found))
        if not values.spread(scope.uses_submission, partial(_of_value, scope=scope)):
            return scope


def _of_value(names: Collection[str], value: ast.expr, scope: _Scope) -> str:
    """Describe the conclusion that an assignment keeps in `names`. A value that is updated step by
    step, as in `x = x - 0.1 * f(x)`, is none."""
    used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    if isinstance(value, ast.BinOp) and used.intersection(names):
        return _first(value, scope)
    return _conclusion(value, scope)


def _arguments(function: FunctionNode, call: ast.Call) -> dict[str, ast.expr | None]:
    """Return the argument of each parameter; None if it may be anything."""
    names = parameters(function)
    if any(isinstance(one, ast.Starred) for one in call.args):
        return dict.fromkeys(names)
    given: dict[str, ast.expr | None] = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return dict.fromkeys(names)
        given[keyword.arg] = keyword.value
    rest = [one for one in (function.args.vararg, function.args.kwarg) if one is not None]
    return {**given, **dict.fromkeys(one.arg for one in rest)}
