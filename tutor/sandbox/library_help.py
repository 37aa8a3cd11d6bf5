"""What a function of JAX, Flax or Optax says of itself: how to call it, and what it is for.

Read from the installed library, in a sandbox that has imported it, so it is always true of the
installed release. Imported only in sandboxes.
"""

import inspect
import re
import types
from enum import Enum
from typing import Any

from tutor.report import Called

LIBRARIES = ("jax", "jaxlib", "flax", "optax")

MAX_SIGNATURE, MAX_ABOUT = 160, 400
"""Characters of a signature and of a first paragraph; what is longer ends in an ellipsis."""

_ROLE = re.compile(r":\w+(?::\w+)?:`~?([^`<]*?)(?: <[^`]*>)?`")
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def called(name: str, value: Any) -> Called | None:
    """Return what a function or class of a library says of itself; None if it says nothing, or is
    not a library's.

    **Arguments:** `name`: in full, as `jax.lax.scan`; or as the learner wrote it.
    """
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in LIBRARIES:
        return None
    if "<locals>" in getattr(value, "__qualname__", ""):
        return None  # such as the `update` of an optimizer, whose text says nothing of it
    described, text = signature(value), about(value)
    return Called(name, described, text) if described or text else None


def signature(value: Any, *, bound: bool = False) -> str:
    """Return how to call something, without annotations: `(x, axis=None, *, where=None)`.

    **Arguments:** `bound`: leave out `self`.
    """
    if not callable(value) or (isinstance(value, type) and issubclass(value, Enum)):
        return ""
    try:
        found = inspect.signature(value)
        variadic = all(one.kind in _VARIADIC for one in found.parameters.values())
        if isinstance(value, type) and variadic:  # its metaclass's
            found, bound = inspect.signature(value.__init__), True  # type: ignore[misc]
    except (TypeError, ValueError):
        return ""
    parameters = [
        one.replace(
            annotation=one.empty,
            default=one.empty if one.default is one.empty else _Default(one.default),
        )
        for one in found.parameters.values()
    ]
    if bound and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    text = str(found.replace(parameters=parameters, return_annotation=found.empty))
    if len(text) <= MAX_SIGNATURE:
        return text
    return f"{text[: text.rindex(',', 0, MAX_SIGNATURE - 2)]}, …)"


class _Default:
    """A default value, shown as Python if that is short and says something."""

    def __init__(self, value: object) -> None:
        plain = isinstance(value, bool | int | float | str | tuple | None | types.NoneType)
        self._text = repr(value) if plain and len(repr(value)) <= 20 else "…"

    def __repr__(self) -> str:
        return self._text


def about(value: Any) -> str:
    """Return the first paragraph of a docstring on one line, without reStructuredText's roles."""
    text = inspect.getdoc(value) if callable(value) else None
    paragraph = " ".join((text or "").strip().split("\n\n", 1)[0].split())
    plain = _ROLE.sub(r"`\1`", paragraph).replace("``", "`")
    return plain if len(plain) <= MAX_ABOUT else f"{plain[: MAX_ABOUT - 1]}…"
