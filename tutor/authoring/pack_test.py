"""Run all trials of a pack's lessons, several at a time; yield results in the pack's order."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Self

from msgspec import Struct, structs

from tutor.authoring.constants import remarks_on_constants
from tutor.authoring.examples import examples_of, mismatches
from tutor.authoring.expected import remarks_on_expected
from tutor.authoring.recording import record
from tutor.authoring.strength import Strength, strength, trial_of
from tutor.authoring.trial import Outcome, Trial, attempt, learn, trials
from tutor.engine.cancels import Cancels
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.marked_regions import solution_lines
from tutor.pack.places import Places
from tutor.pool.forks import Forks
from tutor.requirements import unmet
from tutor.sandbox.process import Failed
from tutor.storage import paths

NARROW = 0.5
"""A share of a limit above which there is a remark: machines differ by as much."""


class TrialOptions(Struct, frozen=True, kw_only=True):
    """Options of trials: answers and mistakes run under `seeds` seeds each, `jobs` at a time.
    `record`: record PyTorch's answers with the pack where they are missing."""

    seeds: int = 20
    jobs: int = 1
    mutate: bool = False
    variants: bool = False
    record: bool = False


class LessonResult(Struct, frozen=True):
    """The result of one lesson.

    `strength` is None without `mutate`, and if the solution does not hold. `seconds` and
    `memory_mb` are the most that a right answer took. `remarks` do not make a lesson fail.
    `skipped`: what the lesson requires and is not installed, so that nothing was tried.
    """

    lesson: str
    outcomes: tuple[Outcome, ...]
    strength: Strength | None
    seconds: float
    seconds_limit: float
    memory_mb: int | None
    memory_limit_mb: int
    remarks: tuple[str, ...]
    skipped: str = ""

    @property
    def holds(self) -> bool:
        strong = self.strength is None or self.strength.holds
        return strong and all(outcome.holds for outcome in self.outcomes)


class PackTest:
    """Use as a context manager, and iterate over `results`. Leaving it stops running trials.

    **Arguments:** `lessons`: ids; `on_steps`: called, in any thread, with the number of `steps`
    that have just been done.
    """

    def __init__(
        self,
        pack: Pack,
        lessons: list[str],
        options: TrialOptions,
        on_steps: Callable[[int], None] = lambda steps: None,
    ) -> None:
        self._pack = pack
        self._on_steps = on_steps
        self._works = [_Work(pack, pack.lesson(name), options) for name in lessons]
        self._solutions = {work.lesson.id: work.solution for work in self._works}
        self._forks = Forks()
        self._cache = paths.cache() / "references"
        self._record = options.record
        self._mutate = options.mutate
        self.written = 0
        """The number of lessons whose answers of PyTorch were recorded."""
        self._executor = ThreadPoolExecutor(options.jobs, thread_name_prefix="trial")
        self._cancels = Cancels()
        self._learning: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._learned: set[str] = set()

    @property
    def steps(self) -> int:
        """The number of steps in all; each is one seed of one trial."""
        return sum(len(trial.seeds) for work in self._works for trial in work.all)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._cancels.stop()
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._forks.close()
        self._executor.shutdown()

    def results(self) -> Iterator[LessonResult]:
        """Yield each lesson's result once it and all before it are done."""
        under_way = [
            (work, [self._executor.submit(self._attempt, trial) for trial in work.all])
            for work in self._works
        ]
        for work, futures in under_way:
            if work.skipped:
                yield work.result([], [], [])
                continue
            outcomes = [future.result() for future in futures]
            examples = self._examples(work.lesson)
            result = work.result(outcomes, self._expected(work.lesson), examples)
            yield self._recorded(work.lesson, result) if result.holds else result

    def _examples(self, lesson: Lesson) -> list[Outcome]:
        """Return what the lesson's text shows otherwise than it is."""
        if not examples_of(lesson):
            return []
        places = Places(self._pack, lesson)
        try:
            with self._forks.reference() as sandbox:
                sandbox.ready()
                found = mismatches(lesson, sandbox)
        except Failed as failure:
            problem = failure.fault.message
            return [Outcome(lesson.id, "example", "examples", problem, ours=True)]
        return [
            Outcome(
                lesson.id,
                "example",
                f"line {one.line} of `{one.field}`",
                one.message,
                place=places.of(one.field),
            )
            for one in found
        ]

    def _recorded(self, lesson: Lesson, result: LessonResult) -> LessonResult:
        """Return the result with what is wrong with the recorded answers, if anything is."""
        done = record(lesson, self._cache, self._forks.reference, write=self._record, again=True)
        self.written += done.written
        if not done.problem:
            return result
        place = Places(self._pack, lesson).of("checks")
        outcome = Outcome(lesson.id, "recording", "recorded answers", done.problem, place=place)
        return structs.replace(result, outcomes=(*result.outcomes, outcome))

    def _expected(self, lesson: Lesson) -> list[str]:
        remarks = [*remarks_on_expected(lesson, self._cache, self._forks.reference)]
        if self._mutate:
            remarks += remarks_on_constants(lesson, self._forks.reference)
        places = Places(self._pack, lesson)
        return [f"{places.of(*one.path)}: {one.message}; {one.remedy}" for one in remarks]

    def _attempt(self, trial: Trial) -> Outcome:
        done = 0

        def on_seed() -> None:
            nonlocal done
            done += 1
            self._on_steps(1)

        with self._cancels.run() as cancel:
            self._learn(trial.lesson)
            outcome = attempt(trial, self._forks, cancel, on_seed)
            self._on_steps(len(trial.seeds) - done)
            return outcome

    def _learn(self, lesson: Lesson) -> None:
        """Compile what the solution needs, once per lesson; its other trials wait for that."""
        with self._learning[lesson.id]:
            solution = self._solutions[lesson.id]
            if solution is not None and lesson.id not in self._learned:
                learn(self._forks, lesson, solution)
                self._learned.add(lesson.id)


class _Work:
    """The trials of one lesson: none if it is skipped."""

    def __init__(self, pack: Pack, lesson: Lesson, options: TrialOptions) -> None:
        self.lesson = lesson
        self.skipped = unmet(lesson.requires)
        seeds = tuple(range(options.seeds))
        self._trials: list[Trial] = []
        self._failed: list[Outcome] = []
        if not self.skipped:
            self._trials, self._failed = trials(pack, lesson, seeds, options.variants)
        self.solution = next((t.code for t in self._trials if t.kind == "solution"), None)
        self._mutants = None
        if options.mutate and self.solution is not None:
            from tutor.authoring.mutate import mutants

            # The lines of the file, which may have markers that the solution lacks.
            lines = solution_lines(pack.written_solution(lesson.id) or "")
            with suppress(SyntaxError):  # the trial of the solution reports it
                found = mutants(self.solution, f"{lesson.id}.py")
                self._mutants = [structs.replace(m, line=lines[m.line - 1]) for m in found]
        self.all = [*self._trials, *(trial_of(lesson, mutant) for mutant in self._mutants or ())]

    def result(
        self, outcomes: list[Outcome], expected: list[str], examples: list[Outcome]
    ) -> LessonResult:
        """**Arguments:** `outcomes`: of `all`, in their order; `expected`: remarks on the values
        that PyTorch gives; `examples`: of the lesson's text, those that do not hold."""
        lesson = self.lesson
        ordinary = [*outcomes[: len(self._trials)], *self._failed, *examples]
        mutated = outcomes[len(self._trials) :]
        unknown = [outcome for outcome in mutated if outcome.ours]
        ordinary += unknown
        right = [o for o in ordinary if o.kind in ("solution", "variant") and o.tried]
        counted = None
        sound = all(outcome.holds for outcome in ordinary if outcome.kind == "solution")
        if self._mutants is not None and sound and not unknown:
            counted = strength(lesson, self._mutants, mutated)
        seconds = max((o.seconds for o in right), default=0.0)
        memory = max((o.memory_mb for o in right if o.memory_mb is not None), default=None)
        hints = () if self.skipped else hint_remarks(lesson, ordinary)
        return LessonResult(
            lesson=lesson.id,
            outcomes=tuple(ordinary),
            strength=counted,
            seconds=seconds,
            seconds_limit=lesson.limits.seconds,
            memory_mb=memory,
            memory_limit_mb=lesson.limits.memory_mb,
            remarks=(*limit_remarks(lesson, seconds, memory), *hints, *expected),
            skipped=self.skipped,
        )


def hint_remarks(lesson: Lesson, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a remark for each failure hint that no mistake is offered."""
    mistakes = [outcome for outcome in outcomes if outcome.kind == "mistake"]
    if any(outcome.ours for outcome in mistakes):
        return  # they may be those that would be offered it
    offered = {number for outcome in mistakes for number in outcome.offered}
    for number, hint in enumerate(lesson.failure_hints, 1):
        if number not in offered:
            yield (
                f"failure hint {number} (fails: {hint.fails}) is offered for no mistake; add a "
                "mistake that learners make there, or correct its `fails` and `says`"
            )


def limit_remarks(lesson: Lesson, seconds: float, memory: int | None) -> Iterator[str]:
    """Yield a remark for each limit of which a right answer used more than `NARROW`."""
    limits = lesson.limits
    if seconds > NARROW * limits.seconds:
        yield (
            f"a right answer used {seconds:.1f} of {limits.seconds:g} s of processor time; "
            f"a slower machine may need more: limits: {{seconds: {2 * seconds:.0f}}}"
        )
    if memory is not None and memory > NARROW * limits.memory_mb:
        yield (
            f"a right answer used {memory} of {limits.memory_mb} MiB; "
            f"others may need more: limits: {{memory_mb: {2 * memory}}}"
        )
