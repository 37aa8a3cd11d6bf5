"""Read `silent.yaml`: mistakes that raise no exception."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field

from tests.explain.conftest import Kept
from tests.explain.rule_files import RuleReader
from tutor.check import Case, Check
from tutor.engine.plan import plan
from tutor.explain import Symptom, of_finding
from tutor.explain.rule import several
from tutor.lesson import Lesson, Limits, Mistake, Module
from tutor.pack.yaml_nodes import read
from tutor.tree import Leaf, Tree

FILE = Path(__file__).parent / "silent.yaml"


class Silent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """See `silent.yaml`."""

    name: str
    rule: str | tuple[str, ...]
    code: Module
    edit: dict[str, str]
    torch: Module = "import torch\n"
    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    inputs: Annotated[dict[str, Any], Meta(extra={"holds": "draws"})] = field(default_factory=dict)
    checks: Annotated[tuple[Check, ...], Meta(extra={"holds": "checks"})]
    devices: int = 1

    @property
    def wanted(self) -> tuple[str, ...]:
        return several(self.rule)

    def lesson(self, source: str) -> Lesson:
        return Lesson(
            id="silent", title=self.name, track="trials", minutes=1, brief="-", starter=source,
            torch=self.torch, hints=("-",), sizes=self.sizes, inputs=self.inputs,
            checks=self.checks, devices=self.devices, limits=Limits(seconds=60),
        )  # fmt: skip

    def tried(self, head: str, kept: Kept) -> "Tried":
        """Return the symptom after the edit, and symptoms of unrelated wrong numbers."""
        lesson = self.lesson(self.code)
        answers = kept.answers(lesson, head + self.code)

        def right(_: Lesson, check: Check, case: Case) -> Tree:
            return answers[case.index]

        # The right code must also pass the parts of the check that do not use PyTorch.
        (nothing,) = kept.symptoms(lesson, head + self.code, expected=right)
        assert nothing is None, f"{self.name}: the right code is wrong: {nothing.message}"
        mistake = Mistake(name=self.name, edit=self.edit, fails="-", says="-")
        (symptom,) = kept.symptoms(lesson, head + mistake.applied_to(self.code), expected=right)
        return Tried(symptom, tuple(self._unrelated(lesson, head + self.code, answers)))

    def _unrelated(self, lesson: Lesson, source: str, answers: list[Tree]) -> Iterator[Symptom]:
        """Yield symptoms of unrelated wrong numbers."""
        random = np.random.default_rng(len(source))
        check, cases = plan(lesson, 0)[0]
        if check.kind not in ("value", "grad"):
            return
        for case, answer in zip(cases, answers, strict=True):
            other = _other(answer, random)
            finding = check.judge(other, answer, case)
            if finding is not None:
                yield of_finding(
                    finding, lesson, check, case, source, devices=self.devices, earlier=()
                )


class Tried(Struct, frozen=True):
    """The symptom of the wrong code, and symptoms of the right code with unrelated numbers."""

    wrong: Symptom | None
    unrelated: tuple[Symptom, ...]


def _other(tree: Tree, random: np.random.Generator) -> Tree:
    """Return the same tree with other numbers."""
    if isinstance(tree, dict):
        return {key: _other(child, random) for key, child in tree.items()}
    if isinstance(tree, list | tuple):
        return [_other(child, random) for child in tree]
    if not isinstance(tree, Leaf) or tree.array is None or tree.array.dtype.kind != "f":
        return tree
    numbers = 1.4 * tree.array + random.normal(0.3, 0.7, tree.array.shape)
    return Leaf(numbers.astype(tree.array.dtype), tree.type)


def silent_mistakes() -> tuple[list[Silent], int]:
    """Return all silent mistakes, and the number of curriculum entries that are not tested."""
    node, problems = read(FILE, FILE.name)
    reader = RuleReader(FILE.name)
    whole: Whole | None = reader.struct(Whole, node)
    assert whole is not None and not problems, [*problems, *reader.problems]
    return list(whole.mistakes), len(whole.slow) + len(whole.unseen)


class Whole(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of `silent.yaml`."""

    about: str
    slow: tuple[str, ...]
    unseen: tuple[str, ...]
    mistakes: tuple[Silent, ...]
