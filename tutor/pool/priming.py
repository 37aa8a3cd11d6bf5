"""Making a waiting sandbox fast: it runs code like the one to come, on inputs of the same shapes.

After that JAX has traced and compiled the small operations that most answers use. What is run is
the pack's own code, beside other numbers than the hidden ones; what it changes for the whole
process is put right before a submission is imported (`tutor.sandbox.learner`).
"""

from collections.abc import Callable

from tutor.engine.plan import Configuration, case_id, configuration_of, decoy, plan
from tutor.inputs.streams import word
from tutor.lesson import Lesson
from tutor.pool.programs import Programs
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Sandbox
from tutor.sandbox.protocol import Answer, Collect, Give, Load, Loaded, Observe
from tutor.tree import Tree

_OTHER_VALUES = word("priming")


def prime(
    sandbox: Sandbox,
    lesson: Lesson,
    place: Configuration,
    code: str | None,
    seed: int,
    programs: Programs,
    hurried: Callable[[], bool],
) -> None:
    """Have `code` checked in a sandbox that has just started, without judging it.

    **Arguments:** `code`: None to run none; `seed`: that of the runs to come, for their shapes;
    `hurried`: asked between two steps whether somebody is waiting for the sandbox: then it stays
    as it is.

    Raises:
        Failed: the code has broken the sandbox.
        Cancelled: killed meanwhile.
        tutor.inputs.functions.DrawError: an input cannot be drawn.
    """
    sandbox.ready()
    if code is None:
        return
    allowance = Allowance(4 * lesson.limits.seconds)
    known = programs.load(lesson, place, code, seed)
    if known:
        give(sandbox, known, allowance)
    load = Load("prime", code, f"{lesson.id}.py")
    reply, _ = sandbox.ask(load, None, allowance, "priming")
    if isinstance(reply, Loaded):
        for check, cases in decoy(lesson, plan(lesson, seed), _OTHER_VALUES):
            if configuration_of(lesson, check) != place:
                continue
            for case in cases:
                if hurried():
                    return
                observe = Observe(case_id(check, case), check.inside, check.observe())
                input_sets: list[Tree] = [*case.input_sets]
                sandbox.ask(observe, input_sets, allowance, "priming")
    if hurried():
        return
    reply, made = sandbox.ask(Collect("collect"), None, allowance, "priming")
    if isinstance(reply, Answer) and isinstance(made, dict) and made.keys() - known.keys():
        programs.save(lesson, place, code, seed, {**known, **made})
    sandbox.forget_output()


def give(sandbox: Sandbox, programs: dict[str, Tree], allowance: Allowance) -> None:
    """Let a sandbox have compiled programs.

    Raises:
        Failed, Cancelled: as in `prime`.
    """
    sandbox.ready()
    sandbox.ask(Give("give"), {**programs}, allowance, "priming")
