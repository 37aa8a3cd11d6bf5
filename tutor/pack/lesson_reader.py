"""Reading and validating one lesson."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from tutor.check import Check
from tutor.checks import kinds, unusable_kinds
from tutor.checks.bounds import parsed as parse_number
from tutor.checks.families import FAMILIES
from tutor.checks.families import parse as parse_distribution
from tutor.checks.learns import REFERENCE
from tutor.checks.predict import answers_file, only_asks
from tutor.checks.shape import DTYPES, parse_spec
from tutor.checks.survives import with_survival
from tutor.expressions import defined_names
from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.inputs.datasets import DATASETS
from tutor.inputs.drawing import DrawError
from tutor.inputs.draws import Draws
from tutor.inputs.draws import parse as parse_draw
from tutor.inputs.examples import parse_call
from tutor.inputs.functions import function_named, function_names
from tutor.lesson import ID, MAX_TEXT, Lesson, Mistake
from tutor.pack.lesson_validator import LessonValidator
from tutor.pack.problems import BadSource
from tutor.pack.shared_texts import SharedTexts, file_of_text, references
from tutor.pack.struct_reader import StructReader, plain, shown
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, scalars_in
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
        LessonValidator(self, lesson, node, self._specs).validate()
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
        for part in [node] if isinstance(node, ScalarNode) else scalars_in(node):
            if part.value is not None and type(part.value) is not int:
                what = f"{name}: must be an integer or null, got {part.value!r}"
                self.complain(part, what, "write null where jax.vmap has None")
        return plain(node)


def _dimension(node: Node) -> bool:
    """Return whether a node is a number or a size's name, as in `[B, 3]`."""
    return isinstance(node, ScalarNode) and (
        type(node.value) is int or (isinstance(node.value, str) and node.value.isidentifier())
    )
