"""Compiled programs of the learner's own runs, kept for their next ones.

XLA need not compile a program twice for the same learner. These programs come from a sandbox in
which a submission has run, so they may be forged; a forged program can harm only its author's own
feedback. They are given only to runs of the same learner's file (the app, `watch`, and `check`
without a FILE), never to `grade` or `pack test`, and a sandbox that got them adds nothing to the
pack's programs (`tutor.pool.programs`). `--fresh` ignores them.

To this process they are bytes: bounded, and never looked into.
"""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np

from tutor.engine.plan import Configuration
from tutor.engine.sandboxes import FreshSandboxes
from tutor.lesson import Lesson
from tutor.pool.priming import give
from tutor.pool.programs import Programs, name_of
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Cancelled, Failed, Sandbox
from tutor.sandbox.protocol import Answer, Collect
from tutor.sandbox.wire import WireError, decode, encode
from tutor.sandbox.zygotes import Zygotes
from tutor.storage import paths
from tutor.storage.cache import DiskCache
from tutor.tree import Leaf, Tree

MAX_BYTES = 64 << 20
"""Of all lessons together."""

MAX_LESSON_BYTES = 4 << 20
"""Of one lesson's sandbox: some 1,500 programs of single operations. The newest are kept."""

COLLECT_SECONDS = 2.0
"""Processor time in which a sandbox must hand over its programs."""

_NAME = re.compile(r"[0-9a-f]{64}")


class KeptPrograms:
    """The programs of all lessons, in `directory`."""

    def __init__(self, directory: Path | None = None) -> None:
        self._cache = DiskCache(
            directory or paths.cache() / "own-programs",
            ".programs",
            max_bytes=MAX_BYTES,
            max_entry=2 * MAX_LESSON_BYTES,
        )

    def load(self, lesson: Lesson, configuration: Configuration, seed: int) -> dict[str, Tree]:
        """Return what is kept for a lesson: sealed, bytes as leaves."""
        name = name_of(lesson, configuration, "", seed)
        if (data := self._cache.load(name)) is None:
            return {}
        with suppress(WireError):
            return bounded(decode(data).tree)
        self._cache.discard(name)
        return {}

    def add(self, lesson: Lesson, configuration: Configuration, seed: int, programs: Tree) -> None:
        """Keep what a sandbox returned, and of what was kept before as much as there is room for.

        **Arguments:** `programs`: not trusted.
        """
        new = bounded(programs)
        before = self.load(lesson, configuration, seed)
        if new and not new.keys() <= before.keys():
            kept = bounded({**new, **{k: v for k, v in before.items() if k not in new}})
            with suppress(WireError):
                self._cache.save(name_of(lesson, configuration, "", seed), encode({}, {**kept}))


def bounded(programs: Tree) -> dict[str, Tree]:
    """Return those that have the form of sealed programs, until `MAX_LESSON_BYTES` are full."""
    found: dict[str, Tree] = {}
    left = MAX_LESSON_BYTES
    for name, leaf in programs.items() if isinstance(programs, dict) else ():
        if not (isinstance(leaf, Leaf) and leaf.type == "array" and _NAME.fullmatch(name)):
            continue
        if leaf.values.dtype == np.uint8 and leaf.values.ndim == 1 and leaf.values.nbytes <= left:
            found[name] = leaf
            left -= leaf.values.nbytes
    return found


def collect(
    kept: KeptPrograms, sandbox: Sandbox, lesson: Lesson, configuration: Configuration, seed: int
) -> None:
    """Keep what a sandbox has compiled in its run, if it still answers."""
    if not sandbox.alive:
        return
    with suppress(Failed, Cancelled):
        reply, programs = sandbox.ask(
            Collect("collect", unload=False),
            None,
            Allowance(COLLECT_SECONDS),
            "collecting programs",
        )
        if isinstance(reply, Answer):
            kept.add(lesson, configuration, seed, programs)


class KeepingSandboxes(FreshSandboxes):
    """New processes that get the programs of the pack and of the learner's own runs, for `check`
    (see `tutor.engine.sandboxes.Sandboxes`).

    **Arguments:** `codes`: right answers that the pack knows; `zygotes`: see `FreshSandboxes`.
    """

    def __init__(self, codes: list[str], seed: int, zygotes: Zygotes | None = None) -> None:
        super().__init__(zygotes)
        self._codes = codes
        self._seed = seed
        self._kept = KeptPrograms()
        self._programs = Programs(paths.cache() / "programs")
        self._taken: dict[Sandbox, tuple[Lesson, Configuration]] = {}

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        sandbox = super().take(lesson, configuration)
        known: dict[str, Tree] = {}
        for code in self._codes:
            known |= self._programs.load(lesson, configuration, code, self._seed)
        kept = self._kept.load(lesson, configuration, self._seed)
        known |= kept
        if known:
            try:
                give(sandbox, known, Allowance(lesson.limits.seconds))
            except Failed:
                sandbox.close()
                sandbox = super().take(lesson, configuration)
        sandbox.pure = not kept
        self._taken[sandbox] = lesson, configuration
        return sandbox

    def release(self, sandbox: Sandbox) -> None:
        collect(self._kept, sandbox, *self._taken.pop(sandbox), self._seed)
        super().release(sandbox)
