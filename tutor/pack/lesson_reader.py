"""Reading one lesson, and looking at it as a whole."""

import re
from collections.abc import Iterable
from typing import Any

from tutor.check import Check
from tutor.checks import kinds, unusable_kinds
from tutor.checks.bounds import parsed as parse_number
from tutor.checks.families import FAMILIES
from tutor.checks.families import parse as parse_distribution
from tutor.checks.shape import DTYPES, parse_spec
from tutor.checks.survives import survival, with_survival
from tutor.expressions import (
    BUILTINS,
    JAX_HELPERS,
    TORCH_HELPERS,
    BadPython,
    defined_names,
    free_names,
    texts,
)
from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.inputs.draws import Draw, Draws, holds_key
from tutor.inputs.draws import parse as parse_draw
from tutor.inputs.functions import USAGE, DrawError
from tutor.lesson import Lesson
from tutor.pack.struct_reader import EXPRESSION, StructReader, plain
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, walk
from tutor.suggestions import choice, suggested
from tutor.tree import TreeError


class LessonReader(StructReader):
    """Reads one lesson, and then looks at it as a whole."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._specs: list[tuple[Node, str]] = []

    def lesson(self, node: MappingNode, track: str, lesson_id: str) -> Lesson | None:
        before = len(self.problems)
        lesson: Lesson | None = self.struct(Lesson, node)
        for key, expected in (("id", lesson_id), ("track", track)):
            found = node.get(key)
            if isinstance(found, ScalarNode) and found.value != expected:
                what = f"{key} is {found.value!r}, but the file stands for {expected!r}"
                self.complain(found, what, f"write {expected}, or move the file and its entry")
        if lesson is None or len(self.problems) > before:
            return None
        self._look_at_whole(lesson, node)
        if len(self.problems) > before:
            return None
        return with_survival(lesson, defined_names(lesson.starter))

    # --- fields of lessons ---------------------------------------------------------------

    def read_checks(self, hint: Any, node: Node, name: str) -> Any:
        if not isinstance(node, SequenceNode):
            self.complain(node, "checks: expected a list", "begin each check with `- `")
            return None
        checks = [self._check(item) for item in node.items]
        if not checks:
            self.complain(node, "checks: expected at least one check", "add `- value: f(x)`")
        return tuple(check for check in checks if check is not None)

    def _check(self, node: Node) -> Check | None:
        if not isinstance(node, MappingNode):
            self.complain(node, "expected a check", "write it like `value: f(x)`")
            return None
        known = kinds()
        found = [key for key, _ in node.entries if key.value in known]
        if len(found) != 1:
            if found:
                names = " and ".join(str(key.value) for key in found)
                remedy = "make two checks of it, each with its own `- `"
                self.complain(found[1], f"a check has one kind; this one has {names}", remedy)
            else:
                broken = unusable_kinds()
                for key, _ in node.entries:
                    if (why := broken.get(str(key.value))) is not None:
                        what = f"the kind {key.value!r} cannot be used: {why}"
                        self.complain(key, what, "install another version of it")
                        return None
                keys = [str(key.value) for key, _ in node.entries]
                keys = [key for key in keys if key not in Check.__struct_fields__]
                near = next((n for key in keys if (n := suggested(key, known))), "")
                remedy = near or f"the kinds are: {', '.join(known)}"
                self.complain(node, "this check names no kind", remedy)
            return None
        check: Check | None = self.struct(known[str(found[0].value)], node)
        return check

    def read_draws(self, hint: Any, node: Node, name: str) -> Any:
        if not isinstance(node, MappingNode):
            what = f"{name}: expected a mapping"
            self.complain(node, what, "write each input on its line, such as `x: normal(7, 5)`")
            return None
        draws = {}
        for key, child in node.entries:
            if not str(key.value).isidentifier():
                remedy = "begin it with a letter; letters, digits and _ may follow"
                self.complain(key, f"{name}: {key.value!r} is no Python name", remedy)
            draws[str(key.value)] = self._draws(child, name)
        return draws

    def _draws(self, node: Node, name: str) -> "Draws | None":
        if isinstance(node, MappingNode):
            return {str(key.value): self._draws(v, name) for key, v in node.entries}  # type: ignore[misc]
        if isinstance(node, SequenceNode):
            return tuple(self._draws(v, name) for v in node.items)  # type: ignore[misc]
        if not isinstance(node.value, str):
            what = f"{name}: expected a draw such as normal(7, 5), found {node.value!r}"
            self.complain(node, what, "write full(5) for the number 5 itself")
            return None
        try:
            return parse_draw(node.value)
        except DrawError as error:
            function = node.value.strip().partition("(")[0].strip()
            usage = USAGE.get(function, "normal(B, 3)")
            remedy = suggested(function, USAGE) if function not in USAGE else ""
            if usage in str(error):
                remedy = "give it what it needs"
            what = f"{name}: {error}"
            self.complain_at(node, 1, error.column + 1, what, remedy or f"write it like {usage}")
            return None

    def read_spec(self, hint: Any, node: Node, name: str) -> Any:
        if isinstance(node, ScalarNode):
            return self._spec(node, str(node.value), name)
        if isinstance(node, SequenceNode) and node.items and all(_dimension(i) for i in node.items):
            text = f"[{', '.join(str(plain(i)) for i in node.items)}]"  # [7, 3] without quotes
            return self._spec(node, text, name)
        if isinstance(node, SequenceNode):
            return [self.read_spec(hint, item, name) for item in node.items]
        return {str(key.value): self.read_spec(hint, v, name) for key, v in node.entries}

    def _spec(self, node: Node, text: str, name: str) -> str:
        try:
            dtype, dimensions = parse_spec(text)
        except TreeError as error:
            self.complain(node, f"{name}: {error}", 'write it like "float32[7, 3]" or [n, 3]')
            return text
        if dtype and dtype not in DTYPES:
            remedy = choice(dtype, DTYPES, "")
            self.complain(node, f"{name}: no dtype is called {dtype!r}", remedy)
        self._specs += [(node, size) for size in dimensions if isinstance(size, str)]
        return text

    def read_distribution(self, hint: Any, node: Node, name: str) -> Any:
        if isinstance(node, SequenceNode):
            return [self.read_distribution(hint, item, name) for item in node.items]
        if isinstance(node, MappingNode):
            return {
                str(key.value): self.read_distribution(hint, v, name) for key, v in node.entries
            }
        text = str(node.value)
        try:
            found = parse_distribution(text)
            if not found.places:
                found.at({})
            self._specs += [(node, size) for size in found.places]
        except ArithmeticFault as error:
            family = text.strip().partition("(")[0].strip()
            usage = FAMILIES[family][1] if family in FAMILIES else "normal(0, 1)"
            remedy = suggested(family, FAMILIES) if family not in FAMILIES else ""
            self.complain_at(
                node, 1, error.column + 1, f"{name}: {error}", remedy or f"write it like {usage}"
            )
        return text

    def read_number(self, hint: Any, node: Node, name: str) -> Any:
        if not (isinstance(node, ScalarNode) and isinstance(node.value, str)):
            return self._convert(hint, node, name)
        try:
            sizes = arithmetic.names_of(parse_number(node.value))
        except ArithmeticFault as error:
            remedy = "write a number, or arithmetic such as n - 1"
            self.complain_at(node, 1, error.column + 1, f"{name}: {error}", remedy)
            return None
        self._specs += [(node, size) for size in sizes]
        return node.value

    def read_axes(self, hint: Any, node: Node, name: str) -> Any:
        for part in [node] if isinstance(node, ScalarNode) else _scalars(node):
            if part.value is not None and type(part.value) is not int:
                what = f"{name}: expected a number or null, found {part.value!r}"
                self.complain(part, what, "write it as for jax.vmap, null where it has None")
        return plain(node)

    # --- the lesson as a whole -----------------------------------------------------------

    def _look_at_whole(self, lesson: Lesson, node: MappingNode) -> None:
        starter = defined_names(lesson.starter)
        try:
            torch = defined_names(lesson.reference_code)
        except BadPython as error:  # each for itself is Python: say, an import from __future__
            what = f"harness: not after the PyTorch: {error}"
            self.complain(node.get("harness") or node, what, "move it to the top of `torch`")
            return
        self._sizes(lesson, node)
        self._inputs(lesson.inputs, node.get("inputs"), lesson, starter)
        nodes = node.get("checks")
        assert isinstance(nodes, SequenceNode)
        if all(check.bonus for check in lesson.checks):
            what = "every check is a bonus, so nothing need pass"
            self.complain(nodes, what, "leave `bonus: true` out of one")
        seen: set[str] = set()
        extra: set[str] = set()
        for check, check_node in zip(lesson.checks, nodes.items, strict=True):
            assert isinstance(check_node, MappingNode)
            if check.title in seen:
                what = f"a second check is called {check.title!r}"
                self.complain(check_node, what, "give it a name of its own: `name: …`")
            for needed in check.prerequisites:
                if needed not in seen:
                    after = _scalars(check_node.get("after") or check_node)
                    place = next((s for s in after if s.value == needed), None)
                    what = f"after: no earlier check is called {needed!r}"
                    remedy = choice(needed, seen, "this is the first check; leave `after` out")
                    self.complain(place or check_node, what, remedy)
                elif needed in extra and not check.bonus:
                    what = f"after: {needed!r} is a bonus, which need not pass"
                    remedy = "make this one a bonus, too, or let it stand on another"
                    self.complain(check_node.get("after") or check_node, what, remedy)
            seen.add(check.title)
            extra.update([check.title] if check.bonus else [])
            self._inputs(check.inputs, check_node.get("inputs"), lesson, starter)
            self._names(lesson, check, check_node, starter, torch)
        if lesson.survives and survival(lesson, starter) is None:
            what = "survives: no value check calls a function of the starter with arrays"
            remedy = "add one such as `- value: f(x)`, or write `survives: []`"
            self.complain(node.get("survives") or node, what, remedy)
        self._mistakes(lesson, node, seen)
        timed = {check.title for check in lesson.checks if check.kind == "value"}
        if lesson.timed and lesson.timed not in timed:
            what = f"timed: no value check is called {lesson.timed!r}"
            remedy = choice(lesson.timed, timed, "there is none; leave `timed` out")
            self.complain(node.get("timed") or node, what, remedy)

    def _sizes(self, lesson: Lesson, node: MappingNode) -> None:
        sizes = node.get("sizes")
        for name, candidates in lesson.sizes.items():
            if candidates == () and isinstance(sizes, MappingNode):
                remedy = f"write {name}: 5, or several: {name}: [5, 3]"
                self.complain(sizes.get(name) or sizes, f"sizes: {name!r} has no candidate", remedy)
        for place, name in self._specs:
            if name not in lesson.sizes:
                text = str(place.value) if isinstance(place, ScalarNode) else ""
                found = re.search(rf"[\[(].*?\b({name})\b", text) or re.search(
                    rf"\b({name})\b", text
                )
                self._no_size(place, name, lesson, found.start(1) if found else 0)

    def _inputs(
        self, draws: dict[str, Any], node: Node | None, lesson: Lesson, starter: set[str]
    ) -> None:
        for name, draw in draws.items():
            place = node.get(name) if isinstance(node, MappingNode) else None
            assert place is not None
            for scalar, one in _each(place, draw):
                for size, column in one.places.items():
                    if size not in lesson.sizes:
                        lead = len(str(scalar.value)) - len(str(scalar.value).lstrip())
                        self._no_size(scalar, size, lesson, lead + column)
            if name in starter:
                what = f"the input {name!r} would hide the starter's {name!r}"
                self.complain(place, what, "give the input another name")
            if name in JAX_HELPERS | TORCH_HELPERS:
                what = f"the name {name!r} is taken by a helper of expressions"
                self.complain(place, what, "give the input another name")

    def _no_size(self, place: Node, name: str, lesson: Lesson, column: int) -> None:
        """**Arguments:** `column`: where it stands in the text, from 0."""
        remedy = choice(name, lesson.sizes, f"add it: `sizes: {{{name}: [5, 3]}}`")
        what = f"no size is called {name!r}"
        if isinstance(place, ScalarNode):
            self.complain_at(place, 1, column + 1, what, remedy)
        else:
            self.complain(place, what, remedy)

    def _names(
        self, lesson: Lesson, check: Check, node: MappingNode, starter: set[str], torch: set[str]
    ) -> None:
        """Every name in an expression must mean something on its side."""
        inputs = {**lesson.inputs, **check.inputs}
        expect = node.get("expect")
        found = (
            scalar
            for key, child in node.entries
            if key.value not in Check.__struct_fields__ and child is not expect
            for scalar in _scalars(child)
        )
        scalars = sorted(found, key=lambda scalar: (scalar.line, scalar.column))
        answers = [expect] if isinstance(expect, ScalarNode) else []
        jax_side = (
            starter | set(inputs) | set(lesson.sizes) | JAX_HELPERS | BUILTINS | check.extra_names()
        )
        torch_side = (
            torch
            | set(lesson.sizes)
            | {name for name, draw in inputs.items() if not holds_key(draw)}
            | TORCH_HELPERS
            | BUILTINS
        )
        sides = (
            (check.observe(), jax_side, scalars, "the starter does not define"),
            (check.refer() or {}, torch_side, answers + scalars, "the PyTorch does not define"),
        )
        for arguments, known, places, what in sides:
            for text in texts(arguments):
                place = next((s for s in places if s.value == text), None)
                try:
                    names = free_names(text)
                except BadPython as error:
                    what = f"{text!r} is no Python expression: {error}"
                    self.complain(place or node, what, EXPRESSION)
                    continue
                for name, (line, column) in names.items():
                    if name in known:
                        continue
                    near = suggested(name, known - BUILTINS)
                    remedy = near or f"define it there, or add an input {name!r}"
                    message = f"{what} {name!r}"
                    if name in inputs:
                        message += "; it is a JAX PRNG key, which PyTorch cannot use"
                        remedy = "give `expect`, an expression without it"
                    elif known is torch_side and place and place is not expect:
                        message += f"; {near}" if near else ""
                        remedy = "give `expect`, the same asked of the PyTorch"
                    if place is None:
                        self.complain(node, message, remedy)
                    else:
                        self.complain_at(place, line, column, message, remedy)

    def _mistakes(self, lesson: Lesson, node: MappingNode, titles: set[str]) -> None:
        nodes = node.get("mistakes")
        items = nodes.items if isinstance(nodes, SequenceNode) else []
        known = titles | {check.kind for check in lesson.checks} | {"load"}
        for mistake, item in zip(lesson.mistakes, items, strict=True):
            assert isinstance(item, MappingNode)
            if (mistake.code is None) == (mistake.edit is None):
                remedy = "keep one of the two" if mistake.code else "add `edit: {old: new}`"
                self.complain(item, "a mistake has either `code` or `edit`", remedy)
            if mistake.fails not in known:
                what = f"fails: no check is called {mistake.fails!r}"
                self.complain(item.get("fails") or item, what, choice(mistake.fails, known, ""))


def _dimension(node: Node) -> bool:
    """A number or a size's name, as in `[B, 3]`."""
    return isinstance(node, ScalarNode) and (
        type(node.value) is int or (isinstance(node.value, str) and node.value.isidentifier())
    )


def _each(node: Node, draws: "Draws") -> Iterable[tuple[ScalarNode, Draw]]:
    """Every draw and where it is written."""
    if isinstance(draws, Draw):
        assert isinstance(node, ScalarNode)
        yield node, draws
    elif isinstance(draws, dict):
        assert isinstance(node, MappingNode)
        for key, child in node.entries:
            yield from _each(child, draws[str(key.value)])
    else:
        assert isinstance(node, SequenceNode)
        for child, one in zip(node.items, draws, strict=True):
            yield from _each(child, one)


def _scalars(node: Node) -> Iterable[ScalarNode]:
    return (part for part in walk(node) if isinstance(part, ScalarNode))
