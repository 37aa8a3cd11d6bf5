"""Rules for checks: their messages, and whether an answer can pass without doing the work."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from tutor.authoring.conclusions import conclusion
from tutor.authoring.page import Finding, Page
from tutor.check import Check
from tutor.checks import BUILT_IN
from tutor.checks.compiles import Compiles
from tutor.checks.grad import Grad
from tutor.checks.predict import Predict, only_asks
from tutor.checks.program import Program
from tutor.checks.pure import Pure
from tutor.checks.survives import own_checks
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap
from tutor.engine.plan import used_inputs
from tutor.expressions import TORCH_HELPERS, calls_of, defined_names, free_names, own_names, texts
from tutor.inputs.draws import Draws, drawn
from tutor.inputs.order import needed
from tutor.lesson import Lesson
from tutor.pack.releases import ever_applies, supported
from tutor.pack.yaml_nodes import MappingNode, ScalarNode, SequenceNode

GRADIENTS = re.compile(r"\b(grad|value_and_grad|vjp|jacrev|jacfwd)\b")

CHECKSUM = re.compile(r"\b(crc32|adler32|hashlib|hash)\b")
"""Ways to make a number of a name."""

RAW = frozenset({"value", "same", "different", "permutation", "bounds", "distribution"})
"""Kinds whose expressions return the values to judge."""

EVIDENCE = frozenset({"pure", "compiles", "program", "raises"})
"""Kinds that look at how an answer works, and can pass if it does nothing."""


def no_why(page: Page) -> Iterator[Finding]:
    for number, check in enumerate(own_checks(page.lesson)):
        if not check.why and not isinstance(check, Predict):  # which has `because`
            message = f"the check {check.title!r} has no `why`"
            remedy = "add `why: …`, shown to learners who fail it"
            yield page.at("checks", number), message, remedy


def no_comparison(page: Page) -> Iterator[Finding]:
    """Report checks that rely only on the learner's process, which a submission can fool."""
    checks = page.lesson.checks
    if not any(map(_compares, checks)):
        message = "no check compares anything with the PyTorch or a distribution"
        yield page.at("checks"), message, "add a `value:` check; the others can be fooled"


def expect_without_torch(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    names = defined_names(lesson.reference_code) | TORCH_HELPERS - {"np", "math"}
    for number, _ in enumerate(own_checks(lesson)):
        node = page.at("checks", number, "expect")
        if not isinstance(node, ScalarNode):
            continue
        # Constants, shapes and unchanged inputs need no PyTorch.
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
            if found := conclusion(text, given, lesson.jax_harness or ""):
                message = f"{found} is computed in the learner's process, which can fake it"
                remedy = (
                    "return the arrays and judge them outside (expect, shape, distribution, "
                    "bounds, same), or mark it `evidence: true`, `after` a check of raw values"
                )
                yield page.at("checks", number, check.kind), message, remedy
                break


def evidence_alone(page: Page) -> Iterator[Finding]:
    """Evidence finds nothing wrong with an answer that does no work."""
    checks = {check.title: check for check in own_checks(page.lesson)}
    for number, check in enumerate(own_checks(page.lesson)):
        marked = isinstance(check, Value) and check.evidence
        if (marked or check.kind in EVIDENCE) and not _needs_values(check, checks):
            message = f"the check {check.title!r} passes for an answer that does no work"
            remedy = "run it `after` a check that compares values"
            yield page.at("checks", number), message, remedy


def names_in_keys(page: Page) -> Iterator[Finding]:
    """Report keys made from names if no check would notice Python's `hash`: within one process it
    gives the same numbers."""
    sources = (page.solution or "", page.lesson.brief)
    from_names = any("fold_in" in text and CHECKSUM.search(text) for text in sources)
    if from_names and not any(check.elsewhere() for check in page.lesson.checks):
        message = "keys are made from names, but no check compares two processes"
        remedy = "add `across_processes: true` to a `pure:` check: Python's `hash` of text differs"
        yield page.at("checks"), message, remedy


def constant_in_jit(page: Page) -> Iterator[Finding]:
    """Report arrays that a compiled function takes from outside. They are constants of its program,
    so no program that was compiled for other numbers, as sandboxes do beforehand, can serve it."""
    lesson = page.lesson
    for number, check in enumerate(own_checks(lesson)):
        inputs = {**lesson.inputs, **check.inputs}
        arrays = {name for name, draws in inputs.items() if not _is_number(draws)}
        for text in texts(check.observe()):
            if found := sorted(_outside_of_jit(text) & free_names(text).keys() & arrays):
                names = ", ".join(found)
                message = (
                    f"a function under jax.jit uses {names} of the inputs, but not as arguments"
                )
                remedy = f"pass them: jax.jit(lambda …, {names}: …)(…, {names})"
                yield page.at("checks", number), message, remedy
                break


def _is_number(draws: Draws) -> bool:
    return all(draw.function in ("int", "float") for draw in drawn(draws))


def _outside_of_jit(expression: str) -> set[str]:
    """Return the free names of lambdas to which an expression applies `jax.jit`."""
    return {
        name
        for node in ast.walk(ast.parse(expression.strip(), mode="eval"))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "jax.jit"
        for argument in node.args[:1]
        if isinstance(argument, ast.Lambda)
        for name in free_names(ast.unparse(argument))
    }


def compiled_anew(page: Page) -> Iterator[Finding]:
    """JAX caches programs by function object."""
    for number, check in enumerate(own_checks(page.lesson)):
        harness = page.lesson.jax_harness or ""
        if isinstance(check, Compiles) and _makes_a_jitted_function(check.compiles, harness):
            message = "the expression makes a new compiled function at each call"
            remedy = "call a function that the learner compiles; a new one never reuses a program"
            yield page.at("checks", number, "compiles"), message, remedy


def _makes_a_jitted_function(expression: str, harness: str) -> bool:
    tree = ast.parse(expression.strip(), mode="eval")
    functions = [
        one
        for one in ast.parse(harness).body
        if isinstance(one, ast.FunctionDef) and one.name in free_names(expression)
    ]
    # A decorator compiles once.
    bodies = [part for one in functions for part in one.body]
    names = (
        node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        for part in (tree, *bodies)
        for node in ast.walk(part)
    )
    return any(name in ("jit", "pmap") for name in names)


def repeated_check(page: Page) -> Iterator[Finding]:
    """A check that asks what one before it has asked can only pass: its `why` is never seen."""
    lesson = page.lesson
    numbers = {check.title: number for number, check in enumerate(own_checks(lesson))}
    for number, check in enumerate(own_checks(lesson)):
        for other in _all_before(check, {one.title: one for one in own_checks(lesson)}):
            if other.case_count >= check.case_count and _asks(check, lesson) == _asks(
                other, lesson
            ):
                line = page.at("checks", numbers[other.title]).line
                message = (
                    f"the check {check.title!r} asks the same as {other.title!r} on line {line}, "
                    "after which it runs, so it cannot fail"
                )
                yield page.at("checks", number), message, "let it ask something else, or remove it"
                break


def _all_before(check: Check, checks: Mapping[str, Check]) -> list[Check]:
    """Return the checks that have passed when this one runs."""
    found: list[Check] = []
    pending = [*check.prerequisites]
    while pending:
        one = checks.get(pending.pop())
        if one is not None and one not in found:
            found.append(one)
            pending += one.prerequisites
    return found


def _asks(check: Check, lesson: Lesson) -> object:
    """Return all that decides whether an answer passes a check; unique if chance decides, too."""
    if type(check).extra_inputs is not Check.extra_inputs:
        return check.title
    inputs = {**lesson.inputs, **check.inputs}
    needs = needed(inputs, used_inputs(check, inputs))
    left_out = {"name", "after", "why", "points", "bonus", "visible", "jax", "cases", "inputs"}
    fields = {name: getattr(check, name) for name in check.__struct_fields__}
    asked = {name: value for name, value in fields.items() if name not in left_out}
    asked["devices"] = check.devices or lesson.devices
    return check.kind, repr(asked), repr([(name, inputs[name]) for name in sorted(needs)])


def cannot_fail(page: Page) -> Iterator[Finding]:
    """An answer decides nothing where an expression names nothing of it."""
    defined = {*own_names(page.lesson.starter)}
    defined |= {name for name in defined_names(page.lesson.starter) if name.startswith("_")}
    known = {kind.kind for kind in BUILT_IN}
    for number, check in enumerate(own_checks(page.lesson)):
        marked = isinstance(check, Value) and check.evidence  # it may look at JAX's settings
        if check.kind not in known or check.ahead() is not None or marked:
            continue
        used = {name for text in texts(check.observe()) for name in free_names(text)}
        if not used & defined:
            message = f"the check {check.title!r} uses nothing of the learner's code"
            remedy = "call what the starter defines; otherwise every answer passes"
            yield page.at("checks", number, check.kind), message, remedy


def never_applies(page: Page) -> Iterator[Finding]:
    for key in ("checks", "mistakes"):
        listed = page.node.get(key)
        for item in listed.items if isinstance(listed, SequenceNode) else ():
            releases = item.get("jax") if isinstance(item, MappingNode) else None
            if isinstance(releases, ScalarNode) and not ever_applies(str(releases.value)):
                message = (
                    f"no release of JAX that jaxtutor supports ({supported()}) is among "
                    f"{releases.value!r}"
                )
                yield releases, message, "correct `jax`, or remove what is never run"


def promise_unchecked(page: Page) -> Iterator[Finding]:
    """Report a promise of the task that no check decides: values are the same without it."""
    _, _, task = page.lesson.brief.rpartition("\n#")
    task = re.sub("```.*?```", "", task, flags=re.DOTALL)
    checks = own_checks(page.lesson)
    if all(check.ahead() is not None for check in checks):
        return  # questions only: nobody's code keeps a promise
    for promise, decides, remedy in _PROMISES:
        if (said := promise.search(task)) and not any(map(decides, checks)):
            words = " ".join(said[0].split())
            message = f"the brief says {words!r}, and no check decides it"
            yield page.at("brief"), message, remedy


_PROMISES: tuple[tuple[re.Pattern[str], Callable[[Check], bool], str], ...] = (
    (
        re.compile(r"(?<!can be )\b(compiled|one program)\b"),
        # A value that is evidence may count how often Python runs.
        lambda check: isinstance(check, Compiles | Program) or getattr(check, "evidence", False),
        "add a `compiles` or a `program` check, and a mistake that it refuses",
    ),
    (
        re.compile(r"\b(not|never|without) grow(ing|s)?\b"),
        lambda check: isinstance(check, Program) and bool(check.steady),
        "add a `program` check with `steady`, and a mistake that it refuses",
    ),
    (
        re.compile(r"\b(in place|donates? `)"),
        lambda check: (
            isinstance(check, Pure) or (isinstance(check, Program) and bool(check.donates))
        ),
        "add a `program` check with `donates`, or a `pure` check if nothing may be changed",
    ),
)
"""What briefs promise, which checks decide it, and what to add where none does."""


def asks_nothing(page: Page) -> Iterator[Finding]:
    for number, check in enumerate(own_checks(page.lesson)):
        asked = ("contains", "lacks", "steady", "donates", "lives")
        if isinstance(check, Program) and not any(getattr(check, name) for name in asked):
            message = f"the check {check.title!r} asks nothing of the program"
            yield page.at("checks", number), message, f"add {', '.join(asked[:-1])} or {asked[-1]}"


def _needs_values(check: Check, checks: dict[str, Check]) -> bool:
    needed = [checks[name] for name in check.prerequisites if name in checks]
    return any(_compares(one) or _needs_values(one, checks) for one in needed)


def _compares(check: Check) -> bool:
    """Return whether a check compares raw values with expected ones."""
    if isinstance(check, Value):
        return not check.evidence
    if isinstance(check, Vmap):
        return check.expect is not None
    if check.kind == "shape":
        return False
    return check.refer() is not None or check.kind in ("distribution", "train", "predict")


def gradient_unasked(page: Page) -> Iterator[Finding]:
    """An answer that stops a gradient inside still has the right values."""
    lesson = page.lesson
    if "grad" not in (lesson.survives or ()):
        return
    functions = defined_names(lesson.starter)
    checked: dict[str, set[str]] = {}
    called: dict[str, tuple[int, set[str]]] = {}
    for number, check in enumerate(own_checks(lesson)):
        if isinstance(check, Grad):
            chosen = (check.argnums,) if isinstance(check.argnums, int) else check.argnums
            names = {name for k in chosen for name in free_names(check.at[k])}
            for function in free_names(check.grad).keys() & functions:
                checked.setdefault(function, set()).update(names)
        elif taken := _differentiated(check, functions):
            for function in taken:
                checked.setdefault(function, set()).update({**lesson.inputs, **check.inputs})
        elif isinstance(check, Value) and not check.evidence:
            real = {*_real_inputs({**lesson.inputs, **check.inputs})}
            for function, arguments in calls_of(check.value, functions):
                used = {name for argument in arguments for name in free_names(argument)} & real
                called.setdefault(function, (number, used))
    takes_gradients = any(word in lesson.reference_code for word in ("backward(", "autograd"))
    for function, (number, names) in called.items():
        # Functions that return gradients are left out: few lessons need second derivatives.
        missing = names - checked.get(function, set() if not takes_gradients else names)
        if missing:
            message = f"no check takes the gradient of {function!r} in {', '.join(sorted(missing))}"
            remedy = "add a `grad:` check; without one, an answer that stops gradients passes"
            yield page.at("checks", number), message, remedy


def _differentiated(check: Check, functions: frozenset[str]) -> set[str]:
    """Return the functions whose gradient an expression of a check takes itself."""
    found: set[str] = set()
    for text in texts(check.observe()):
        if GRADIENTS.search(text):
            found |= free_names(text).keys() & functions
    return found


def _real_inputs(inputs: Mapping[str, Draws]) -> Iterator[str]:
    """Yield the names of inputs drawn from a density."""
    for name, draws in inputs.items():
        if any(draw.function in ("normal", "uniform") for draw in drawn(draws)):
            yield name


def no_survives(page: Page) -> Iterator[Finding]:
    if page.lesson.survives is None and not only_asks(page.lesson):
        message = "there is no `survives`"
        remedy = "add `survives: [jit, grad, vmap]`, or fewer, or []"
        yield page.at("id"), message, remedy
