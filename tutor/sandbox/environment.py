"""A module of user code, and the expressions of checks evaluated with it.

`learner` implements this for JAX and `reference` for PyTorch. A check's inside half gets one of the
two as `env`. What runs user code returns a `Call`, for the caller to yield (see `calls`).
"""

import builtins
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from tutor.expressions import own_names
from tutor.foreign.plain_text import cut
from tutor.foreign.python_source import compile_module
from tutor.report import Called
from tutor.sandbox.calls import Call, Steps, UserCodeError
from tutor.sandbox.harness_code import unnamed
from tutor.sandbox.library_frames import frames_inside
from tutor.sandbox.library_help import called
from tutor.sandbox.library_warnings import LibraryWarnings
from tutor.sandbox.limits import MAX_ANSWER
from tutor.sandbox.line_values import failing_call, line_values, place_of
from tutor.sandbox.protocol import (
    HARNESS,
    MAX_EXCEPTION_TEXT,
    MAX_NAME,
    MAX_RUNNING,
    MAX_STEPS,
    Raised,
    Step,
)
from tutor.sandbox.wire import WireError, dtype_named
from tutor.tree import Leaf, Tree

_SIGNATURE = re.compile(r"\) (?:missing|got|takes) |object is not callable")
"""Python's words for a call whose arguments do not fit."""

EXPRESSION = "<check>"
"""File name of checks' expressions in tracebacks."""


class AnswerTooLarge(Exception):
    """User code returned a value that is too large to send."""


class Environment:
    """One module of user code, and the names that expressions may use.

    **Arguments:** `helpers`: names that a module cannot redefine for expressions.
    """

    module_name: str

    def __init__(self, helpers: Mapping[str, Any]) -> None:
        self.helpers = dict(helpers)
        # A copy: a module may define its own `hash`, or replace the one in `builtins`.
        self._builtins = dict(vars(builtins))
        self._harness: dict[str, Any] = {}
        self.harness_source = ""
        self.module = types.ModuleType(self.module_name)
        self.filename = ""
        self.source = ""
        self.show_step: Callable[[int, float | None], None] = lambda step, loss: None
        """Tells the main process that a training has reached a step. Only while it waits for a
        reply, and only from the main thread."""

    def load_harness(self, source: str, filename: str) -> Steps[None]:
        """Import the lesson's own functions for expressions. Called before `load`, so that their
        imports are the real ones. Raises: UserCodeError."""
        self._harness, self.harness_source = {}, source
        module = types.ModuleType("jax_harness")
        # A copy, as for expressions.
        module.__dict__["__builtins__"] = dict(self._builtins)
        # Only while it is imported: dataclasses look it up, but user code must not find it.
        sys.modules[module.__name__] = module
        try:
            code = yield Call(filename, compile, (source, filename, "exec"))
            yield Call(filename, exec, (unnamed(code), module.__dict__))
        finally:
            sys.modules.pop(module.__name__, None)
        defined = module.__dict__
        self._harness = {name: defined[name] for name in own_names(source) if name in defined}

    def load(self, source: str, filename: str) -> Steps[None]:
        """Import the module. Raises: UserCodeError."""
        self.filename, self.source = filename, source
        module = types.ModuleType(self.module_name)
        module.__file__ = filename
        self.module = module
        # Dataclasses and Flax modules look up their module by name.
        sys.modules[self.module_name] = module
        warnings.showwarning = LibraryWarnings(filename).show
        # As Python does for scripts: show deprecation warnings for the module's own lines.
        warnings.filterwarnings(
            "default", category=DeprecationWarning, module=rf"{self.module_name}\Z"
        )
        code = yield Call(filename, compile_module, (source, filename))
        yield Call(filename, exec, (code, module.__dict__))

    @contextmanager
    def apart(self, name: str) -> Iterator[None]:
        """Import other source, by `load` in this block, as a module `name`, and then forget it."""
        before = self.module_name, self.module, self.filename, self.source
        self.module_name = name
        try:
            yield
        finally:
            sys.modules.pop(name, None)
            self.module_name, self.module, self.filename, self.source = before

    def names(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Return the names for an expression: the module's, which shadow neither builtins, helpers
        nor the harness, and `extra`, which may shadow anything."""
        defined = self.module.__dict__
        names = {name: defined[name] for name in defined.keys() - self._builtins.keys()}
        builtin = {"__builtins__": dict(self._builtins)}
        return {**names, **self._harness, **self.helpers, **builtin, **extra}

    def evaluate(self, expression: str, names: Mapping[str, Any]) -> Call:
        """Evaluate an expression, and wait until its value is computed (JAX dispatches
        asynchronously)."""
        text = " ".join(expression.split())
        code = compile(expression.strip(), EXPRESSION, "eval")
        return Call(text, eval, (code, self.names(names)), self.settle)

    def function(self, expression: str, parameters: list[str], names: Mapping[str, Any]) -> Any:
        """Return a new function of `parameters` that computes `expression`. New, because JAX caches
        traces by function object and can confuse two static signatures of one object."""
        text = f"lambda {', '.join(parameters)}: (\n{expression.strip()}\n)"
        return eval(compile(text, EXPRESSION, "eval"), self.names(names))  # noqa: S307 - same

    def call(self, running: str, function: Callable[..., Any], *arguments: Any) -> Call:
        """Call a function of the user's, and wait for its value."""
        return Call(running, function, arguments, self.settle)

    def line_of_caller(self) -> int:
        """Return the line of the module that is being executed; 0 if none is."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back  # type: ignore[assignment]
        return frame.f_lineno if frame is not None else 0

    def seal(self) -> Callable[[], bool]:
        """Return a function that returns whether what observes the module is as it is now."""
        return lambda: True

    def stopwatch(self) -> Callable[[], tuple[float, float]]:
        """Return a function that returns the seconds since this call: compiling, and the rest."""
        raise NotImplementedError

    def give(self, programs: Tree) -> None:
        """Accept compiled programs (`tutor.sandbox.protocol.Give`)."""
        raise NotImplementedError

    def collect(self, *, unload: bool = True) -> Tree:
        """Return compiled programs (`tutor.sandbox.protocol.Collect`)."""
        raise NotImplementedError

    def settle(self, value: Any) -> Any:
        """Wait until `value` has been computed."""
        return value

    def fresh(self, tree: Tree) -> Any:
        """Return new copies of a tree of inputs as values of the framework."""
        raise NotImplementedError

    def inputs(self, inputs: Mapping[str, Tree]) -> dict[str, Any]:
        """Return new values of the framework for one input set."""
        values: dict[str, Any] = self.fresh({**inputs})
        return values

    def encode(self, value: Any, running: str = "the result") -> Call:
        """Encode a value of user code as a tree: converting it may run its methods."""
        return Call(running, self.encoded, (value,))

    def value(self, expression: str, names: Mapping[str, Any]) -> Steps[Tree]:
        """Evaluate and encode an expression."""
        value = yield self.evaluate(expression, names)
        tree: Tree = yield self.encode(value, expression)
        return tree

    def evaluate_each(
        self, expressions: Iterable[str], names: Mapping[str, Any]
    ) -> Steps[list[Any]]:
        """Evaluate several expressions."""
        values = []
        for expression in expressions:
            values += [(yield self.evaluate(expression, names))]
        return values

    def encode_each(self, values: Iterable[Any]) -> Steps[list[Tree]]:
        """Encode several values."""
        trees: list[Tree] = []
        for value in values:
            trees += [(yield self.encode(value))]
        return trees

    def encoded(self, value: Any) -> Tree:
        """Return a value as a tree. Raises: AnswerTooLarge: an array exceeds `MAX_ANSWER`."""
        return self._encode(value, 0)

    def _encode(self, value: Any, depth: int) -> Tree:
        if depth > 60:
            raise AnswerTooLarge("the result is nested too deeply to be compared")
        if value is None or type(value) is str:
            return value
        if isinstance(value, Mapping):
            return {
                key if type(key) in (str, int) else str(key): self._encode(child, depth + 1)
                for key, child in value.items()
            }
        if isinstance(value, tuple):
            return tuple(self._encode(child, depth + 1) for child in value)
        if isinstance(value, list):
            return [self._encode(child, depth + 1) for child in value]
        return self._encode_leaf(value, depth)

    def _encode_leaf(self, value: Any, depth: int) -> Tree:
        """Encode arrays and numbers; anything else becomes a leaf that names its type."""
        kind: Any
        for kind in (bool, int, float, complex):
            if isinstance(value, kind):
                number = np.asarray(kind(value))
                if number.dtype == object:
                    return Leaf(None, "an integer of more than 64 bits")
                return Leaf(number, kind.__name__)
        if isinstance(value, np.ndarray | np.generic):
            return self.leaf(value, "numpy.ndarray")
        return Leaf(None, describe(value))

    def leaf(self, value: Any, kind: str) -> Leaf:
        """Return an array as a leaf; one of objects or text becomes a leaf without an array."""
        if isinstance(value, np.ndarray):
            value = np.asarray(value)  # a subclass may lie about itself
        try:
            dtype_named(np.dtype(value.dtype).name)
        except WireError:
            return Leaf(None, f"array of dtype {value.dtype}"[:200])
        if value.size * value.dtype.itemsize > MAX_ANSWER:
            raise AnswerTooLarge(
                f"the result is an array of shape {tuple(value.shape)}; "
                f"at most {MAX_ANSWER >> 20} MiB can be compared"
            )
        return Leaf(np.asarray(value), kind)


def describe(value: Any) -> str:
    """Return the type of a value that is not an array, or a function's name."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if kind.__name__ == "function":
        name = f"function {getattr(value, '__name__', '')}"
    return "".join(c if c.isprintable() else "�" for c in name[:200])


def raised(case: str, error: UserCodeError, filename: str, source: str) -> Raised:
    """Return an exception of user code as a reply.

    **Arguments:** `filename` and `source`: of its module.
    """
    cause = error.cause
    steps, innermost, last = _steps(cause, filename)
    line = column = None
    if isinstance(cause, SyntaxError) and cause.filename == filename:
        line, column = cause.lineno, cause.offset
    elif steps:
        line = steps[-1].line
    try:
        message = str(cause)
    except BaseException:  # noqa: BLE001 - user code, too
        message = "(its message could not be read)"
    kind = type(cause)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if isinstance(cause, SyntaxError):
        message = str(cause.msg or message)
    message = _unicode(message)
    return Raised(
        case=case,
        code=_code(cause, steps, innermost, filename, message),
        kind=name[:MAX_NAME],
        message=message[:MAX_EXCEPTION_TEXT],
        running=cut(error.running, MAX_RUNNING),
        steps=steps,
        line=line,
        column=column,
        values=_values(source, last),
        called=_called(source, last),
    )


def _values(source: str, traceback: types.TracebackType | None) -> list[tuple[str, str]]:
    """Return what names in the innermost line of the module stand for."""
    try:
        found = line_values(source, traceback) if traceback is not None else []
    except BaseException:  # noqa: BLE001 - user code, too: a class may say what it likes of itself
        return []
    return [(_unicode(name), _unicode(text)) for name, text in found]


def _called(source: str, traceback: types.TracebackType | None) -> Called | None:
    """Return what the library's function says of itself whose call raised."""
    try:
        call = failing_call(source, traceback) if traceback is not None else None
        described = called(*call) if call is not None else None
    except BaseException:  # noqa: BLE001 - user code, too
        return None
    if described is None:
        return None
    texts = (described.name, described.signature, described.about)
    return Called(*(_unicode(text) for text in texts))


def _unicode(text: str) -> str:
    """JSON holds valid Unicode only; a text of user code may be anything."""
    return text.encode("utf-8", "backslashreplace").decode()


def _steps(
    cause: BaseException, filename: str
) -> tuple[list[Step], str, types.TracebackType | None]:
    """Return the frames in the module; the file of the innermost frame in the module, an
    expression or the harness, with `+library` if a library was called from it; and the innermost
    in the module."""
    own: list[tuple[types.TracebackType, list[types.TracebackType]]] = []
    innermost = ""
    traceback = cause.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file == filename:
            own.append((traceback, []))
            innermost = file
        elif file in (EXPRESSION, HARNESS):
            innermost = file
        else:
            innermost = innermost and f"{innermost}+library"
            if own:
                own[-1][1].append(traceback)
        traceback = traceback.tb_next
    steps = [_step(frame, inside) for frame, inside in own[-MAX_STEPS:]]
    return steps, innermost, own[-1][0] if own else None


def _step(frame: types.TracebackType, inside: list[types.TracebackType]) -> Step:
    name = frame.tb_frame.f_code.co_name[:MAX_NAME]
    return Step(frame.tb_lineno or 0, name, *_place(frame), frames_inside(inside))


def _place(traceback: types.TracebackType) -> tuple[int, int]:
    """Return where in its line a frame's instruction begins and ends; 0 and 0 if in several."""
    place = place_of(traceback)
    one_line = place is not None and place.line == place.end_line
    return (place.column, place.end_column) if place is not None and one_line else (0, 0)


def _code(
    cause: BaseException, steps: list[Step], innermost: str, filename: str, message: str
) -> str:
    in_check = innermost in (EXPRESSION, HARNESS) and filename != HARNESS
    match cause:
        case SyntaxError() if cause.filename == filename:
            return "syntax-error"
        case MemoryError():
            return "out-of-memory"
        case _ if "RESOURCE_EXHAUSTED" in message and "emory" in message:
            return "out-of-memory"
        case AnswerTooLarge():
            return "malformed"
        case ImportError() if steps or not innermost.startswith(HARNESS):
            return "import-error"
        case NameError() if innermost == EXPRESSION:
            return "missing-name"
        case TypeError() if in_check and not steps and _SIGNATURE.search(message):
            return "wrong-signature"
        case NotImplementedError() if steps and not message:
            return "not-written"
        case SystemExit() | KeyboardInterrupt() | GeneratorExit():
            return "exited"
        case _ if in_check and not steps:
            return "unusable-result"
    return "exception"
