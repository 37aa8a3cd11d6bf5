"""What could be better in a lesson that can be used as it is.

Each remark is one function over a `Page`, named by the code that authors see.
"""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from tutor.expressions import TORCH_HELPERS, defined_names, free_names, texts
from tutor.inputs import Draw, Draws, names_in
from tutor.lesson import Lesson
from tutor.pack.source import Mapping, Node, Scalar, Sequence, walk
from tutor.pack.structs import plain
from tutor.planning import used_inputs

CODE_COLUMNS = 71
"""What of a line of code can be seen in a terminal of 80 columns; it is not wrapped."""

TEXT_COLUMNS = 76
BRIEF_LINES = 60
"""Three screens of a terminal of 24 lines, less its title and footer."""

HINTS = 3
NO_AXES = {"integers": 2, "full": 1}
"""How many arguments of a draw come before its shape."""

WORDS = 4
"""Characters: fewer of what a mistake is told would be found in any message."""


class Page(Struct, frozen=True):
    """A lesson and how it is written down.

    `solution`: the pack's own, None if it has none; `schema`: whether the schema that lies in the
    pack at `root` is that of this version, None if there is none.
    """

    lesson: Lesson
    node: Mapping
    text: str
    solution: str | None
    root: Path
    schema: bool | None

    def at(self, *path: str | int) -> Node:
        """The node at a path of keys and numbers, as far as there is one."""
        found: Node = self.node
        for step in path:
            below: Node | None = None
            if isinstance(found, Mapping) and isinstance(step, str):
                below = found.get(step)
            elif isinstance(found, Sequence) and isinstance(step, int):
                below = found.items[step]
            if below is None:
                break
            found = below
        return found


class Found(Struct, frozen=True):
    """A remark, without the file."""

    code: str
    place: tuple[int, int]
    message: str
    remedy: str


Said = tuple[Node | tuple[int, int], str, str]
"""Where, what, and what to do about it."""


def remarks_on(page: Page) -> Iterator[Found]:
    """All that there is to remark."""
    for code, look in REMARKS.items():
        for where, message, remedy in look(page):
            place = where if isinstance(where, tuple) else (where.line, where.column)
            yield Found(code, place, message, remedy)


# --- the file ------------------------------------------------------------------------------


def no_schema(page: Page) -> Iterator[Said]:
    first = page.text.partition("\n")[0]
    if not re.match(r"#\s*yaml-language-server:\s*\$schema=", first):
        remedy = "begin it with: # yaml-language-server: $schema=../schema/lesson.json"
        yield (1, 1), "the first line does not name the schema, so editors cannot help", remedy
    elif page.schema is False:
        remedy = f"run: python -m tutor.schema {page.root / 'schema'}"
        yield (1, 1), "the schema in the pack is not that of this jaxtutor", remedy


def unwritten(page: Page) -> Iterator[Said]:
    for node in walk(page.node):
        if isinstance(node, Scalar) and (at := str(node.value).find("TODO")) >= 0:
            before = str(node.value)[:at]
            place = node.place(before.count("\n") + 1, at - before.rfind("\n"))
            yield place, "something is still to be written", "write it, and take TODO away"


def no_solution(page: Page) -> Iterator[Said]:
    if page.solution is None:
        lesson = page.lesson
        remedy = f"write solutions/{lesson.track}/{lesson.id}.py, and `pack test` runs it"
        yield page.at("id"), "there is no solution", remedy


# --- what is read --------------------------------------------------------------------------


def long_brief(page: Page) -> Iterator[Said]:
    rows = page.lesson.brief.splitlines()
    count = sum(max(1, len(textwrap.wrap(row, TEXT_COLUMNS))) for row in rows)
    if count > BRIEF_LINES:
        message = f"the brief takes {count} lines of a terminal of 80 columns and 24 lines"
        yield page.at("brief"), message, f"keep to the one idea: at most {BRIEF_LINES} lines"


def wide_code(page: Page) -> Iterator[Said]:
    fenced = False
    for number, row in enumerate(page.lesson.brief.splitlines(), start=1):
        fenced ^= row.lstrip().startswith("```")
        if fenced and len(row) > CODE_COLUMNS:
            yield _wide(page.at("brief"), number, row)
    for number, row in enumerate(page.lesson.torch.splitlines(), start=1):
        if len(row) > CODE_COLUMNS:
            yield _wide(page.at("torch"), number, row)


def _wide(node: Node, number: int, row: str) -> Said:
    assert isinstance(node, Scalar)
    message = f"{len(row)} columns of code; a terminal of 80 shows {CODE_COLUMNS}"
    return node.place(number, CODE_COLUMNS + 1), message, "break the line"


def few_hints(page: Page) -> Iterator[Said]:
    if (count := len(page.lesson.hints)) < HINTS:
        noun = "hint" if count == 1 else "hints"
        yield page.at("hints"), f"{count} {noun}", f"give {HINTS}, from a nudge to nearly there"


# --- inputs --------------------------------------------------------------------------------


def unused_input(page: Page) -> Iterator[Said]:
    lesson = page.lesson
    used: set[str] = set()
    for number, check in enumerate(lesson.checks):
        known = {**lesson.inputs, **check.inputs}
        found = used_inputs(check, known)
        for name in check.inputs.keys() - found:
            yield _unused(page.at("checks", number, "inputs", name), name, "this check does not")
        used |= found - check.inputs.keys()
    for name in lesson.inputs.keys() - used:
        yield _unused(page.at("inputs", name), name, "no check does")


def _unused(place: Node, name: str, who: str) -> Said:
    return place, f"the input {name!r} is drawn, but {who} use it", "use it, or take it out"


def unused_size(page: Page) -> Iterator[Said]:
    lesson = page.lesson
    used = set(names_in(lesson.inputs))
    for number, check in enumerate(lesson.checks):
        used |= names_in(check.inputs)
        node = page.at("checks", number)
        if isinstance(node, Mapping) and (spec := node.get("is")) is not None:
            dimensions = plain(spec)
            used |= {word for text in texts(dimensions) for word in re.findall(r"\w+", text)}
    for name in lesson.sizes.keys() - used:
        message = f"the size {name!r} is used by no input and no `is`"
        yield page.at("sizes", name), message, "use it, or take it out"


def equal_sizes(page: Page) -> Iterator[Said]:
    """Where two axes may be equal, a transposed answer has the right shape."""
    lesson = page.lesson
    pairs = {
        pair
        for draw in lesson.inputs.values()
        for one in _leaves(draw)
        for pair in combinations(sorted(set(_axes(one))), 2)
    }
    for first, second in sorted(pairs & {*combinations(sorted(lesson.sizes), 2)}):
        if both := _candidates(lesson.sizes[first]) & _candidates(lesson.sizes[second]):
            message = f"the sizes {first!r} and {second!r} can both be {min(both)}"
            remedy = "choose others: a transposed square has the right shape"
            yield page.at("sizes", second), message, remedy


def _axes(draw: Draw) -> list[str]:
    """The axes of an array that are a size each."""
    axes = draw.arguments[NO_AXES.get(draw.function, 0) :]
    return [axis.id for axis in axes if isinstance(axis, ast.Name)]


def _leaves(draws: Draws) -> Iterator[Draw]:
    if isinstance(draws, Draw):
        yield draws
    else:
        for child in draws.values() if isinstance(draws, dict) else draws:
            yield from _leaves(child)


def _candidates(size: int | tuple[int, ...]) -> set[int]:
    return {size} if isinstance(size, int) else {*size}


# --- checks --------------------------------------------------------------------------------


def no_why(page: Page) -> Iterator[Said]:
    for number, check in enumerate(page.lesson.checks):
        if not check.why:
            message = f"the check {check.title!r} does not say why"
            remedy = "add `why: …`, which is told to who fails it"
            yield page.at("checks", number), message, remedy


def no_comparison(page: Page) -> Iterator[Said]:
    """What only the learner's own process can see is evidence, and no more."""
    checks = page.lesson.checks
    if not any(check.refer() is not None or check.kind == "train" for check in checks):
        message = "no check compares anything with the PyTorch"
        yield page.at("checks"), message, "add a `value:` check; the others can be outwitted"


def expect_without_torch(page: Page) -> Iterator[Said]:
    lesson = page.lesson
    names = defined_names(lesson.reference_code) | TORCH_HELPERS - {"np", "math"}
    for number, _ in enumerate(lesson.checks):
        node = page.at("checks", number, "expect")
        if not isinstance(node, Scalar):
            continue
        # What is not computed, be it True, a shape or an input as it is, needs no PyTorch.
        expect = str(node.value)
        used = free_names(expect).keys()
        if used & lesson.inputs.keys() and not used & names and not expect.isidentifier():
            message = "`expect` uses nothing of the PyTorch"
            remedy = "call what `torch:` defines, so that the lesson's PyTorch is the reference"
            yield node, message, remedy


# --- mistakes ------------------------------------------------------------------------------


def no_mistakes(page: Page) -> Iterator[Said]:
    if not page.lesson.mistakes:
        remedy = "add wrong answers that people give, and what they must be told"
        yield page.at("id"), "there are no `mistakes`", remedy


def few_words(page: Page) -> Iterator[Said]:
    for number, mistake in enumerate(page.lesson.mistakes):
        if all(len(words) < WORDS for words in mistake.promised):
            message = f"the mistake {mistake.name!r} promises next to no words"
            remedy = "say in `says` what the learner must read"
            yield page.at("mistakes", number, "says"), message, remedy


def edit_misses(page: Page) -> Iterator[Said]:
    for number, mistake in enumerate(page.lesson.mistakes):
        if page.solution is not None:
            try:
                mistake.applied_to(page.solution)
            except ValueError as error:
                remedy = "write a text that stands there once, such as a whole line"
                yield page.at("mistakes", number, "edit"), str(error), remedy


REMARKS: dict[str, Callable[[Page], Iterator[Said]]] = {
    "no-schema": no_schema,
    "unwritten": unwritten,
    "no-solution": no_solution,
    "long-brief": long_brief,
    "wide-code": wide_code,
    "few-hints": few_hints,
    "unused-input": unused_input,
    "unused-size": unused_size,
    "equal-sizes": equal_sizes,
    "no-why": no_why,
    "no-comparison": no_comparison,
    "expect-without-torch": expect_without_torch,
    "no-mistakes": no_mistakes,
    "few-words": few_words,
    "edit-misses": edit_misses,
}
"""By code."""
