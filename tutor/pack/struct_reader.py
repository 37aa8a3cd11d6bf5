"""Reading a mapping node as a msgspec struct, with every problem gathered on the way."""

import re
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from tutor.expressions import BadPython, defined_names, free_names
from tutor.lesson import ID
from tutor.manifest import EDITION
from tutor.pack.problems import Problem
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode
from tutor.suggestions import suggested


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


class StructReader:
    """Reads a mapping node as a msgspec struct, gathering every problem on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def complain(self, node: Node, message: str, remedy: str = "") -> None:
        self.problems.append(Problem(self.file, node.line, node.column, message, remedy))

    def complain_at(
        self, node: ScalarNode, line: int, column: int, message: str, remedy: str = ""
    ) -> None:
        """A problem at a place within a scalar's text."""
        self.problems.append(Problem(self.file, *node.place(line, column), message, remedy))

    def struct(self, cls: Any, node: Node) -> Any:
        """An instance, or None if anything in it is wrong."""
        if not isinstance(node, MappingNode):
            what = f"expected a mapping with the fields of a {cls.__name__.lower()}"
            self.complain(node, what, _MAPPING)
            return None
        before = len(self.problems)
        fields = {f.encode_name: f for f in msgspec.structs.fields(cls)}
        hints = _hints(cls)
        values: dict[str, Any] = {}
        for key, child in node.entries:
            name = str(key.value)
            if name not in fields:
                remedy = suggested(name, fields) or f"known are: {', '.join(fields)}"
                self.complain(key, f"unknown key {name!r}", remedy)
                continue
            attribute = fields[name].name
            values[attribute] = self.value(hints[attribute], child, name)
        for name, one in fields.items():
            if one.required and node.get(name) is None:
                about = _description(hints[one.name])
                what = f"{name!r} is missing{': ' + about.rstrip('.') if about else ''}"
                self.complain(node, what, f"add a line `{name}: …`")
        return cls(**values) if len(self.problems) == before else None

    def value(self, hint: Any, node: Node, name: str) -> Any:
        bare, holds = _unwrap(hint)
        absent = isinstance(node, ScalarNode) and node.value is None and _optional(hint)
        special = getattr(self, f"read_{holds}", None)
        if special is not None and not absent:
            return special(hint, node, name)
        origin, parts = get_origin(bare), get_args(bare)
        if isinstance(bare, type) and issubclass(bare, Struct):
            return self.struct(bare, node)
        if origin is tuple and parts[1:] == (...,):
            if not isinstance(node, SequenceNode):
                self.complain(node, f"{name}: expected a list, found {_shown(node)}", _LIST)
                return None
            if (whole := self._list_of_scalars(hint, parts[0], node)) is not None:
                return whole
            items = tuple(self.value(parts[0], item, name) for item in node.items)
            return self._convert(_without_items(hint, tuple), node, name, len(items)) and items
        if origin is dict and isinstance(node, MappingNode):
            entries = {str(key.value): self.value(parts[1], v, name) for key, v in node.entries}
            return self._convert(_without_items(hint, dict), node, name, len(entries)) and entries
        return self._convert(hint, node, name)

    def _list_of_scalars(self, hint: Any, item: Any, node: SequenceNode) -> Any:
        """The list at once, which for thousands of lessons is ten times as fast; None if it is no
        such list or something is wrong in it, for then every item is looked at by itself."""
        if _unwrap(item)[1] is not None or not all(
            isinstance(one, ScalarNode) for one in node.items
        ):
            return None
        try:
            return msgspec.convert(plain(node), hint)
        except msgspec.ValidationError:
            return None

    def _convert(self, hint: Any, node: Node, name: str, items: int | None = None) -> Any:
        """Let msgspec check a value against an annotation with its bounds."""
        value = plain(node)
        if items is not None:
            value = (
                dict.fromkeys(map(str, range(items))) if type(value) is dict else (None,) * items
            )
        try:
            converted = msgspec.convert(value, hint)
        except msgspec.ValidationError as error:
            message = str(error).replace("`", "").replace("Expected", "expected")
            for pattern, words in _FORMS.items():
                message = message.replace(f"matching regex {pattern!r}", words)
            message = re.sub(r"\barray\b", "list", re.sub(r"\bobject\b", "mapping", message))
            found = "" if items is not None else f", found {_shown(node)}"
            self.complain(node, f"{name}: {message}{found}", _remedy(message, hint))
            return None
        return converted if items is None else True

    # --- what texts hold -----------------------------------------------------------------

    def read_module(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if isinstance(text, str) and isinstance(node, ScalarNode):
            try:
                defined_names(text)
            except BadPython as error:
                what = f"{name}: this is not Python: {error}"
                self.complain_at(node, error.line, error.column, what, _MODULE)
        return text

    def read_jax(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if isinstance(text, str) and isinstance(node, ScalarNode):
            try:
                free_names(text)
            except BadPython as error:
                what = f"{name}: not a Python expression: {error}"
                self.complain_at(node, error.line, error.column, what, EXPRESSION)
                return None
        return text

    read_torch = read_jax


_ID_WORDS = "of lower-case words joined by hyphens (such as vmap-basics)"
_EDITION_WORDS = "of letters and digits joined by one of .+- (such as 1.2)"
_FORMS = {ID: _ID_WORDS, EDITION: _EDITION_WORDS}
_LIST = "write [one, two], or one `- …` a line"
_MAPPING = "write `name: value` lines, or {name: value}"
_MODULE = "write what Python can compile, below a `|`"
EXPRESSION = "write one expression, such as f(x)"

_REMEDIES = (
    (_ID_WORDS, "write it like vmap-basics"),
    (_EDITION_WORDS, 'write it like "1.2"'),
    ("expected str |", "write text, or a list of texts; put numbers in quotes"),
    ("expected int | list", "write a whole number, or a list of them"),
    ("expected str, got list", "write one text, without brackets"),
    ("expected str, got mapping", "put text that holds a colon or braces in quotes"),
    ("expected str, got null", "write some text behind it"),
    ("expected str, got", "put it in quotes"),
    ("expected str of length >=", "write some text"),
    ("length >=", "write at least one"),
    ("length <=", "shorten it"),
    ("expected list", _LIST),
    ("expected mapping", _MAPPING),
    ("expected int, got", "write a whole number, such as 5"),
    ("expected float, got", "write a number, such as 0.5"),
    ("expected int", "write a whole number within the bound"),
    ("expected float", "write a number within the bound"),
    ("expected bool", "write true or false"),
    ("matching regex", "write it in the form that the expression describes"),
)
"""By what msgspec says; the first that fits."""


def _remedy(message: str, hint: Any) -> str:
    bare, _ = _unwrap(hint)
    if get_origin(bare) is Literal:
        return f"write one of: {', '.join(map(str, get_args(bare)))}"
    return next((remedy for part, remedy in _REMEDIES if part in message), "write another value")


def _unwrap(hint: Any) -> tuple[Any, str | None]:
    """An annotation without `Annotated` and `| None`, and what its text holds."""
    holds = None
    while True:
        if get_origin(hint) is Annotated:
            hint, *metas = get_args(hint)
            for meta in metas:
                if isinstance(meta, Meta) and meta.extra:
                    holds = meta.extra.get("holds", holds)
        elif get_origin(hint) in (Union, UnionType):
            rest = [part for part in get_args(hint) if part is not NoneType]
            if len(rest) != 1:
                return hint, holds
            hint = rest[0]
        else:
            return hint, holds


def _optional(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _optional(get_args(hint)[0])
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def _without_items(hint: Any, kind: type) -> Any:
    """The annotation of a list or mapping with its bounds, and items of any kind."""
    bare: Any = dict[str, Any] if kind is dict else tuple[Any, ...]
    if get_origin(hint) is Annotated:
        _, *metas = get_args(hint)
        bounds = [m for m in metas if isinstance(m, Meta)]
        if bounds:
            return Annotated[(bare, *bounds)]
    return bare


def _description(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        for meta in reversed(metas):
            if isinstance(meta, Meta) and meta.description:
                return meta.description
        return _description(inner)
    return ""


def plain(node: Node) -> Any:
    """A node as plain Python data. Nesting is bounded by the reader."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    return {str(key.value): plain(value) for key, value in node.entries}


def _shown(node: Node) -> str:
    if isinstance(node, ScalarNode):
        text = repr(node.value)
        return text if len(text) <= 60 else text[:57] + "…'"
    return "a list" if isinstance(node, SequenceNode) else "a mapping"
