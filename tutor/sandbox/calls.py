"""The one way into a submission.

Whatever observes a submission is a generator: it yields each call that it wants, and gets the
value back. While the submission runs, the generator is suspended, so none of its frames is on the
stack: below the submission's are those of `drive` and `perform`, whatever is being checked.
"""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar


class UserCodeError(Exception):
    """User code raised `cause` while running `running`."""

    def __init__(self, cause: BaseException, running: str) -> None:
        super().__init__(running)
        self.cause = cause
        self.running = running


class Call(NamedTuple):
    """A call that runs user code.

    `running` describes it in messages. `settle`, if any, waits until the value is computed.
    """

    running: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    settle: Callable[[Any], Any] | None = None


Value = TypeVar("Value")
Steps: TypeAlias = Generator[Call, Any, Value]
"""What yields calls, gets their values, and returns something in the end."""


def perform(call: Call) -> Any:
    """Return the value of a call. Raises: UserCodeError: user code raised."""
    try:
        value = call.function(*call.arguments)
        return value if call.settle is None else call.settle(value)
    except UserCodeError:
        raise
    except BaseException as error:  # including SystemExit
        raise UserCodeError(error, call.running) from error


def drive(steps: Steps[Value]) -> Value:
    """Perform the calls of `steps`, and return what it returns. Exceptions of user code are raised
    where it yielded."""
    answer: Any = None
    error: UserCodeError | None = None
    while True:
        try:
            call = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            value: Value = end.value
            return value
        answer = error = None
        try:
            answer = perform(call)
        except UserCodeError as raised:
            error = raised
