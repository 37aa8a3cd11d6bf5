"""A lesson's checks without jaxtutor's engine: run inside the processes that `cold` starts.

No sandbox, no other process, XLA as it is by default: the observations are made here, beside the
learner's code, and compared with expected values that lie on disk. What a course's own test file
would do.
"""

import os
import pickle
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tutor.check import Case, Check
from tutor.tree import Tree

CASES, SUBMISSION = "cases.pickle", "submission.py"

Asked = Sequence[tuple[Check, list[Case], list[Tree | None]]]
"""Checks, each with its cases and what is expected of them."""


class Plain:
    """One submission beside the checks in its folder.

    **Arguments:** `source`: the submission, if it is not in the folder as well.

    Raises: whatever the submission raises when it is imported.
    """

    def __init__(self, folder: Path, source: str | None = None) -> None:
        import jax

        # A short script has no cache of programs, and so does not pay for looking into one.
        jax.config.update("jax_enable_compilation_cache", False)  # type: ignore[no-untyped-call]
        from tutor.sandbox.learner import LearnerEnvironment

        self._asked = self.asked_in(folder)
        self._environment = LearnerEnvironment()
        if source is None:
            source = (folder / SUBMISSION).read_text(encoding="utf-8")
        self._environment.load(source, SUBMISSION)

    @staticmethod
    def asked_in(folder: Path) -> Asked:
        """The checks in a folder."""
        asked: Asked = pickle.loads((folder / CASES).read_bytes())
        return asked

    def check(self, number: int) -> None:
        """Raises: AssertionError: it does not pass. And whatever the submission raises."""
        check, cases, expected = self._asked[number]
        observe = import_module(check.inside).observe
        for case, wanted in zip(cases, expected, strict=True):
            seen = observe(self._environment, check.observe(), [*case.input_sets])
            finding = check.judge(seen, wanted, case)
            assert finding is None, finding.message

    def check_all(self) -> int:
        """Try every check.

        **Returns:** how many do not pass.
        """
        wrong = 0
        for number in range(len(self._asked)):
            try:
                self.check(number)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is no pass
                wrong += 1
                print(f"{self._asked[number][0].title}: {error}")
        return wrong


def write(folder: Path, code: str, asked: Asked) -> None:
    """Write the files from which a script and a test file work."""
    folder.mkdir(parents=True)
    (folder / SUBMISSION).write_text(code, encoding="utf-8")
    (folder / CASES).write_bytes(pickle.dumps(asked))
    head = f"from pathlib import Path\n\nfrom {__name__} import Plain\n"
    made = "Plain(Path(__file__).parent)"
    script = f"{head}\nraise SystemExit(min({made}.check_all(), 1))\n"
    (folder / "script.py").write_text(script, encoding="utf-8")
    tests = "".join(
        f"\n\ndef test_{number}():\n    checks.check({number})\n" for number in range(len(asked))
    )
    (folder / "test_it.py").write_text(f"{head}\nchecks = {made}\n{tests}", encoding="utf-8")


def environment(devices: int) -> dict[str, str]:
    """What somebody has set who runs such files on so many devices."""
    root = str(Path(__file__).resolve().parents[1])
    found = {**os.environ, "PYTHONPATH": root}
    if devices > 1:
        found["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
        found["NPROC"] = "16"  # without it, collectives on two cores stall for a minute
    return found
