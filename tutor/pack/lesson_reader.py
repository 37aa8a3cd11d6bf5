"""Reading and validating one lesson."""

import keyword
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from tutor.check import Check
from tutor.checks import kinds, unusable_kinds
from tutor.checks.bounds import parsed as parse_number
from tutor.checks.families import FAMILIES
from tutor.checks.families import parse as parse_distribution
from tutor.checks.held_out import HeldOut
from tutor.checks.learns import REFERENCE
from tutor.checks.predict import Predict, answers_file, only_asks
from tutor.checks.shape import DTYPES, parse_spec
from tutor.checks.survives import Survives, survival, with_survival
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
from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.inputs.datasets import DATASETS
from tutor.inputs.draws import Draw, Draws, drawn, holds_key
from tutor.inputs.draws import parse as parse_draw
from tutor.inputs.examples import parse_call
from tutor.inputs.functions import DrawError, function_named, function_names
from tutor.inputs.order import circle_in, fault_of
from tutor.lesson import ID, MAX_TEXT, Lesson, Mistake
from tutor.pack.problems import BadSource
from tutor.pack.shared_texts import SharedTexts, file_of_text, references
from tutor.pack.struct_reader import EXPRESSION, StructReader, plain, shown
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, walk
from tutor.report import LOAD
from tutor.suggestions import choice, suggested
from tutor.tree import TreeError


class LessonReader(StructReader):
    """Reads one lesson field by field, then validates it as a whole.

    **Arguments:** `texts`: what lines such as `{{name}}` stand for; without it they stay;
    `made_starter`: makes the starter from the solution if the lesson has none.
    """

    def __init__(
        self,
        file: str,
        texts: SharedTexts | None = None,
        made_starter: Callable[[], str | None] = lambda: None,
    ) -> None:
        super().__init__(file)
        self._texts = texts
        self._made_starter = made_starter
        self._specs: list[tuple[Node, str]] = []
        self._datasets: list[str] = [*DATASETS]

    def lesson(self, node: MappingNode, track: str, lesson_id: str) -> Lesson | None:
        before = len(self.problems)
        if isinstance(data := node.get("data"), MappingNode):  # draws may stand before it
            self._datasets += [str(key.value) for key, _ in data.entries]
        lesson: Lesson | None = self.struct(Lesson, node)
        for key in ("torch", "starter"):  # which some lessons leave out
            if node.get(key) is None:
                self.swallowed(key, node, " |")
        for key, expected in (("id", lesson_id), ("track", track)):
            found = node.get(key)
            if isinstance(found, ScalarNode) and found.value != expected:
                what = f"{key}: must be {expected!r}, as in the file's path, got {found.value!r}"
                self.complain(found, what, "change it, or move the file and its manifest entry")
        if lesson is None or len(self.problems) > before:
            return None
        lesson = self._with_starter(lesson)
        if lesson is None:
            return None
        self._validate(lesson, node)
        if len(self.problems) > before:
            return None
        lesson = with_survival(lesson, defined_names(lesson.starter))
        if answers := answers_file(lesson.checks):
            starter = "\n\n".join(part for part in (answers, lesson.starter) if part)
            lesson = msgspec.structs.replace(lesson, starter=starter)
        return lesson

    def _with_starter(self, lesson: Lesson) -> Lesson | None:
        """Return the lesson with a starter made from its solution, if it has none."""
        if lesson.starter or only_asks(lesson):
            return lesson
        try:
            made = self._made_starter()
        except BadSource as error:
            self.problems.append(error.problem)
            return None
        return msgspec.structs.replace(lesson, starter=made or "")

    def misplaced(self, cls: Any, name: str) -> str:
        if cls is Lesson:
            each = (msgspec.structs.fields(kind) for kind in kinds().values())
            fields = {field.encode_name for one in each for field in one}
            of = ["checks"] if name in fields else []
            of += ["mistakes"] if name in Mistake.__struct_fields__ else []
            if of:
                return f"it is a key of {' or '.join(of)}: indent it like the other keys of one"
        elif cls in (Mistake, *kinds().values()) and name in Lesson.__struct_fields__:
            return "it is a key of the lesson: write it without indentation"
        return ""

    # --- fields of lessons ---------------------------------------------------------------

    def read_checks(self, hint: Any, node: Node, name: str) -> Any:
        if not isinstance(node, SequenceNode):
            what = f"checks: must be a list, got {shown(node)}"
            self.complain(node, what, "begin each check with `- `")
            return None
        checks = [self._check(item) for item in node.items]
        if not checks:
            self.complain(node, "checks: must contain at least one check", "add `- value: f(x)`")
        return tuple(check for check in checks if check is not None)

    def _check(self, node: Node) -> Check | None:
        if not isinstance(node, MappingNode):
            what = f"a check must be a mapping, got {shown(node)}"
            self.complain(node, what, "write it like `value: f(x)`")
            return None
        known = kinds()
        named = {str(key.value) for key, _ in node.entries if key.value in known}
        # A field may be called like another kind: `train` has a field `predict`.
        fields = {n for n in named for k in named - {n} if n in known[k].__struct_encode_fields__}
        found = [key for key, _ in node.entries if str(key.value) in named - fields]
        if len(found) != 1:
            if found:
                names = " and ".join(str(key.value) for key in found)
                remedy = "split it into separate checks, each beginning with `- `"
                self.complain(found[1], f"a check must have one kind, got {names}", remedy)
            else:
                broken = unusable_kinds()
                for key, _ in node.entries:
                    if (why := broken.get(str(key.value))) is not None:
                        what = f"the kind {key.value!r} cannot be used: {why}"
                        self.complain(key, what, "install another version of its package")
                        return None
                keys = [str(key.value) for key, _ in node.entries]
                keys = [key for key in keys if key not in Check.__struct_fields__]
                near = next((n for key in keys if (n := suggested(key, known))), "")
                remedy = near or f"the kinds are: {', '.join(known)}"
                self.complain(node, "this check has no kind", remedy)
            return None
        check: Check | None = self.struct(known[str(found[0].value)], node)
        return check

    def read_markdown(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if self._texts is None or not isinstance(text, str) or not isinstance(node, ScalarNode):
            return text
        rows = text.split("\n")
        size = len(text)
        for one in references(text):
            try:
                shared = self._texts.get(one.name)
            except BadSource as error:
                self.problems.append(error.problem)
                continue
            if shared is None:
                what = f"{name}: unknown text {one.name!r}"
                self.complain_at(node, one.line, one.column, what, self._no_text(one.name))
                continue
            size += len(shared)
            if size > MAX_TEXT:
                what = f"{name}: must be at most {MAX_TEXT} characters with its shared texts"
                self.complain_at(node, one.line, one.column, what, "leave a text out")
                break
            added = (f"{one.indent}{row}" if row else row for row in shared.split("\n"))
            rows[one.line - 1] = "\n".join(added)
        return "\n".join(rows)

    def _no_text(self, name: str) -> str:
        """Return a remedy for a line that names a text which does not exist."""
        assert self._texts is not None
        wanted = f"write it to {file_of_text(name)}"
        if not re.match(ID, name):
            wanted = "a text's name consists of lower-case words joined by hyphens"
        return choice(name, self._texts.names, wanted)

    def read_draws(self, hint: Any, node: Node, name: str) -> Any:
        if not isinstance(node, MappingNode):
            what = f"{name}: must be a mapping, got {shown(node)}"
            self.complain(node, what, "write each input on one line, such as `x: normal(7, 5)`")
            return None
        draws = {}
        for key, child in node.entries:
            if not str(key.value).isidentifier():
                remedy = "use letters, digits and _, and begin with a letter"
                self.complain(key, f"{name}: {key.value!r} is not a Python identifier", remedy)
            draws[str(key.value)] = self._draws(child, name)
        return draws

    def _draws(self, node: Node, name: str) -> "Draws | None":
        if isinstance(node, MappingNode):
            return {str(key.value): self._draws(v, name) for key, v in node.entries}  # type: ignore[misc]
        if isinstance(node, SequenceNode):
            return tuple(self._draws(v, name) for v in node.items)  # type: ignore[misc]
        if not isinstance(node.value, str):
            what = f"{name}: must be a draw such as normal(7, 5), got {node.value!r}"
            self.complain(node, what, "for the constant 5, write full(5)")
            return None
        try:
            return parse_draw(node.value, self._datasets)
        except DrawError as error:
            name_of_draw = node.value.strip().partition("(")[0].strip()
            function = function_named(name_of_draw, self._datasets)
            usage = function.usage if function is not None else "normal(B, 3)"
            known = function_names(self._datasets)
            remedy = suggested(name_of_draw, known) if function is None else ""
            if usage in str(error):
                remedy = "add the missing arguments"
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
            self.complain(node, f"{name}: unknown dtype {dtype!r}", remedy)
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

    def read_below(self, hint: Any, node: Node, name: str) -> Any:
        if not (isinstance(node, ScalarNode) and isinstance(node.value, str)):
            return self._convert(hint, node, name)
        remedy = f"write a number, or arithmetic such as {REFERENCE} * 1.1"
        try:
            names = arithmetic.names_of(parse_number(node.value))
        except ArithmeticFault as error:
            self.complain_at(node, 1, error.column + 1, f"{name}: {error}", remedy)
            return None
        for word, column in names.items():
            if word != REFERENCE:
                what = f"{name}: {word!r} is not a number or `{REFERENCE}`"
                self.complain_at(node, 1, column + 1, what, remedy)
        return node.value

    def read_data(self, hint: Any, node: Node, name: str) -> Any:
        text = self._convert(hint, node, name)
        if isinstance(text, str) and isinstance(node, ScalarNode):
            try:
                parse_call(text, self._datasets)
            except DrawError as error:
                remedy = "list a file of the pack under `data` of the lesson, or correct the name"
                self.complain_at(node, 1, error.column + 1, f"{name}: {error}", remedy)
        return text

    def read_axes(self, hint: Any, node: Node, name: str) -> Any:
        for part in [node] if isinstance(node, ScalarNode) else _scalars(node):
            if part.value is not None and type(part.value) is not int:
                what = f"{name}: must be an integer or null, got {part.value!r}"
                self.complain(part, what, "write null where jax.vmap has None")
        return plain(node)

    # --- the lesson as a whole -----------------------------------------------------------

    def _validate(self, lesson: Lesson, node: MappingNode) -> None:
        for key, other in (("torch", ""), ("starter", ", or mark regions in a solution")):
            # What is to be written, unless everything is asked.
            if not only_asks(lesson) and not getattr(lesson, key):
                self.complain(node, f"{key!r} is missing", f"add a line `{key}: …`{other}")
        starter = defined_names(lesson.starter)
        self._questions(lesson, node, starter)
        try:
            torch = defined_names(lesson.reference_code)
        except BadPython as error:  # each is valid alone, but say, an import from __future__
            what = f"harness: invalid Python when appended to `torch`: {error}"
            self.complain(node.get("harness") or node, what, "move it to the top of `torch`")
            return
        self._sizes(lesson, node)
        self._data(lesson, node)
        self._harness(lesson, node, starter)
        self._inputs(lesson.inputs, node.get("inputs"), lesson, starter)
        sound = self._needed_inputs(lesson.inputs, lesson.inputs, node.get("inputs"))
        nodes = node.get("checks")
        assert isinstance(nodes, SequenceNode)
        if all(check.bonus for check in lesson.checks):
            what = "every check is a bonus, so none is required"
            self.complain(nodes, what, "remove `bonus: true` from at least one")
        if all(check.jax for check in lesson.checks):
            what = "every check is for some releases of JAX only"
            self.complain(nodes, what, "remove `jax` from at least one")
        seen: set[str] = set()
        extra: set[str] = set()
        releases: dict[str, str] = {}
        for check, check_node in zip(lesson.checks, nodes.items, strict=True):
            assert isinstance(check_node, MappingNode)
            if check.title in seen:
                what = f"duplicate check name {check.title!r}"
                self.complain(check_node, what, "give this check a unique `name: …`")
            for needed in check.prerequisites:
                if needed not in seen:
                    after = _scalars(check_node.get("after") or check_node)
                    place = next((s for s in after if s.value == needed), None)
                    what = f"after: no earlier check named {needed!r}"
                    remedy = choice(needed, seen, "this is the first check; remove `after`")
                    self.complain(place or check_node, what, remedy)
                elif needed in extra and not check.bonus:
                    what = f"after: {needed!r} is a bonus, so it need not pass"
                    remedy = "make this check a bonus too, or change its `after`"
                    self.complain(check_node.get("after") or check_node, what, remedy)
                elif releases[needed] not in ("", check.jax):
                    what = f"after: {needed!r} is for other releases of JAX ({releases[needed]})"
                    remedy = f'give this check the same `jax: "{releases[needed]}"`'
                    self.complain(check_node.get("after") or check_node, what, remedy)
            seen.add(check.title)
            releases[check.title] = check.jax
            extra.update([check.title] if check.bonus else [])
            self._inputs(check.inputs, check_node.get("inputs"), lesson, starter)
            if sound and check.inputs:
                all_inputs = {**lesson.inputs, **check.inputs}
                self._needed_inputs(check.inputs, all_inputs, check_node.get("inputs"))
            self._names(lesson, check, check_node, starter, torch)
            if isinstance(check, HeldOut):
                self._predictions(check, check_node)
        if lesson.survives and survival(lesson, starter) is None:
            what = "survives: no value check calls a function of the starter with arrays"
            remedy = "add one such as `- value: f(x)`, or write `survives: []`"
            self.complain(node.get("survives") or node, what, remedy)
        self._mistakes(lesson, node, seen)
        timed = {check.title for check in lesson.checks if check.kind == "value"}
        if lesson.timed and lesson.timed not in timed:
            what = f"timed: no value check named {lesson.timed!r}"
            remedy = choice(lesson.timed, timed, "there are no value checks; remove `timed`")
            self.complain(node.get("timed") or node, what, remedy)

    def _questions(self, lesson: Lesson, node: MappingNode, starter: frozenset[str]) -> None:
        """Report questions that cannot be answered in a file, or not by their program."""
        nodes = node.get("checks")
        assert isinstance(nodes, SequenceNode)
        for check, check_node in zip(lesson.checks, nodes.items, strict=True):
            if not isinstance(check, Predict):
                continue
            assert isinstance(check_node, MappingNode)
            name = check_node.get("name") or check_node
            if not check.name.isidentifier() or keyword.iskeyword(check.name):
                what = f"name: must be a Python name for the answer, got {check.name!r}"
                self.complain(name, what, "use letters, digits and _, such as y_shape")
            elif check.name in starter:
                what = f"name: the starter defines {check.name!r}, too"
                self.complain(name, what, "rename the question")
            if check.gives in ("shape", "value", "compiles") and not check.of:
                what = f"`gives: {check.gives}` needs an expression"
                self.complain(check_node, what, "add `of: …`, such as `of: f(x)`")
            if (check.gives == "choice") != (len(check.choices) > 1):
                what = "choices: must be two or more with `gives: choice`, and absent otherwise"
                remedy = "write `statement: expression` lines, of which one is true"
                self.complain(check_node.get("choices") or check_node, what, remedy)
            known = defined_names(check.program) | JAX_HELPERS | BUILTINS
            texts_in = [check_node.get("of"), *_scalars(check_node.get("choices") or name)]
            for scalar in texts_in:
                if isinstance(scalar, ScalarNode) and scalar is not name:
                    self._known_names(scalar, known)

    def _known_names(self, scalar: ScalarNode, known: frozenset[str]) -> None:
        for name, (line, column) in free_names(str(scalar.value)).items():
            if name not in known:
                what = f"the program does not define {name!r}"
                remedy = suggested(name, known - BUILTINS) or "define it there"
                self.complain_at(scalar, line, column, what, remedy)

    def _sizes(self, lesson: Lesson, node: MappingNode) -> None:
        sizes = node.get("sizes")
        for name, candidates in lesson.sizes.items():
            if candidates == () and isinstance(sizes, MappingNode):
                remedy = f"write {name}: 5, or {name}: [5, 3] to draw from"
                self.complain(sizes.get(name) or sizes, f"sizes: {name!r} has no values", remedy)
        for spec, name in self._specs:
            if name not in lesson.sizes:
                text = str(spec.value) if isinstance(spec, ScalarNode) else ""
                found = re.search(rf"[\[(].*?\b({name})\b", text) or re.search(
                    rf"\b({name})\b", text
                )
                self._no_size(spec, name, lesson, found.start(1) if found else 0)

    def _data(self, lesson: Lesson, node: MappingNode) -> None:
        """Report data sets whose names mean something else, and parts that no file has."""
        data = node.get("data")
        inputs = {*lesson.inputs, *(name for check in lesson.checks for name in check.inputs)}
        taken = dict.fromkeys(inputs, "an input")
        taken |= dict.fromkeys(lesson.sizes, "a size")
        taken |= dict.fromkeys(function_names(), "a draw")
        for key, child in data.entries if isinstance(data, MappingNode) else ():
            name = str(key.value)
            file = lesson.data[name]
            if not name.isidentifier() or keyword.iskeyword(name):
                what = f"data: {name!r} is not a Python identifier"
                self.complain(key, what, "use letters, digits and _, and begin with a letter")
            elif name in taken:
                what = f"data: {name!r} is already the name of {taken[name]}"
                self.complain(key, what, "rename the data set")
            if file.file.endswith(".npz") and not isinstance(file.x, str):
                assert isinstance(child, MappingNode)
                what = "x: must name one array of the archive, got a list"
                self.complain(child.get("x") or child, what, f"write x: {file.x[0]}")

    def _predictions(self, check: HeldOut, node: MappingNode) -> None:
        """Report fields of a check that trains which need each other."""
        given = [key for key in ("predict", "accuracy", "error", "held_out") if node.get(key)]
        wanted = [key for key in given if key in ("accuracy", "error")]
        where = node.get(given[0]) if given else node
        assert where is not None
        if not check.data:
            if given:
                what = f"`{given[0]}` needs examples"
                self.complain(where, what, "add `data: …`, such as `data: digits`")
        elif len(wanted) > 1:
            what = "`accuracy` is for classes, `error` for decimal targets"
            self.complain(where, what, "keep one of the two")
        elif given and "predict" not in given:
            what = f"`{given[0]}` needs predictions"
            self.complain(where, what, "add `predict: …`, such as `predict: scores(trained, x)`")
        elif given and not wanted:
            what = "nothing is asked of the predictions"
            remedy = "add `accuracy: 0.9` for classes, or `error: 0.1` for decimal targets"
            self.complain(where, what, remedy)

    def _inputs(
        self, draws: dict[str, Any], node: Node | None, lesson: Lesson, starter: frozenset[str]
    ) -> None:
        for name, draw in draws.items():
            draw_node = node.get(name) if isinstance(node, MappingNode) else None
            assert draw_node is not None
            for scalar, one in _each(draw_node, draw):
                for size, column in one.columns.items():
                    if size not in lesson.sizes:
                        lead = len(str(scalar.value)) - len(str(scalar.value).lstrip())
                        self._no_size(scalar, size, lesson, lead + column)
            if name in starter:
                what = f"the input {name!r} shadows the starter's {name!r}"
                self.complain(draw_node, what, "rename the input")
            if name in JAX_HELPERS | TORCH_HELPERS:
                what = f"the name {name!r} is reserved in expressions"
                self.complain(draw_node, what, "rename the input")

    def _harness(self, lesson: Lesson, node: MappingNode, starter: frozenset[str]) -> None:
        """Report names of `jax_harness` that mean something else in expressions, and names that it
        does not know."""
        block = node.get("jax_harness")
        if lesson.jax_harness is None or not isinstance(block, ScalarNode):
            return
        draws = {*lesson.inputs, *(name for check in lesson.checks for name in check.inputs)}
        taken = dict.fromkeys(JAX_HELPERS | BUILTINS, "reserved in expressions")
        taken |= dict.fromkeys((n for c in lesson.checks for n in c.extra_names()), "a check's own")
        taken |= dict.fromkeys(lesson.sizes, "the name of a size")
        taken |= dict.fromkeys(draws, "the name of an input")
        taken |= dict.fromkeys(starter, "a name of the starter")
        for name, (line, column) in own_names(lesson.jax_harness).items():
            if name in taken:
                what = f"jax_harness: {name!r} is {taken[name]}"
                self.complain_at(block, line, column, what, "rename it")
        for name, (line, column) in undefined_names(lesson.jax_harness).items():
            remedy = f"import or define {name}"
            if name in own_names(lesson.starter):
                remedy = "pass the learner's function as an argument"
            what = f"jax_harness: {name!r} is not defined"
            self.complain_at(block, line, column, what, remedy)

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
        before = len(self.problems)
        in_circle, circle = circle_in(inputs)
        if in_circle:
            place = next((node.get(name) for name in circle.split() if name in written), None)
            remedy = "let one of them begin with another input, or with none"
            self.complain(place or node, circle, remedy)
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
                    self.complain_at(
                        scalar,
                        1,
                        lead + draw.column + 1,
                        f"inputs: {draw.function}: {fault}",
                        remedy,
                    )
                else:
                    what = f"inputs: {name!r} begins with {draw.input!r}, but {fault}"
                    self.complain(node.get(draw.input) or node, what, remedy)
        return len(self.problems) == before

    def _no_size(self, node: Node, name: str, lesson: Lesson, column: int) -> None:
        """**Arguments:** `column`: offset of `name` in the scalar's text, from 0."""
        remedy = choice(name, lesson.sizes, f"add `sizes: {{{name}: [5, 3]}}`")
        what = f"unknown size {name!r}"
        if isinstance(node, ScalarNode):
            self.complain_at(node, 1, column + 1, what, remedy)
        else:
            self.complain(node, what, remedy)

    def _names(
        self,
        lesson: Lesson,
        check: Check,
        node: MappingNode,
        starter: frozenset[str],
        torch: frozenset[str],
    ) -> None:
        """Report names in expressions that are not defined on their side."""
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
        harness = own_names(lesson.jax_harness) if lesson.jax_harness is not None else {}
        jax_side = {*starter, *harness, *inputs, *lesson.sizes, *check.extra_names()}
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
                    self.complain(scalar or node, what, EXPRESSION)
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
                        self.complain(node, message, remedy)
                    else:
                        self.complain_at(scalar, line, column, message, remedy)

    def _mistakes(self, lesson: Lesson, node: MappingNode, titles: set[str]) -> None:
        nodes = node.get("mistakes")
        items = nodes.items if isinstance(nodes, SequenceNode) else []
        known = titles | {check.kind for check in lesson.checks} | {LOAD}
        if lesson.survives:
            known.add(Survives.kind)
        for mistake, item in zip(lesson.mistakes, items, strict=True):
            assert isinstance(item, MappingNode)
            if (mistake.code is None) == (mistake.edit is None):
                remedy = "keep one of the two" if mistake.code else "add `edit: {old: new}`"
                self.complain(item, "a mistake must have either `code` or `edit`", remedy)
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
            self.complain(node.get(key) or node, what, choice(name, known, ""))


def _dimension(node: Node) -> bool:
    """Return whether a node is a number or a size's name, as in `[B, 3]`."""
    return isinstance(node, ScalarNode) and (
        type(node.value) is int or (isinstance(node.value, str) and node.value.isidentifier())
    )


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


def _scalars(node: Node) -> Iterable[ScalarNode]:
    return (part for part in walk(node) if isinstance(part, ScalarNode))
