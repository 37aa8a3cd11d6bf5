"""The plan of a run: each check with its cases, drawn from a seed, and where it runs."""

from collections.abc import Iterable
from typing import NamedTuple

from tutor.check import Case, Check
from tutor.engine.references import Request
from tutor.expressions import free_names, texts
from tutor.inputs.draws import draw_tree
from tutor.inputs.sizes import draw_sizes
from tutor.inputs.streams import word
from tutor.lesson import Lesson
from tutor.sandbox.devices import accelerators
from tutor.sandbox.launch import Spec
from tutor.tree import Leaf, Tree, map_leaves

RACE = "tutor.checks.inside.race"
"""The inside half of the race that follows a pass. It is not a check and decides nothing."""

Plan = list[tuple[Check, list[Case]]]


class Configuration(NamedTuple):
    """A sandbox's configuration: the number of devices, and whether XLA may compile fast at the
    cost of slower programs. A submission has one sandbox per configuration."""

    devices: int
    quick: bool


def configuration_of(
    lesson: Lesson, check: Check | None = None, quick: bool | None = None
) -> Configuration:
    """Return the configuration in which a check runs; without a check, the lesson's own.

    **Arguments:** `quick`: overrides what the check allows.
    """
    devices = (check.devices if check is not None else None) or lesson.devices
    allowed = check is None or not check.optimised
    return Configuration(devices, allowed if quick is None else quick)


def configurations(lesson: Lesson) -> list[Configuration]:
    """Return every configuration that a lesson needs, in order of first use."""
    needed = (configuration_of(lesson, check) for check in (None, *lesson.checks))
    return list(dict.fromkeys(needed))


def sandbox_for(lesson: Lesson, configuration: Configuration) -> Spec:
    """Specify a learner's sandbox, on real devices where there are enough."""
    devices, quick = configuration
    real = accelerators(devices)
    return Spec("learner", lesson.limits, real or devices, bool(real), quick)


def plan(lesson: Lesson, seed: int) -> Plan:
    """Return every check of a lesson with its cases.

    A name has the same value in case 0 of every check, so that a learner sees several checks fail
    or pass on the same inputs.

    Raises:
        tutor.inputs.functions.DrawError: an input cannot be drawn.
    """
    return [
        (check, [_case(lesson, check, number, index, seed) for index in range(check.case_count)])
        for number, check in enumerate(lesson.checks)
    ]


def _case(lesson: Lesson, check: Check, number: int, index: int, seed: int) -> Case:
    import numpy as np

    base = (seed, word(lesson.id))
    sizes = draw_sizes(lesson.sizes, (*base, index))
    draws = {**lesson.inputs, **check.inputs}
    used = used_inputs(check, (*draws, *sizes))
    counts: dict[str, Tree] = {
        name: Leaf(np.asarray(size), "int") for name, size in sizes.items() if name in used
    }
    input_sets: list[dict[str, Tree]] = [
        counts
        | {
            name: draw_tree(
                draw,
                sizes,
                (*base, index, turn, word(name)),
                _corner(base, name) + index + turn,
                first=index + turn == 0,
            )
            for name, draw in draws.items()
            if name in used
        }
        for turn in range(check.input_sets)
    ]
    more, secret = check.extra_inputs((*base, index, number))
    input_sets[0] |= more
    return Case(index, sizes, tuple(input_sets), secret)


def _corner(base: tuple[int, ...], name: str) -> int:
    """Return where an input starts its walk along its bounds. Inputs differ, or all would be at
    their lowest at the same time."""
    return word(f"{base} {name}")


def decoy(lesson: Lesson, planned: Plan, seed: int) -> Plan:
    """Return the plan with other numbers in its arrays, for priming: programs compiled for it
    serve the original, and its results give no answers away. Python numbers stay, since programs
    depend on them."""
    return [
        (check, [_disguised(case, (seed, word(lesson.id), number)) for case in cases])
        for number, (check, cases) in enumerate(planned)
    ]


def _disguised(case: Case, seed: tuple[int, ...]) -> Case:
    import numpy as np

    random = np.random.default_rng((*seed, case.index))

    def other(leaf: Leaf) -> Leaf:
        if leaf.type not in ("array", "key"):
            return leaf
        values = leaf.values
        if values.dtype.kind == "f":
            return Leaf(random.standard_normal(values.shape).astype(values.dtype), leaf.type)
        # A permutation keeps the bounds of integers, such as those of indices.
        return Leaf(random.permutation(values.ravel()).reshape(values.shape), leaf.type)

    input_sets = tuple(
        {name: map_leaves(other, tree) for name, tree in one.items()} for one in case.input_sets
    )
    return Case(case.index, case.sizes, input_sets)


def used_inputs(check: Check, known: Iterable[str]) -> set[str]:
    """Return the inputs that a check's expressions mention."""
    mentioned: set[str] = set()
    for text in texts([check.observe(), check.refer()]):
        mentioned |= free_names(text).keys()
    return mentioned & set(known)


def case_id(check: Check, case: Case) -> str:
    return f"{check.title}#{case.index}"


def raced_case(lesson: Lesson, planned: Plan) -> tuple[Check, Case] | None:
    """Return the value check, and its case, that is timed on both sides after a pass."""
    for check, cases in planned:
        if check.kind == "value" and lesson.timed in ("", check.title):
            return check, cases[-1]
    return None


def requests(lesson: Lesson, planned: Plan) -> list[Request]:
    """Return every request to the lesson's PyTorch that a check needs."""
    return [
        Request(case_id(check, case), check.inside, args, case.input_sets, check.title)
        for check, cases in planned
        if (args := check.refer()) is not None
        for case in cases
    ]


def race_request(lesson: Lesson, planned: Plan) -> Request | None:
    """Return the request to time the lesson's PyTorch, if there is a check to time."""
    if (raced := raced_case(lesson, planned)) is None:
        return None
    check, case = raced
    return Request("race", RACE, check.refer() or {}, case.input_sets, check.title)
