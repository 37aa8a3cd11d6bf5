"""Explain errors that the rules were not written for, and count how many are explained helpfully.

    python -m tests.explain.unseen [FILE ...]

The files in `tests/explain/unseen/` hold errors with their true cause, collected before or
after the work on the rules. `ratings.yaml` has what a reader who knew the cause said of
the explanation that each got: `helpful`, `vague`, `wrong` or `none`. A rating counts for the
explanation that was rated; if another one is given now, the error is listed, to be rated again.
Where an error has its program (`file`), it is read, as if the traceback was pasted where it arose.
"""

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from tutor.explain.traceback import explain_text

FOLDER = Path(__file__).parent / "unseen"
RATINGS = FOLDER / "ratings.yaml"

PLACE = "/home/me/work"
"""Where the programs of errors that have them were, by the texts."""


def main() -> int:
    rated = yaml.safe_load(RATINGS.read_text(encoding="utf-8"))
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("errors-*.yaml"))
    for name in names:
        counts: Counter[str] = Counter()
        for error in yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")):
            given = _explained(error)
            rating = rated[name].get(error["id"], {})
            if given == "none":
                counts["none"] += 1
            elif given == rating.get("explanation"):
                counts[rating["after"]] += 1
            else:
                counts["to be rated"] += 1
                print(f"{name} {error['id']}: {given}. The cause: {error['cause']}")
        before = Counter(one["before"] for one in rated[name].values())
        print(f"{name}: {dict(counts)}; before: {dict(before)}")
    return 0


def _explained(error: dict[str, str]) -> str:
    """Return the id of an error's explanation, `none` if it gets none."""
    with TemporaryDirectory() as folder:
        text = error["text"]
        if "file" in error:
            text = text.replace(f"{PLACE}/", f"{folder}/")
            (Path(folder) / f"{error['id']}.py").write_text(error["file"], encoding="utf-8")
        _, explanation = explain_text(text)
    return explanation.id if explanation is not None else "none"


if __name__ == "__main__":
    sys.exit(main())
