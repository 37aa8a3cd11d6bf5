"""Reading one lesson, and looking at it as a whole."""

from collections.abc import Iterable
from typing import Any

from tutor.checks import kinds
from tutor.checks.shape import DTYPES, parse_spec
from tutor.expressions import (
    BUILTINS,
    JAX_HELPERS,
    TORCH_HELPERS,
    BadPython,
    defined_names,
    free_names,
    texts,
)
from tutor.inputs import DrawError, Draws, holds_key, names_in
from tutor.inputs import parse as parse_draw
from tutor.lesson import Check, Lesson
from tutor.pack.source import Mapping, Node, Scalar, Sequence, walk
from tutor.pack.structs import StructReader, nearest, plain
from tutor.tree import TreeError


class LessonReader(StructReader):
    """Reads one lesson, and then looks at it as a whole."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._specs: list[tuple[Node, str]] = []

    def lesson(self, node: Mapping, track: str, lesson_id: str) -> Lesson | None:
        before = len(self.problems)
        lesson: Lesson | None = self.struct(Lesson, node)
        for key, expected in (("id", lesson_id), ("track", track)):
            found = node.get(key)
            if isinstance(found, Scalar) and found.value != expected:
                self.complain(
                    found, f"{key} is {found.value!r}, but the file stands for {expected!r}"
                )
        if lesson is None or len(self.problems) > before:
            return None
        self._look_at_whole(lesson, node)
        return lesson if len(self.problems) == before else None

    # --- fields of lessons ---------------------------------------------------------------

    def read_checks(self, hint: Any, node: Node, name: str) -> Any:
        if not isinstance(node, Sequence):
            self.complain(node, "checks: expected a list")
            return None
        checks = [self._check(item) for item in node.items]
        if not checks:
            self.complain(node, "checks: expected at least one check")
        return tuple(check for check in checks if check is not None)

    def _check(self, node: Node) -> Check | None:
        if not isinstance(node, Mapping):
            self.complain(node, "expected a check, such as `value: f(x)`")
            return None
        known = kinds()
        found = [key for key, _ in node.entries if key.value in known]
        if len(found) != 1:
            if found:
                names = " and ".join(str(key.value) for key in found)
                self.complain(found[1], f"a check has one kind; this one has {names}")
            else:
                keys = [str(key.value) for key, _ in node.entries]
                near = next((n for key in keys if (n := nearest(key, known))), "")
                listed = "" if near else f"; the kinds are: {', '.join(known)}"
                self.complain(node, f"this check names no kind{near}{listed}")
            return None
        check: Check | None = self.struct(known[str(found[0].value)], node)
        return check

    def read_draws(self, hint: Any, node: Node, name: str) -> Any:
        if not isinstance(node, Mapping):
            self.complain(node, f"{name}: expected a mapping, such as `x: normal(7, 5)`")
            return None
        draws = {}
        for key, child in node.entries:
            if not str(key.value).isidentifier():
                self.complain(key, f"{name}: {key.value!r} is no Python name")
            draws[str(key.value)] = self._draws(child, name)
        return draws

    def _draws(self, node: Node, name: str) -> "Draws | None":
        if isinstance(node, Mapping):
            return {str(key.value): self._draws(v, name) for key, v in node.entries}  # type: ignore[misc]
        if isinstance(node, Sequence):
            return tuple(self._draws(v, name) for v in node.items)  # type: ignore[misc]
        if not isinstance(node.value, str):
            self.complain(
                node, f"{name}: expected a draw such as normal(7, 5), found {node.value!r}"
            )
            return None
        try:
            return parse_draw(node.value)
        except DrawError as error:
            self.complain_at(node, 1, error.column + 1, f"{name}: {error}")
            return None

    def read_spec(self, hint: Any, node: Node, name: str) -> Any:
        if isinstance(node, Scalar):
            return self._spec(node, str(node.value), name)
        if isinstance(node, Sequence) and node.items and all(_dimension(i) for i in node.items):
            text = f"[{', '.join(str(plain(i)) for i in node.items)}]"  # [7, 3] without quotes
            return self._spec(node, text, name)
        if isinstance(node, Sequence):
            return [self.read_spec(hint, item, name) for item in node.items]
        return {str(key.value): self.read_spec(hint, v, name) for key, v in node.entries}

    def _spec(self, node: Node, text: str, name: str) -> str:
        try:
            dtype, dimensions = parse_spec(text)
        except TreeError as error:
            self.complain(node, f"{name}: {error}")
            return text
        if dtype and dtype not in DTYPES:
            self.complain(node, f"{name}: no dtype is called {dtype!r}{nearest(dtype, DTYPES)}")
        self._specs += [(node, size) for size in dimensions if isinstance(size, str)]
        return text

    def read_axes(self, hint: Any, node: Node, name: str) -> Any:
        for part in [node] if isinstance(node, Scalar) else _scalars(node):
            if part.value is not None and type(part.value) is not int:
                self.complain(part, f"{name}: expected a number or null, found {part.value!r}")
        return plain(node)

    # --- the lesson as a whole -----------------------------------------------------------

    def _look_at_whole(self, lesson: Lesson, node: Mapping) -> None:
        starter = defined_names(lesson.starter)
        try:
            torch = defined_names(lesson.reference_code)
        except BadPython as error:  # each for itself is Python: say, an import from __future__
            self.complain(node.get("harness") or node, f"harness: not after the PyTorch: {error}")
            return
        self._sizes(lesson, node)
        self._inputs(lesson.inputs, node.get("inputs"), lesson, starter)
        nodes = node.get("checks")
        assert isinstance(nodes, Sequence)
        seen: set[str] = set()
        for check, check_node in zip(lesson.checks, nodes.items, strict=True):
            assert isinstance(check_node, Mapping)
            if check.title in seen:
                self.complain(
                    check_node, f"a second check is called {check.title!r}; give it a name"
                )
            for needed in check.needed:
                if needed not in seen:
                    after = _scalars(check_node.get("after") or check_node)
                    place = next((s for s in after if s.value == needed), None)
                    self.complain(
                        place or check_node,
                        f"after: no earlier check is called {needed!r}{nearest(needed, seen)}",
                    )
            seen.add(check.title)
            self._inputs(check.inputs, check_node.get("inputs"), lesson, starter)
            self._names(lesson, check, check_node, starter, torch)
        self._mistakes(lesson, node, seen)
        timed = {check.title for check in lesson.checks if check.kind == "value"}
        if lesson.timed and lesson.timed not in timed:
            self.complain(
                node.get("timed") or node,
                f"timed: no value check is called {lesson.timed!r}{nearest(lesson.timed, timed)}",
            )

    def _sizes(self, lesson: Lesson, node: Mapping) -> None:
        sizes = node.get("sizes")
        for name, candidates in lesson.sizes.items():
            if candidates == () and isinstance(sizes, Mapping):
                self.complain(sizes.get(name) or sizes, f"sizes: {name!r} has no candidate")
        for place, name in self._specs:
            if name not in lesson.sizes:
                self.complain(place, f"no size is called {name!r}{nearest(name, lesson.sizes)}")

    def _inputs(
        self, draws: dict[str, Any], node: Node | None, lesson: Lesson, starter: set[str]
    ) -> None:
        for name, draw in draws.items():
            place = node.get(name) if isinstance(node, Mapping) else None
            assert place is not None
            for size in sorted(names_in(draw) - set(lesson.sizes)):
                self.complain(place, f"no size is called {size!r}{nearest(size, lesson.sizes)}")
            if name in starter:
                self.complain(place, f"the input {name!r} would hide the starter's {name!r}")
            if name in JAX_HELPERS | TORCH_HELPERS:
                self.complain(place, f"the name {name!r} is taken by a helper of expressions")

    def _names(
        self, lesson: Lesson, check: Check, node: Mapping, starter: set[str], torch: set[str]
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
        answers = [expect] if isinstance(expect, Scalar) else []
        jax_side = starter | set(inputs) | JAX_HELPERS | BUILTINS | check.supplied()
        torch_side = (
            torch
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
                    self.complain(place or node, f"{text!r} is no Python expression: {error}")
                    continue
                for name, (line, column) in names.items():
                    if name in known:
                        continue
                    hint = nearest(name, known - BUILTINS)
                    if name in inputs:
                        hint = "; it is a JAX PRNG key, which PyTorch cannot use"
                    elif known is torch_side and place and place is not expect:
                        hint += "; give `expect`, the same asked of the PyTorch"
                    message = f"{what} {name!r}{hint}"
                    if place is None:
                        self.complain(node, message)
                    else:
                        self.complain_at(place, line, column, message)

    def _mistakes(self, lesson: Lesson, node: Mapping, titles: set[str]) -> None:
        nodes = node.get("mistakes")
        items = nodes.items if isinstance(nodes, Sequence) else []
        known = titles | {check.kind for check in lesson.checks} | {"load"}
        for mistake, item in zip(lesson.mistakes, items, strict=True):
            assert isinstance(item, Mapping)
            if (mistake.code is None) == (mistake.edit is None):
                self.complain(item, "a mistake has either `code` or `edit`")
            if mistake.fails not in known:
                self.complain(
                    item.get("fails") or item,
                    f"fails: no check is called {mistake.fails!r}{nearest(mistake.fails, known)}",
                )


def _dimension(node: Node) -> bool:
    """A number or a size's name, as in `[B, 3]`."""
    return isinstance(node, Scalar) and (
        type(node.value) is int or (isinstance(node.value, str) and node.value.isidentifier())
    )


def _scalars(node: Node) -> Iterable[Scalar]:
    return (part for part in walk(node) if isinstance(part, Scalar))
