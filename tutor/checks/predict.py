"""`predict`: the learner says what a program gives, without running it."""

import textwrap
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.answers import Answered, Unanswered
from tutor.checks.answers import Literal as Answer
from tutor.foreign.plain_text import cut
from tutor.lesson import Lesson
from tutor.tree import Leaf, Tree, TreeError, brief, children, entry, items, leaves, real, text

Gives = Literal["shape", "value", "error", "prints", "compiles", "choice"]

NEAR = 2e-2
"""Relative difference that a predicted decimal may have: people round. Rounded to two digits it is
right, too."""

_EXAMPLES: dict[Gives, str] = {
    "shape": "The shape, such as (2, 3)",
    "value": "The value",
    "error": 'The class of the exception, such as "ValueError"; None if there is none',
    "prints": "The text that is printed",
    "compiles": "The number of times that a function is compiled",
    "choice": "The letter of the right statement, in quotes",
}

WIDTH = 71
"""Columns of comments in the file of answers."""


class Predict(Check, frozen=True, kw_only=True):
    """The learner's file holds the right answer to a question about a program.

    The program is the pack's. It runs in a learner's sandbox before a submission is imported, and
    the answer is read from the submission's source, so neither can influence the other.
    """

    kind: ClassVar[str] = "predict"
    inside: ClassVar[str] = "tutor.checks.inside.predict"
    default_cases: ClassVar[int] = 1

    predict: Annotated[
        str, Meta(min_length=1, max_length=1000, description="The question, in Markdown.")
    ]
    program: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=8000,
            description="The program that is shown, and run for the answer.",
            extra={"holds": "module"},
        ),
    ]
    gives: Annotated[
        Gives,
        Meta(
            description="What is asked for: the shape or the value of `of`; the class of the "
            "exception that the program or `of` raises; what they print; how many times functions "
            "of the program are compiled while `of` is evaluated; or one of `choices`."
        ),
    ]
    of: Annotated[
        str,
        Meta(
            max_length=4000,
            description="Expression to evaluate after the program.",
            extra={"holds": "jax"},
        ),
    ] = ""
    choices: Annotated[
        dict[str, JaxExpr],
        Meta(
            max_length=8,
            description="Statements to choose from, each with an expression; exactly one is true "
            "after the program.",
        ),
    ] = field(default_factory=dict)
    because: Annotated[
        str,
        Meta(min_length=1, max_length=4000, description="Why, in Markdown; shown after an answer."),
    ]

    def observe(self) -> dict[str, Any]:
        return {}

    def ahead(self) -> dict[str, Any]:
        return {
            "program": self.program,
            "gives": self.gives,
            "of": self.of,
            "choices": [*self.choices.values()],
        }

    def read(self, code: str) -> Tree:
        # Python numbers become arrays in `judge`; a tree holds no bare numbers.
        try:
            return {"answer": _as_tree(Answered(code).answer(self.name))}
        except Unanswered as error:
            return {"unanswered": str(error)}
        except SyntaxError as error:
            return {"unanswered": f"the file is not Python: line {error.lineno}: {error.msg}"}

    @property
    def shown(self) -> str:
        """The program as learners see it, with the expression that it ends in."""
        program = self.program.rstrip()
        return program if self.of.isidentifier() or not self.of else f"{program}\n\n{self.of}"

    @property
    def chance(self) -> float:
        """The probability that a guess is right, if the answer is one of few."""
        return 1 / len(self.choices) if self.choices else 0.0

    def afterword(self, observed: Tree) -> str:
        answered = isinstance(observed, dict) and "answer" in observed
        return self.because.strip() if answered else ""

    def broken(self, given: Tree) -> str:
        if self.gives != "choice" or len(true := items(entry(given, "true"))) == 1:
            return ""
        which = " and ".join(_letter(_whole(one)) for one in true) or "none"
        return f"exactly one of the choices must be true, but {which} is"

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        if isinstance(observed, dict) and "unanswered" in observed:
            return Finding(text(observed["unanswered"]), code="unanswered")
        answer = entry(observed, "answer")
        match self.gives:
            case "shape":
                right = tuple(_whole(size) for size in items(entry(expected, "shape")))
                fits, shown = _is_shape(answer, right), repr(right)
            case "compiles":
                count = _whole(entry(expected, "compiles"))
                fits, shown = _is_number(answer, count), str(count)
            case "error":
                classes = [text(name) for name in items(entry(expected, "classes"))]
                fits, shown = _is_class(answer, classes), classes[0] if classes else "no exception"
                if classes and (message := _first_line(text(entry(expected, "message")))):
                    shown = f"{shown}: {message}"
            case "prints":
                printed = text(entry(expected, "printed"))
                fits = isinstance(answer, str) and _lines(answer) == _lines(printed)
                shown = repr(printed.strip()) if printed.strip() else "nothing"
            case "choice":
                index = _whole(entry(entry(expected, "true"), 0))
                if not 0 <= index < len(self.choices):
                    raise TreeError("expected the number of a choice")
                fits = isinstance(answer, str) and answer.strip(" ().").lower() == _letter(index)
                shown = f"{_letter(index)}) {[*self.choices][index]}"
            case "value":
                value = entry(expected, "value")
                fits, shown = _is_value(answer, value), _shown(value)
        return None if fits else Finding(f"you answered {_shown(answer)}; it is {shown}")


def _as_tree(answer: Answer) -> Tree:
    if answer is None or isinstance(answer, str):
        return answer
    if isinstance(answer, dict):
        return {key: _as_tree(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_as_tree(value) for value in answer]
    if isinstance(answer, tuple):
        return tuple(_as_tree(value) for value in answer)
    array = np.asarray(answer)
    # Of more than 64 bits: right for nothing that JAX gives.
    return Leaf(array if array.dtype != object else None, type(answer).__name__)


# --- comparing ---------------------------------------------------------------------------------


def _is_number(answer: Tree, right: int) -> bool:
    return _is_value(answer, Leaf(np.asarray(right), "int"))


def _is_shape(answer: Tree, right: tuple[int, ...]) -> bool:
    # `(3)` is the integer 3 in Python, and means a shape here.
    sizes = [answer] if isinstance(answer, Leaf) else answer
    return (
        isinstance(sizes, list | tuple)
        and len(sizes) == len(right)
        and all(_is_number(one, size) for one, size in zip(sizes, right, strict=True))
    )


def _is_class(answer: Tree, classes: Iterable[str]) -> bool:
    """Return whether an answer names an exception's class, or one that it is derived from."""
    names = [*classes]
    if answer is None or (isinstance(answer, str) and answer.strip().lower() in ("none", "")):
        return not names
    return isinstance(answer, str) and answer.strip().rpartition(".")[2] in names


def _is_value(answer: Tree, right: Tree) -> bool:
    if isinstance(right, Leaf):
        if isinstance(answer, str):
            answer = _number_in(answer)
        return _is_array(answer, right)
    if (expected := children(right)) is not None:
        given = children(answer)
        return (
            given is not None
            and isinstance(answer, dict) == isinstance(right, dict)
            and given.keys() == expected.keys()
            and all(_is_value(given[key], expected[key]) for key in expected)
        )
    if isinstance(right, str):
        return isinstance(answer, str) and answer.strip() == right.strip()
    return answer is None or answer == "None"


def _is_array(answer: Tree, right: Leaf) -> bool:
    if right.array is None:
        return False
    try:
        given = np.asarray(_nested(answer))
        expected = right.array.astype(complex)
        if given.dtype.kind not in "biufc" or given.shape != expected.shape:
            return False
        given = given.astype(complex)
    except (ValueError, TreeError):  # ragged, or words among the numbers
        return False
    if right.array.dtype.kind in "biu":
        return bool((given == expected).all())
    near = np.isclose(given, expected, rtol=NEAR, atol=0, equal_nan=True)
    rounded = np.vectorize(lambda one: complex(float(f"{one.real:.2g}"), float(f"{one.imag:.2g}")))
    alike = np.isclose(given, rounded(expected), rtol=1e-6, atol=0) if expected.size else near
    return bool((near | alike | ((expected == 0) & (abs(given) < 1e-6))).all())


def _nested(answer: Tree) -> Any:
    """Return numbers in lists as NumPy reads them."""
    if isinstance(answer, Leaf):
        return answer.values[()]
    if isinstance(answer, list | tuple):
        return [_nested(one) for one in answer]
    raise TreeError("expected numbers")


def _number_in(answer: str) -> Tree:
    """Return a number for `nan`, `inf` and names such as `jnp.nan`."""
    word = answer.strip().lower().rpartition(".")[2]
    return Leaf(np.asarray(float(word)), "float") if word in ("nan", "inf", "-inf") else answer


def _lines(printed: str) -> list[str]:
    return [line.rstrip() for line in printed.strip().splitlines()]


def _shown(tree: Tree) -> str:
    """Return an answer or a value as Python writes it, or its shape if it is large."""
    if isinstance(tree, Leaf) and tree.array is not None and 0 < tree.array.size <= 24:
        return _written(tree.array.tolist())
    if isinstance(tree, dict | list | tuple) and sum(1 for _ in leaves(tree)) <= 24:
        if isinstance(tree, dict):
            return "{" + ", ".join(f"{key!r}: {_shown(one)}" for key, one in tree.items()) + "}"
        inner = ", ".join(map(_shown, tree))
        if isinstance(tree, list):
            return f"[{inner}]"
        return f"({inner},)" if len(tree) == 1 else f"({inner})"
    return cut(brief(tree), 300)


def _written(value: Any) -> str:
    """Return numbers in lists as Python writes them, with at most six digits."""
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def _first_line(message: str) -> str:
    return cut(message.strip().partition("\n")[0], 200)


def _whole(tree: Tree) -> int:
    if (number := real(tree)) % 1:  # also NaN and infinity
        raise TreeError("expected a whole number")
    return int(number)


def _letter(index: int) -> str:
    return "abcdefgh"[index % 8]


# --- the file of answers -----------------------------------------------------------------------


def questions(checks: Iterable[Check]) -> list[Predict]:
    return [check for check in checks if isinstance(check, Predict)]


def only_asks(lesson: Lesson) -> bool:
    """Return whether there is nothing to write but answers."""
    return len(questions(lesson.checks)) == len(lesson.checks)


def answers_file(checks: Iterable[Check]) -> str:
    """Return the lines in which a learner answers the questions of a lesson; empty if there are
    none."""
    return "\n\n".join(_lines_of(check) for check in questions(checks))


def _lines_of(check: Predict) -> str:
    rows = textwrap.wrap(check.predict.strip(), WIDTH - 2)
    rows += ["", *(f"    {row}".rstrip() for row in check.shown.splitlines()), ""]
    for index, choice in enumerate(check.choices):
        wrapped = textwrap.wrap(choice, WIDTH - 5)
        rows += [f"{_letter(index)}) {wrapped[0]}", *(f"   {row}" for row in wrapped[1:])]
    if check.choices:
        rows.append("")
    rows.append(f"{_EXAMPLES[check.gives]}:")
    comment = "\n".join(f"# {row}".rstrip() for row in rows)
    return f"{comment}\n{check.name} = ...\n"


def question_markdown(check: Predict) -> str:
    """Return a question with its program and choices, as the app shows it."""
    parts = [f"**{check.name}** · {check.predict.strip()}"]
    parts.append(f"```python\n{check.shown}\n```")
    if check.choices:
        parts.append(
            "\n".join(f"- {_letter(index)}) {text}" for index, text in enumerate(check.choices))
        )
    return "\n\n".join(parts)
