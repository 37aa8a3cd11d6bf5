"""Whether a module keeps state: whether what it computes can depend on what ran before.

Two things rest on it. A lesson's `jax_harness` that keeps none can serve one module of user code
after the other: importing it again makes its jitted functions new, and JAX traces and compiles them
anew, five times the time of a check. And of a submission that keeps none, each check can be judged
without the others.
"""

import ast

_TRANSFORMS = (
    "jax", "optax", "equinox", "jaxtyping", "flax.linen", "flax.struct", "flax.core", "math",
    "functools.partial", "functools.wraps", "dataclasses.field",
)  # fmt: skip
"""What may be called where a module is imported: it returns what never changes."""

_DECORATORS = (
    *_TRANSFORMS, "flax.nnx", "dataclasses", "typing", "property", "staticmethod",
    "classmethod", "abc.abstractmethod",
)  # fmt: skip
_GENERIC = ("typing.", "collections.abc.", "jaxtyping.", "dict", "list", "tuple", "type")
"""What may be indexed where a module is imported: it gives a type."""

_CACHES = ("cache", "lru_cache", "cached_property", "singledispatch")
_CHANGING_CALLS = ("setattr", "delattr", "globals", "vars", "locals", "exec", "eval")


def stateless(source: str) -> bool:
    """Return whether a module consists of imports, functions, transformed functions and constants,
    and none of its functions changes it. In doubt, it does."""
    module = ast.parse(source)
    judge = Stateless(module)
    plain = not any(isinstance(one, ast.ClassDef) for one in module.body)
    return plain and judge.unchanged and all(map(judge.keeps_nothing, module.body))


class Stateless:
    """Judges the statements of a module. `unchanged`: none of its code changes what it defines or
    imports; `imported`: see below."""

    def __init__(self, module: ast.Module) -> None:
        self.imported = imported(module)
        self._defined = {name for statement in module.body for name in _defined(statement)}
        self._defined |= self.imported.keys()
        self._fixed: set[str] = set()
        self.unchanged = not any(map(self._changes, ast.walk(module)))
        for statement in module.body:
            if isinstance(statement, ast.Assign) and self.keeps_nothing(statement):
                self._fixed.update(_targets(statement))

    def keeps_nothing(self, statement: ast.stmt) -> bool:
        """Return whether what a statement of the module defines keeps no state. Besides what a
        harness may have: classes, and calls that add rules to what they name, such as
        `f.defvjp(forward, backward)`."""
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()) | ast.Pass():
                return True
            case ast.FunctionDef(args=arguments, decorator_list=decorators):
                defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d)]
                return all(map(self._is_fixed, defaults)) and all(map(self._decorates, decorators))
            case ast.ClassDef(body=body, decorator_list=decorators, keywords=[]):
                return all(map(self._decorates, decorators)) and all(
                    self.keeps_nothing(one) for one in body
                )
            case ast.AnnAssign(target=ast.Name(), value=value):
                return value is None or self._is_fixed(value)
            case ast.Assign(targets=[ast.Name() | ast.Tuple()], value=value):
                return bool(_targets(statement)) and self._is_fixed(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                return name in self._defined - self.imported.keys()
            case ast.Expr(value=ast.Call(func=function)):
                return self._path(function).startswith("jax.tree_util.register_")
        return False

    def _is_fixed(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant() | ast.Lambda():
                return True
            case ast.Name() | ast.Attribute():
                return self._path(value).rpartition(".")[2] not in _CACHES
            case ast.UnaryOp(operand=inner):
                return self._is_fixed(inner)
            case ast.BinOp(left=left, right=right):
                return self._is_fixed(left) and self._is_fixed(right)
            case ast.Tuple(elts=parts):
                return all(map(self._is_fixed, parts))
            case ast.Subscript():
                return self._path(value.value).startswith(_GENERIC)
            case ast.Call():
                return self._is_of(value, _TRANSFORMS)
        return False

    def _decorates(self, value: ast.expr) -> bool:
        """Return whether this is a decorator of a library that keeps nothing itself; not one by
        another name: it may cache."""
        return self._path(value) in self._fixed or self._is_of(value, _DECORATORS)

    def _is_of(self, value: ast.expr, modules: tuple[str, ...]) -> bool:
        if isinstance(value, ast.Call):
            parts = [*value.args, *(one.value for one in value.keywords)]
            return self._is_of(value.func, modules) and all(map(self._is_argument, parts))
        path = self._path(value)
        return any(path == one or path.startswith(f"{one}.") for one in modules)

    def _is_argument(self, value: ast.expr) -> bool:
        """Return whether a value may be given to a transformation, which does not keep lists."""
        if isinstance(value, ast.List | ast.Dict):
            parts = value.elts if isinstance(value, ast.List) else [*value.keys, *value.values]
            return all(part is not None and self._is_argument(part) for part in parts)
        return self._is_fixed(value)

    def _path(self, value: ast.expr) -> str:
        """Return the full name of a name or attribute: `jax.jit` for `jit` that was imported."""
        first, dot, rest = ast.unparse(value).partition(".")
        return self.imported.get(first, first) + dot + rest

    def _changes(self, node: ast.AST) -> bool:
        """Return whether a node sets a global name, or a part of what the module defines."""
        if isinstance(node, ast.Global):
            return True
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            root: ast.expr = node
            while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
                root = root.func if isinstance(root, ast.Call) else root.value
            return not isinstance(root, ast.Name) or root.id in self._defined | {"cls", "type"}
        return isinstance(node, ast.Call) and ast.unparse(node.func) in _CHANGING_CALLS


def imported(code: ast.AST) -> dict[str, str]:
    """Return what names code imports, also within functions, each with its full name."""
    found = {}
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            for one in node.names:
                name = one.name if one.asname else one.name.partition(".")[0]
                found[one.asname or name] = name
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                found[one.asname or one.name] = f"{node.module}.{one.name}"
    return found


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(one.asname or one.name).partition(".")[0] for one in names]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return _targets(statement)


def _targets(statement: ast.stmt) -> list[str]:
    """Return the names that a statement sets; none if it sets anything else."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []
