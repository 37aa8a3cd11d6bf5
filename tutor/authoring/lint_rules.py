"""Rules for lessons that load but could be better, and for the texts that these share.

Each rule is a function over a `Page`; authors see its name as the code of its remarks.
"""

import re
import textwrap
from collections.abc import Callable, Iterator

from tutor.authoring import lint_rules_on_checks as checks
from tutor.authoring import lint_rules_on_inputs as inputs
from tutor.authoring.page import Finding, Page, Remark
from tutor.authoring.proofs import FILE, command
from tutor.checks.predict import only_asks
from tutor.pack.folder import Folder
from tutor.pack.problems import BadSource
from tutor.pack.shared_texts import FOLDER, SharedTexts, file_of_text, in_code
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import Node, ScalarNode, SequenceNode, walk

CODE_COLUMNS = 71
"""Columns of code that a terminal of 80 shows; code is not wrapped."""

TEXT_COLUMNS = 76
BRIEF_LINES = 60
"""Three screens of a terminal of 24 lines, less its title and footer."""

HINTS = 3
WORDS = 4
"""Characters: a shorter text in `says` would be found in any message."""


def remarks_on(page: Page, file: str) -> set[Remark]:
    """Return the remarks of all rules on a lesson in a file."""
    found = set()
    for code, rule in RULES.items():
        for where, message, remedy in rule(page):
            position = where if isinstance(where, tuple) else (where.line, where.column)
            found.add(Remark(file, *position, code, message, remedy))
    return found


# --- texts that lessons share ----------------------------------------------------------------


def remarks_on_texts(folder: Folder, texts: SharedTexts, *, all_read: bool) -> Iterator[Remark]:
    """Yield remarks on the texts of a pack.

    **Arguments:** `texts`: with the names that lessons use; `all_read`: whether every lesson has
    been read.
    """
    names = texts.names
    for path in sorted((folder.root / FOLDER).glob("*.md")):
        start = folder.shown(f"{FOLDER}/{path.name}"), 1, 1, "unused-text"
        if path.stem not in names:
            message = "this name cannot be used in a lesson"
            remedy = "use lower-case words joined by hyphens, such as reading-shapes.md"
            yield Remark(*start, message, remedy)
        elif all_read and path.stem not in texts.used:
            remedy = f"write {{{{{path.stem}}}}} on a line of a lesson, or delete it"
            yield Remark(*start, "no lesson uses this text", remedy)
    for name in sorted(texts.used):
        yield from _remarks_on_text(folder.shown(file_of_text(name)), texts, name)


def _remarks_on_text(file: str, texts: SharedTexts, name: str) -> Iterator[Remark]:
    try:
        text = texts.get(name) or ""
    except BadSource:
        return  # reported as a problem of the lesson
    if (at := text.find("TODO")) >= 0:
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        remedy = "write it, and remove the TODO"
        yield Remark(file, line, column, "unwritten", "a TODO is left", remedy)
    for number, row in _wide_rows(text):
        message = _too_wide(row)
        yield Remark(file, number, CODE_COLUMNS + 1, "wide-code", message, "break the line")


# --- the file ------------------------------------------------------------------------------


def no_schema(page: Page) -> Iterator[Finding]:
    first = page.text.partition("\n")[0]
    if not re.match(r"#\s*yaml-language-server:\s*\$schema=", first):
        remedy = "begin it with: # yaml-language-server: $schema=../schema/lesson.json"
        yield (1, 1), "the first line does not name the schema, so editors cannot help", remedy
    elif page.schema is False:
        remedy = f"run: python -m tutor.pack.schema {page.root / 'schema'}"
        yield (1, 1), "the pack's schema is from another version of jaxtutor", remedy


def unwritten(page: Page) -> Iterator[Finding]:
    for node in walk(page.node):
        if isinstance(node, ScalarNode) and (at := str(node.value).find("TODO")) >= 0:
            before = str(node.value)[:at]
            position = node.position(before.count("\n") + 1, at - before.rfind("\n"))
            yield position, "a TODO is left", "write it, and remove the TODO"


def no_solution(page: Page) -> Iterator[Finding]:
    if page.solution is None:
        lesson = page.lesson
        remedy = f"write solutions/{lesson.track}/{lesson.id}.py for `pack test` to run"
        yield page.at("id"), "there is no solution", remedy


def two_starters(page: Page) -> Iterator[Finding]:
    if page.marked and (node := page.node.get("starter")) is not None:
        message = "the solution marks regions, too, but this `starter` counts"
        yield node, message, "remove `starter`, or the markers from the solution"


def stale_proof(page: Page) -> Iterator[Finding]:
    if page.proof == "stale":
        message = "the lesson, its solution or a variant has changed since it was proved"
        yield page.at("id"), message, f"run: {command(page.root, page.lesson.id)}"


def unproven(page: Page) -> Iterator[Finding]:
    if page.proof == "unproven":
        remedy = f"run: {command(page.root, page.lesson.id)}"
        yield page.at("id"), f"{FILE} has no proof of this lesson", remedy


# --- texts ---------------------------------------------------------------------------------


def long_brief(page: Page) -> Iterator[Finding]:
    rows = page.lesson.brief.splitlines()
    count = sum(max(1, len(textwrap.wrap(row, TEXT_COLUMNS))) for row in rows)
    if count > BRIEF_LINES:
        message = f"the brief takes {count} lines in a terminal of 80 columns"
        yield page.at("brief"), message, f"keep to one idea: at most {BRIEF_LINES} lines"


def wide_code(page: Page) -> Iterator[Finding]:
    brief = page.at("brief")  # as written, without the texts that it shares with other lessons
    assert isinstance(brief, ScalarNode)
    for number, row in _wide_rows(str(brief.value)):
        yield _wide(brief, number, row)
    for number, row in enumerate(page.lesson.torch.splitlines(), start=1):
        if len(row) > CODE_COLUMNS:
            yield _wide(page.at("torch"), number, row)


def _wide_rows(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of code in Markdown that are too wide, with their numbers from 1."""
    rows = zip(markdown.split("\n"), in_code(markdown), strict=True)
    for number, (row, code) in enumerate(rows, start=1):
        if code and len(row) > CODE_COLUMNS:
            yield number, row


def _too_wide(row: str) -> str:
    return f"{len(row)} columns of code; a terminal of 80 columns shows {CODE_COLUMNS}"


def _wide(node: Node, number: int, row: str) -> Finding:
    assert isinstance(node, ScalarNode)
    return node.position(number, CODE_COLUMNS + 1), _too_wide(row), "break the line"


def few_hints(page: Page) -> Iterator[Finding]:
    if (count := len(page.lesson.hints)) < HINTS:
        noun = "hint" if count == 1 else "hints"
        yield page.at("hints"), f"{count} {noun}", f"give {HINTS}, from a nudge to nearly there"


# --- mistakes ------------------------------------------------------------------------------


def no_mistakes(page: Page) -> Iterator[Finding]:
    if not page.lesson.mistakes and not only_asks(page.lesson):
        remedy = "add wrong answers that people give, and the messages that they must see"
        yield page.at("id"), "there are no `mistakes`", remedy


def few_words(page: Page) -> Iterator[Finding]:
    for number, mistake in enumerate(page.lesson.mistakes):
        if all(len(words) < WORDS for words in mistake.expected_texts):
            message = f"the mistake {mistake.name!r} promises almost no text"
            remedy = "put what the learner must read in `says`"
            yield page.at("mistakes", number, "says"), message, remedy


def unoffered_hint(page: Page) -> Iterator[Finding]:
    kinds = {check.title: check.kind for check in page.lesson.checks}

    def failing(fails: str) -> set[str]:
        return {title for title, kind in kinds.items() if fails in (title, kind)} or {fails}

    mistakes = page.at("mistakes")  # as written, with those for other releases of JAX
    items = plain(mistakes) if isinstance(mistakes, SequenceNode) else []
    tried = set[str]().union(*(failing(mistake["fails"]) for mistake in items))
    hints = page.lesson.failure_hints
    for number, hint in enumerate(hints):
        where = page.at("failure_hints", number, "fails")
        if not failing(hint.fails) & tried:
            message = f"no mistake fails at {hint.fails!r}, so nothing shows that this is offered"
            yield where, message, "add a mistake that learners make there"
        said = "\n".join(hint.expected_texts)
        for before, other in enumerate(hints[:number], 1):
            fits = failing(hint.fails) <= failing(other.fails)
            if fits and all(text in said for text in other.expected_texts):
                message = f"failure hint {before} fits whenever this one does, and comes first"
                yield where, message, f"move it before failure hint {before}"
                break


def edit_misses(page: Page) -> Iterator[Finding]:
    for number, mistake in enumerate(page.lesson.mistakes):
        if page.solution is not None:
            try:
                mistake.applied_to(page.solution)
            except ValueError as error:
                remedy = "use a text that occurs there once, such as a whole line"
                yield page.at("mistakes", number, "edit"), str(error), remedy


_RULES: tuple[Callable[[Page], Iterator[Finding]], ...] = (
    no_schema, unwritten, no_solution, two_starters, stale_proof, unproven, long_brief, wide_code,
    few_hints, no_mistakes, few_words, unoffered_hint, edit_misses,
    inputs.cannot_be_drawn, inputs.unused_input, inputs.unused_size, inputs.unused_data,
    inputs.equal_sizes, inputs.fixed_size, inputs.fixed_bound, inputs.never_square,
    inputs.all_sizes_different, inputs.one_step, inputs.small_inputs,
    checks.no_why, checks.cannot_fail, checks.never_applies, checks.no_comparison,
    checks.expect_without_torch, checks.concluded_inside, checks.evidence_alone,
    checks.names_in_keys, checks.constant_in_jit, checks.asks_nothing, checks.promise_unchecked,
    checks.gradient_unasked,
    checks.no_survives, checks.repeated_check, checks.compiled_anew,
)  # fmt: skip

RULES = {rule.__name__.replace("_", "-"): rule for rule in _RULES}
"""By code."""
