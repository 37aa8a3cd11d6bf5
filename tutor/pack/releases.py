"""Parts of a lesson that are only for some releases of JAX."""

from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version

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


@cache
def supported() -> str:
    """Return the releases of JAX that jaxtutor supports, such as `<0.13,>=0.10.2`; empty if its
    metadata is not installed."""
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(text) for text in requires("jaxtutor") or ()]
    except PackageNotFoundError:
        return ""
    return next((str(one.specifier) for one in wanted if one.name == "jax"), "")


@cache
def ever_applies(releases: str) -> bool:
    """Return whether a release of JAX that jaxtutor supports may be among `releases`."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    within = supported()
    if not within or applies(releases):
        return True
    bounds = [Version(one.version.removesuffix(".*")) for one in SpecifierSet(within)]
    minors = range(min(one.minor for one in bounds), max(one.minor for one in bounds) + 1)
    if len({one.major for one in bounds}) > 1:
        return True  # too many to try
    candidates = [f"{bounds[0].major}.{minor}.{patch}" for minor in minors for patch in range(100)]
    both = SpecifierSet(f"{within},{releases}")
    return any(both.contains(one, prereleases=True) for one in candidates)


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
