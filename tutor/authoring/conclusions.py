"""Find expressions that judge values in the learner's process, where a submission can fake them.

`f(x).std() < 1` proves nothing: a submission may replace `jnp.std`, or return an object with its
own `std` and `__lt__`. An expression should return the numbers for the main process to judge. The
same goes for the functions of `jax_harness` that it calls. In these, the order of statements is
ignored, and nested functions share the names of the one around them: good enough for remarks.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tutor.expressions import BUILTINS, JAX_HELPERS, own_names

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

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
    `theirs` lists the others, `values` has what is assigned to each name, and `found` what the
    arguments of the function conclude. `functions` are those of the harness; `modules`: its imports
    with their whole names; `under_way`: the functions that are being read.
    """

    ours: frozenset[str] | None
    theirs: frozenset[str] = frozenset()
    values: Mapping[str, Sequence[ast.expr]] = {}
    found: Mapping[str, str] = {}
    functions: Mapping[str, FunctionNode] = {}
    modules: Mapping[str, str] = {}
    under_way: frozenset[str] = frozenset()

    def uses_submission(self, node: ast.AST) -> bool:
        """Return whether any part may come from the learner's code."""
        if self.ours is None:
            return not _names(node).isdisjoint(self.theirs)
        return not _names(node) <= self.ours | JAX_HELPERS | BUILTINS


def conclusion(expression: str, given: Iterable[str], harness: str = "") -> str:
    """Describe what an expression computes inside instead of returning it; empty if nothing.

    **Arguments:** `given`: the inputs; anything may be computed from these alone; `harness`: the
    source of the lesson's `jax_harness`.
    """
    tree = ast.parse(expression.strip(), mode="eval").body
    module = ast.parse(harness)
    ours = frozenset({*given, *own_names(harness)})
    return _conclusion(tree, _Scope(ours, functions=_functions(module), modules=_imports(module)))


def _conclusion(node: ast.expr, scope: _Scope) -> str:
    if not scope.uses_submission(node):
        return ""
    match node:
        case ast.Name(id=name):
            return _of_name(name, scope)
        case ast.Compare():
            return "a comparison"
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "a truth value"
        case ast.BinOp(left=left, right=right) if all(map(scope.uses_submission, (left, right))):
            return "a value computed from two answers"
        case ast.Call():
            return _of_call(node, scope)
        case ast.Attribute(attr=name) if name in DESCRIPTIONS:
            return f"`.{name}`"
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element):
            return _conclusion(element, scope)
        case ast.Lambda(body=body):
            return _conclusion(body, scope)
    return _first(ast.iter_child_nodes(node), scope)


def _first(nodes: Iterable[ast.AST], scope: _Scope) -> str:
    found = (_conclusion(node, scope) for node in nodes if isinstance(node, ast.expr))
    return next(filter(None, found), "")


def _of_call(node: ast.Call, scope: _Scope) -> str:
    match node.func:
        case ast.Name(id=name) if name in scope.functions:
            return _of_function(name, node.args, scope)
        case ast.Name(id=name) if name in scope.modules:
            return _of_path(name, node, scope)
        case ast.Name(id=name) if name in STRUCTURAL:
            return _first(node.args, scope)
        case ast.Name(id=name) if name in BUILTINS:
            return f"the builtin `{name}`"
        case ast.Lambda():
            return _first((node.func, *node.args), scope)
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
    return next(filter(None, (_of_function(name, (), scope) for name in names)), "")


def _of_name(name: str, scope: _Scope) -> str:
    """Describe the conclusion that a name holds. A value that is updated step by step, as in
    `x = x - 0.1 * f(x)`, is none."""
    others = replace(scope, values={**scope.values, name: ()})
    for value in scope.values.get(name, ()):
        updated = isinstance(value, ast.BinOp) and name in _names(value)
        if found := _first(ast.iter_child_nodes(value) if updated else [value], others):
            return found
    return scope.found.get(name, "")


def _of_function(name: str, arguments: Sequence[ast.expr], scope: _Scope) -> str:
    """Describe what a function of the harness concludes from its arguments; those that are not
    given may be the learner's."""
    function = scope.functions.get(name)
    if function is None or name in scope.under_way:
        return ""
    inside = _within(function, arguments, replace(scope, under_way=scope.under_way | {name}))
    returned = _returned(function)
    if found := _first(returned, inside):
        return found
    if all(map(inside.uses_submission, returned)) and returned:
        return ""
    # It returns something else than an answer, which depends on what it found.
    for node in ast.walk(function):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                if inside.uses_submission(test):
                    return _conclusion(test, inside) or "a truth value"
            case ast.Try(body=body) if any(map(inside.uses_submission, body)):
                return "a caught exception"
            case ast.Nonlocal() | ast.Global():
                return "a count"
    return ""


def _within(function: FunctionNode, arguments: Sequence[ast.expr], scope: _Scope) -> _Scope:
    """Return the scope within a function that is called so. What nested functions are called with
    is unknown."""
    nodes = [*ast.walk(function)]
    parameters = [node.arg for node in nodes if isinstance(node, ast.arg)]
    starred = any(isinstance(one, ast.Starred) for one in arguments)
    passed = {} if starred else dict(zip(parameters, arguments, strict=False))
    theirs = {*parameters, *_functions(function), *scope.theirs}
    theirs -= {name for name, value in passed.items() if not scope.uses_submission(value)}
    values: dict[str, list[ast.expr]] = defaultdict(list)
    items: dict[str, list[ast.expr]] = defaultdict(list)
    for node in nodes:
        for name, value, whole in _assigned(node):
            (values if whole else items)[name].append(value)
    while more := {
        name
        for name in {*values, *items} - theirs
        if any(not theirs.isdisjoint(_names(value)) for value in values[name] + items[name])
    }:
        theirs |= more
    found = {name: _conclusion(value, scope) for name, value in passed.items()}
    return replace(scope, ours=None, theirs=frozenset(theirs), values=values, found=found)


def _assigned(node: ast.AST) -> list[tuple[str, ast.expr, bool]]:
    """Return the names that a node changes, each with what it gets, and whether that is the value
    itself and not one of its items: `out` in `out[0] = x` and in `out.append(x)`, too."""
    whole = True
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(
            names
        ) == len(values):
            pairs = [*zip(names, values, strict=True)]
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
            | ast.AugAssign(target=target, value=value)
        ):
            pairs = [(target, value)]
        case (
            ast.For(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
            | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
        ):
            pairs, whole = [(target, value)], False
        case ast.Call(func=ast.Attribute(value=ast.Name() as target), args=values):
            pairs = [(target, value) for value in values]
        case _:
            return []
    return [(name, value, whole) for target, value in pairs for name in _names(target)]


def _returned(function: FunctionNode) -> list[ast.expr]:
    """Return the expressions that a function returns or yields."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    inner = [one for one in ast.walk(function) if isinstance(one, FunctionNode | ast.ClassDef)]
    nested = {node for one in inner if one is not function for node in ast.walk(one)}
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)
        and node.value is not None
        and node not in nested
    ]


def _functions(scope: ast.Module | FunctionNode) -> dict[str, FunctionNode]:
    """Return the functions that a module or a function defines."""
    found: dict[str, FunctionNode] = {}
    for node in ast.walk(scope):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node is not scope:
                found.setdefault(node.name, node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                found.setdefault(name, function)
    return found


def _imports(module: ast.Module) -> dict[str, str]:
    """Return the names that a module imports, each with the dotted name that it stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for one in node.names:
                first = one.name.partition(".")[0]
                found[one.asname or first] = one.name if one.asname else first
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                found[one.asname or one.name] = f"{node.module or ''}.{one.name}"
    return found


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
