"""Reading YAML nodes as msgspec structs."""

from collections.abc import Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, inspect

from tutor.expressions import BadPython, defined_names, free_names
from tutor.inputs.datasets import DATA_FILE
from tutor.lesson import ID
from tutor.manifest import EDITION, LANGUAGE, ONE_LINE, VERSION
from tutor.pack.problems import Problem
from tutor.pack.releases import applies
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode
from tutor.suggestions import suggested


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
            values[fields[name].name] = self.value(fields[name].type, child, name)
        for name, one in fields.items():
            if one.required and node.get(name) is None and not self.swallowed(name, node):
                about = _description(one.type)
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
        bare, holds, optional = _unwrap(hint)
        absent = optional and isinstance(node, ScalarNode) and node.value is None
        special = getattr(self, f"read_{holds}", None)
        if special is not None and not absent:
            return special(hint, node, name)
        origin, parts = get_origin(bare), get_args(bare)
        if isinstance(bare, type) and issubclass(bare, Struct):
            return self.struct(bare, node, name)
        if origin is tuple and isinstance(node, SequenceNode):
            items = tuple(self.value(parts[0], item, name) for item in node.items)
            return items if self._counts(hint, node, name, len(items)) else None
        if origin is dict and isinstance(node, MappingNode):
            entries = {str(key.value): self.value(parts[1], v, name) for key, v in node.entries}
            return entries if self._counts(hint, node, name, len(entries)) else None
        if origin is tuple:
            return self._refuse(hint, node, name, shown(node))
        return self._convert(hint, node, name)

    def _counts(self, hint: Any, node: Node, name: str, items: int) -> bool:
        """Return whether a list or mapping may have so many items, and complain if not."""
        kind = _kind(_type(hint))
        assert isinstance(kind, inspect.VarTupleType | inspect.DictType)
        least, most = kind.min_length or 0, kind.max_length
        if least <= items and (most is None or items <= most):
            return True
        self._refuse(hint, node, name, f"{items} items" if items else "none")
        return False

    def _convert(self, hint: Any, node: Node, name: str) -> Any:
        """Convert a value with msgspec, which checks its type and bounds."""
        try:
            return msgspec.convert(plain(node), hint)
        except msgspec.ValidationError:
            return self._refuse(hint, node, name, shown(node))

    def _refuse(self, hint: Any, node: Node, name: str, got: str) -> None:
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
    return _rule(_type(hint))


_type = cache(inspect.type_info)


def _rule(kind: inspect.Type) -> str:
    match _kind(kind):
        case inspect.LiteralType(values):
            return f"one of {', '.join(map(str, values))}"
        case inspect.UnionType(types):
            return " or ".join(_rule(one) for one in types if not isinstance(one, inspect.NoneType))
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType() as number:
            return f"an integer{_range(number)}"
        case inspect.FloatType() as number:
            return f"a number{_range(number)}"
        case inspect.StrType(pattern=str(pattern)):
            return _FORMS.get(pattern, f"a string that matches {pattern}")
        case inspect.StrType(low, high):
            noun, units = "string", "characters"
        case inspect.DictType(min_length=low, max_length=high):
            noun, units = "mapping", "items"
        case inspect.VarTupleType(item, low, high):
            noun, units = "list", _PLURALS.get(type(_kind(item)), "items")
        case other:
            raise TypeError(f"no rule for {other}")
    if high is not None:
        return f"a {noun} of {low or 0} to {high} {units}"
    of = f" of {units}" if units not in ("characters", "items") else ""
    return f"a {'non-empty ' if low else ''}{noun}{of}"


_PLURALS: dict[type, str] = {
    inspect.IntType: "integers",
    inspect.FloatType: "numbers",
    inspect.StrType: "strings",
}


def _kind(kind: inspect.Type) -> inspect.Type:
    """Return a type without metadata and `| None`."""
    while True:
        if isinstance(kind, inspect.Metadata):
            kind = kind.type
        elif isinstance(kind, inspect.UnionType) and kind.includes_none and not kind.types[2:]:
            kind = next(one for one in kind.types if not isinstance(one, inspect.NoneType))
        else:
            return kind


def _range(number: inspect.IntType | inspect.FloatType) -> str:
    """Return bounds of a number, such as ` from 1 to 20` or ` above 0 and at most 1`."""
    if number.ge is not None and number.le is not None:
        return f" from {number.ge:g} to {number.le:g}"
    limits = {
        "above": number.gt,
        "at least": number.ge,
        "below": number.lt,
        "at most": number.le,
    }
    words = " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
    return f" of {words}" if words.startswith("at") else f" {words}" if words else ""


def _remedy(hint: Any, node: Node) -> str:
    """Return how to write a value of the required type."""
    bare = _unwrap(hint).bare
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


class _Unwrapped(NamedTuple):
    """An annotation without `Annotated` and `| None`, and what its metadata says that it holds."""

    bare: Any
    holds: str | None
    optional: bool


@cache
def _unwrap(hint: Any) -> _Unwrapped:
    holds, optional = None, False
    while True:
        if get_origin(hint) is Annotated:
            hint, *metas = get_args(hint)
            for meta in metas:
                if isinstance(meta, Meta) and meta.extra:
                    holds = meta.extra.get("holds", holds)
        elif get_origin(hint) in (Union, UnionType):
            rest = [part for part in get_args(hint) if part is not NoneType]
            optional = optional or len(rest) < len(get_args(hint))
            if len(rest) > 1:
                return _Unwrapped(hint, holds, optional)
            hint = rest[0]
        else:
            return _Unwrapped(hint, holds, optional)


def _description(hint: Any) -> str:
    kind = _type(hint)
    schema = kind.extra_json_schema if isinstance(kind, inspect.Metadata) else None
    return str((schema or {}).get("description", ""))


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
