"""All explanations, by id: to be read whole, listed, searched, and guessed from a message."""

import math
import re
from collections import Counter
from functools import cache

from msgspec import Struct

from tutor.explain.callee import callee_of
from tutor.explain.names import Names, example_of, groups, rule_of
from tutor.explain.rule import Rule, several, without_line
from tutor.explain.rulebook import rules
from tutor.explain.symptom import UNKNOWN, Symptom
from tutor.report import Alternative, Explanation

GUESSES = 3
"""Explanations to offer where none fits."""

LIKENESS = 0.55
"""Share of a rule's message, weighted by how rare its words are, from which it is a guess."""

_WORD = re.compile(r"[A-Za-z_][\w.]{2,}")
_FIELD = re.compile(r"\{\w*(?::\w+)?\}")


class Entry(Struct, frozen=True):
    """An explanation in general, not of one error. `names` are those it is about, each with what to
    write; `messages` what it recognises."""

    explanation: Explanation
    title: str
    example: str
    messages: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        return self.explanation.id

    @property
    def text(self) -> str:
        """All words of it, for searching."""
        told = self.explanation
        others = (part for one in told.alternatives for part in (one.what, one.instead))
        named = (part for pair in self.names for part in pair)
        parts = (self.id, told.what, told.why, told.instead, told.lesson, *self.messages,
                 *self.exceptions, *others, *named)  # fmt: skip
        return " ".join(" ".join(parts).split()).lower()


@cache
def entries() -> dict[str, Entry]:
    """Return all explanations by id, in the order of their ids."""
    found = [_of_rule(rule) for rule in rules()] + [_of_names(group) for group in groups()]
    return {entry.id: entry for entry in sorted(found, key=lambda entry: entry.id)}


def _of_rule(rule: Rule) -> Entry:
    return Entry(
        Explanation(
            rule.id,
            _prose(rule.what),
            _prose(rule.why),
            rule.instead.rstrip(),
            rule.lesson,
            rule.likely or bool(rule.when.cause),
            tuple(Alternative(_prose(one.what), one.instead.rstrip()) for one in rule.or_),
            rule.link,
            rule.old,
        ),
        without_fields(rule.title),
        rule.example,
        several(rule.when.message),
        several(rule.when.exception),
    )


def _of_names(group: Names) -> Entry:
    owner, name = group.owners[0], next(iter(group.names))
    rule = rule_of(group, owner, name)
    named = tuple((one, rule_of(group, owner, one).instead) for one in group.names)
    shown = ", ".join(f"`{one}`" for one in list(group.names)[:6])
    more = f" and {len(group.names) - 6} more" if len(group.names) > 6 else ""
    title = f"No such name: {shown}{more}"
    return Entry(
        Explanation(
            group.id, title + ".", _prose(group.why), rule.instead, group.lesson, link=group.link
        ),
        title,
        example_of(owner, name),
        exceptions=several(rule.when.exception),
        names=named,
    )


def _prose(text: str) -> str:
    """Return a rule's text without an error's line and fields."""
    return without_fields(without_line(" ".join(text.split())))


def without_fields(text: str) -> str:
    """Return a text or a pattern with … in place of its fields."""
    return _FIELD.sub("…", re.sub(r"^\{where\}", "A part of the answer", text))


def search(words: list[str]) -> list[Entry]:
    """Return the explanations that contain all words, those with them in the title or id first."""
    wanted = [word.lower() for word in words]
    found = [entry for entry in entries().values() if all(word in entry.text for word in wanted)]

    def rank(entry: Entry) -> int:
        head = f"{entry.id} {entry.title}".lower()
        return -sum(word in head for word in wanted)

    return sorted(found, key=rank)


def of_name(name: str) -> Entry | None:
    """Return the explanation of a name that does not exist, such as `unsqueeze`."""
    last = name.rpartition(".")[2]
    return next((e for e in entries().values() if any(one == last for one, _ in e.names)), None)


def guesses(symptom: Symptom) -> list[Entry]:
    """Return explanations of messages that share their rare words with a message that none fits, if
    it may be one of JAX's."""
    if not _may_be_of_jax(symptom):
        return []
    said = set(_words(symptom.message))
    callee = callee_of(symptom.message)
    rarity = _rarity()
    found: list[tuple[float, float, Entry]] = []
    for entry in entries().values():
        if symptom.exception not in (UNKNOWN, *entry.exceptions):
            continue
        if _of_another_library(entry, symptom):
            continue
        if callee and not any(f"{callee}(" in message for message in entry.messages):
            continue  # what other functions take is no guess at this one
        likest = max((_likeness(one, said, rarity) for one in entry.messages), default=(0.0, 0.0))
        if likest[0] >= LIKENESS:
            found.append((*likest, entry))
    return [entry for *_, entry in sorted(found, key=lambda one: (-one[0], -one[1]))][:GUESSES]


_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "orbax", "chex")
_PYTHONS = re.compile(
    r"values to unpack|object is not (?:callable|iterable|subscriptable|an iterator|awaited)|"
    r"has no (?:attribute|len)|object has no|object does not support|positional argument|"
    r"keyword argument|unsupported operand|indices must be|not supported between|only concatenate|"
    r"expected str|unhashable type|could not convert|invalid literal|must be str|must be real|"
    r"can't multiply|cannot be interpreted as an integer|bad operand"
)
"""Messages of Python itself."""
_PYTHONS_CLASSES = frozenset(
    (
        "AssertionError", "AttributeError", "EOFError", "FileNotFoundError", "ImportError",
        "IndexError", "JSONDecodeError", "KeyError", "KeyboardInterrupt", "ModuleNotFoundError",
        "NameError", "OSError", "RecursionError", "StopIteration", "SyntaxError", "TimeoutError",
        "UnboundLocalError", "UnicodeDecodeError", "ZeroDivisionError",
    )
)  # fmt: skip


def _may_be_of_jax(symptom: Symptom) -> bool:
    """Return whether JAX may have raised it: Python's own errors in the learner's lines have causes
    of their own."""
    if symptom.raised_in in _LIBRARIES or symptom.module.partition(".")[0] in _LIBRARIES:
        return True
    plain = symptom.exception in _PYTHONS_CLASSES or _PYTHONS.search(symptom.message) is not None
    named = symptom.names_jax or not symptom.frames  # or a message alone
    return named and not plain and not symptom.raised_in


_BESIDE = (
    "Equinox", "Haiku", "NumPyro", "Brax", "Diffrax", "jaxtyping", "HuggingFace", "Orbax", "linen",
    "nnx", "Optax",
)  # fmt: skip
"""Libraries of which an explanation is only a guess if the failing program names them."""


def _of_another_library(entry: Entry, symptom: Symptom) -> bool:
    """Return whether an explanation is about a library that the failing program does not name."""
    parts = (symptom.module, symptom.source, symptom.around, symptom.through, symptom.message,
             *symptom.files.values())  # fmt: skip
    text = " ".join(parts).lower().replace("eqx", "equinox").replace("nn.", "linen nnx")
    return any(one in entry.explanation.what and one.lower() not in text for one in _BESIDE)


def _likeness(message: str, said: set[str], rarity: dict[str, float]) -> tuple[float, float]:
    """Return the share of a message's words that were said, by how much they tell, and how much."""
    words = set(_words(message))
    shared = sum(rarity[word] for word in words & said)
    share = shared / sum(rarity[word] for word in words) if len(words) > 1 else 0.0
    return share, shared


@cache
def _rarity() -> dict[str, float]:
    """Return how much each word of a message tells: more, the fewer rules have it."""
    each = [{word for text in e.messages for word in _words(text)} for e in entries().values()]
    counts = Counter(word for words in each for word in words)
    return {word: math.log(1 + len(each) / count) for word, count in counts.items()}


def _words(message: str) -> list[str]:
    return [word.lower().strip(".") for word in _WORD.findall(_FIELD.sub(" ", message))]
