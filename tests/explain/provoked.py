"""Run every provocation of every rule with the installed libraries, and list what changed.

    python -m tests.explain.provoked [RULE ...] [--write]

Lists provocations that raise nothing, that another rule explains, or whose message is not the
recorded one; and messages of rules that nothing provokes. `--write` records what was raised in
`provoked.json`, from which tests know which messages have how many provocations, and lists those
with a single one in `provoked_once.txt`. Exits with 1 if a rule does not explain a provocation.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.conftest import SHARED_CACHE
from tests.explain.conftest import Kept, import_module
from tests.explain.rule_files import Proved, read_proved
from tutor.explain.origins import calls_of
from tutor.explain.pattern import compile_pattern, flat
from tutor.explain.rule import several, without_line
from tutor.explain.rulebook import FOLDER, explanation, matches
from tutor.explain.symptom import Symptom
from tutor.explain.traceback import explain_text
from tutor.pool.forks import Forks

RECORD = Path(__file__).parent / "provoked.json"
ONCE = Path(__file__).parent / "provoked_once.txt"
LIBRARIES = ("jax", "flax", "optax")

_UNSTABLE = re.compile(r"0x[0-9a-f]{6,}|(?<=id=)\d+|/[\w./+-]+/(?=[\w.-]+\.py)|(?<=_)\d{4,}")
"""Addresses, ids and directories, which differ from run to run."""


class Raised(Struct, frozen=True, omit_defaults=True):
    """What a provocation raised; `through` and `set_by` only if its rule looks at them."""

    exception: str = ""
    fault: str = ""
    message: str = ""
    line: str = ""
    through: str = ""
    set_by: tuple[str, ...] = ()


class Record(Struct, frozen=True):
    """The file."""

    versions: dict[str, str]
    raised: dict[str, Raised]


def installed() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES}


def record() -> Record:
    """Return what was recorded."""
    return msgspec.json.decode(RECORD.read_bytes(), type=Record)


def names(rule: Proved) -> list[str]:
    """Return a name for each of a rule's provocations."""
    return [f"{rule.id}-{number}" if number else rule.id for number in range(len(rule.provoke))]


def raised(rule: Proved, symptom: Symptom) -> Raised:
    """Return what is recorded of a symptom."""
    conditions = [rule.when, *(other.when for other in rule.rule.or_ if other.when is not None)]
    return Raised(
        symptom.exception,
        symptom.fault if symptom.fault != "exception" else "",
        _UNSTABLE.sub("…", flat(symptom.message)),
        symptom.line.strip(),
        symptom.through if any(when.through for when in conditions) else "",
        tuple(sorted(calls_of(symptom))) if any(when.set_by for when in conditions) else (),
    )


def problem(rule: Proved, symptom: Symptom | None) -> str:
    """Return why a symptom is not explained by `rule` alone; empty if it is."""
    if symptom is None:
        return "nothing went wrong"
    found = matches(symptom)
    said = f"{symptom.exception} ({symptom.fault}): {flat(symptom.message)}\n    in: {symptom.line}"
    if not found:
        return f"no rule for {said}"
    if found[0].rule.id != rule.id:
        mine = next((match.weight for match in found if match.rule.id == rule.id), None)
        return f"{found[0].rule.id} {found[0].weight} explains (own weight: {mine}) {said}"
    tied = [match.rule.id for match in found if match.weight == found[0].weight]
    return f"as specific as each other: {tied}" if tied != [rule.id] else ""


def symptoms_of_records(rule: Proved) -> list[Symptom]:
    """Return the symptoms of texts that cannot be raised here."""
    texts = (text.partition("\n")[2] for text in rule.recorded)
    return [symptom for text in texts if (symptom := explain_text(text)[0]) is not None]


def provoking(rules: list[Proved], found: dict[str, Raised]) -> dict[str, dict[str, int]]:
    """Return for each rule its messages with the number of its provocations that match them."""
    counts: dict[str, dict[str, int]] = {}
    for rule in rules:
        patterns = several(rule.when.message)
        if rule.trial is not None or not patterns:
            continue
        messages = [found[name].message for name in names(rule) if name in found]
        messages += [flat(symptom.message) for symptom in symptoms_of_records(rule)]
        counts[rule.id] = {
            pattern: sum(compile_pattern(pattern).search(text) is not None for text in messages)
            for pattern in patterns
        }
    return counts


def provoked_once(rules: list[Proved], found: dict[str, Raised]) -> list[str]:
    """Return the messages that only one provocation matches, each after its rule."""
    return [
        f"{rule}: {message}"
        for rule, messages in provoking(rules, found).items()
        for message, count in messages.items()
        if count == 1
    ]


def never_first(rules: list[Proved], found: dict[str, Raised]) -> list[str]:
    """Return the possibilities with conditions that no provocation shows before the others, each
    after its rule."""
    missed = []
    for rule in rules:
        provoked = [
            _symptom(found[name], source)
            for name, source in zip(names(rule), rule.provoke, strict=True)
            if name in found
        ]
        shown = {
            explanation(match, symptom).what
            for symptom in (*provoked, *symptoms_of_records(rule))
            for match in matches(symptom)
            if match.rule.id == rule.id
        }
        missed += [
            f"{rule.id}: {other.what}"
            for other in rule.rule.or_
            if other.when is not None and not any(_is_of(other.what, one) for one in shown)
        ]
    return missed


def _symptom(raised: Raised, source: str) -> Symptom:
    return Symptom(
        exception=raised.exception, fault=raised.fault or "exception", message=raised.message,
        line=raised.line, source=source, through=raised.through, names_jax=True,
        set_by=frozenset(raised.set_by),
    )  # fmt: skip


def _is_of(template: str, text: str) -> bool:
    """Return whether a text is a template with its fields filled in."""
    parts = re.split(r"\{\w+\}", without_line(" ".join(template.split())))
    return re.fullmatch(".*".join(map(re.escape, parts)), without_line(text), re.DOTALL) is not None


def run(rules: list[Proved]) -> Iterator[tuple[Proved, str, Symptom | None]]:
    """Provoke everything, and yield the symptoms."""
    SHARED_CACHE.mkdir(exist_ok=True)
    with Forks(SHARED_CACHE) as forks:
        kept = Kept(forks)
        try:
            for rule in rules:
                if rule.trial is not None:
                    continue
                for name, source in zip(names(rule), rule.provoke, strict=True):
                    yield rule, name, import_module(kept, source, rule.devices)
        finally:
            kept.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("rules", nargs="*", metavar="RULE", help="ids, or files of rules")
    parser.add_argument("--write", action="store_true", help="record what was raised")
    options = parser.parse_args()
    everything = read_proved(FOLDER)
    wanted = {name.removesuffix(".yaml") for name in options.rules}
    of_files = {
        rule.id
        for path in FOLDER.glob("*.yaml")
        if path.stem in wanted
        for rule in everything.values()
        if re.search(rf"^  - id: {re.escape(rule.id)}$", path.read_text(), re.MULTILINE)
    }
    rules = [r for r in everything.values() if not wanted or r.id in wanted | of_files]
    before = record() if RECORD.exists() else Record({}, {})
    found: dict[str, Raised] = {}
    bad = changed = 0
    for rule, name, symptom in run(rules):
        if symptom is not None:
            found[name] = raised(rule, symptom)
        if why := problem(rule, symptom):
            bad += 1
            print(f"✗ {name}: {why}")
        elif name in before.raised and before.raised[name] != found[name]:
            changed += 1
            print(f"~ {name}: was {before.raised[name].message}\n    now {found[name].message}")
    for rule_id, messages in provoking(rules, found).items():
        for message, count in messages.items():
            if not count:
                print(f"· {rule_id}: nothing provokes {message!r}")
    for missed in never_first([rule for rule in rules if rule.trial is None], found):
        print(f"· {missed}: no provocation has it first")
    print(f"{len(found)} provocations: {bad} not explained by their rule, {changed} reworded since")
    print(f"recorded with {before.versions}, now installed: {installed()}")
    if options.write:
        keys = {name for rule in everything.values() if not rule.trial for name in names(rule)}
        kept = {**before.raised, **found}
        whole = Record(installed(), {key: kept[key] for key in sorted(keys & kept.keys())})
        data = json.loads(msgspec.json.encode(whole))
        RECORD.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        once = provoked_once([*everything.values()], whole.raised)
        ONCE.write_text("".join(f"{one}\n" for one in once), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
