"""All explanations by id: to be read whole, listed and searched."""

import re
from functools import cache

from msgspec import Struct

from tutor.explain.names import Group, example_of, groups, rule_of
from tutor.explain.rule import Rule, several, without_line
from tutor.explain.rulebook import rules
from tutor.report import Alternative, Explanation

_FIELD = re.compile(r"\{\w*(?::\w+)?\}")


FAILS, ANSWER, RECORDED = "Fails:", "A wrong answer:", "The error:"


class Entry(Struct, frozen=True):
    """An explanation in general, not of one error. `label` says what the example is: code that
    fails, a wrong answer, or the error's own text; `messages` are what the explanation
    recognises."""

    explanation: Explanation
    title: str
    example: str
    label: str = FAILS
    messages: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.explanation.id

    @property
    def text(self) -> str:
        """All words of it, for searching."""
        about = self.explanation
        others = (part for one in about.alternatives for part in (one.what, one.instead))
        parts = (self.id, about.what, about.why, about.instead, about.lesson, *self.messages,
                 *self.exceptions, *others)  # fmt: skip
        return " ".join(" ".join(parts).split()).lower()


@cache
def entries() -> dict[str, Entry]:
    """Return all explanations by id, in the order of their ids."""
    of_names = [_of_name(group, name) for group in reversed(groups()) for name in group.names]
    every = {entry.id: entry for entry in (*of_names, *map(_of_rule, rules()))}
    return dict(sorted(every.items()))


def _of_rule(rule: Rule) -> Entry:
    example, label = rule.example, ANSWER if rule.explains_answers else FAILS
    if rule.recorded:
        example, label = rule.recorded.partition("\n")[2], RECORDED  # without its source
    return Entry(
        Explanation(
            rule.id,
            _prose(rule.what),
            _prose(rule.why),
            rule.instead.rstrip(),
            rule.lesson,
            rule.is_likely,
            tuple(Alternative(_prose(one.what), one.instead.rstrip()) for one in rule.or_),
            rule.link,
        ),
        _without_fields(rule.title),
        example,
        label,
        several(rule.when.message),
        several(rule.when.exception),
    )


def _of_name(group: Group, name: str) -> Entry:
    rule = rule_of(group, group.of[0], name)
    title = rule.title
    return Entry(
        Explanation(name, f"{title}.", rule.why, rule.instead, rule.lesson, link=rule.link),
        title,
        example_of(group.of[0], name),
        exceptions=several(rule.when.exception),
    )


def _prose(text: str) -> str:
    """Return a rule's text without an error's line and fields."""
    return _without_fields(without_line(" ".join(text.split())))


def _without_fields(text: str) -> str:
    """Return a text or a pattern with … in place of its fields."""
    return _FIELD.sub("…", re.sub(r"^\{where\}", "A part of the answer", text))


def search(words: list[str]) -> list[Entry]:
    """Return the explanations that contain all words, those with them in the title or id first."""
    wanted = [word.lower() for word in words]
    matching = [entry for entry in entries().values() if all(one in entry.text for one in wanted)]

    def rank(entry: Entry) -> int:
        head = f"{entry.id} {entry.title}".lower()
        return -sum(word in head for word in wanted)

    return sorted(matching, key=rank)


def entry_named(name: str) -> Entry | None:
    """Return the explanation with an id, or of a name such as `torch.unsqueeze`."""
    return entries().get(name) or entries().get(name.rpartition(".")[2])
