"""Finding the rule that explains a symptom."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct, structs

from tutor.explain import names
from tutor.explain.bare_code import bare
from tutor.explain.callee import is_certain, is_somebody_elses
from tutor.explain.pattern import MAX_TEXT, compile_pattern, fill, flat, known
from tutor.explain.rule import Possibility, Rule, Rules, When, several, without_line
from tutor.explain.rule_cache import cached
from tutor.explain.sizes import relations_in
from tutor.explain.symptom import UNKNOWN, Symptom
from tutor.foreign.plain_text import cut, one_line
from tutor.report import Alternative, Explanation

FOLDER = Path(__file__).parent / "rules"

MAX_SOURCE = 64_000
"""Characters of the learner's code to search."""

MAX_SHOWN = 120
"""Characters of a field shown in a text."""


ALONE = 20
"""Letters of a message that must match if the exception's class is not known."""


class Match(Struct, frozen=True):
    """A rule that applies. `weight` orders rules by how specific they are: by the precision of the
    cause, then the number of conditions, then the length of the matched text."""

    rule: Rule
    fields: dict[str, str]
    weight: tuple[int, int, int]


def explain(symptom: Symptom) -> Explanation | None:
    """Return the most specific rule's explanation, or None. Rules whose `instead` is in the code
    already are skipped, unless the code has signs of another possibility: they are wrong about the
    cause."""
    for match in matches(symptom):
        first = _possibilities(match.rule, symptom)[0]
        if not _contains(symptom.source, first.instead):
            return explanation(match, symptom)
    return None


_SPELLINGS = (("jax.numpy.", "jnp."), ("jax.lax.", "lax."), ("axis_name=", ""), ("'", '"'))


def _contains(source: str, code: str) -> bool:
    """Return whether every line of `code` is in `source`, ignoring spaces and import aliases."""

    def lines(text: str) -> set[str]:
        found = set()
        for line in text.splitlines():
            bare = re.sub(r"\s+|#.*", "", line)
            for long, short in _SPELLINGS:
                bare = bare.replace(long, short)
            found.add(bare)
        return found - {""}

    return bool(lines(code)) and lines(code) <= lines(source[:MAX_SOURCE])


def matches(symptom: Symptom) -> list[Match]:
    """Return all rules that apply, the most specific first."""
    flattened = _flat(symptom)
    # The exception is the learner's own, unless the line is one of JAX's in an unusual directory.
    # How it came to be raised may still be known, by the frames that it went through.
    own = flattened.line.startswith("raise ") and flattened.line != "raise AttributeError(message)"
    tried = [rule for rule in rules() if not own or (rule.when.through and not rule.when.message)]
    found = [
        match
        for rule in tried
        if (match := _match(rule, flattened)) is not None and not is_somebody_elses(rule, flattened)
    ]
    if not own and (name := names.find(flattened.exception, flattened.message)) is not None:
        # The table knows the name; a rule with as few conditions only that it does not exist.
        found.append(Match(name.rule, name.fields, (0, 2, MAX_TEXT)))
    return sorted(found, key=lambda match: match.weight, reverse=True)


def explanation(match: Match, symptom: Symptom) -> Explanation:
    """Return a rule's explanation with its fields filled in."""
    line = symptom.line.strip()
    shown = {name: shortened(value) for name, value in match.fields.items()}
    if line:
        shown["line"] = shortened(line)
    rule = match.rule
    first, *others = _possibilities(rule, symptom)

    def prose(text: str) -> str:
        text = " ".join(text.split())
        return fill(text if line else without_line(text), shown)

    def code(text: str) -> str:
        return fill(text.rstrip(), shown)

    return Explanation(
        rule.id,
        prose(first.what),
        prose(rule.why),
        code(first.instead),
        rule.lesson,
        rule.is_likely or not is_certain(symptom),
        tuple(
            Alternative(prose(other.what), code(other.instead))
            for other in others
            if not _contains(symptom.source, other.instead)
        ),
        rule.link,
    )


def _possibilities(rule: Rule, symptom: Symptom) -> list[Possibility]:
    """Return what a rule says may have happened, the likeliest first: what the code or the message
    has signs of, the rule's own, then what needs no signs."""

    def has_signs(other: Possibility) -> bool:
        if other.when is None or _contains(symptom.source, other.instead):
            return False
        return _holds(other.when, _flat(symptom)) is not None

    own = Possibility(what=rule.what, instead=rule.instead)
    signed = [other for other in rule.or_ if has_signs(other)]
    return [*signed, own, *(other for other in rule.or_ if other.when is None)]


def shortened(text: str) -> str:
    """Return a field as it is shown in a text."""
    return cut(one_line(text), MAX_SHOWN)


def _flat(symptom: Symptom) -> Symptom:
    """Return the symptom with texts as `Pattern.search` takes them, without comments."""
    return structs.replace(
        symptom,
        message=flat(symptom.message),
        line=flat(bare(symptom.line)),
        source=flat(bare(f"{symptom.source}\n{symptom.around}"), MAX_SOURCE),
        around="",
        through=flat(symptom.through, MAX_SOURCE),
    )


def _match(rule: Rule, symptom: Symptom) -> Match | None:
    """Match a rule against a symptom with flattened texts."""
    held = _holds(rule.when, symptom)
    if held is None or (symptom.exception == UNKNOWN and held[1][2] < ALONE):
        return None
    return Match(rule, *held)


def _holds(when: When, symptom: Symptom) -> tuple[dict[str, str], tuple[int, int, int]] | None:
    """Return the fields and the weight of conditions, if they hold for a symptom with flattened
    texts."""
    if when.names_jax and not symptom.names_jax:
        return None
    words = (
        (when.exception, (symptom.exception,)),
        (when.finding, (symptom.finding,)),
        (when.fault, (symptom.fault,)),
        (when.check, (symptom.check,)),
    )
    conditions = weight = precision = 0
    if when.sizes:
        if not relations_in(symptom.message) & {*several(when.sizes)}:
            return None
        conditions += 1
    for wanted, found in words:
        if wanted and found == (UNKNOWN,) and when.message:
            continue  # the message decides
        if wanted:
            if not any(word in found for word in several(wanted)):
                return None
            conditions += 1
    fields: dict[str, str] = {}
    texts = (
        (when.message, symptom.message), (when.line, symptom.line), (when.source, symptom.source),
        (when.beside, symptom.source), (when.through, f"{symptom.through} {symptom.source}"),
    )  # fmt: skip
    for patterns, text in texts:
        if patterns:
            best = _best([known(one, fields) for one in several(patterns)], text)
            if best is None:
                return None
            conditions += 1
            weight += best[0]
            fields |= best[1]
    if when.lacks:
        lacking = [known(one, fields) for one in several(when.lacks)]
        if _best(lacking, symptom.source) is not None:
            return None
        conditions += 1
    if when.cause:
        # The most precise cause comes first.
        possible = [name for name in symptom.causes if name in several(when.cause)]
        if not possible:
            return None
        fields |= symptom.causes[possible[0]]
        conditions += 1
        precision = len(symptom.causes) - list(symptom.causes).index(possible[0])
    return fields, (precision, conditions, weight)


def _best(patterns: Sequence[str], text: str) -> tuple[int, dict[str, str]] | None:
    """Return weight and fields of the heaviest pattern found in a text."""
    compiled = [compile_pattern(pattern) for pattern in patterns]
    for pattern in sorted(compiled, key=lambda pattern: pattern.weight, reverse=True):
        if (fields := pattern.search(text)) is not None:
            return pattern.weight, fields
    return None


# --- the rules -------------------------------------------------------------------------------


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, from the cache on disk if they are there."""
    paths = sorted(FOLDER.glob("*.yaml"))
    files = cached("rules", paths, tuple[Rules, ...])
    return tuple(rule for file in files for rule in file.rules)
