"""Reading and validating files of rules."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tutor.checks import kinds
from tutor.explain.causes import CAUSES
from tutor.explain.pattern import BadPattern, compile_pattern, fill, uses
from tutor.explain.rule import Rule, Rules, several
from tutor.expressions import BadPython, defined_names
from tutor.pack.lesson_reader import LessonReader
from tutor.pack.problems import BadPack, BadSource, Problem
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, read
from tutor.sandbox.faults import SENTENCES
from tutor.suggestions import nearest


def read_rules(folder: Path) -> dict[str, Rule]:
    """Return all rules by id, in order.

    Raises:
        BadPack: there are problems; all are listed.
    """
    problems: list[Problem] = []
    found: dict[str, Rule] = {}
    for path in sorted(folder.glob("*.yaml")):
        shown = f"{folder.name}/{path.name}"
        try:
            node, more = read(path, shown)
        except BadSource as error:
            problems.append(error.problem)
            continue
        reader = RuleReader(shown)
        rules = reader.rules(node)
        problems += more + reader.problems
        for rule, item in rules:
            if rule.id in found:
                what = f"duplicate rule {rule.id!r}"
                problems.append(Problem(shown, item.line, item.column, what))
            found.setdefault(rule.id, rule)
    if problems:
        raise BadPack(problems)
    return found


class RuleReader(LessonReader):
    """Reads a file of rules. Trials are read like lessons."""

    def rules(self, node: MappingNode) -> list[tuple[Rule, MappingNode]]:
        """Return each valid rule with its node."""
        before = len(self.problems)
        whole: Rules | None = self.struct(Rules, node)
        items = node.get("rules")
        if whole is None or not isinstance(items, SequenceNode):
            return []
        rules = [
            (rule, item)
            for rule, item in zip(whole.rules, items.items, strict=True)
            if isinstance(item, MappingNode)
        ]
        for rule, item in rules:
            self._look_at(rule, item)
        return rules if len(self.problems) == before else []

    def _look_at(self, rule: Rule, node: MappingNode) -> None:
        when = rule.when
        if not (when.exception or when.message or when.cause or when.fault):
            message = "when: must contain an exception, a message, a fault or a cause"
            self.complain(node.get("when") or node, message)
        known = known_fields(rule)
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
                defined_names(fill(rule.instead, dict.fromkeys(known, "x")))
            except BadPython as error:
                message = f"instead: invalid Python: {error}"
                self.complain_at(instead, error.line, error.column, message)
        if not several(rule.provoke):
            self.complain(node.get("provoke") or node, "provoke: must contain at least one module")

    # --- kinds of texts --------------------------------------------------------------------

    def read_patterns(self, hint: Any, node: Node, name: str) -> Any:
        for scalar in _scalars(node):
            if not isinstance(scalar.value, str):
                self.complain(scalar, f"{name}: must be a string, got {scalar.value!r}")
                continue
            try:
                compile_pattern(scalar.value)
            except BadPattern as error:
                self.complain_at(scalar, 1, error.column, f"{name}: {error}")
        return self._convert(hint, node, name)

    def read_words(self, hint: Any, node: Node, name: str) -> Any:
        lists: dict[str, Collection[str]] = {"check": kinds(), "fault": SENTENCES, "cause": CAUSES}
        known = lists.get(name)
        for scalar in _scalars(node):
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


def _scalars(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, SequenceNode):
        for item in node.items:
            if isinstance(item, ScalarNode):
                yield item


def _position(text: str, offset: int) -> tuple[int, int]:
    """Return line and column (from 1) of an offset in `text`."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
