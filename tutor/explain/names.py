"""Names that do not exist in JAX, Flax or Optax: PyTorch's, and those of earlier releases.

One table, `names.yaml`, says for each name what to write, by where it is looked up. A test looks
every name up in the installed libraries.
"""

import re
from functools import cache
from pathlib import Path

from msgspec import Struct, structs

from tutor.explain.rule import Prose, Rule, When
from tutor.explain.rule_cache import cached
from tutor.explain.symptom import UNKNOWN
from tutor.lesson import Id

TABLE = Path(__file__).parent / "names.yaml"

ARRAY = "array"
"""The owner of names looked up on a JAX array or a tracer."""

KEY = "key"
"""The owner of names looked up on a random key."""

_CLASSES = {"ArrayImpl": ARRAY, "DeviceArray": ARRAY, "_DeviceArray": ARRAY,
            "PRNGKeyArray": KEY}  # fmt: skip
_MESSAGES = [
    re.compile(text)
    for text in (
        r"(?<!type object )'(?:[\w.]+\.)?(?P<owner>\w+)' object has no attribute '(?P<name>\w+)'",
        r"(?P<owner>\w+Tracer) has no attribute (?P<name>\w+)",
        r"(?<!initialized )[Mm]odule '?(?P<owner>[\w.]+)'? has no attribute '(?P<name>\w+)'",
        r"cannot import name '(?P<name>\w+)' from '(?P<owner>[\w.]+)'",
        r"No module named '(?:(?P<owner>[\w.]+)\.)?(?P<name>\w+)'",
        (
            r"^(?P<owner>(?:jax|flax|optax)[\w.]*)\.(?P<name>\w+) (?:was|is|has been) "
            r"(?:deprecated|removed)"
        ),
    )
]
_OLD_LIBRARY = (
    "If the line is in an installed library, that library is too old for this {package}: upgrade "
    "it, or install an older {package}."
)
_EXCEPTIONS = ("AttributeError", "ImportError", "ModuleNotFoundError", UNKNOWN)


class Name(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to write for a name. `use` is Python; `why`, `lesson` and `link` are those of the group
    if empty; `since` is the release that removed the name, as in `jax 0.4.36`."""

    use: str
    why: str = ""
    since: str = ""
    lesson: str = ""
    link: str = ""


class Group(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names that are looked up in the same places.

    **Arguments:** `of`: the places: `array`, `key`, modules, or classes; `""` for top-level
    modules. `why`: why they have other names than in PyTorch or earlier releases. `names`: what to
    write for each, or a `Name` if that is not all there is to say.
    """

    of: tuple[str, ...]
    why: Prose
    lesson: Id
    link: str = ""
    names: dict[str, str | Name]

    def name(self, name: str) -> Name:
        """Return what to write for one of the names."""
        entry = self.names[name]
        entry = Name(use=entry) if isinstance(entry, str) else entry
        return structs.replace(
            entry,
            why=entry.why or self.why,
            lesson=entry.lesson or self.lesson,
            link=entry.link or self.link,
        )


class Found(Struct, frozen=True):
    """A name that somebody used, as a rule with its fields."""

    rule: Rule
    fields: dict[str, str]


def find(exception: str, message: str) -> Found | None:
    """Return what the table says about the name that an exception did not find."""
    if exception not in _EXCEPTIONS:
        return None
    for owner, name in _looked_up(message):
        group = index().get((owner, name))
        if group is not None:
            return Found(rule_of(group, owner, name), {"name": name})
    return None


def _looked_up(message: str) -> list[tuple[str, str]]:
    """Return owners and names that a message says do not exist."""
    for pattern in _MESSAGES:
        if found := pattern.search(message):
            owner, name = found["owner"] or "", found["name"]
            if owner.endswith("Tracer"):
                owner = ARRAY
            looked_up = [(_CLASSES.get(owner, owner), name)]
            while "." in owner:  # `jax.experimental.maps.xmap`: `maps` is what is gone
                owner, _, name = owner.rpartition(".")
                looked_up.append((owner, name))
            return looked_up
    return []


def rule_of(group: Group, owner: str, name: str) -> Rule:
    """Return the explanation of one name."""
    entry = group.name(name)
    removed, why = "", entry.why
    if entry.since:
        removed = f" It was removed in {entry.since}."
        why += " " + _OLD_LIBRARY.format(package=entry.since.partition(" ")[0])
    return Rule(
        id=name,
        when=When(exception=_EXCEPTIONS[:-1], message=name),
        what=f"`{{line}}`: {_absence(owner, name)}.{removed}",
        why=why,
        instead=entry.use,
        example=example_of(owner, name),
        lesson=entry.lesson,
        link=entry.link,
    )


def example_of(owner: str, name: str) -> str:
    """Return a module that looks a name up in vain."""
    if owner == ARRAY:
        return f"import jax.numpy as jnp\n\njnp.ones(3).{name}\n"
    if owner == KEY:
        return f"import jax\n\njax.random.key(0).{name}\n"
    if owner and "." not in owner and owner not in ("jax", "flax", "optax"):
        return f"{owner}().{name}\n"  # a class
    return f"import {owner}\n\n{owner}.{name}\n" if owner else f"import {name}\n"


def _absence(owner: str, name: str) -> str:
    """Return in words that a name does not exist."""
    if not owner:
        return f"no module `{name}` is installed"
    subject = {ARRAY: "a JAX array", KEY: "a random key"}.get(owner, f"`{owner}`")
    return f"{subject} has no `{name}`"


@cache
def groups() -> tuple[Group, ...]:
    """Return the table, from the cache on disk if it is there."""
    return cached("names", (TABLE,), tuple[tuple[Group, ...], ...])[0]


@cache
def index() -> dict[tuple[str, str], Group]:
    """Return the table by owner and name."""
    return {
        (owner, name): group for group in groups() for owner in group.of for name in group.names
    }
