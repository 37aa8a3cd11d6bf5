"""Run the example of every rule with the installed libraries, and list what is not explained.

    python -m tests.explain.provoked [RULE or FILE ...]

An example must raise what its rule explains, and no other rule may explain it as well. Rules about
wrong answers have their proof in `course.yaml` and `trials.yaml` (see `test_wrong_answers.py`).
"""

import sys
from collections.abc import Iterator

import msgspec
import yaml

from tests.conftest import SHARED_CACHE
from tests.explain.conftest import Kept, import_module
from tutor.explain.causes import CAUSES
from tutor.explain.pattern import BadPattern, compile_pattern, uses
from tutor.explain.rule import Rule, Rules, When, several
from tutor.explain.rulebook import FOLDER, matches
from tutor.explain.symptom import Symptom
from tutor.explain.traceback import explain_text
from tutor.pool.forks import Forks

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def rules_of(file: str) -> tuple[Rule, ...]:
    """Return the rules of a file, read anew.

    Raises:
        msgspec.ValidationError: one of them is not a rule.
    """
    tree = yaml.safe_load((FOLDER / f"{file}.yaml").read_bytes())
    return msgspec.convert(tree, Rules).rules


def problems(rule: Rule, kept: Kept) -> Iterator[str]:
    """Yield what is wrong with a rule: its patterns and fields, and what explains its example."""
    for when in (rule.when, *(one.when for one in rule.or_ if one.when is not None)):
        yield from _bad_patterns(when)
    texts = [rule.what, rule.why, *(one.what for one in rule.or_)]
    if unknown := {name for text in texts for name, _ in uses(text)} - _fields(rule):
        yield f"unknown fields {sorted(unknown)}"
    for code in (rule.instead, *(one.instead for one in rule.or_)):
        try:
            compile(code, rule.id, "exec", dont_inherit=True, flags=0x2000)  # top-level await
        except SyntaxError as error:
            if "outside" not in str(error) and "{" not in code:
                yield f"instead: {error}"
    if bool(rule.example) == bool(rule.recorded):
        yield "needs an example or a recorded error, and not both"
    if not rule.explains_answers:
        symptom = _raised(rule, kept)
        yield from _not_explained(rule, symptom)


def _raised(rule: Rule, kept: Kept) -> Symptom | None:
    if rule.recorded:
        return explain_text(rule.recorded.removeprefix("# ").partition("\n")[2])[0]
    return import_module(kept, rule.example, rule.devices)


def _not_explained(rule: Rule, symptom: Symptom | None) -> Iterator[str]:
    if symptom is None:
        yield "the example raises nothing"
        return
    found = matches(symptom)
    raised = f"{symptom.exception} ({symptom.fault}): {symptom.message}\n    in: {symptom.line}"
    if not found:
        yield f"no rule for {raised}"
    elif found[0].rule.id != rule.id:
        mine = next((match.weight for match in found if match.rule.id == rule.id), None)
        yield f"{found[0].rule.id} {found[0].weight} explains (own weight: {mine}) {raised}"
    elif len(tied := [one.rule.id for one in found if one.weight == found[0].weight]) > 1:
        yield f"as specific as each other: {tied}"


def _patterns(when: When) -> Iterator[str]:
    keys = (when.message, when.line, when.source, when.beside, when.lacks, when.through)
    for key in keys:
        yield from several(key)


def _bad_patterns(when: When) -> Iterator[str]:
    for pattern in _patterns(when):
        try:
            compile_pattern(pattern)
        except BadPattern as error:
            yield f"{pattern!r}, column {error.column}: {error}"
    for cause in several(when.cause):
        if cause not in CAUSES:
            yield f"no such cause: {cause}"


def _fields(rule: Rule) -> set[str]:
    """Return the fields that a rule's texts can use: those of all patterns of a key, and those of
    all its causes."""
    known = {"line"}
    when = rule.when
    for key in (when.message, when.line, when.source, when.beside):
        each = [set(compile_pattern(pattern).fields) for pattern in several(key)]
        known |= set.intersection(*each) if each else set()
    causes = [set(CAUSES[cause].fields) for cause in several(when.cause)]
    return known | (set.intersection(*causes) if causes else set())


def main() -> int:
    wanted = {name.removesuffix(".yaml") for name in sys.argv[1:]}
    rules = [
        rule
        for file in FILES
        for rule in rules_of(file)
        if not wanted or file in wanted or rule.id in wanted
    ]
    SHARED_CACHE.mkdir(exist_ok=True)
    bad = 0
    with Forks(SHARED_CACHE) as forks:
        kept = Kept(forks)
        try:
            for rule in rules:
                for problem in problems(rule, kept):
                    bad += 1
                    print(f"{rule.id}: {problem}", flush=True)
        finally:
            kept.close()
    print(f"{len(rules)} rules, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
