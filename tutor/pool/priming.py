"""Priming a waiting sandbox: it runs code like the code to come, on inputs of the same shapes.

Afterwards JAX has traced and compiled the small operations that most answers use. Only the pack's
own code is run, and for a learner their own last code, with other numbers than the hidden ones.
What it changes in the process is reset before a submission is imported (`tutor.sandbox.learner`); a
sandbox in which the learner's code changed more than that is not used.
"""

import logging
from collections.abc import Callable

from tutor.engine.plan import Configuration, case_id, configuration_of, decoy, plan
from tutor.engine.submission import harness_of
from tutor.inputs.streams import word
from tutor.lesson import Lesson
from tutor.pool.programs import Programs
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Sandbox
from tutor.sandbox.protocol import Answer, Collect, Compare, Give, Load, Loaded, Observe
from tutor.tree import Tree

_SEED = word("priming")
_logger = logging.getLogger(__name__)


def prime(
    sandbox: Sandbox,
    lesson: Lesson,
    configuration: Configuration,
    code: str | None,
    seed: int,
    programs: Programs,
    interrupted: Callable[[], bool],
    *,
    save: bool = True,
) -> None:
    """Run the checks of one configuration on `code` in a new sandbox, without judging it.

    **Arguments:** `code`: None only waits for the sandbox; `seed`: that of the runs to come, which
    decides their shapes; `interrupted` is called between two steps and stops priming if a run
    waits for the sandbox; `save`: whether nothing but the pack's own code and programs have been
    in the sandbox, so that its programs may be cached.

    Raises:
        Failed: the code has broken the sandbox.
        Cancelled: the sandbox was killed.
        tutor.inputs.functions.DrawError: an input cannot be drawn.
    """
    sandbox.ready()
    if code is None:
        return
    allowance = Allowance(4 * lesson.limits.seconds)
    known = programs.load(lesson, configuration, code, seed)
    if known:
        give(sandbox, known, allowance)
    if not _run(sandbox, lesson, configuration, code, seed, allowance, interrupted):
        return
    reply, made = sandbox.ask(Collect("collect"), None, allowance, "priming")
    if save and isinstance(reply, Answer) and isinstance(made, dict) and made.keys() - known.keys():
        programs.save(lesson, configuration, code, seed, {**known, **made})
    sandbox.forget_output()


def prime_with_own(
    sandbox: Sandbox,
    lesson: Lesson,
    configuration: Configuration,
    code: str,
    seed: int,
    kept: dict[str, Tree],
    interrupted: Callable[[], bool],
) -> bool:
    """Run the checks on the learner's own last code, as `prime` does, so that an edit of it costs
    no more than what was edited.

    **Arguments:** `kept`: programs of their earlier runs.

    **Returns:** whether the sandbox may serve a run: the code has left nothing behind.

    Raises:
        Failed, Cancelled, DrawError: as in `prime`.
    """
    sandbox.ready()
    allowance = Allowance(lesson.limits.seconds)
    if kept:
        give(sandbox, kept, allowance)
    sandbox.ask(Compare("compare", begin=True), None, allowance, "priming")
    _run(sandbox, lesson, configuration, code, seed, allowance, interrupted)
    reply, left = sandbox.ask(Compare("compare", begin=False), None, allowance, "priming")
    sandbox.ask(Collect("collect"), None, allowance, "priming")
    sandbox.forget_output()
    if left:
        _logger.debug("%s: the code changed %s", lesson.id, left)
    return isinstance(reply, Answer) and left == []


def _run(
    sandbox: Sandbox,
    lesson: Lesson,
    configuration: Configuration,
    code: str,
    seed: int,
    allowance: Allowance,
    interrupted: Callable[[], bool],
) -> bool:
    """Run the checks of a configuration on code, and return whether that was not interrupted."""
    if (harness := harness_of(lesson)) is not None:
        sandbox.ask(harness, None, allowance, "priming")
    load = Load("prime", code, f"{lesson.id}.py")
    reply, _ = sandbox.ask(load, None, allowance, "priming")
    if isinstance(reply, Loaded):
        for check, cases in decoy(lesson, plan(lesson, seed), _SEED):
            if configuration_of(lesson, check) != configuration or check.ahead() is not None:
                continue
            for case in cases:
                if interrupted():
                    return False
                observe = Observe(case_id(check, case), check.inside, check.observe())
                sandbox.ask(observe, [*case.input_sets], allowance, "priming")
    return not interrupted()


def give(sandbox: Sandbox, programs: dict[str, Tree], allowance: Allowance) -> None:
    """Send compiled programs to a sandbox.

    Raises:
        Failed, Cancelled: as in `prime`.
    """
    sandbox.ready()
    sandbox.ask(Give("give"), {**programs}, allowance, "priming")
