"""Rules for sizes, inputs and data sets. Wrong answers pass where these never vary."""

import ast
import re
from collections.abc import Collection, Iterator
from itertools import combinations

from msgspec.structs import replace

from tutor.authoring.page import Finding, Page
from tutor.check import Check
from tutor.checks.held_out import HeldOut
from tutor.checks.program import Program
from tutor.checks.survives import own_checks
from tutor.checks.value import Value
from tutor.engine.plan import plan, used_inputs
from tutor.expressions import free_names, texts
from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.inputs.data_files import BadData
from tutor.inputs.drawing import DrawError
from tutor.inputs.draws import Draw, Draws, drawn, names_in
from tutor.inputs.functions import FUNCTIONS, GENERATED
from tutor.inputs.order import inputs_of, needed
from tutor.lesson import Lesson
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import MappingNode, Node

NO_AXES = {"integers": 2, "full": 1, "tokens": 1}
"""Number of arguments of a draw before its shape."""

WITHOUT_SHAPE = frozenset({"int", "float", "key", "graph", *GENERATED})
"""Draws whose arguments are not axes, or are those of a generated data set."""

SQUARE = frozenset({"spd", "orthogonal"})
"""Draws whose last argument is the length of two axes."""

UNEQUAL = frozenset({"mask", "one_hot", "tokens", "images", "sequence_mask"})
"""Draws of arrays that are rarely square, and need not be in any check."""

CHANNELS = frozenset({1, 3, 4})
"""Usual numbers of channels of an image."""

LARGE = 100
"""The least scale of large numbers: float32 cannot hold their exponentials."""

CONSTANT = frozenset({"zeros", "ones", "full", "arange"})
"""Draws in which a fixed size matters less: they are there to be filled."""

REACHES = frozenset({"normal", "uniform", "sorted", "spd", "images", "normal_like", "near"})
"""Draws of real numbers, which may be large."""

SEEDS = (0, 1)
"""Inputs are drawn under each of these."""

BOUNDS = {"integers": 1, "int": 1, "tokens": 0}
"""The argument of a draw below which all of its numbers are."""


STEPS = re.compile(r"^(n_|num_)?(epochs?|steps?|iterations?|iters?|rounds|layers|times|depth)$")
"""Names of parameters that say how often something is done."""


def cannot_be_drawn(page: Page) -> Iterator[Finding]:
    yield from _unusable_data(page)
    lesson = page.lesson
    most = max(check.case_count for check in lesson.checks)
    for name, fault in _undrawable(lesson, lesson.inputs, lesson.inputs, most):
        yield _cannot(page.at("inputs", name), name, fault)
    for number, check in enumerate(own_checks(lesson)):
        inputs = {**lesson.inputs, **check.inputs}
        replaced = {
            name: {*needed(inputs, [name])} & check.inputs.keys()
            for name in lesson.inputs.keys() - check.inputs.keys()
        }
        asked = [*check.inputs, *(name for name, found in replaced.items() if found)]
        for name, fault in _undrawable(lesson, inputs, asked, check.case_count):
            at = name if name in check.inputs else min(replaced[name])
            yield _cannot(page.at("checks", number, "inputs", at), name, fault)


def _unusable_data(page: Page) -> Iterator[Finding]:
    """Yield data files that cannot be read, and checks without enough examples or the right ones.
    A file is reported once, whatever uses it."""
    lesson = page.lesson
    for name in lesson.data:
        try:
            lesson.datasets[name].load()
        except BadData as error:
            yield page.at("data", name), error.what, error.remedy
    for number, check in enumerate(own_checks(lesson)):
        for seed in SEEDS:
            try:
                check.extra_inputs((seed,), lesson.datasets)
            except BadData:
                break
            except DrawError as error:
                message = f"the examples of {check.title!r} cannot be drawn: {error}"
                yield page.at("checks", number, "data"), message, "change `data` or the check"
                break


def _cannot(node: Node, name: str, fault: str) -> Finding:
    message = f"the input {name!r} cannot be drawn with all sizes: {fault}"
    return node, message, "change the draw, or the candidates of its sizes"


def _undrawable(
    lesson: Lesson, inputs: dict[str, Draws], asked: Collection[str], cases: int
) -> Iterator[tuple[str, str]]:
    """Yield each input that cannot be drawn, and why. Each is drawn by itself, so that it is the
    one that fails, and not at all if it begins with one that fails."""
    failed: set[str] = set()
    for name in needed(inputs, asked):
        if inputs_of(inputs[name]) & failed:
            failed.add(name)
            continue
        alone = {one: inputs[one] for one in needed(inputs, [name])}
        only = replace(lesson, inputs=alone, checks=(Value(value=name, cases=cases),))
        for seed in SEEDS:
            try:
                plan(only, seed)
            except DrawError as error:
                failed.add(name)
                if name in asked and not isinstance(error, BadData):  # that has been said
                    yield name, str(error)
                break


def unused_input(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    used: set[str] = set()
    for number, check in enumerate(own_checks(lesson)):
        found = _drawn_for(check, lesson).keys()
        for name in check.inputs.keys() - found:
            yield _unused(page.at("checks", number, "inputs", name), name, "this check")
        used |= found - check.inputs.keys()
    for name in lesson.inputs.keys() - used:
        yield _unused(page.at("inputs", name), name, "any check")


def _unused(node: Node, name: str, user: str) -> Finding:
    return node, f"the input {name!r} is drawn but not used by {user}", "use it, or remove it"


def unused_size(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    used = set(names_in(lesson.inputs))
    for number, check in enumerate(own_checks(lesson)):
        used |= names_in(check.inputs)
        node = page.at("checks", number)
        if isinstance(node, MappingNode) and (spec := node.get("is")) is not None:
            dimensions = plain(spec)
            used |= {word for text in texts(dimensions) for word in re.findall(r"\w+", text)}
        for text in texts([check.observe(), check.refer()]):
            used |= free_names(text).keys()
    for name in lesson.sizes.keys() - used:
        message = f"the size {name!r} is not used by any input, expression or `is`"
        yield page.at("sizes", name), message, "use it, or remove it"


def unused_data(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    checks = own_checks(lesson)
    inputs = [*lesson.inputs.values(), *(one for check in checks for one in check.inputs.values())]
    used = {draw.function for draws in inputs for draw in drawn(draws)}
    used |= {check.data for check in checks if isinstance(check, HeldOut)}
    for name in lesson.data.keys() - used:
        message = f"the data set {name!r} is not used by any input or check"
        yield page.at("data", name), message, "use it, or remove it"


def small_inputs(page: Page) -> Iterator[Finding]:
    """An answer that clips, or overflows, passes where nothing is ever large."""
    lesson = page.lesson
    sizes = {name: max(_candidates(candidates)) for name, candidates in lesson.sizes.items()}
    draws = [draw for _, draw in _compared(page)]
    reaches = [_reach(draw, sizes) for draw in draws if draw.function in REACHES]
    ordinary = any(draw.function in ("normal", "uniform") for draw in draws)
    if ordinary and max(reaches) < LARGE:
        message = f"no number drawn for `value` checks is as large as {LARGE}"
        remedy = f"let the scale vary: sizes: {{size: [2, {LARGE}]}}, x: normal(n, scale=size)"
        yield page.at("inputs"), message, remedy


def _reach(draw: Draw, sizes: dict[str, int]) -> float:
    """Return roughly how large the numbers of a draw can be."""
    options = {name: value for name, value in draw.options if isinstance(value, ast.expr)}
    values = []
    for name, usual in (("scale", 1.0), ("mean", 0.0), ("low", 0.0), ("high", 1.0)):
        node = options.get(name)
        try:
            values.append(abs(arithmetic.value(node, sizes)) if node is not None else usual)
        except ArithmeticFault:
            return 0.0
    if dict(draw.options).get("dtype") == "uint8" and draw.function == "images":
        values.append(255.0)
    return max(values)


def equal_sizes(page: Page) -> Iterator[Finding]:
    """A transposed answer has the right shape where two axes are equal."""
    lesson = page.lesson
    pairs = {
        pair
        for draw in lesson.inputs.values()
        for one in drawn(draw)
        for pair in combinations(sorted(set(_axes(one))), 2)
    }
    for first, second in sorted(pairs & {*combinations(sorted(lesson.sizes), 2)}):
        one, other = _candidates(lesson.sizes[first]), _candidates(lesson.sizes[second])
        if both := (one & other) - {1}:
            message = f"the sizes {first!r} and {second!r} can both be {min(both)}"
            remedy = "use different ones: a transposed square has the right shape"
            yield page.at("sizes", second), message, remedy


def _axes(draw: Draw) -> list[str]:
    """Return the axes of an array that are just a size."""
    axes = _axis_arguments(draw)
    axes += axes[-1:] if draw.function in SQUARE else []
    return [axis.id for axis in axes if isinstance(axis, ast.Name)]


def _axis_arguments(draw: Draw) -> list[ast.expr]:
    """Return the arguments of a draw that are axes."""
    if draw.function == "lengths":
        return [*draw.arguments[:1]]
    return [*draw.arguments[NO_AXES.get(draw.function, 0) :]]


def _has_shape(draw: Draw) -> bool:
    """Return whether the arguments of a draw are the shape of one array."""
    return draw.function in FUNCTIONS.keys() - WITHOUT_SHAPE  # others are data sets


def _candidates(size: int | tuple[int, ...]) -> set[int]:
    return {size} if isinstance(size, int) else {*size}


def fixed_size(page: Page) -> Iterator[Finding]:
    """An answer can hard-code a size that is always the same."""
    lesson = page.lesson
    used = set(names_in(lesson.inputs)) | {
        name for check in lesson.checks for name in names_in(check.inputs)
    }
    for name, candidates in lesson.sizes.items():
        if name in used and len(only := _candidates(candidates)) == 1:
            (number,) = only
            remedy = f"give it several values: {name}: [{number}, {number + 1}]"
            yield page.at("sizes", name), f"the size {name!r} is always {number}", remedy
    known = _numbers_of_the_task(page)
    unvaried = {id(draw) for draw in _drawn_for_its_length(lesson)}
    for node, _, draw in _draws(page):
        if draw.function in CONSTANT or not _has_shape(draw) or id(draw) in unvaried:
            continue
        axes = _axis_arguments(draw)
        for axis in axes:
            usual = CHANNELS if draw.function == "images" and axis is axes[-1] else {0, 1}
            if isinstance(axis, ast.Constant) and axis.value not in known | usual:
                message = f"an axis is always {axis.value!r}, which the task does not mention"
                yield node, message, "name it under `sizes` and give it several values"


def _drawn_for_its_length(lesson: Lesson) -> Iterator[Draw]:
    """Yield the draws of which a check itself tries other lengths."""
    for check in own_checks(lesson):
        if isinstance(check, Program):
            for name in check.steady.keys() & check.inputs.keys():
                yield from drawn(check.inputs[name])


def fixed_bound(page: Page) -> Iterator[Finding]:
    """An index that never reaches the last row does not test it."""
    known = _numbers_of_the_task(page)
    for node, _, draw in _draws(page):
        number = BOUNDS.get(draw.function)
        if number is None or not page.lesson.sizes:
            continue
        high = draw.arguments[number]
        if isinstance(high, ast.Constant) and isinstance(high.value, int | float):
            # A Python integer is often a number of steps, of which the task mentions the highest.
            bounds = {high.value, high.value - 1} if draw.function == "int" else {high.value}
            if bounds & (known | {0, 1, 2}):
                continue
            message = f"the upper bound is always {high.value!r}"
            remedy = "for an index, use the size: integers(0, n, …), int(0, n), tokens(n, …)"
            yield node, message, remedy


def all_sizes_different(page: Page) -> Iterator[Finding]:
    """An answer can tell layers apart by their sizes where no two are equal."""
    lists = [
        (number, values)
        for number, check in enumerate(own_checks(page.lesson))
        for text in texts(check.observe())
        for values in _integer_lists(text)
    ]
    if lists and all(len(set(values)) == len(values) for _, values in lists):
        number, values = lists[0]
        message = f"no list of sizes repeats one, such as {list(values)}"
        yield page.at("checks", number), message, "use a list such as [7, 5, 7] in one check"


def one_step(page: Page) -> Iterator[Finding]:
    """A single step cannot show what gets lost between two."""
    parameters = {
        function.name: [argument.arg for argument in function.args.args]
        for function in ast.parse(page.lesson.starter).body
        if isinstance(function, ast.FunctionDef)
    }
    seen: dict[tuple[str, str], set[object]] = {}
    first: dict[tuple[str, str], int] = {}
    for number, check in enumerate(own_checks(page.lesson)):
        for text in texts(check.observe()):
            for name, parameter, value in _arguments(text, parameters):
                seen.setdefault((name, parameter), set()).add(value)
                first.setdefault((name, parameter), number)
    for (name, parameter), values in seen.items():
        if STEPS.match(parameter) and values == {1}:
            message = f"{name!r} is only called with {parameter}=1"
            yield page.at("checks", first[name, parameter]), message, "call it with 2 or 3 as well"


def _arguments(text: str, parameters: dict[str, list[str]]) -> Iterator[tuple[str, str, object]]:
    """Yield arguments of the learner's functions: function, parameter and, if constant, value."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        names = parameters.get(node.func.id, [])
        pairs = [*zip(names, node.args, strict=False)]
        pairs += [(one.arg, one.value) for one in node.keywords if one.arg]
        for name, value in pairs:
            yield node.func.id, name, value.value if isinstance(value, ast.Constant) else None


def _integer_lists(text: str) -> Iterator[tuple[int, ...]]:
    """Yield lists and tuples of three or more integers among the arguments of calls."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return
    for call in ast.walk(tree):
        for node in call.args if isinstance(call, ast.Call) else []:
            if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 2:
                values = [one.value for one in node.elts if isinstance(one, ast.Constant)]
                if len(values) == len(node.elts) and all(type(v) is int for v in values):
                    yield tuple(v for v in values if isinstance(v, int))


def never_square(page: Page) -> Iterator[Finding]:
    """An answer can recognise an axis by its length where no array is square."""
    compared = [(node, draw) for node, draw in _compared(page) if _has_shape(draw)]
    axes = [(node, _axes(draw)) for node, draw in compared if draw.function not in UNEQUAL]
    tables = [(node, found) for node, found in axes if len(found) > 1]
    if tables and all(len(set(found)) == len(found) for _, found in tables):
        node, found = tables[0]
        remedy = f"use a square one in some check: normal({found[0]}, {found[0]})"
        yield node, "no drawn array is square", remedy


def sizes_never_one(lesson: Lesson) -> list[str]:
    """Return the sizes in `value` checks that vary but are never 1. Sizes used in arithmetic, such
    as `n // 2`, are left out."""
    draws = [
        draw
        for check in own_checks(lesson)
        if check.kind == "value"
        for tree in _drawn_for(check, lesson).values()
        for draw in drawn(tree)
        if _has_shape(draw)
    ]
    axes = {name for draw in draws for name in _axes(draw)}
    computed = {
        node.id
        for draw in draws
        for argument in draw.arguments
        if not isinstance(argument, ast.Name)
        for node in ast.walk(argument)
        if isinstance(node, ast.Name)
    }
    several = {name: _candidates(size) for name, size in lesson.sizes.items()}
    return [
        name
        for name, candidates in several.items()
        if name in axes - computed and len(candidates) > 1 and 1 not in candidates
    ]


def _drawn_for(check: Check, lesson: Lesson) -> dict[str, Draws]:
    """Return the inputs that a check uses, and those that these begin with."""
    draws = {**lesson.inputs, **check.inputs}
    return {name: draws[name] for name in needed(draws, used_inputs(check, draws))}


def _compared(page: Page) -> list[tuple[Node, Draw]]:
    """Return the draws that `value` checks use, with their nodes."""
    lesson = page.lesson
    used = {
        name
        for check in own_checks(lesson)
        if check.kind == "value"
        for name in _drawn_for(check, lesson)
    }
    return [(node, draw) for node, name, draw in _draws(page) if name in used]


def _draws(page: Page) -> Iterator[tuple[Node, str, Draw]]:
    """Yield every draw, with the node and name of its input."""
    for name, draws in page.lesson.inputs.items():
        yield from ((page.at("inputs", name), name, draw) for draw in drawn(draws))
    for number, check in enumerate(own_checks(page.lesson)):
        for name, draws in check.inputs.items():
            node = page.at("checks", number, "inputs", name)
            yield from ((node, name, draw) for draw in drawn(draws))


def _numbers_of_the_task(page: Page) -> set[int]:
    """Return the numbers that a learner may hard-code: those in the text, and in expressions, which
    pass them to the code."""
    lesson = page.lesson
    expressions = "\n".join(text for check in own_checks(lesson) for text in texts(check.observe()))
    text = f"{lesson.brief}\n{lesson.torch}\n{lesson.starter}\n{expressions}"
    return {int(number) for number in re.findall(r"(?<![\w.])\d{1,6}(?![\w.])", text)}
