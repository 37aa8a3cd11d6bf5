"""What to ask of both sides: the cases of a check, drawn from a seed."""

from collections.abc import Iterable

from tutor.expressions import free_names, texts
from tutor.inputs import draw_sizes, draw_tree, word
from tutor.lesson import Case, Check, Lesson
from tutor.references import Request
from tutor.tree import Tree

RACE = "tutor.checks.inside.race"
"""The inside half of the timing that follows a pass; no check, it decides nothing."""

Plan = list[tuple[Check, list[Case]]]


def plan(lesson: Lesson, seed: int) -> Plan:
    """Every check of a lesson with its cases.

    The same name has the same value in case 0 of every check, so that a learner sees one set of
    inputs fail or pass from several sides.

    Raises:
        tutor.inputs.DrawError: an input cannot be drawn.
    """
    return [
        (check, [_case(lesson, check, number, index, seed) for index in range(check.case_count)])
        for number, check in enumerate(lesson.checks)
    ]


def _case(lesson: Lesson, check: Check, number: int, index: int, seed: int) -> Case:
    base = (seed, word(lesson.id))
    sizes = draw_sizes(lesson.sizes, (*base, index))
    draws = {**lesson.inputs, **check.inputs}
    used = used_inputs(check, draws)
    rounds: list[dict[str, Tree]] = [
        {
            name: draw_tree(draw, sizes, (*base, index, turn, word(name)))
            for name, draw in draws.items()
            if name in used
        }
        for turn in range(check.rounds)
    ]
    more, secret = check.supplement((*base, index, number))
    rounds[0] |= more
    return Case(index, sizes, tuple(rounds), secret)


def used_inputs(check: Check, known: Iterable[str]) -> set[str]:
    """The inputs that a check's expressions mention."""
    mentioned: set[str] = set()
    for text in texts([check.observe(), check.refer()]):
        mentioned |= free_names(text).keys()
    return mentioned & set(known)


def case_id(check: Check, case: Case) -> str:
    return f"{check.title}#{case.index}"


def timed(lesson: Lesson, planned: Plan) -> tuple[Check, Case] | None:
    """The value check, and its case, that is timed on both sides after a pass."""
    for check, cases in planned:
        if check.kind == "value" and lesson.timed in ("", check.title):
            return check, cases[-1]
    return None


def requests(lesson: Lesson, planned: Plan) -> list[Request]:
    """Everything that is to be asked of the lesson's PyTorch."""
    asked = [
        Request(case_id(check, case), check.inside, args, case.rounds, check.title)
        for check, cases in planned
        if (args := check.refer()) is not None
        for case in cases
    ]
    if (race := timed(lesson, planned)) is not None:
        check, case = race
        asked.append(Request("race", RACE, check.refer() or {}, case.rounds, check.title))
    return asked
