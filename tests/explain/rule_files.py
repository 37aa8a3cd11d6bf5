"""Reading and validating files of rules, and of what proves them."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from tutor.check import Check
from tutor.checks import kinds
from tutor.explain.causes import CAUSES
from tutor.explain.pattern import BadPattern, compile_pattern, fill, uses
from tutor.explain.returned import table
from tutor.explain.rule import Rule, Rules, When, several
from tutor.explain.sizes import RELATIONS
from tutor.expressions import BadPython, defined_names
from tutor.lesson import Id, Module
from tutor.pack.lesson_reader import LessonReader
from tutor.pack.problems import BadPack, BadSource, Problem
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, read, scalars_in
from tutor.sandbox.faults import SENTENCES
from tutor.suggestions import nearest

PROVOCATIONS = Path(__file__).parent / "provocations"


class Trial(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small lesson, which a rule's example and the code under `provoke` must fail."""

    torch: Module = "import torch\n"
    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    inputs: Annotated[dict[str, Any], Meta(extra={"holds": "draws"})] = field(default_factory=dict)
    checks: Annotated[tuple[Check, ...], Meta(min_length=1, extra={"holds": "checks"})]


class Provocations(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What provokes a rule's failure, besides its example.

    `provoke`: modules whose import raises the explained exception; with `trial`, submissions that
    fail it. `not`: modules that fail in another way (or, with `trial`, may pass). `recorded`: texts
    of the exception where it cannot be raised here (another release, a GPU, too little memory),
    each with its source in a first line that begins with `# `.
    """

    id: Id
    provoke: Annotated[str | tuple[str, ...], Meta(extra={"holds": "modules"})] = ()
    not_: Annotated[str | tuple[str, ...], Meta(extra={"holds": "modules"})] = field(
        default=(), name="not"
    )
    recorded: str | tuple[str, ...] = ()
    trial: Trial | None = None
    devices: Annotated[int, Meta(ge=1, le=8)] = 1


class ProvocationFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of them, named like the file of the rules."""

    rules: tuple[Provocations, ...]


class Proved(Struct, frozen=True, kw_only=True):
    """A rule with what proves it. `recorded` rules have an example that raises nothing here."""

    rule: Rule
    provoke: tuple[str, ...]
    not_: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    trial: Trial | None = None
    devices: int = 1

    @property
    def id(self) -> str:
        return self.rule.id

    @property
    def when(self) -> When:
        return self.rule.when


def read_proved(folder: Path, provocations: Path = PROVOCATIONS) -> dict[str, Proved]:
    """Return all rules by id, in order, with their provocations.

    Raises:
        BadPack: there are problems; all are listed.
    """
    rules = read_rules(folder)
    files = _read(provocations, lambda reader, node: reader.provocations(node))
    more = {one.id: one for one, _ in files}
    if unknown := more.keys() - rules.keys():
        raise BadPack([Problem(provocations.name, 1, 1, f"no such rules: {sorted(unknown)}")])
    found = {}
    for rule in rules.values():
        one = more.get(rule.id) or Provocations(id=rule.id)
        recorded = several(one.recorded)
        found[rule.id] = Proved(
            rule=rule,
            provoke=(*(() if recorded else (rule.example,)), *several(one.provoke)),
            not_=several(one.not_),
            recorded=recorded,
            trial=one.trial,
            devices=one.devices,
        )
    return found


def read_rules(folder: Path) -> dict[str, Rule]:
    """Return all rules by id, in order.

    Raises:
        BadPack: there are problems; all are listed.
    """
    return {rule.id: rule for rule, _ in _read(folder, lambda reader, node: reader.rules(node))}


Items = Callable[["RuleReader", MappingNode], list[tuple[Any, MappingNode]]]


def _read(folder: Path, items: Items) -> list[tuple[Any, MappingNode]]:
    problems: list[Problem] = []
    found: dict[str, tuple[Any, MappingNode]] = {}
    for path in sorted(folder.glob("*.yaml")):
        shown = f"{folder.name}/{path.name}"
        try:
            node, more = read(path, shown)
        except BadSource as error:
            problems.append(error.problem)
            continue
        reader = RuleReader(shown)
        rules = items(reader, node)
        problems += more + reader.problems
        for rule, item in rules:
            if rule.id in found:
                what = f"duplicate rule {rule.id!r}"
                problems.append(Problem(shown, item.line, item.column, what))
            found.setdefault(rule.id, (rule, item))
    if problems:
        raise BadPack(problems)
    return list(found.values())


class RuleReader(LessonReader):
    """Reads a file of rules. Trials are read like lessons."""

    def rules(self, node: MappingNode) -> list[tuple[Rule, MappingNode]]:
        """Return each valid rule with its node."""
        before = len(self.problems)
        rules = self._items(Rules, node)
        for rule, item in rules:
            self._look_at(rule, item)
        return rules if len(self.problems) == before else []

    def provocations(self, node: MappingNode) -> list[tuple[Provocations, MappingNode]]:
        """Return each valid entry with its node."""
        return self._items(ProvocationFile, node)

    def _items(self, form: type[Any], node: MappingNode) -> list[tuple[Any, MappingNode]]:
        whole = self.struct(form, node)
        items = node.get("rules")
        if whole is None or not isinstance(items, SequenceNode):
            return []
        return [
            (rule, item)
            for rule, item in zip(whole.rules, items.items, strict=True)
            if isinstance(item, MappingNode)
        ]

    def _look_at(self, rule: Rule, node: MappingNode) -> None:
        when = rule.when
        if not (when.exception or when.message or when.cause or when.fault):
            message = "when: must contain an exception, a message, a fault or a cause"
            self.complain(node.get("when") or node, message)
        known = known_fields(rule)
        self._look_at_texts(rule.instead, node, known)
        alternatives = node.get("or")
        if isinstance(alternatives, SequenceNode):
            for other, item in zip(rule.or_, alternatives.items, strict=True):
                if isinstance(item, MappingNode):
                    self._look_at_texts(other.instead, item, known)

    def _look_at_texts(self, code: str, node: MappingNode, known: set[str]) -> None:
        for key in ("what", "why", "instead"):
            child = node.get(key)
            if not isinstance(child, ScalarNode):
                continue
            for name, at in uses(str(child.value)):
                if name in known or key == "instead":  # where braces may be code
                    continue
                near = nearest(name, known) or f"; available: {', '.join(sorted(known))}"
                position = _position(str(child.value), at)
                self.complain_at(child, *position, f"{key}: unknown field {name!r}{near}")
        instead = node.get("instead")
        if isinstance(instead, ScalarNode):
            try:
                defined_names(fill(code, dict.fromkeys(known, "x")))
            except BadPython as error:
                message = f"instead: invalid Python: {error}"
                self.complain_at(instead, error.line, error.column, message)

    # --- kinds of texts --------------------------------------------------------------------

    def read_patterns(self, hint: Any, node: Node, name: str) -> Any:
        for scalar in scalars_in(node):
            if not isinstance(scalar.value, str):
                self.complain(scalar, f"{name}: must be a string, got {scalar.value!r}")
                continue
            try:
                compile_pattern(scalar.value)
            except BadPattern as error:
                self.complain_at(scalar, 1, error.column, f"{name}: {error}")
        return self._convert(hint, node, name)

    def read_words(self, hint: Any, node: Node, name: str) -> Any:
        lists: dict[str, Collection[str]] = {
            "check": kinds(),
            "fault": SENTENCES,
            "cause": CAUSES,
            "sizes": RELATIONS,
            "set_by": [call for one in table() for call in one.calls],
        }
        known = lists.get(name)
        for scalar in scalars_in(node):
            word = str(scalar.value)
            if known is not None and word not in known:
                hint_ = nearest(word, known) or f"; available: {', '.join(known)}"
                self.complain(scalar, f"{name}: unknown value {word!r}{hint_}")
            if name == "exception" and not word.isidentifier():
                self.complain(
                    scalar, f"exception: {word!r} must be a class name without its module"
                )
        return self._convert(hint, node, name)

    def read_modules(self, hint: Any, node: Node, name: str) -> Any:
        if isinstance(node, SequenceNode):
            return tuple(self.read_module(str, item, name) for item in node.items)
        return self.read_module(str, node, name)


ALWAYS = frozenset({"line"})
"""Fields available to every rule: the learner's line."""


def known_fields(rule: Rule) -> set[str]:
    """Return the fields available to a rule: those captured by every alternative pattern."""
    known = set(ALWAYS)
    when = rule.when
    texts = (when.message, when.line, when.source, when.beside, when.torch, when.asked)
    for patterns in texts:
        each = [set(compile_pattern(pattern).fields) for pattern in several(patterns)]
        known |= set.intersection(*each) if each else set()
    facts = [set(CAUSES[cause].fields) for cause in several(rule.when.cause)]
    return known | (set.intersection(*facts) if facts else set())


def _position(text: str, offset: int) -> tuple[int, int]:
    """Return line and column (from 1) of an offset in `text`."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
