"""A worker sends one reply per request, whatever the user code does."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tutor.engine.submission import source_fault
from tutor.sandbox.calls import drive
from tutor.sandbox.environment import Environment
from tutor.sandbox.protocol import Answer, Load, Loaded, Observe, Raised, Reply, read_reply
from tutor.sandbox.wire import Reader, encode
from tutor.sandbox.worker import Channel, serve
from tutor.tree import Leaf, Tree


class PlainPython(Environment):
    """User code without a framework: inputs are NumPy arrays."""

    module_name = "reference"

    def fresh(self, tree: Tree) -> Any:
        return tree.values.copy() if isinstance(tree, Leaf) else tree

    def inputs(self, tree: dict[str, Tree]) -> dict[str, Any]:
        return {name: self.fresh(child) for name, child in tree.items()}


def conversation(source: str, *expressions: str) -> Iterator[tuple[Reply, Tree]]:
    """Return the replies of `serve` to loading a module and then evaluating expressions."""
    requests: list[tuple[Any, Tree]] = [(Load("load", source, "module.py"), None)]
    for number, text in enumerate(expressions):
        observe = Observe(f"case {number}", "tutor.checks.inside.value", {"expression": text})
        requests.append((observe, [{"x": Leaf(np.arange(3.0), "array")}]))
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    os.set_blocking(ours_in, False)
    try:
        os.write(ours_out, b"".join(encode(request, tree) for request, tree in requests))
        os.close(ours_out)
        drive(serve(Channel(theirs_in, theirs_out), PlainPython({})))
        for frame in Reader().feed(os.read(ours_in, 1 << 20)):
            yield read_reply(frame), frame.tree
    finally:
        for descriptor in (theirs_in, ours_in, theirs_out):
            os.close(descriptor)


def test_every_request_is_answered_once_and_in_order() -> None:
    (loaded, _), (first, three), (second, text) = conversation("y = 2", "x.sum() * y", "'a'")
    assert loaded == Loaded("load")
    assert isinstance(first, Answer) and first.case == "case 0"
    assert isinstance(three, Leaf) and three.values == 6.0
    assert isinstance(second, Answer) and second.case == "case 1"
    assert text == "a"


@pytest.mark.parametrize(
    "expression", ["'\\ud800'", "{'\\ud800': x}", "['x' * (5 << 20)]", "{(): {'a': '\\udfff'}}"]
)
def test_an_unsendable_answer_is_malformed_and_the_next_one_is_sent(
    expression: str,
) -> None:
    _, (bad, _), (good, _) = conversation("", expression, "x")
    assert isinstance(bad, Raised)
    assert (bad.case, bad.code) == ("case 0", "malformed")
    assert isinstance(good, Answer) and good.case == "case 1"


def test_the_type_of_an_answer_has_no_control_characters() -> None:
    named = "type('\\x1b]0;x\\x07', (), {'__module__': '\\u202e'})()"
    _, (_, value), (_, function) = conversation(
        "def f(): pass\nf.__name__ = '\\x1b[2J' * 99", named, "f"
    )
    assert isinstance(value, Leaf) and value.type == "�.�]0;x�"
    assert isinstance(function, Leaf) and function.type.startswith("function �[2J�[2J")
    assert len(function.type) <= 200


def test_invalid_unicode_in_exceptions_is_escaped() -> None:
    _, (reply, _) = conversation("def f(): raise ValueError('a\\udc80b')", "f()")
    assert isinstance(reply, Raised)
    assert (reply.code, reply.kind, reply.message) == ("exception", "ValueError", "a\\udc80b")


def test_source_that_is_not_unicode_is_refused_with_its_line() -> None:
    fault = source_fault("x = 1\ny = '\ud800'\n")
    assert fault is not None
    assert (fault.code, fault.line) == ("bad-source", 2)
    assert source_fault("x = '\U0001f600'\n") is None
