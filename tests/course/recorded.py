"""Judge every answer of the course against the recorded answers, without PyTorch.

    python -m tests.course.recorded

Prints what does not hold, and ends with 1 if anything does not.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from msgspec import structs

from tutor.authoring.trial import Outcome, attempt, trials
from tutor.authoring.trial_output import outcome_text
from tutor.engine.recorded import SEED
from tutor.pack import load_pack
from tutor.pool.forks import Forks


def main() -> int:
    pack = load_pack(Path(__file__).parents[2] / "lessons")
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as cache, Forks(Path(cache)) as forks:
        for lesson in pack.lessons.values():
            found, failed = trials(pack, lesson, (SEED,), with_variants=True)
            outcomes += failed
            outcomes += [attempt(structs.replace(trial, recorded=True), forks) for trial in found]
    counts = Counter(outcome.kind for outcome in outcomes)
    wrong = [outcome for outcome in outcomes if not outcome.holds]
    print(
        f"course: {len(pack.lessons)} lessons,",
        ", ".join(f"{count} × {kind}" for kind, count in counts.items()),
        f"; {len(wrong)} judged otherwise than on the pinned versions",
    )
    for outcome in wrong:
        print(f"  {outcome.lesson}: {outcome_text(outcome)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
