"""What is asked of a learner's sandbox: to import code, and to observe it."""

from tutor.check import Case, Check
from tutor.engine.plan import RACE, case_id
from tutor.foreign.plain_text import quoted_code
from tutor.lesson import Lesson
from tutor.sandbox.protocol import HARNESS, Load, Observe
from tutor.tree import Tree

VALUE = "tutor.checks.inside.value"
"""Evaluates an expression."""


def observations(check: Check, case: Case) -> list[tuple[Observe, Tree]]:
    """Return the requests to observe a case, each with its inputs: what is held back comes last."""
    name, args = case_id(check, case), check.observe()
    shown = [
        {name: tree for name, tree in inputs.items() if name not in check.held_back}
        for inputs in case.input_sets
    ]
    requests: list[tuple[Observe, Tree]] = [(Observe(name, check.inside, args), [*shown])]
    if any(name in check.held_back for inputs in case.input_sets for name in inputs):
        requests.append((Observe(name, check.inside_afterwards, args), [*case.input_sets]))
    return requests


def together(trees: list[Tree]) -> Tree:
    """Return the answers to the requests of one case as one."""
    if len(trees) == 1:
        return trees[0]
    parts = [tree for tree in trees if isinstance(tree, dict)]
    return {name: tree for part in parts for name, tree in part.items()}


def load_request(lesson: Lesson, code: str) -> Load:
    """Return the request to import code for a lesson."""
    halves = [name for check in lesson.checks for name in (check.inside, check.inside_afterwards)]
    inside = [*dict.fromkeys(filter(None, (*halves, VALUE, RACE)))]
    return Load("load", code, f"{lesson.id}.py", inside=inside)


def harness_of(lesson: Lesson) -> Load | None:
    """Return the request to import a lesson's functions for expressions, if it has any. It precedes
    the import of every submission."""
    if lesson.jax_harness is None:
        return None
    return Load("harness", lesson.jax_harness, HARNESS, harness=True)


def shown_code(check: Check) -> str:
    """Return the code that a check runs, for messages."""
    return quoted_code(check.expression)
