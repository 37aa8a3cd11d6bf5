"""What could be better in a lesson that can be used as it is.

Each remark is one function over a `Page`, named by the code that authors see.
"""

import re
import textwrap
from collections.abc import Callable, Iterator

from msgspec import Struct

from tutor.authoring.lint_rules_on_checks import (
    concluded_inside,
    evidence_alone,
    expect_without_torch,
    gradient_unasked,
    no_comparison,
    no_survives,
    no_why,
)
from tutor.authoring.lint_rules_on_inputs import (
    all_sizes_different,
    equal_sizes,
    fixed_bound,
    fixed_size,
    never_square,
    one_step,
    small_inputs,
    unused_input,
    unused_size,
)
from tutor.authoring.page import Page, Said
from tutor.pack.yaml_nodes import Node, ScalarNode, walk

CODE_COLUMNS = 71
"""What of a line of code can be seen in a terminal of 80 columns; it is not wrapped."""

TEXT_COLUMNS = 76
BRIEF_LINES = 60
"""Three screens of a terminal of 24 lines, less its title and footer."""

HINTS = 3
WORDS = 4
"""Characters: fewer of what a mistake is told would be found in any message."""


class Found(Struct, frozen=True):
    """A remark, without the file."""

    code: str
    place: tuple[int, int]
    message: str
    remedy: str


def remarks_on(page: Page) -> Iterator[Found]:
    """All that there is to remark."""
    seen = set()
    for code, look in REMARKS.items():
        for where, message, remedy in look(page):
            place = where if isinstance(where, tuple) else (where.line, where.column)
            if (code, place, message) not in seen:
                yield Found(code, place, message, remedy)
            seen.add((code, place, message))


# --- the file ------------------------------------------------------------------------------


def no_schema(page: Page) -> Iterator[Said]:
    first = page.text.partition("\n")[0]
    if not re.match(r"#\s*yaml-language-server:\s*\$schema=", first):
        remedy = "begin it with: # yaml-language-server: $schema=../schema/lesson.json"
        yield (1, 1), "the first line does not name the schema, so editors cannot help", remedy
    elif page.schema is False:
        remedy = f"run: python -m tutor.pack.schema {page.root / 'schema'}"
        yield (1, 1), "the schema in the pack is not that of this jaxtutor", remedy


def unwritten(page: Page) -> Iterator[Said]:
    for node in walk(page.node):
        if isinstance(node, ScalarNode) and (at := str(node.value).find("TODO")) >= 0:
            before = str(node.value)[:at]
            place = node.position(before.count("\n") + 1, at - before.rfind("\n"))
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
    assert isinstance(node, ScalarNode)
    message = f"{len(row)} columns of code; a terminal of 80 shows {CODE_COLUMNS}"
    return node.position(number, CODE_COLUMNS + 1), message, "break the line"


def few_hints(page: Page) -> Iterator[Said]:
    if (count := len(page.lesson.hints)) < HINTS:
        noun = "hint" if count == 1 else "hints"
        yield page.at("hints"), f"{count} {noun}", f"give {HINTS}, from a nudge to nearly there"


# --- mistakes ------------------------------------------------------------------------------


def no_mistakes(page: Page) -> Iterator[Said]:
    if not page.lesson.mistakes:
        remedy = "add wrong answers that people give, and what they must be told"
        yield page.at("id"), "there are no `mistakes`", remedy


def few_words(page: Page) -> Iterator[Said]:
    for number, mistake in enumerate(page.lesson.mistakes):
        if all(len(words) < WORDS for words in mistake.expected_texts):
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
    "fixed-size": fixed_size,
    "fixed-bound": fixed_bound,
    "all-sizes-different": all_sizes_different,
    "never-square": never_square,
    "one-step": one_step,
    "small-inputs": small_inputs,
    "no-why": no_why,
    "no-comparison": no_comparison,
    "expect-without-torch": expect_without_torch,
    "concluded-inside": concluded_inside,
    "evidence-alone": evidence_alone,
    "gradient-unasked": gradient_unasked,
    "no-survives": no_survives,
    "no-mistakes": no_mistakes,
    "few-words": few_words,
    "edit-misses": edit_misses,
}
"""By code."""
