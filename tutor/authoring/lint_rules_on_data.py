"""Rules for data sets: files that cannot be read, too few examples, and sets that nothing uses."""

from collections.abc import Iterator

from tutor.authoring.page import Finding, Page
from tutor.checks.held_out import HeldOut
from tutor.checks.survives import own_checks
from tutor.inputs.data_files import BadData
from tutor.inputs.draws import drawn
from tutor.inputs.functions import DrawError

SEEDS = (0, 1)
"""Examples are drawn under each of these."""


def unusable_data(page: Page) -> Iterator[Finding]:
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


def unused_data(page: Page) -> Iterator[Finding]:
    lesson = page.lesson
    checks = own_checks(lesson)
    inputs = [*lesson.inputs.values(), *(one for check in checks for one in check.inputs.values())]
    used = {draw.function for draws in inputs for draw in drawn(draws)}
    used |= {check.data for check in checks if isinstance(check, HeldOut)}
    for name in lesson.data.keys() - used:
        message = f"the data set {name!r} is not used by any input or check"
        yield page.at("data", name), message, "use it, or remove it"
