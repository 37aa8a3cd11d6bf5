"""What the pack's own programs give (`Check.ahead`): computed once, and kept on disk.

Such a program runs before a submission is imported, and its result is the same for each. It depends
on the releases of JAX and Python, whose messages it may hold, so it is not recorded with the pack.
"""

import hashlib
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tutor import requirements
from tutor.check import Check
from tutor.engine.plan import Configuration, configuration_of
from tutor.engine.references import own_version
from tutor.engine.versions import installed_versions
from tutor.lesson import Lesson
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Sandbox
from tutor.sandbox.protocol import Answer, Observe, Reply
from tutor.sandbox.wire import WireError, decode, encode
from tutor.storage.cache import DiskCache
from tutor.tree import Tree, TreeError

MAX_FILES = 500


class AheadAnswers:
    """The answers for one lesson.

    **Arguments:** `folder`: the directory of the cache.
    """

    def __init__(self, lesson: Lesson, folder: Path) -> None:
        self._lesson = lesson
        self._cache = DiskCache(folder, ".ahead", max_files=MAX_FILES)

    def load(self, check: Check, spec: Spec) -> Tree | None:
        """Return the answer for a sandbox of `spec`, if it is known and can be judged."""
        name = self._name(check, spec)
        if (data := self._cache.load(name)) is None:
            return None
        try:
            answer = decode(data).tree
            if not check.broken(answer):
                return answer
        except (WireError, TreeError):
            pass
        self._cache.discard(name)
        return None

    def ask(
        self, sandbox: Sandbox, check: Check, args: dict[str, Any], allowance: Allowance
    ) -> tuple[Reply, Tree]:
        """Run the program of a check in a sandbox, before anybody's code is imported there. The
        answer is kept unless something of a learner's could have changed it.

        Raises:
            Failed: the sandbox has ended.
        """
        sandbox.ready()
        request = Observe(check.title, check.inside, args)
        reply, tree = sandbox.ask(request, [{}], allowance, check.title)
        if isinstance(reply, Answer) and sandbox.pure:
            with suppress(WireError, TreeError):
                if not check.broken(tree):
                    self._cache.save(self._name(check, sandbox.spec), encode({}, tree))
        return reply, tree

    def ask_all(self, sandbox: Sandbox, configuration: Configuration) -> None:
        """Run what is not known yet in a new sandbox. What is wrong with it shows in a run.

        Raises:
            Failed: the sandbox has ended.
        """
        for check in self._lesson.checks:
            args = check.ahead()
            if args is None or configuration_of(self._lesson, check) != configuration:
                continue
            if self.load(check, sandbox.spec) is None:
                self.ask(sandbox, check, args, Allowance(self._lesson.limits.seconds))

    def _name(self, check: Check, spec: Spec) -> str:
        parts = [
            own_version(),
            installed_versions(),
            requirements.versions(self._lesson.requires),
            sys.version,
            [spec.devices, spec.accelerators],
            [check.kind, check.inside, check.ahead()],
        ]
        digest = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
        return f"{self._lesson.id}-{digest[:32]}"
