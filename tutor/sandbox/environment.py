"""A foreign module, and expressions evaluated beside it: what both sides have in common.

`learner` fills this in for JAX and `reference` for PyTorch. A check's inside half sees one of
the two as `env`.
"""

import builtins
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tutor.sandbox.limits import MAX_ANSWER
from tutor.sandbox.protocol import MAX_TEXT, Raised, Step
from tutor.tree import Leaf, Tree

EXPRESSION = "<check>"
"""File name of the expressions of checks, as tracebacks show it."""


class ForeignError(Exception):
    """Foreign code raised `cause` while running `running`."""

    def __init__(self, cause: BaseException, running: str) -> None:
        super().__init__(running)
        self.cause = cause
        self.running = running


class AnswerTooLarge(Exception):
    """What foreign code returned is too large to be sent."""


@contextmanager
def foreign(running: str) -> Iterator[None]:
    """Whatever is raised in here is the foreign code's doing."""
    try:
        yield
    except ForeignError:
        raise
    except BaseException as error:  # SystemExit and the like are the foreign code's as well
        raise ForeignError(error, running) from error


class Environment:
    """One foreign module and what the checks' expressions may use beside its names.

    **Arguments:** `helpers`: names that expressions see whatever the module defines.
    """

    module_name: str

    def __init__(self, helpers: Mapping[str, Any]) -> None:
        self.helpers = dict(helpers)
        # A copy: a module may define a `hash` of its own, and may replace that of `builtins`, too.
        self._builtins = dict(vars(builtins))
        self.module = types.ModuleType(self.module_name)
        self.filename = ""
        self.source = ""

    def load(self, source: str, filename: str) -> None:
        """Import the foreign module. Raises: ForeignError."""
        self.filename, self.source = filename, source
        module = types.ModuleType(self.module_name)
        module.__file__ = filename
        self.module = module
        # Dataclasses and flax modules look their module up by name.
        sys.modules[self.module_name] = module
        # As Python does for a script: whoever wrote a line is told that what it calls will go.
        warnings.filterwarnings(
            "default", category=DeprecationWarning, module=rf"{self.module_name}\Z"
        )
        with foreign(filename):
            exec(compile(source, filename, "exec"), module.__dict__)  # noqa: S102 - what this is for

    def names(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an expression sees: the module's names, which hide neither a builtin nor a
        helper, and `extra`, which may hide anything."""
        theirs = self.module.__dict__
        named = {name: theirs[name] for name in theirs.keys() - self._builtins.keys()}
        return {**named, **self.helpers, "__builtins__": dict(self._builtins), **extra}

    def evaluate(self, expression: str, names: Mapping[str, Any]) -> Any:
        """The value of an expression over `names`, the helpers and the module's own names, once
        it is really there (JAX dispatches asynchronously). Raises: ForeignError."""
        text = " ".join(expression.split())
        code = compile(expression.strip(), EXPRESSION, "eval")
        with foreign(text):
            return self.settle(eval(code, self.names(names)))  # noqa: S307 - in the sandbox

    def function(self, expression: str, parameters: list[str], names: Mapping[str, Any]) -> Any:
        """A fresh function of `parameters` computing `expression`: fresh, because JAX caches
        traces by function object and two static signatures of one object can be confused."""
        text = f"lambda {', '.join(parameters)}: (\n{expression.strip()}\n)"
        return eval(compile(text, EXPRESSION, "eval"), self.names(names))  # noqa: S307 - same

    def call(self, running: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call something of the foreign code's. Raises: ForeignError."""
        with foreign(running):
            return self.settle(function(*arguments))

    def line_of_caller(self) -> int:
        """Return the line of the foreign module that is being executed; 0 if none is."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back  # type: ignore[assignment]
        return frame.f_lineno if frame is not None else 0

    def settle(self, value: Any) -> Any:
        """Wait until `value` has been computed."""
        return value

    def fresh(self, tree: Tree) -> Any:
        """The framework's own values for a tree of inputs: new copies each time."""
        raise NotImplementedError

    def encode(self, value: Any, running: str = "the result") -> Tree:
        """A foreign value as a tree.

        Raises:
            ForeignError: converting it ran foreign code that raised.
            AnswerTooLarge: an array of it exceeds `MAX_ANSWER`.
        """
        with foreign(running):
            try:
                return self._encode(value, 0)
            except AnswerTooLarge as error:
                raise ForeignError(error, running) from error

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
        """Arrays and numbers; anything else becomes a leaf that says what it was."""
        import numpy as np

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
        """An array-like as a leaf. Objects and text inside an array make it no array."""
        import numpy as np

        from tutor.sandbox.wire import WireError, dtype_named

        if isinstance(value, np.ndarray):
            value = np.asarray(value)  # a subclass may say anything of itself
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
    """What a value that is no array is: its type, and a function's name."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if kind.__name__ == "function":
        name = f"function {getattr(value, '__name__', '')}"
    return "".join(c if c.isprintable() else "�" for c in name[:200])


def raised(case: str, error: ForeignError, filename: str) -> Raised:
    """An exception of the foreign code's, as data."""
    cause = error.cause
    steps, innermost = _steps(cause, filename)
    line = column = None
    if isinstance(cause, SyntaxError) and cause.filename == filename:
        line, column = cause.lineno, cause.offset
    elif steps:
        line = steps[-1].line
    try:
        message = str(cause)
    except BaseException:  # noqa: BLE001 - foreign too
        message = "(its message could not be read)"
    kind = type(cause)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if isinstance(cause, SyntaxError):
        message = str(cause.msg or message)
    # JSON holds valid Unicode only; an exception's text may be anything.
    message = message.encode("utf-8", "backslashreplace").decode()
    return Raised(
        case=case,
        code=_code(cause, steps, innermost, filename, message),
        kind=name[:200],
        message=message[:MAX_TEXT],
        running=error.running[:500],
        steps=steps[-20:],
        line=line,
        column=column,
    )


def _steps(cause: BaseException, filename: str) -> tuple[list[Step], str]:
    """The frames in the foreign module, and the file of the innermost frame that is either
    foreign or an expression of a check."""
    steps = []
    innermost = ""
    traceback = cause.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == filename:
            steps.append(Step(traceback.tb_lineno or 0, code.co_name[:200]))
            innermost = filename
        elif code.co_filename == EXPRESSION:
            innermost = EXPRESSION
        else:
            innermost = innermost and f"{innermost}+library"
        traceback = traceback.tb_next
    return steps, innermost


def _code(
    cause: BaseException, steps: list[Step], innermost: str, filename: str, message: str
) -> str:
    match cause:
        case SyntaxError() if cause.filename == filename:
            return "syntax-error"
        case MemoryError():
            return "out-of-memory"
        case _ if "RESOURCE_EXHAUSTED" in message and "emory" in message:
            return "out-of-memory"
        case AnswerTooLarge():
            return "malformed"
        case ImportError():
            return "import-error"
        case NameError() if innermost == EXPRESSION:
            return "missing-name"
        case TypeError() if innermost == EXPRESSION:
            return "wrong-signature"
        case NotImplementedError() if steps and not message:
            return "not-written"
        case SystemExit() | KeyboardInterrupt() | GeneratorExit():
            return "exited"
    return "exception"
