"""Reading YAML nodes as msgspec structs."""

from collections.abc import Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from tutor.expressions import BadPython, defined_names, free_names
from tutor.inputs.datasets import DATA_FILE
from tutor.lesson import ID
from tutor.manifest import EDITION, LANGUAGE, ONE_LINE, VERSION
from tutor.pack.problems import Problem
from tutor.pack.releases import applies
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode
from tutor.suggestions import suggested


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


@cache
def _fields(cls: Any) -> dict[str, msgspec.structs.FieldInfo]:
    """Return what may be written in YAML, by key."""
    hidden = getattr(cls, "NOT_IN_YAML", ())
    return {f.encode_name: f for f in msgspec.structs.fields(cls) if f.name not in hidden}


class StructReader:
    """Reads mapping nodes as msgspec structs, and collects all problems."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def complain(self, node: Node, message: str, remedy: str = "") -> None:
        self.problems.append(Problem(self.file, node.line, node.column, message, remedy))

    def complain_at(
        self, node: ScalarNode, line: int, column: int, message: str, remedy: str = ""
    ) -> None:
        """Report a problem at a position within a scalar's text."""
        self.problems.append(Problem(self.file, *node.position(line, column), message, remedy))

    def struct(self, cls: Any, node: Node, name: str = "") -> Any:
        """Return an instance, or None if it has problems."""
        if not isinstance(node, MappingNode):
            hidden = getattr(cls, "NOT_IN_YAML", ())
            keys = ", ".join(name for name in cls.__struct_fields__ if name not in hidden)
            lead = f"{name}: " if name else ""
            what = f"{lead}must be a mapping with keys of: {keys}; got {shown(node)}"
            self.complain(node, what, _MAPPING)
            return None
        before = len(self.problems)
        fields = _fields(cls)
        hints = _hints(cls)
        values: dict[str, Any] = {}
        for number, (key, child) in enumerate(node.entries):
            name = str(key.value)
            if name not in fields:
                remedy = self.misplaced(cls, name) or suggested(name, fields)
                if not remedy:
                    indent = _belongs_above(node.entries[:number])
                    remedy = f"{indent}the keys are: {', '.join(fields)}"
                self.complain(key, f"unknown key {name!r}", remedy)
                continue
            attribute = fields[name].name
            values[attribute] = self.value(hints[attribute], child, name)
        for name, one in fields.items():
            if one.required and node.get(name) is None and not self.swallowed(name, node):
                about = _description(hints[one.name])
                what = f"{name!r} is missing{': ' + about.rstrip('.') if about else ''}"
                self.complain(node, what, f"add a line `{name}: …`")
        return cls(**values) if len(self.problems) == before else None

    def swallowed(self, name: str, node: MappingNode, begins: str = "") -> bool:
        """Report a line of a text that should be a key, whose value `begins` so, but is indented.

        **Returns:** whether there is one.
        """
        for key, child in node.entries:
            if isinstance(child, ScalarNode) and child.block:
                for number, row in enumerate(str(child.value).split("\n"), start=1):
                    if row.lstrip().startswith(f"{name}:{begins}"):
                        column = len(row) - len(row.lstrip()) + 1
                        what = (
                            f"{name!r} is missing: this line belongs to the text of {key.value!r}"
                        )
                        self.complain_at(child, number, column, what, "indent it less, as a key")
                        return True
        return False

    def misplaced(self, cls: Any, name: str) -> str:
        """Return a remedy for a key that belongs elsewhere; empty if none is known."""
        return ""

    def value(self, hint: Any, node: Node, name: str) -> Any:
        bare, holds = _unwrap(hint)
        absent = isinstance(node, ScalarNode) and node.value is None and _optional(hint)
        special = getattr(self, f"read_{holds}", None)
        if special is not None and not absent:
            return special(hint, node, name)
        origin, parts = get_origin(bare), get_args(bare)
        if isinstance(bare, type) and issubclass(bare, Struct):
            return self.struct(bare, node, name)
        if origin is tuple and parts[1:] == (...,):
            if not isinstance(node, SequenceNode):
                return self._refuse(hint, node, name)
            if (whole := self._list_of_scalars(hint, parts[0], node)) is not None:
                return whole
            items = tuple(self.value(parts[0], item, name) for item in node.items)
            return self._convert(_without_items(hint, tuple), node, name, len(items)) and items
        if origin is dict and isinstance(node, MappingNode):
            entries = {str(key.value): self.value(parts[1], v, name) for key, v in node.entries}
            return self._convert(_without_items(hint, dict), node, name, len(entries)) and entries
        return self._convert(hint, node, name)

    def _list_of_scalars(self, hint: Any, item: Any, node: SequenceNode) -> Any:
        """Convert a list of scalars at once, ten times as fast; None if it is another list or
        invalid, to be read item by item."""
        if _unwrap(item)[1] is not None or not all(
            isinstance(one, ScalarNode) for one in node.items
        ):
            return None
        try:
            return msgspec.convert(plain(node), hint)
        except msgspec.ValidationError:
            return None

    def _convert(self, hint: Any, node: Node, name: str, items: int | None = None) -> Any:
        """Convert a value with msgspec, which checks its type and bounds."""
        value = plain(node)
        if items is not None:
            value = (
                dict.fromkeys(map(str, range(items))) if type(value) is dict else (None,) * items
            )
        try:
            converted = msgspec.convert(value, hint)
        except msgspec.ValidationError:
            return self._refuse(hint, node, name, items)
        return converted if items is None else True

    def _refuse(self, hint: Any, node: Node, name: str, items: int | None = None) -> None:
        got = shown(node) if items is None else f"{items} items" if items else "none"
        self.complain(node, f"{name}: must be {rule(hint)}, got {got}", _remedy(hint, node))

    def read_releases(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if isinstance(text, str):
            try:
                applies(text)
            except ValueError:
                what = f"{name}: must be a version specifier, got {text!r}"
                self.complain(node, what, 'write one in quotes, such as ">=0.11"')
        return text

    def read_requirement(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if isinstance(text, str):
            from tutor.requirements import BadRequirement, parsed

            try:
                parsed(text)
            except BadRequirement as error:
                self.complain(node, f"{name}: {error}", error.remedy)
        return text

    # --- Python source -------------------------------------------------------------------

    def read_module(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if isinstance(text, str) and isinstance(node, ScalarNode):
            try:
                defined_names(text)
            except BadPython as error:
                what = f"{name}: invalid Python: {error}"
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


_LIST = "write [one, two], or one `- …` per line"
_MAPPING = "write `name: value` lines, or {name: value}"
_MODULE = "write valid Python source in a `|` block"
EXPRESSION = "write one expression, such as f(x)"

_FORMS = {
    ID: "lower-case words joined by hyphens, such as vmap-basics",
    LANGUAGE: "a BCP 47 language tag such as en, de or pt-BR",
    EDITION: 'letters and digits joined by ., + or -, such as "1.2"',
    VERSION: 'a version number, such as "0.2"',
    ONE_LINE: "one line of 1 to 200 characters, without tabs",
    DATA_FILE: "a plain file name that ends in .csv or .npz, such as flowers.csv",
}


def rule(hint: Any) -> str:
    """Return what a value must be, such as `an integer from 1 to 240`."""
    bare, _ = _unwrap(hint)
    origin, parts, bounds = get_origin(bare), get_args(bare), _bounds(hint)
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin in (Union, UnionType):
        return " or ".join(rule(part) for part in parts if part is not NoneType)
    if bare is bool:
        return "true or false"
    if bare in (int, float):
        return f"{'an integer' if bare is int else 'a number'}{_range(bounds)}"
    if pattern := bounds.get("pattern"):
        return _FORMS.get(pattern, f"a string that matches {pattern}")
    low, high = bounds.get("min_length", 0), bounds.get("max_length")
    if bare is str:
        noun, units = "string", "characters"
    else:
        noun = "mapping" if origin is dict else "list"
        units = _PLURALS.get(_unwrap(parts[0])[0], "items") if origin is tuple else "items"
    if high is not None:
        return f"a {noun} of {low} to {high} {units}"
    of = f" of {units}" if units not in ("characters", "items") else ""
    return f"a {'non-empty ' if low else ''}{noun}{of}"


_PLURALS = {int: "integers", float: "numbers", str: "strings"}


def _range(bounds: dict[str, Any]) -> str:
    """Return bounds of a number, such as ` from 1 to 20` or ` above 0 and at most 1`."""
    low, high = bounds.get("ge"), bounds.get("le")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    least = f"at least {low:g}" if low is not None else ""
    above = f"above {bounds['gt']:g}" if "gt" in bounds else ""
    most = f"at most {high:g}" if high is not None else ""
    words = " and ".join(part for part in (above, least, most) if part)
    if not words:
        return ""
    return f" {words}" if above else f" of {words}"


def _bounds(hint: Any) -> dict[str, Any]:
    """Return the bounds that `Meta` sets anywhere in an annotation."""
    found: dict[str, Any] = {}
    if get_origin(hint) is Annotated:
        hint, *metas = get_args(hint)
        found = _bounds(hint)
        for meta in metas:
            if isinstance(meta, Meta):
                names = ("ge", "gt", "le", "min_length", "max_length", "pattern")
                values = {name: getattr(meta, name) for name in names}
                found |= {name: value for name, value in values.items() if value is not None}
    elif get_origin(hint) in (Union, UnionType):
        parts = [part for part in get_args(hint) if part is not NoneType]
        found = _bounds(parts[0]) if len(parts) == 1 else {}
    return found


def _remedy(hint: Any, node: Node) -> str:
    """Return how to write a value of the required type."""
    bare, _ = _unwrap(hint)
    if isinstance(node, ScalarNode) and node.value is None:
        return "write a value after the colon"
    if bare is str:
        if isinstance(node, SequenceNode):
            return "write one string, without brackets"
        if isinstance(node, MappingNode):
            return "put text that contains a colon or braces in quotes"
        return "put it in quotes" if not isinstance(node.value, str) else ""
    if get_origin(bare) is tuple and not isinstance(node, SequenceNode):
        return _LIST
    if get_origin(bare) is dict and not isinstance(node, MappingNode):
        return _MAPPING
    return ""


def _unwrap(hint: Any) -> tuple[Any, str | None]:
    """Return an annotation without `Annotated` and `| None`, and its `holds`."""
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
    """Return the annotation of a list or mapping with its bounds, and items of any type."""
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


def _belongs_above(entries: Sequence[tuple[ScalarNode, Node]]) -> str:
    """Return advice for a key below an entry that has no value, or a block of text."""
    for key, value in entries[-1:]:
        if isinstance(value, ScalarNode) and (value.block or value.value is None):
            return f"indent it, if it belongs to {key.value!r} above; otherwise "
    return ""


def plain(node: Node) -> Any:
    """Return a node as plain Python data. The parser limits nesting."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    return {str(key.value): plain(value) for key, value in node.entries}


def shown(node: Node) -> str:
    """Return a node as messages quote it."""
    if isinstance(node, ScalarNode):
        if node.value is None:
            return "nothing"
        text = repr(node.value)
        return text if len(text) <= 60 else text[:57] + "…'"
    return "a list" if isinstance(node, SequenceNode) else "a mapping"
