"""The plan of a run: each check with its cases, drawn from a seed, and where it runs."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tutor.arrays import np
from tutor.check import Case, Check
from tutor.engine.references import Request
from tutor.expressions import free_names, texts
from tutor.inputs.data_files import BadData
from tutor.inputs.datasets import Datasets
from tutor.inputs.drawing import DRAWING, DrawError
from tutor.inputs.draws import Draws, draw_tree
from tutor.inputs.order import is_structured, needed
from tutor.inputs.sizes import draw_sizes
from tutor.inputs.streams import word
from tutor.lesson import Lesson
from tutor.sandbox.devices import accelerators
from tutor.sandbox.launch import Spec
from tutor.tree import Leaf, Tree, leaves, map_leaves

RACE = "tutor.checks.inside.race"
"""The inside half of the race that follows a pass. It is not a check and decides nothing."""

_AGAIN = (word("again"),)

Plan = list[tuple[Check, list[Case]]]


class Configuration(NamedTuple):
    """A sandbox's configuration: the number of devices, and whether it is forked like all others or
    another interpreter, with its own hashes of text. A submission has one sandbox per
    configuration."""

    devices: int
    forked: bool = True

    @property
    def elsewhere(self) -> "Configuration":
        """The configuration of `Check.elsewhere`."""
        return Configuration(self.devices, forked=False)


def configuration_of(lesson: Lesson, check: Check | None = None) -> Configuration:
    """Return the configuration in which a check runs; without a check, the lesson's own."""
    return Configuration((check.devices if check is not None else None) or lesson.devices)


def configurations(lesson: Lesson) -> list[Configuration]:
    """Return every configuration that a lesson needs, in order of first use."""
    needed = [configuration_of(lesson, check) for check in (None, *lesson.checks)]
    others = [
        configuration_of(lesson, check).elsewhere
        for check in lesson.checks
        if check.elsewhere() is not None
    ]
    return list(dict.fromkeys([*needed, *others]))


def sandbox_for(lesson: Lesson, configuration: Configuration) -> Spec:
    """Specify a learner's sandbox, on real devices where there are enough."""
    real = accelerators(configuration.devices)
    devices = real or configuration.devices
    uses = _uses(lesson)
    return Spec("learner", lesson.limits, devices, bool(real), uses, configuration.forked)


def _uses(lesson: Lesson) -> tuple[str, ...]:
    """Return the libraries besides JAX that a lesson's answers are likely to import."""
    text = f"{lesson.starter}\n{lesson.jax_harness or ''}\n{lesson.brief}"
    names = {"flax.linen": r"\blinen\b", "flax.nnx": r"\bnnx\b", "optax": r"\boptax\b"}
    return tuple(name for name, pattern in names.items() if re.search(pattern, text))


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


def redrawn(lesson: Lesson, check: Check, case: Case, seed: int) -> Case:
    """Return a case of a plan with other inputs of the same sizes.

    Raises:
        tutor.inputs.functions.DrawError: an input cannot be drawn.
    """
    return _case(lesson, check, lesson.checks.index(check), case.index, seed, _AGAIN)


def _case(
    lesson: Lesson, check: Check, number: int, index: int, seed: int, more: tuple[int, ...] = ()
) -> Case:
    """Draw a case. `more`: what to seed its inputs with besides."""
    of_lesson = (seed, word(lesson.id))
    sizes = draw_sizes(lesson.sizes, (*of_lesson, index))
    base = (*of_lesson, *more)
    draws = {**lesson.inputs, **check.inputs}
    used = used_inputs(check, (*draws, *sizes))
    counts: dict[str, Tree] = {
        name: Leaf(np.asarray(size), "int") for name, size in sizes.items() if name in used
    }
    datasets = lesson.datasets
    try:
        input_sets: list[dict[str, Tree]] = [
            counts | _drawn(draws, used, sizes, base, index, turn, datasets)
            for turn in range(check.input_sets)
        ]
        extra, secret = check.extra_inputs((*base, index, number), datasets)
    except BadData:  # its file is at fault, whatever uses it
        raise
    except DrawError as error:
        error.part = f"{error.part or DRAWING} of {check.title}"
        raise
    input_sets[0] |= extra
    return Case(index, sizes, tuple(input_sets), secret)


def _drawn(
    draws: Mapping[str, Draws],
    used: Collection[str],
    sizes: Mapping[str, int],
    base: tuple[int, ...],
    index: int,
    turn: int,
    datasets: Datasets,
) -> dict[str, Tree]:
    """Draw the inputs that are `used`, and those that they need, but return only the former."""
    found: dict[str, Tree] = {}
    for name in needed(draws, used):
        try:
            found[name] = draw_tree(
                draws[name],
                sizes,
                (*base, index, turn, word(name)),
                _corner(base, name) + index + turn,
                first=index + turn == 0,
                inputs=found,
                datasets=datasets,
            )
        except BadData:
            raise
        except DrawError as error:
            error.part = f"{DRAWING}{name}"
            raise
    return {name: found[name] for name in draws if name in used}


def _corner(base: tuple[int, ...], name: str) -> int:
    """Return where an input starts its walk along its bounds. Inputs differ, or all would be at
    their lowest at the same time."""
    return word(f"{base} {name}")


def decoy(lesson: Lesson, planned: Plan, seed: int) -> Plan:
    """Return the plan with other numbers in its arrays, for priming: programs compiled for it
    serve the original, and its results give no answers away. Python numbers stay, since programs
    depend on them.

    Raises:
        tutor.inputs.functions.DrawError: an input cannot be drawn.
    """
    return [
        (
            check,
            [_disguised(lesson, check, case, (seed, word(lesson.id), number)) for case in cases],
        )
        for number, (check, cases) in enumerate(planned)
    ]


def _disguised(lesson: Lesson, check: Check, case: Case, seed: tuple[int, ...]) -> Case:
    random = np.random.default_rng((*seed, case.index))
    draws = {**lesson.inputs, **check.inputs}
    structured = [name for name, draw in draws.items() if is_structured(draw)]
    redrawn = {*needed(draws, structured)} - check.extra_names()

    def other(leaf: Leaf) -> Leaf:
        if leaf.type not in ("array", "key"):
            return leaf
        values = leaf.values
        if values.dtype.kind == "f":
            return Leaf(random.standard_normal(values.shape).astype(values.dtype), leaf.type)
        # A permutation keeps the bounds of integers, such as those of indices.
        return Leaf(random.permutation(values.ravel()).reshape(values.shape), leaf.type)

    def disguised(turn: int, inputs: Mapping[str, Tree]) -> dict[str, Tree]:
        others = {name: map_leaves(other, tree) for name, tree in inputs.items()}
        if again := redrawn & inputs.keys():
            drawn = _drawn(draws, again, case.sizes, seed, case.index, turn, lesson.datasets)
            for name, tree in drawn.items():
                others[name] = _with_numbers_of(inputs[name], tree)
        return others

    input_sets = tuple(disguised(turn, one) for turn, one in enumerate(case.input_sets))
    return Case(case.index, case.sizes, input_sets)


def _with_numbers_of(original: Tree, tree: Tree) -> Tree:
    """Return a tree with the Python numbers of another one of the same structure."""
    originals = (leaf for _, leaf in leaves(original))

    def kept(leaf: Leaf) -> Leaf:
        one = next(originals)
        return leaf if one.type in ("array", "key") else one

    return map_leaves(kept, tree)


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
