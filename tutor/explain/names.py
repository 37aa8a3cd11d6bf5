"""Names that do not exist in JAX, Flax or Optax: PyTorch's, and those of earlier releases.

One table, `names.yaml`, says for each name what to write. Tests look every name up in the installed
libraries.
"""

import re
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field

from tutor.explain.rule import Rule, Text, When
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
_EXCEPTIONS = ("AttributeError", "ImportError", "ModuleNotFoundError", UNKNOWN)


class Name(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to write for a name."""

    use: Annotated[str, Meta(min_length=1, description="Python to write instead.")]
    since: Annotated[str, Meta(description="The release that removed it: `jax 0.4.36`.")] = ""
    link: Annotated[str, Meta(description="A page about what to use.")] = ""


class Names(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names that share an explanation."""

    id: Annotated[Id, Meta(description="Unique among all explanations.")]
    of: Annotated[
        str | tuple[str, ...],
        Meta(
            description="Where the names were looked up: `array`, `key`, a module, or a class. "
            "Empty for top-level modules.",
        ),
    ]
    names: Annotated[dict[str, str | Name], Meta(min_length=1)]
    what: Annotated[
        Text, Meta(description="What happened; by default, that `of` has no `name`.")
    ] = "`{line}`: {of} no `{name}`."
    why: Annotated[Text, Meta(description="Why JAX has it otherwise.")]
    lesson: Annotated[Id, Meta(description="The lesson that teaches it.")]
    link: Annotated[str, Meta(description="A page of JAX, Flax or Optax about it.")] = ""

    @property
    def owners(self) -> tuple[str, ...]:
        """Where the names were looked up."""
        return (self.of,) if isinstance(self.of, str) else self.of


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    about: str
    groups: tuple[Names, ...] = field(default_factory=tuple)


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
            return Found(rule_of(group, owner, name), {"name": name, "of": _subject(owner)})
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


def rule_of(group: Names, owner: str, name: str) -> Rule:
    """Return the explanation of one name."""
    entry = group.names[name]
    if isinstance(entry, str):
        entry = Name(use=entry)
    removed = f" It was removed in {entry.since}." if entry.since else ""
    return Rule(
        id=group.id,
        when=When(exception=_EXCEPTIONS[:-1], message=f"{name}"),
        what=group.what + removed,
        why=group.why,
        instead=entry.use,
        example=example_of(owner, name),
        lesson=group.lesson,
        link=entry.link or group.link,
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


def _subject(owner: str) -> str:
    """Return an owner and its verb."""
    if owner in (ARRAY, KEY):
        return "a JAX array has" if owner == ARRAY else "a random key has"
    return f"`{owner}` has" if owner else "there is"


@cache
def groups() -> tuple[Names, ...]:
    """Return the table, from the cache on disk if it is there."""
    from tutor.explain.rule_cache import cached

    return cached("names", (TABLE,), lambda tree: tree["groups"], tuple[Names, ...])


@cache
def index() -> dict[tuple[str, str], Names]:
    """Return the table by owner and name."""
    return {
        (owner, name): group for group in groups() for owner in group.owners for name in group.names
    }
