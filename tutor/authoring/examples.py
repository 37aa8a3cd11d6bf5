"""Examples in a lesson's texts: blocks of Python, which must give what the text says they give.

A text says so in a comment after a statement, or in a block of plain text below the Python:

    ```python
    x = jnp.zeros(3)
    x + 1     # [1. 1. 1.]
    x[0] = 5  # TypeError: JAX arrays are immutable…
    print(x.shape)
    ```

    ```text
    (3,)
    ```

A comment counts if it follows an expression, or begins with the class of an exception or warning.
`…` stands for any text.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from tutor.engine.references import LIMITS
from tutor.lesson import Lesson
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Sandbox
from tutor.sandbox.protocol import Answer, Broken, Observe
from tutor.tree import Tree, TreeError, entry, items, text

_INSIDE = "tutor.checks.inside.examples"
_PYTHON, _OUTPUT = "python", "text"
_EXCEPTION = re.compile(r"(\w+\.)*\w*(Error|Exception|Warning)\b")


class Example(Struct, frozen=True):
    """A block of Python, and the plain text below it, if there is any. `line` counts from 1 within
    the text that it is from."""

    code: str
    line: int
    output: str | None = None


class Mismatch(Struct, frozen=True):
    """An example that does not give what its text says. `field`: the field of the lesson."""

    field: str
    line: int
    message: str


def examples(markdown: str) -> list[Example]:
    """Return the examples of a Markdown text, in order."""
    tokens = MarkdownIt().parse(markdown)
    found: list[Example] = []
    for number, token in enumerate(tokens):
        if _is_fence(token, _PYTHON) and token.map is not None:
            shows = number + 1 < len(tokens) and _is_fence(tokens[number + 1], _OUTPUT)
            output = tokens[number + 1].content if shows else None
            found.append(Example(token.content, token.map[0] + 2, output))
    return found


def _is_fence(token: Token, language: str) -> bool:
    return token.type == "fence" and token.info.strip() == language


def examples_of(lesson: Lesson) -> list[tuple[str, Example]]:
    """Return the examples of a lesson's brief and of what it says after a pass, with the field."""
    texts = {"brief": lesson.brief, "after_pass": lesson.after_pass}
    return [(field, one) for field, words in texts.items() for one in examples(words or "")]


def mismatches(lesson: Lesson, sandbox: Sandbox) -> list[Mismatch]:
    """Run a lesson's examples.

    **Arguments:** `sandbox`: one with PyTorch, which is ready.

    Raises:
        tutor.sandbox.process.Failed: the sandbox broke, or the examples took too long.
    """
    found = examples_of(lesson)
    for field, one in found:
        try:
            ast.parse(one.code)
        except SyntaxError as error:
            line = one.line + (error.lineno or 1) - 1
            return [Mismatch(field, line, f"an example is not Python: {error.msg}")]
    request = Observe("examples", _INSIDE, {"blocks": [one.code for _, one in found]})
    reply, tree = sandbox.ask(request, [], Allowance(LIMITS.seconds), "the examples")
    if not isinstance(reply, Answer):
        what = reply.message if isinstance(reply, Broken) else "no answer"
        return [Mismatch("brief", 1, f"the examples could not be run: {what}")]
    try:
        return [
            Mismatch(field, line, message)
            for (field, one), seen in zip(found, items(tree), strict=True)
            for line, message in _wrong(one, seen)
        ]
    except (TreeError, ValueError) as error:
        return [Mismatch("brief", 1, f"the examples gave an unexpected answer: {error}")]


def _wrong(example: Example, seen: Tree) -> Iterator[tuple[int, str]]:
    """Yield the line and a message for everything that an example gives otherwise than shown."""
    comments = _comments(example.code)
    printed, raised_at = "", 0
    for statement, one in zip(ast.parse(example.code).body, items(seen), strict=True):
        line = example.line + statement.lineno - 1
        source = (ast.get_source_segment(example.code, statement) or "").partition("\n")[0]
        if raised_at:
            yield raised_at, "statements follow the one whose exception the text below shows"
            return
        raised = text(entry(one, "raised"))
        said = _said(statement, comments)
        if said is not None:
            given = _given(one, said)
            if not any(_fits(said, this) for this in given):
                shown = " ".join((given[0] or "nothing").split())
                yield line, f"`{source}` gives {shown[:500]!r}; the text says {said!r}"
            continue
        printed += text(entry(one, "printed"))
        if raised and example.output is not None:
            printed += raised
            raised_at = line
        elif raised:
            yield line, f"`{source}` raises {raised[:500]!r}; the text does not say so"
    if example.output is not None and not _fits(example.output, printed):
        shown = " ".join(printed.split())
        yield example.line, f"the example prints {shown[:500]!r}; the text below says otherwise"


def _said(statement: ast.stmt, comments: dict[int, str]) -> str | None:
    """Return what the text says that a statement gives."""
    comment = comments.get(statement.end_lineno or 0)
    if comment is None or hasattr(statement, "body"):
        return None
    counts = isinstance(statement, ast.Expr) or _EXCEPTION.match(comment)
    return comment if counts else None


def _given(seen: Tree, said: str) -> list[str]:
    """Return what a statement gives, as it may be written."""
    if raised := text(entry(seen, "raised")):
        return [raised]
    if _EXCEPTION.match(said) and (warned := items(entry(seen, "warned"))):
        return [text(one) for one in warned]
    if printed := text(entry(seen, "printed")):
        return [printed]
    return [text(entry(seen, "value")), text(entry(seen, "repr"))]


def _comments(code: str) -> dict[int, str]:
    """Return the comments by line."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _fits(said: str, given: str) -> bool:
    """Return whether a text says what was given, but for white space."""
    parts = (re.escape(" ".join(part.split())) for part in said.split("…"))
    pattern = r"\s*.*\s*".join(parts)
    return re.fullmatch(pattern, " ".join(given.split()), re.DOTALL) is not None
