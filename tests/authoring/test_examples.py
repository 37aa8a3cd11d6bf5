"""Examples in a lesson's texts are run, and must give what the texts say."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from tests.cases import for_each
from tests.conftest import MINI
from tutor.authoring.examples import Mismatch, examples, mismatches
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.sandbox.process import Sandbox

LESSON: Lesson = next(iter(load_pack(MINI).lessons.values()))


@pytest.fixture(scope="module")
def sandbox(forks: Forks) -> Iterator[Sandbox]:
    with forks.reference() as found:
        found.ready()
        yield found


def found(sandbox: Sandbox, code: str, output: str | None = None) -> list[Mismatch]:
    below = f"\n```text\n{output}\n```\n" if output is not None else ""
    return mismatches(replace(LESSON, brief=f"A text.\n\n```python\n{code}\n```\n{below}"), sandbox)


def test_blocks_of_python_are_found_with_the_plain_text_below_them():
    text = (
        "```python\n1 + 1\n```\n\n```text\n2\n```\n\n- ```python\n  x\n  ```\n\n"
        "```text\nno example\n```\n\nBetween.\n\n```\nneither\n```\n"
    )
    one, two = examples(text)
    assert (one.code, one.line, one.output) == ("1 + 1\n", 2, "2\n")
    assert (two.code, two.line, two.output) == ("x\n", 10, None)


@for_each(
    ("code", "output"),
    [
        ("x = jnp.arange(3)\nx  # [0 1 2]\nx  # Array([0, 1, 2], dtype=int32)", None),
        ("torch.ones(2).sum()  # tensor(2.)\nF.relu(torch.ones(1))  # tensor([1.])", None),
        ("x = jnp.zeros(2)\nx[0] = 1  # TypeError: JAX arrays are immutable and do…", None),
        ("jnp.zeros(1, 'float64')  # UserWarning: Explicitly requested dtype float64…", None),
        (
            "x = 1  # prose after an assignment\n\n\ndef f():\n    return 2  # and in a function",
            None,
        ),
        ("# prose\nprint('a  b')  # a b\nprint(jnp.eye(2))", "[[1. 0.]\n [0. 1.]]"),
        ("jax.debug.print('{x}', x=1)", "1"),
        ("print(1)\njax.grad(jnp.sin)(jnp.ones(3))", "1\nTypeError: Gradient only …"),
        ("len(\n    'abc'\n)  # 3", None),
    ],
)
def test_what_holds_is_not_mentioned(sandbox: Sandbox, code: str, output: str | None):
    assert found(sandbox, code, output) == []


@for_each(
    ("code", "output", "line", "message"),
    [
        (
            "jnp.ones(2)  # [0. 0.]",
            None,
            4,
            "`jnp.ones(2)` gives '[1. 1.]'; the text says '[0. 0.]'",
        ),
        ("x = 1\nx  # 12", None, 5, "gives '1'"),
        ("x = 1  # TypeError: no", None, 4, "gives 'nothing'"),
        ("1 / 0", None, 4, "raises 'ZeroDivisionError: division by zero'; the text does not"),
        ("1 / 0  # TypeError: division by zero", None, 4, "gives 'ZeroDivisionError"),
        ("print(1)", "2", 4, "the example prints '1'"),
        ("print(1)\n1 / 0\nprint(2)", "1", 5, "statements follow"),
        ("print(1)\nx = (", None, 5, "an example is not Python: '(' was never closed"),
    ],
)
def test_what_does_not_hold_is_reported_with_its_line(
    sandbox: Sandbox, code: str, output: str | None, line: int, message: str
):
    (one, *_) = found(sandbox, code, output)
    assert (one.field, one.line) == ("brief", line)
    assert message in one.message


def test_the_blocks_of_both_texts_are_one_module(sandbox: Sandbox):
    lesson = replace(
        LESSON,
        brief="```python\nx = 2\n```\n\nand\n\n```python\nx + 1  # 3\n```\n",
        after_pass="```python\nx  # 3\n```\n",
    )
    (one,) = mismatches(lesson, sandbox)
    assert (one.field, one.line) == ("after_pass", 2)
