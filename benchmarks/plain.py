"""A lesson's checks without jaxtutor's engine, for the processes that `cold` starts.

No sandbox, one process, default XLA options: observations are made in the process that runs the
code and compared with expected values from disk, as a course's own test file would.
"""

import os
import pickle
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tutor.check import Case, Check
from tutor.tree import Tree

CASES, SUBMISSION, HARNESS = "cases.pickle", "submission.py", "jax_harness.py"

Checks = Sequence[tuple[Check, list[Case], list[Tree | None]]]
"""Checks with their cases and the expected values."""


class Plain:
    """A submission and its checks.

    **Arguments:** `folder`: with the checks; `source`: the submission, if it is not in `folder`.

    Raises:
        Exception: whatever importing the submission raises.
    """

    def __init__(self, folder: Path, source: str | None = None) -> None:
        import jax

        # A script would have no compilation cache to look into.
        jax.config.update("jax_enable_compilation_cache", False)  # type: ignore[no-untyped-call]
        from tutor.sandbox.learner import LearnerEnvironment

        self._checks = read_checks(folder)
        self._environment = LearnerEnvironment()
        if source is None:
            source = (folder / SUBMISSION).read_text(encoding="utf-8")
        harness = folder / HARNESS
        if harness.exists():
            self._environment.load_harness(harness.read_text(encoding="utf-8"), HARNESS)
        self._environment.load(source, SUBMISSION)

    def check(self, number: int) -> None:
        """Run one check.

        Raises:
            AssertionError: it does not pass.
            Exception: whatever the submission raises.
        """
        check, cases, expected = self._checks[number]
        observe = import_module(check.inside).observe
        for case, reference in zip(cases, expected, strict=True):
            observed = observe(self._environment, check.observe(), [*case.input_sets])
            finding = check.judge(observed, reference, case)
            assert finding is None, finding.message

    def check_all(self) -> int:
        """Run every check; return how many do not pass."""
        failed = 0
        for number in range(len(self._checks)):
            try:
                self.check(number)
            except Exception as error:  # noqa: BLE001 - any exception is a failure
                failed += 1
                print(f"{self._checks[number][0].title}: {error}")
        return failed


def read_checks(folder: Path) -> Checks:
    """Return the checks that `write` has written."""
    checks: Checks = pickle.loads((folder / CASES).read_bytes())
    return checks


def write(folder: Path, code: str, checks: Checks, harness: str | None = None) -> None:
    """Write a script, a test file, and the files that they read.

    **Arguments:** `harness`: the lesson's own functions for its checks, if it has any.
    """
    folder.mkdir(parents=True)
    (folder / SUBMISSION).write_text(code, encoding="utf-8")
    (folder / CASES).write_bytes(pickle.dumps(checks))
    if harness is not None:
        (folder / HARNESS).write_text(harness, encoding="utf-8")
    head = f"from pathlib import Path\n\nfrom {__name__} import Plain\n"
    made = "Plain(Path(__file__).parent)"
    script = f"{head}\nraise SystemExit(min({made}.check_all(), 1))\n"
    (folder / "script.py").write_text(script, encoding="utf-8")
    tests = "".join(
        f"\n\ndef test_{number}():\n    checks.check({number})\n" for number in range(len(checks))
    )
    (folder / "test_it.py").write_text(f"{head}\nchecks = {made}\n{tests}", encoding="utf-8")


def environment(devices: int) -> dict[str, str]:
    """Return the environment variables for running such files on so many devices."""
    root = str(Path(__file__).resolve().parents[1])
    found = {**os.environ, "PYTHONPATH": root}
    if devices > 1:
        found["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
        found["NPROC"] = "16"  # without it, collectives on two cores stall for a minute
    return found
