"""Which checks an edit cannot have changed.

While a learner works on one function of several, the checks of the others pass again and again. The
result of a check depends on the functions that its expressions name, and on what these use; if
none of that has changed since the check passed, and the module keeps no state through which other
code could reach it, running it again would give the same. `PassedChecks` finds such results.

In doubt a check is run. Only the app and `watch` reuse results, for one learner's own code; marks
never come from here.
"""

import ast
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256

from tutor.check import Check
from tutor.checks import BUILT_IN
from tutor.expressions import BadPython, defined_names, free_names, texts
from tutor.lesson import Lesson
from tutor.report import CheckResult, Report
from tutor.sandbox.stateless import Stateless, imported

MAX_RESULTS = 400
"""Results that are remembered. When there are more, all are forgotten."""

_MODULES = (
    "jax", "flax", "optax", "equinox", "jaxtyping", "numpy", "math", "functools", "itertools",
    "operator", "collections", "dataclasses", "enum", "typing", "typing_extensions", "abc",
    "__future__",
)  # fmt: skip
"""Modules that a submission may import. Others may read clocks or files, or change anything."""

_EFFECTS = frozenset(
    {
        # of Python
        *("eval", "exec", "compile", "globals", "locals", "vars", "setattr", "delattr"),
        *("__import__", "open", "input", "breakpoint", "environ", "__dict__", "__globals__"),
        *("__code__", "__class__", "__builtins__", "__defaults__", "__setattr__"),
        *("cache", "lru_cache", "cached_property", "singledispatch"),
        # of JAX
        *("config", "experimental", "io_callback", "pure_callback", "callback", "debug"),
        *("monitoring", "clear_caches", "set_mesh"),
    }
)
"""Names with which code may change more than its results, or depend on more than its arguments."""

Remembered = Callable[[Check], CheckResult | None]


def nothing(check: Check) -> None:
    """Remember no result, so that all checks are run."""


class PassedChecks:
    """What earlier runs of one lesson have passed. Not safe to use from several threads at once."""

    def __init__(self) -> None:
        self._key: tuple[Lesson, int] | None = None
        self._code = ""
        self._results: dict[tuple[str, bytes], CheckResult] = {}

    def of(self, lesson: Lesson, code: str, seed: int) -> Remembered:
        """Return a function from a check to the result that it would have with this code, or None
        if it must be run. All must be run when the same code comes again: who asks twice wants to
        know whether it is really so."""
        if self._key is None or self._key != (lesson, seed) or code == self._code:
            return nothing
        module = Module.read(code)
        if module is None:
            return nothing
        return lambda check: self._results.get((check.title, module.behind(check) or b""))

    def add(self, lesson: Lesson, code: str, seed: int, report: Report) -> None:
        """Remember what has passed in a run. Code that prints, or warns, has to print again."""
        if self._key != (lesson, seed) or len(self._results) > MAX_RESULTS:
            self._results.clear()
        self._key, self._code = (lesson, seed), code
        module = Module.read(code) if not (report.stdout or report.stderr) else None
        if module is None:
            return
        checks = {check.title: check for check in lesson.checks}
        for result in report.checks:
            check = checks.get(result.name) if result.status == "pass" else None
            if check is not None and (behind := module.behind(check)) is not None:
                self._results[result.name, behind] = result


class Module:
    """A submission whose functions change nothing outside of it: its statements at the top level,
    by the names they set. `prints`: whether it may print."""

    def __init__(self, tree: ast.Module, judge: Stateless) -> None:
        statements = [one for one in tree.body if not _does_nothing(one)]
        self._statements, self._judge = statements, judge
        self._used = [_names(statement) for statement in statements]
        self._setting: dict[str, list[int]] = {}
        for number, statement in enumerate(statements):
            for name in _set_by(statement):
                self._setting.setdefault(name, []).append(number)
        self._text: dict[int, bytes | None] = {}
        self.prints = "print" in _names(tree)

    @staticmethod
    @lru_cache(maxsize=4)
    def read(code: str) -> "Module | None":
        """Return the module, or None if it may keep state, or act on more than its results."""
        try:
            tree = ast.parse(code)
            names = defined_names(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=aliases) if not all(_known(one.name) for one in aliases):
                    return None
                case ast.ImportFrom(module=name, names=aliases, level=level):
                    taken = {one.name for one in aliases}
                    if level or not _known(name or "") or taken & {*_EFFECTS, "*"}:
                        return None
                    if name == "numpy" and "random" in taken:
                        return None
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in _EFFECTS:
                    return None
                case ast.Attribute(attr="random", value=ast.Name(id=name)) if name != "jax":
                    return None  # NumPy's generators
        judge = Stateless(tree)
        module = Module(tree, judge)
        return module if judge.unchanged and module.knows(names) else None

    def knows(self, names: Iterable[str]) -> bool:
        """Return whether it is known which statements set these names, and what every statement
        may change."""
        acts = (one for one in self._statements if isinstance(one, ast.Expr))
        own = {name for name in names if name not in self._judge.imported}
        return self._setting.keys() >= {*names} and all(
            self._judge.keeps_nothing(one) or _names(one) & own for one in acts
        )

    def behind(self, check: Check) -> bytes | None:
        """Return a digest of everything in the module that a check's result depends on; None if
        that is not known."""
        if type(check) not in BUILT_IN or check.ahead() is not None:
            return None  # such a kind may read the source
        names: set[str] = set()
        for text in texts(check.observe()):
            try:
                names |= free_names(text).keys()
            except BadPython:
                return None
        digest = sha256()
        for number in sorted(self._reached(names)):
            dumped = self._dumped(number)
            if dumped is None:
                return None
            digest.update(dumped)
        return digest.digest()

    def _reached(self, names: Iterable[str]) -> set[int]:
        """Return the statements that names depend on."""
        pending, seen, found = [*names], set[str](), set[int]()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for number in self._setting.get(name, ()):
                if number not in found:
                    found.add(number)
                    pending += self._used[number]
        return found

    def _dumped(self, number: int) -> bytes | None:
        """Return a statement as text, without its position; None if it may keep state."""
        if number not in self._text:
            statement = self._statements[number]
            keeps_nothing = self._judge.keeps_nothing(statement)
            self._text[number] = ast.dump(statement).encode() + b"\n" if keeps_nothing else None
        return self._text[number]


def _known(module: str) -> bool:
    return module.partition(".")[0] in _MODULES


def _does_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or what only a script runs."""
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=test, orelse=[]):
            return ast.unparse(test) == "__name__ == '__main__'"
    return False


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _set_by(statement: ast.stmt) -> set[str]:
    """Return the names of the module that a statement sets, or may change: all that it mentions,
    if it does anything but define."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(one.asname or one.name).partition(".")[0] for one in names}
        case ast.Assign(targets=targets):
            return set().union(*map(_names, targets))
        case ast.AnnAssign(target=target):
            return _names(target)
    inner = {one.name for one in ast.walk(statement) if isinstance(one, _DEFINITIONS)}
    return _names(statement) | inner | imported(statement).keys()


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
