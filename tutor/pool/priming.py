"""Priming a waiting sandbox: it runs code like the code to come, on inputs of the same shapes.

Afterwards JAX has traced and compiled the small operations that most answers use. Only the pack's
own code is run, with other numbers than the hidden ones. What it changes in the process is reset
before a submission is imported (`tutor.sandbox.learner`).
"""

from collections.abc import Callable

from tutor.engine.plan import Configuration, configuration_of, decoy, plan
from tutor.engine.sandbox_requests import harness_of, load_request, observations
from tutor.inputs.streams import word
from tutor.lesson import Lesson
from tutor.pool.programs import Programs
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Sandbox
from tutor.sandbox.protocol import Answer, Collect, Give, Loaded
from tutor.tree import Tree

_SEED = word("priming")


def prime(
    sandbox: Sandbox,
    lesson: Lesson,
    configuration: Configuration,
    code: str | None,
    seed: int,
    programs: Programs,
    interrupted: Callable[[], bool],
) -> None:
    """Run the checks of one configuration on `code` in a new sandbox, without judging it.

    **Arguments:** `code`: None only waits for the sandbox; `seed`: that of the runs to come, which
    decides their shapes; `interrupted` is called between two steps and stops priming if a run
    waits for the sandbox.

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
    if (harness := harness_of(lesson)) is not None:
        sandbox.ask(harness, None, allowance, "priming")
    reply, _ = sandbox.ask(load_request(lesson, code), None, allowance, "priming")
    if isinstance(reply, Loaded):
        for check, cases in decoy(lesson, plan(lesson, seed), _SEED):
            if configuration_of(lesson, check) != configuration or check.ahead() is not None:
                continue
            for case in cases:
                if interrupted():
                    return
                for observe, inputs in observations(check, case):
                    sandbox.ask(observe, inputs, allowance, "priming")
    if interrupted():
        return
    reply, made = sandbox.ask(Collect("collect"), None, allowance, "priming")
    # With a learner's programs in the sandbox, its own may be forged.
    new = isinstance(reply, Answer) and isinstance(made, dict) and {**known, **made}
    if sandbox.pure and new and new.keys() - known.keys():
        programs.save(lesson, configuration, code, seed, new)
    sandbox.forget_output()


def give(sandbox: Sandbox, programs: dict[str, Tree], allowance: Allowance) -> None:
    """Send compiled programs to a sandbox.

    Raises:
        Failed, Cancelled: as in `prime`.
    """
    sandbox.ready()
    sandbox.ask(Give("give"), {**programs}, allowance, "priming")
