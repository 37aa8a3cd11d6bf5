"""Validating a lesson as a whole: names, sizes, inputs and references from one part to another."""

import keyword
import re
from collections.abc import Iterable, Sequence
from typing import Any

from tutor.check import Check
from tutor.checks.held_out import HeldOut
from tutor.checks.predict import Predict, only_asks
from tutor.checks.survives import Survives, survival
from tutor.expressions import (
    BUILTINS,
    JAX_HELPERS,
    TORCH_HELPERS,
    BadPython,
    defined_names,
    free_names,
    own_names,
    texts,
    undefined_names,
)
from tutor.inputs.draws import Draw, Draws, drawn, holds_key
from tutor.inputs.functions import function_names
from tutor.inputs.order import circle_in, fault_of
from tutor.lesson import Lesson
from tutor.pack.struct_reader import EXPRESSION, StructReader
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, scalars_in
from tutor.report import LOAD
from tutor.suggestions import choice, suggested


class LessonValidator:
    """Reports what is wrong with a lesson whose fields are each valid.

    **Arguments:** `reader` read the fields, and takes the complaints; `node`: where the lesson is
    in its file; `specs`: names of sizes in checks, with the nodes that use them.
    """

    def __init__(
        self,
        reader: StructReader,
        lesson: Lesson,
        node: MappingNode,
        specs: Sequence[tuple[Node, str]],
    ) -> None:
        self._complain, self._complain_at = reader.complain, reader.complain_at
        self._problems = reader.problems
        self._lesson = lesson
        self._node = node
        self._specs = specs
        self._starter = defined_names(lesson.starter)

    def validate(self) -> None:
        """Report what is wrong with the lesson as a whole."""
        lesson, node = self._lesson, self._node
        for key, other in (("torch", ""), ("starter", ", or mark regions in a solution")):
            # What is to be written, unless everything is asked.
            if not only_asks(lesson) and not getattr(lesson, key):
                self._complain(node, f"{key!r} is missing", f"add a line `{key}: …`{other}")
        self._questions()
        try:
            torch = defined_names(lesson.reference_code)
        except BadPython as error:  # each is valid alone, but say, an import from __future__
            what = f"harness: invalid Python when appended to `torch`: {error}"
            self._complain(node.get("harness") or node, what, "move it to the top of `torch`")
            return
        self._sizes()
        self._data()
        self._harness()
        self._inputs(lesson.inputs, node.get("inputs"))
        sound = self._needed_inputs(lesson.inputs, lesson.inputs, node.get("inputs"))
        nodes = node.get("checks")
        assert isinstance(nodes, SequenceNode)
        if all(check.bonus for check in lesson.checks):
            what = "every check is a bonus, so none is required"
            self._complain(nodes, what, "remove `bonus: true` from at least one")
        if all(check.jax for check in lesson.checks):
            what = "every check is for some releases of JAX only"
            self._complain(nodes, what, "remove `jax` from at least one")
        seen: set[str] = set()
        extra: set[str] = set()
        releases: dict[str, str] = {}
        for check, check_node in zip(lesson.checks, nodes.items, strict=True):
            assert isinstance(check_node, MappingNode)
            if check.title in seen:
                what = f"duplicate check name {check.title!r}"
                self._complain(check_node, what, "give this check a unique `name: …`")
            for needed in check.prerequisites:
                if needed not in seen:
                    after = scalars_in(check_node.get("after") or check_node)
                    place = next((s for s in after if s.value == needed), None)
                    what = f"after: no earlier check named {needed!r}"
                    remedy = choice(needed, seen, "this is the first check; remove `after`")
                    self._complain(place or check_node, what, remedy)
                elif needed in extra and not check.bonus:
                    what = f"after: {needed!r} is a bonus, so it need not pass"
                    remedy = "make this check a bonus too, or change its `after`"
                    self._complain(check_node.get("after") or check_node, what, remedy)
                elif releases[needed] not in ("", check.jax):
                    what = f"after: {needed!r} is for other releases of JAX ({releases[needed]})"
                    remedy = f'give this check the same `jax: "{releases[needed]}"`'
                    self._complain(check_node.get("after") or check_node, what, remedy)
            seen.add(check.title)
            releases[check.title] = check.jax
            extra.update([check.title] if check.bonus else [])
            self._inputs(check.inputs, check_node.get("inputs"))
            if sound and check.inputs:
                all_inputs = {**lesson.inputs, **check.inputs}
                self._needed_inputs(check.inputs, all_inputs, check_node.get("inputs"))
            self._names(check, check_node, torch)
            if isinstance(check, HeldOut):
                self._predictions(check, check_node)
        if lesson.survives and survival(lesson, self._starter) is None:
            what = "survives: no value check calls a function of the starter with arrays"
            remedy = "add one such as `- value: f(x)`, or write `survives: []`"
            self._complain(node.get("survives") or node, what, remedy)
        self._mistakes(seen)
        timed = {check.title for check in lesson.checks if check.kind == "value"}
        if lesson.timed and lesson.timed not in timed:
            what = f"timed: no value check named {lesson.timed!r}"
            remedy = choice(lesson.timed, timed, "there are no value checks; remove `timed`")
            self._complain(node.get("timed") or node, what, remedy)

    def _questions(self) -> None:
        """Report questions that cannot be answered in a file, or not by their program."""
        nodes = self._node.get("checks")
        assert isinstance(nodes, SequenceNode)
        for check, check_node in zip(self._lesson.checks, nodes.items, strict=True):
            if not isinstance(check, Predict):
                continue
            assert isinstance(check_node, MappingNode)
            name = check_node.get("name") or check_node
            if not check.name.isidentifier() or keyword.iskeyword(check.name):
                what = f"name: must be a Python name for the answer, got {check.name!r}"
                self._complain(name, what, "use letters, digits and _, such as y_shape")
            elif check.name in self._starter:
                what = f"name: the starter defines {check.name!r}, too"
                self._complain(name, what, "rename the question")
            if check.gives in ("shape", "value", "compiles") and not check.of:
                what = f"`gives: {check.gives}` needs an expression"
                self._complain(check_node, what, "add `of: …`, such as `of: f(x)`")
            if (check.gives == "choice") != (len(check.choices) > 1):
                what = "choices: must be two or more with `gives: choice`, and absent otherwise"
                remedy = "write `statement: expression` lines, of which one is true"
                self._complain(check_node.get("choices") or check_node, what, remedy)
            known = defined_names(check.program) | JAX_HELPERS | BUILTINS
            texts_in = [check_node.get("of"), *scalars_in(check_node.get("choices") or name)]
            for scalar in texts_in:
                if isinstance(scalar, ScalarNode) and scalar is not name:
                    self._known_names(scalar, known)

    def _known_names(self, scalar: ScalarNode, known: frozenset[str]) -> None:
        for name, (line, column) in free_names(str(scalar.value)).items():
            if name not in known:
                what = f"the program does not define {name!r}"
                remedy = suggested(name, known - BUILTINS) or "define it there"
                self._complain_at(scalar, line, column, what, remedy)

    def _sizes(self) -> None:
        lesson = self._lesson
        sizes = self._node.get("sizes")
        for name, candidates in lesson.sizes.items():
            if candidates == () and isinstance(sizes, MappingNode):
                remedy = f"write {name}: 5, or {name}: [5, 3] to draw from"
                self._complain(sizes.get(name) or sizes, f"sizes: {name!r} has no values", remedy)
        for spec, name in self._specs:
            if name not in lesson.sizes:
                text = str(spec.value) if isinstance(spec, ScalarNode) else ""
                found = re.search(rf"[\[(].*?\b({name})\b", text) or re.search(
                    rf"\b({name})\b", text
                )
                self._no_size(spec, name, found.start(1) if found else 0)

    def _data(self) -> None:
        """Report data sets whose names mean something else, and parts that no file has."""
        lesson, data = self._lesson, self._node.get("data")
        inputs = {*lesson.inputs, *(name for check in lesson.checks for name in check.inputs)}
        taken = dict.fromkeys(inputs, "an input")
        taken |= dict.fromkeys(lesson.sizes, "a size")
        taken |= dict.fromkeys(function_names(), "a draw")
        for key, child in data.entries if isinstance(data, MappingNode) else ():
            name = str(key.value)
            file = lesson.data[name]
            if not name.isidentifier() or keyword.iskeyword(name):
                what = f"data: {name!r} is not a Python identifier"
                self._complain(key, what, "use letters, digits and _, and begin with a letter")
            elif name in taken:
                what = f"data: {name!r} is already the name of {taken[name]}"
                self._complain(key, what, "rename the data set")
            if file.file.endswith(".npz") and not isinstance(file.x, str):
                assert isinstance(child, MappingNode)
                what = "x: must name one array of the archive, got a list"
                self._complain(child.get("x") or child, what, f"write x: {file.x[0]}")

    def _predictions(self, check: HeldOut, node: MappingNode) -> None:
        """Report fields of a check that trains which need each other."""
        given = [key for key in ("predict", "accuracy", "error", "held_out") if node.get(key)]
        wanted = [key for key in given if key in ("accuracy", "error")]
        where = node.get(given[0]) if given else node
        assert where is not None
        if not check.data:
            if given:
                what = f"`{given[0]}` needs examples"
                self._complain(where, what, "add `data: …`, such as `data: digits`")
        elif len(wanted) > 1:
            what = "`accuracy` is for classes, `error` for decimal targets"
            self._complain(where, what, "keep one of the two")
        elif given and "predict" not in given:
            what = f"`{given[0]}` needs predictions"
            self._complain(where, what, "add `predict: …`, such as `predict: scores(trained, x)`")
        elif given and not wanted:
            what = "nothing is asked of the predictions"
            remedy = "add `accuracy: 0.9` for classes, or `error: 0.1` for decimal targets"
            self._complain(where, what, remedy)

    def _inputs(self, draws: dict[str, Any], node: Node | None) -> None:
        for name, draw in draws.items():
            draw_node = node.get(name) if isinstance(node, MappingNode) else None
            assert draw_node is not None
            for scalar, one in _each(draw_node, draw):
                for size, column in one.columns.items():
                    if size not in self._lesson.sizes:
                        lead = len(str(scalar.value)) - len(str(scalar.value).lstrip())
                        self._no_size(scalar, size, lead + column)
            if name in self._starter:
                what = f"the input {name!r} shadows the starter's {name!r}"
                self._complain(draw_node, what, "rename the input")
            if name in JAX_HELPERS | TORCH_HELPERS:
                what = f"the name {name!r} is reserved in expressions"
                self._complain(draw_node, what, "rename the input")

    def _harness(self) -> None:
        """Report names of `jax_harness` that mean something else in expressions, and names that it
        does not know."""
        lesson, block = self._lesson, self._node.get("jax_harness")
        if lesson.jax_harness is None or not isinstance(block, ScalarNode):
            return
        draws = {*lesson.inputs, *(name for check in lesson.checks for name in check.inputs)}
        taken = dict.fromkeys(JAX_HELPERS | BUILTINS, "reserved in expressions")
        taken |= dict.fromkeys((n for c in lesson.checks for n in c.extra_names()), "a check's own")
        taken |= dict.fromkeys(lesson.sizes, "the name of a size")
        taken |= dict.fromkeys(draws, "the name of an input")
        taken |= dict.fromkeys(self._starter, "a name of the starter")
        for name, (line, column) in own_names(lesson.jax_harness).items():
            if name in taken:
                what = f"jax_harness: {name!r} is {taken[name]}"
                self._complain_at(block, line, column, what, "rename it")
        for name, (line, column) in undefined_names(lesson.jax_harness).items():
            remedy = f"import or define {name}"
            if name in own_names(lesson.starter):
                remedy = "pass the learner's function as an argument"
            what = f"jax_harness: {name!r} is not defined"
            self._complain_at(block, line, column, what, remedy)

    def _needed_inputs(
        self, written: dict[str, Any], inputs: dict[str, Any], node: Node | None
    ) -> bool:
        """Report draws that begin with an input that is missing, of the wrong kind, or needs them.

        **Arguments:** `written`: the inputs at `node`; `inputs`: these, and those of the lesson,
        which may begin with them.

        **Returns:** whether all is well.
        """
        if not isinstance(node, MappingNode):
            return True
        before = len(self._problems)
        in_circle, circle = circle_in(inputs)
        if in_circle:
            place = next((node.get(name) for name in circle.split() if name in written), None)
            remedy = "let one of them begin with another input, or with none"
            self._complain(place or node, circle, remedy)
            return False
        for name, draws in inputs.items():
            for draw in drawn(draws):
                fault = fault_of(draw, inputs)
                if not fault or not {name, draw.input} & written.keys():
                    continue
                others = inputs.keys() - {name}
                remedy = "change the draw, or the input that it begins with"
                if draw.input not in inputs:
                    remedy = choice(draw.input, others, f"add an input {draw.input!r}")
                if name in written:
                    scalar = next(
                        s for s, one in _each(node.get(name) or node, draws) if one is draw
                    )
                    lead = len(str(scalar.value)) - len(str(scalar.value).lstrip())
                    self._complain_at(
                        scalar,
                        1,
                        lead + draw.column + 1,
                        f"inputs: {draw.function}: {fault}",
                        remedy,
                    )
                else:
                    what = f"inputs: {name!r} begins with {draw.input!r}, but {fault}"
                    self._complain(node.get(draw.input) or node, what, remedy)
        return len(self._problems) == before

    def _no_size(self, node: Node, name: str, column: int) -> None:
        """**Arguments:** `column`: offset of `name` in the scalar's text, from 0."""
        remedy = choice(name, self._lesson.sizes, f"add `sizes: {{{name}: [5, 3]}}`")
        what = f"unknown size {name!r}"
        if isinstance(node, ScalarNode):
            self._complain_at(node, 1, column + 1, what, remedy)
        else:
            self._complain(node, what, remedy)

    def _names(self, check: Check, node: MappingNode, torch: frozenset[str]) -> None:
        """Report names in expressions that are not defined on their side."""
        lesson = self._lesson
        inputs = {**lesson.inputs, **check.inputs}
        expect = node.get("expect")
        found = (
            scalar
            for key, child in node.entries
            if key.value not in Check.__struct_fields__ and child is not expect
            for scalar in scalars_in(child)
        )
        scalars = sorted(found, key=lambda scalar: (scalar.line, scalar.column))
        answers = [expect] if isinstance(expect, ScalarNode) else []
        harness = own_names(lesson.jax_harness) if lesson.jax_harness is not None else {}
        jax_side = {*self._starter, *harness, *inputs, *lesson.sizes, *check.extra_names()}
        jax_side |= JAX_HELPERS | BUILTINS
        torch_side = (
            torch
            | set(lesson.sizes)
            | {name for name, draw in inputs.items() if not holds_key(draw)}
            | check.reference_names()
            | TORCH_HELPERS
            | BUILTINS
        )
        sides = (
            (check.observe(), jax_side, scalars, "the starter does not define"),
            (
                check.refer() or {},
                torch_side,
                answers + scalars,
                "the PyTorch code does not define",
            ),
        )
        for arguments, known, candidates, what in sides:
            for text in texts(arguments):
                scalar = next((s for s in candidates if s.value == text), None)
                try:
                    names = free_names(text)
                except BadPython as error:
                    what = f"{text!r} is not a Python expression: {error}"
                    self._complain(scalar or node, what, EXPRESSION)
                    continue
                for name, (line, column) in names.items():
                    if name in known:
                        continue
                    near = suggested(name, known - BUILTINS)
                    remedy = near or f"define it there, or add an input {name!r}"
                    message = f"{what} {name!r}"
                    if name in inputs:
                        message += "; it is a JAX PRNG key, which PyTorch cannot use"
                        remedy = "add `expect` with an expression that does not use it"
                    elif known is torch_side and scalar and scalar is not expect:
                        message += f"; {near}" if near else ""
                        remedy = "add `expect` with the PyTorch equivalent"
                    if scalar is None:
                        self._complain(node, message, remedy)
                    else:
                        self._complain_at(scalar, line, column, message, remedy)

    def _mistakes(self, titles: set[str]) -> None:
        lesson, node = self._lesson, self._node
        nodes = node.get("mistakes")
        items = nodes.items if isinstance(nodes, SequenceNode) else []
        known = titles | {check.kind for check in lesson.checks} | {LOAD}
        if lesson.survives:
            known.add(Survives.kind)
        for mistake, item in zip(lesson.mistakes, items, strict=True):
            assert isinstance(item, MappingNode)
            if (mistake.code is None) == (mistake.edit is None):
                remedy = "keep one of the two" if mistake.code else "add `edit: {old: new}`"
                self._complain(item, "a mistake must have either `code` or `edit`", remedy)
            self._check_name("fails", mistake.fails, item, known)
        nodes = node.get("failure_hints")
        items = nodes.items if isinstance(nodes, SequenceNode) else []
        for hint, item in zip(lesson.failure_hints, items, strict=True):
            assert isinstance(item, MappingNode)
            self._check_name("fails", hint.fails, item, known)
        if lesson.starter_fails:
            self._check_name("starter_fails", lesson.starter_fails, node, known - {LOAD})

    def _check_name(self, key: str, name: str, node: MappingNode, known: set[str]) -> None:
        if name not in known:
            what = f"{key}: no check named {name!r}"
            self._complain(node.get(key) or node, what, choice(name, known, ""))


def _each(node: Node, draws: "Draws") -> Iterable[tuple[ScalarNode, Draw]]:
    """Yield each draw with its node."""
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
