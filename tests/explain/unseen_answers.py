"""Run wrong answers that the checks and explanations were not written for.

    python -m tests.explain.unseen_answers [--verbose] [FILE ...]

The files `tests/explain/unseen/answers*.yaml` hold wrong answers with the one mistake that each
makes. Lists those that pass, which none should, and with `--verbose` what the others are told.
`before` and `after` in a file are what a reader who knew the mistake said of the explanation before
and after the work on causes: `helpful`, `vague`, `wrong` or `none`; `message`: whether it is named
by the check's message or the explanation.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.report import Report

FOLDER = Path(__file__).parent / "unseen"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.explain.unseen_answers")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*", metavar="FILE")
    options = parser.parse_args()
    pack = load_pack()
    passed = 0
    with Forks() as forks:
        for name in options.names or sorted(path.stem for path in FOLDER.glob("answers*.yaml")):
            answers = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
            for answer in answers:
                report = _judged(pack.lesson(answer["lesson"]), answer["code"], forks)
                if report.passed or options.verbose:
                    print(f"{name}, {answer['lesson']}: {report.verdict}. {answer['cause']}")
                    print("\n".join(_told(report)), flush=True)
                passed += report.passed
            print(f"{name}: {_counts(answers)}")
    print(f"passed: {passed}")
    return 1 if passed else 0


def _judged(lesson: Lesson, code: str, forks: Forks) -> Report:
    with Session(lesson, code, sandboxes=forks) as session:
        return session.check()


def _told(report: Report) -> list[str]:
    """Return what the learner is told about the first checks that failed, but for predictions,
    which these answers leave out."""
    failed = [
        check
        for check in report.checks
        if check.status not in ("pass", "skipped") and check.kind != "predict"
    ]
    lines = []
    for check in failed[:3]:
        lines.append(f"  [{check.name}] {check.text}")
        if check.explained is not None:
            lines.append(f"    {check.explained.id}: {check.explained.what}")
    return lines


def _counts(answers: list[dict[str, Any]]) -> str:
    counts = {
        when: dict(Counter(answer[when] for answer in answers if when in answer))
        for when in ("before", "after", "message")
    }
    return ", ".join(f"{when} {count}" for when, count in counts.items() if count)


if __name__ == "__main__":
    sys.exit(main())
