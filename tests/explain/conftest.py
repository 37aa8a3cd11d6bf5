"""Real sandboxes in which rules are tested."""

from collections.abc import Callable, Iterator

import pytest

import tests.unit.conftest  # noqa: F401 - property tests run as they do there
from tutor.check import Case, Check
from tutor.engine.plan import case_id, configuration_of, plan
from tutor.engine.sandbox_requests import harness_of, observations, together
from tutor.explain import Symptom, of_fault, of_finding
from tutor.lesson import Lesson, Limits
from tutor.pool.forks import Forks
from tutor.sandbox import exceptions
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox
from tutor.sandbox.protocol import Answer, Load, Loaded, Observe, Raised
from tutor.tree import Tree

SECONDS = 60.0
LIMITS = Limits(seconds=SECONDS, memory_mb=4096)


Expected = Callable[[Lesson, Check, Case], Tree]


class Kept:
    """Sandboxes shared by many modules, so that not each waits for JAX to start."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self._running: dict[Spec, Sandbox] = {}
        self._torch: Lesson | None = None
        self._expected: dict[str, Tree] = {}

    def get(self, spec: Spec) -> Sandbox:
        """Return a running sandbox."""
        found = self._running.get(spec)
        if found is None or not found.alive:
            self._forks.zygotes.start(spec.role)
            found = self._running[spec] = Sandbox.start(spec, self._forks.zygotes)
            found.ready()
        return found

    def expected(self, lesson: Lesson, check: Check, case: Case) -> Tree:
        """Return the answer of the lesson's PyTorch."""
        sandbox = self.get(Spec("reference", LIMITS))
        allowance = Allowance(SECONDS)
        if lesson is not self._torch:
            load = Load("load", lesson.reference_code, "reference.py")
            reply, _ = sandbox.ask(load, None, allowance, "the lesson's PyTorch")
            assert isinstance(reply, Loaded), f"{lesson.id}: {reply}"
            self._torch, self._expected = lesson, {}
        name = case_id(check, case)
        if name not in self._expected:
            refer = Observe(name, check.inside, check.refer() or {})
            reply, tree = sandbox.ask(refer, [*case.input_sets], allowance, name)
            assert isinstance(reply, Answer), f"{lesson.id}: {reply}"
            self._expected[name] = tree
        return self._expected[name]

    def symptoms(
        self,
        lesson: Lesson,
        source: str,
        check: Check | None = None,
        expected: Expected | None = None,
    ) -> list[Symptom | None]:
        """Return a submission's symptom in each check, or only in `check`; None for a pass. Works
        like a session, except that many submissions share the sandboxes.

        **Arguments:** `expected`: the right answers, if not PyTorch's.
        """
        selected = [(one, cases) for one, cases in plan(lesson, 0) if check in (None, one)]
        configuration = configuration_of(lesson, selected[0][0])
        sandbox = self.get(Spec("learner", LIMITS, configuration.devices))
        allowance = Allowance(lesson.limits.seconds)
        if harness := harness_of(lesson):
            reply, _ = sandbox.ask(harness, None, allowance, "the lesson's jax_harness")
            assert isinstance(reply, Loaded), f"{lesson.id}: {reply}"
        load = Load("load", source, f"{lesson.id}.py")
        reply, _ = sandbox.ask(load, None, allowance, "the import of your code")
        if isinstance(reply, Raised):
            return [of_fault(exceptions.from_raised(reply, source), source)]
        right = expected or self.expected
        return [
            self._symptom(sandbox, lesson, one, cases, source, allowance, right)
            for one, cases in selected
        ]

    def answers(self, lesson: Lesson, source: str) -> list[Tree]:
        """Return a submission's answer in each case of the first check."""
        check, cases = plan(lesson, 0)[0]
        configuration = configuration_of(lesson, check)
        sandbox = self.get(Spec("learner", LIMITS, configuration.devices))
        allowance = Allowance(SECONDS)
        if harness := harness_of(lesson):
            reply, _ = sandbox.ask(harness, None, allowance, "the lesson's jax_harness")
            assert isinstance(reply, Loaded), f"{lesson.id}: {reply}"
        load = Load("load", source, f"{lesson.id}.py")
        reply, _ = sandbox.ask(load, None, allowance, "the import of your code")
        assert isinstance(reply, Loaded), f"{lesson.title}: {reply}"
        answers = []
        for case in cases:
            observe = Observe(case_id(check, case), check.inside, check.observe())
            reply, seen = sandbox.ask(observe, [*case.input_sets], allowance, lesson.title)
            assert isinstance(reply, Answer), f"{lesson.title}: {reply}"
            answers.append(seen)
        return answers

    def _symptom(
        self,
        sandbox: Sandbox,
        lesson: Lesson,
        check: Check,
        cases: list[Case],
        source: str,
        allowance: Allowance,
        right: Expected,
    ) -> Symptom | None:
        for case in cases:
            parts: list[Tree] = []
            for observe, inputs in observations(check, case):
                try:
                    reply, part = sandbox.ask(observe, inputs, allowance, observe.case)
                except Failed as failure:
                    return of_fault(failure.fault, source, check.kind)
                if isinstance(reply, Raised):
                    return of_fault(exceptions.from_raised(reply, source), source, check.kind)
                parts.append(part)
            refers = check.refer() is not None
            expected = right(lesson, check, case) if refers else None
            finding = check.judge(together(parts), expected, case)
            if finding is not None:
                devices = configuration_of(lesson, check).devices
                return of_finding(finding, check, case, source, devices=devices)
        return None

    def close(self) -> None:
        for sandbox in self._running.values():
            sandbox.close()


@pytest.fixture(scope="module")
def kept(forks: Forks) -> Iterator[Kept]:
    sandboxes = Kept(forks)
    yield sandboxes
    sandboxes.close()


Provoke = Callable[[str, int], Symptom | None]


def import_module(kept: Kept, source: str, devices: int = 1) -> Symptom | None:
    """Import a module in a learner's sandbox, or in PyTorch's if it imports torch, and return the
    symptom; None if nothing goes wrong."""
    torch = "import torch" in source
    spec = Spec("reference" if torch else "learner", LIMITS, devices)
    load = Load("load", source, "provoke.py")
    allowance = Allowance(SECONDS)
    try:
        reply, _ = kept.get(spec).ask(load, None, allowance, "the import of your code")
    except Failed as failure:
        return of_fault(failure.fault, source)
    if isinstance(reply, Loaded):
        return None
    assert isinstance(reply, Raised)
    return of_fault(exceptions.from_raised(reply, source), source)


@pytest.fixture(scope="module")
def provoke(kept: Kept) -> Provoke:
    return lambda source, devices=1: import_module(kept, source, devices)
