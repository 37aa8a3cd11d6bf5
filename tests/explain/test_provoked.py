"""Every message of every rule is provoked; `tests/explain/provoked.py` records by what."""

import re

from tests.explain.provoked import (
    ONCE,
    Raised,
    names,
    never_first,
    problem,
    provoked_once,
    provoking,
    record,
)
from tests.explain.rule_files import Proved, read_proved
from tutor.explain import Symptom
from tutor.explain.rulebook import FOLDER

RULES = [rule for rule in read_proved(FOLDER).values() if rule.trial is None]
RECORD = record()
WRITE = "run: python -m tests.explain.provoked --write"
LONG = "/home/somebody/" + "a_directory_with_a_long_name/" * 5
"""A path of 160 characters."""


def test_the_record_is_of_every_provocation():
    assert {*RECORD.raised} == {name for rule in RULES for name in names(rule)}, WRITE


def test_every_message_of_a_rule_is_provoked():
    counts = provoking(RULES, RECORD.raised)
    never = [f"{rule}: {m}" for rule, found in counts.items() for m, n in found.items() if not n]
    assert not never, f"nothing provokes these; {WRITE}"


def test_every_possibility_with_conditions_comes_first_for_some_provocation():
    assert not never_first(RULES, RECORD.raised)


def test_messages_with_a_single_provocation_are_listed():
    listed = ONCE.read_text(encoding="utf-8").splitlines()
    assert listed == provoked_once(RULES, RECORD.raised), WRITE


def lengthened(raised: Raised) -> Symptom:
    """Return what would be raised in a directory with a long path."""
    message = re.sub(r"(?<![\w/])(?:…)?(?=[\w-]+\.py\b)", LONG, raised.message)
    return Symptom(
        exception=raised.exception, fault=raised.fault or "exception", message=message,
        line=raised.line, source=raised.line,
    )  # fmt: skip


def test_messages_with_long_paths_are_recognised():
    def explained(rule: Proved, symptom: Symptom) -> bool:
        return not problem(rule, symptom)

    missed, tried = [], 0
    for rule in RULES:
        for name in names(rule):
            raised = RECORD.raised[name]
            if (
                ".py" not in raised.message
                or rule.when.source
                or rule.when.lacks
                or rule.when.through
            ):
                continue  # the record does not have the source
            tried += 1
            if not explained(rule, lengthened(raised)):
                missed.append(f"{name}: {problem(rule, lengthened(raised))}")
    assert tried >= 100
    assert not missed, "\n".join(missed)
