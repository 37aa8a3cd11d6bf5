"""What of the course a run tries: the seed, and a sample that moves on with every commit.

Each item is in the sample of one of any `runs` consecutive commits. Without the whole history (a
shallow clone, an sdist) the hash decides, and an item is in about one of `runs` samples.
"""

import subprocess
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

REPOSITORY = Path(__file__).parents[2]
RUNS = 100
"""For answers of which each lesson has many."""
SOLUTION_RUNS = 8
STARTER_RUNS = 16
SEEDS = 1000
T = TypeVar("T")


class Sample(NamedTuple):
    """`turn`: the commit's number in history, or its hash."""

    commit: str
    turn: int

    @property
    def seed(self) -> int:
        """The seed under which answers are tried."""
        return number(self.commit) % SEEDS

    def of(
        self,
        items: Iterable[T],
        name: Callable[[T], str],
        kind: Callable[[T], Hashable] = lambda item: None,
        runs: int = RUNS,
    ) -> list[T]:
        """Return the items of this sample in their order, at least one of each kind."""
        kinds = defaultdict(list)
        for item in items:
            kinds[kind(item)].append(item)
        return [item for alike in kinds.values() for item in self._of_kind(alike, name, runs)]

    def _of_kind(self, items: list[T], name: Callable[[T], str], runs: int) -> list[T]:
        turn = self.turn % runs
        chosen = [item for item in items if number(name(item)) % runs == turn]
        return chosen or [min(items, key=lambda item: number(f"{self.commit} {name(item)}"))]


def number(text: str) -> int:
    """Return a large number that depends on a text."""
    return int.from_bytes(sha256(text.encode()).digest())


@cache
def sample(commit: str | None) -> Sample:
    """Return the sample of a commit, by default the one that is checked out."""
    if commit is None:
        commit = git("rev-parse", "HEAD") or sources()
    whole = git("rev-parse", "--is-shallow-repository") == "false"
    count = git("rev-list", "--count", commit) if whole else ""
    return Sample(commit, int(count) if count else number(commit))


def sample_of(config: pytest.Config) -> Sample:
    """Return the sample of this test run."""
    return sample(config.getoption("commit"))


def git(*arguments: str) -> str:
    """Return what Git prints about the repository; empty if there is none, or no Git."""
    if not (REPOSITORY / ".git").exists():  # not another repository that this lies in
        return ""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def sources() -> str:
    """Return a hash of the sources, where there is no commit."""
    digest = sha256()
    for folder in ("lessons", "solutions", "tutor"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in (".yaml", ".py"):
                digest.update(path.read_bytes())
    return digest.hexdigest()
