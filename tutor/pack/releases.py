"""Parts of a lesson that are only for some releases of JAX."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from msgspec import structs

from tutor.lesson import Lesson


@cache
def applies(releases: str, release: str | None = None) -> bool:
    """Return whether a release of JAX, by default the installed one, is among `releases`, such as
    `>=0.11,<0.13`. All are if there is no JAX.

    Raises:
        ValueError: `releases` is not a version specifier.
    """
    if not releases:
        return True
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        chosen = SpecifierSet(releases)
    except InvalidSpecifier as error:
        raise ValueError(str(error)) from None
    try:
        return chosen.contains(release or version("jax"), prereleases=True)
    except PackageNotFoundError:
        return True


def for_this_release(lesson: Lesson) -> Lesson:
    """Return a valid lesson without the checks and mistakes that are for other releases."""
    limited = [check.jax for check in lesson.checks] + [one.jax for one in lesson.mistakes]
    if not any(limited):
        return lesson
    return structs.replace(
        lesson,
        checks=tuple(check for check in lesson.checks if applies(check.jax)),
        mistakes=tuple(mistake for mistake in lesson.mistakes if applies(mistake.jax)),
    )
