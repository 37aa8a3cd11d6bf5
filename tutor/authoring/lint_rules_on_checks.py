"""Remarks on checks: what they say, and whether an answer can pass them without the work."""

from collections.abc import Iterator, Mapping

from tutor.authoring.conclusions import conclusion
from tutor.authoring.page import Finding, Page
from tutor.check import Check
from tutor.checks.grad import Grad
from tutor.checks.survives import own_checks
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap
from tutor.expressions import TORCH_HELPERS, calls_of, defined_names, free_names
from tutor.inputs.draws import Draws, drawn
from tutor.pack.yaml_nodes import ScalarNode

RAW = frozenset({"value", "same", "different", "permutation", "bounds", "distribution"})
"""Kinds whose expressions return what is judged."""

EVIDENCE = frozenset({"pure", "compiles"})
"""Kinds that look at how something is done, and pass where nothing is."""


def no_why(page: Page) -> Iterator[Finding]:
    for number, check in enumerate(own_checks(page.lesson)):
        if not check.why:
            message = f"the check {check.title!r} does not say why"
            remedy = "add `why: …`, which is told to who fails it"
            yield page.at("checks", number), message, remedy


def no_comparison(page: Page) -> Iterator[Finding]:
    """What only the learner's own process can see is evidence, and no more."""
    checks = page.lesson.checks
    if not any(map(_compares, checks)):
        message = "no check compares anything with the PyTorch, or with a distribution"
        yield page.at("checks"), message, "add a `value:` check; the others can be outwitted"


def expect_without_torch(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    names = defined_names(lesson.reference_code) | TORCH_HELPERS - {"np", "math"}
    for number, _ in enumerate(own_checks(lesson)):
        node = page.at("checks", number, "expect")
        if not isinstance(node, ScalarNode):
            continue
        # What is not computed, be it True, a shape or an input as it is, needs no PyTorch.
        expect = str(node.value)
        used = free_names(expect).keys()
        if used & lesson.inputs.keys() and not used & names and not expect.isidentifier():
            message = "`expect` uses nothing of the PyTorch"
            remedy = "call what `torch:` defines, so that the lesson's PyTorch is the reference"
            yield node, message, remedy


def concluded_inside(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    for number, check in enumerate(own_checks(lesson)):
        if check.kind not in RAW or (isinstance(check, Value) and check.evidence):
            continue
        given = {**lesson.inputs, **check.inputs}
        several = getattr(check, check.kind)
        for text in [several] if isinstance(several, str) else several:
            if found := conclusion(text, given):
                message = f"{found} draws a conclusion where the learner's code can flatter it"
                remedy = (
                    "return the arrays and conclude outside (expect, shape, distribution, bounds, "
                    "same), or mark it `evidence: true`, `after` a check of raw values"
                )
                yield page.at("checks", number, check.kind), message, remedy
                break


def evidence_alone(page: Page) -> Iterator[Finding]:
    """Of an answer that does no work, evidence finds nothing wrong."""
    checks = {check.title: check for check in own_checks(page.lesson)}
    for number, check in enumerate(own_checks(page.lesson)):
        marked = isinstance(check, Value) and check.evidence
        if (marked or check.kind in EVIDENCE) and not _stands_on_values(check, checks):
            message = f"the check {check.title!r} passes for an answer that does no work"
            remedy = "let it stand `after` a check that compares values"
            yield page.at("checks", number), message, remedy


def _stands_on_values(check: Check, checks: dict[str, Check]) -> bool:
    needed = [checks[name] for name in check.prerequisites if name in checks]
    return any(_compares(one) or _stands_on_values(one, checks) for one in needed)


def _compares(check: Check) -> bool:
    """Whether it compares raw values with what the lesson expects."""
    if isinstance(check, Value):
        return not check.evidence
    if isinstance(check, Vmap):
        return check.expect is not None
    if check.kind == "shape":
        return False
    return check.refer() is not None or check.kind in ("distribution", "train")


def gradient_unasked(page: Page) -> Iterator[Finding]:
    """Where a gradient stops inside an answer, its values are right."""
    lesson = page.lesson
    if "grad" not in (lesson.survives or ()):
        return
    functions = defined_names(lesson.starter)
    asked: dict[str, set[str]] = {}
    wanted: dict[str, tuple[int, set[str]]] = {}
    for number, check in enumerate(own_checks(lesson)):
        if isinstance(check, Grad):
            chosen = (check.argnums,) if isinstance(check.argnums, int) else check.argnums
            names = {name for k in chosen for name in free_names(check.at[k])}
            for function in free_names(check.grad).keys() & functions:
                asked.setdefault(function, set()).update(names)
        elif isinstance(check, Value) and not check.evidence:
            real = {*_real_inputs({**lesson.inputs, **check.inputs})}
            for function, arguments in calls_of(check.value, functions):
                used = {name for argument in arguments for name in free_names(argument)} & real
                wanted.setdefault(function, (number, used))
    takes_gradients = any(word in lesson.reference_code for word in ("backward(", "autograd"))
    for function, (number, names) in wanted.items():
        # Not of one that returns gradients: few lessons want a gradient's gradient.
        missing = names - asked.get(function, set() if not takes_gradients else names)
        if missing:
            message = f"no gradient of {function!r} is asked in {', '.join(sorted(missing))}"
            remedy = "add a `grad:` check; an answer that stops gradients passes without one"
            yield page.at("checks", number), message, remedy


def _real_inputs(inputs: Mapping[str, Draws]) -> Iterator[str]:
    """The names of those that hold numbers from a density."""
    for name, draws in inputs.items():
        if any(draw.function in ("normal", "uniform") for draw in drawn(draws)):
            yield name


def no_survives(page: Page) -> Iterator[Finding]:
    if page.lesson.survives is None:
        message = "it does not say what the functions must survive"
        remedy = "add `survives: [jit, grad, vmap]`, or fewer, or [] for none"
        yield page.at("id"), message, remedy
