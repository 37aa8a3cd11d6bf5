"""How near rounding comes to the tolerances of checks.

    python -m tests.engine.rounding [--seeds N] [--seconds S] [LESSON ...]

Runs the PyTorch of lessons in float32 and in float64 on the same inputs, and lists the checks where
the two differ by more than a tenth of the tolerance. Where they differ by more than all of it, two
right answers may, too, unless both round alike. The course's code runs in this process.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from unittest.mock import patch

import numpy as np
import torch
from msgspec import Struct

from tutor.check import Check
from tutor.checks.compare import tolerance_for
from tutor.checks.scale import scales
from tutor.engine.plan import case_id, plan, requests
from tutor.engine.references import Request
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.sandbox import reference
from tutor.sandbox.calls import UserCodeError, drive
from tutor.tree import Leaf, Tree, leaves

SHOWN = 0.1
"""Shares of the tolerance that are worth a line."""

SINGLE, DOUBLE = torch.float32, torch.float64
_WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}


class DoubleEnvironment(reference.ReferenceEnvironment):
    """The lesson's PyTorch with float64 in place of float32."""

    def fresh(self, tree: Tree) -> object:
        if isinstance(tree, Leaf) and tree.type == "array" and tree.values.dtype in _WIDER:
            return torch.from_numpy(tree.values.astype(_WIDER[tree.values.dtype]))
        return super().fresh(tree)


@contextmanager
def in_double() -> Iterator[None]:
    """Make float64 what PyTorch code means by float32."""
    torch.set_default_dtype(DOUBLE)
    try:
        with (
            patch.object(torch.Tensor, "float", torch.Tensor.double),
            patch.object(torch, "float32", DOUBLE),
        ):
            yield
    finally:
        torch.set_default_dtype(SINGLE)


class Worst(Struct):
    """Of one check: its cases, those beyond the tolerance, and the largest share of it."""

    cases: int = 0
    beyond: int = 0
    share: float = 0.0
    seed: int = 0


def share_of_tolerance(check: Check, single: Tree, double: Tree) -> float:
    """Return the largest difference of two answers, as a share of what the check allows."""
    others, worst = dict(leaves(double)), 0.0
    for path, leaf in leaves(single):
        if leaf.array is None or leaf.values.dtype.kind not in "fc" or not leaf.values.size:
            continue
        want, got = leaf.values.astype(complex), others[path].values.astype(complex)
        allowed = (getattr(check, "tol", None) or tolerance_for(leaf)) * scales(np.abs(want))
        finite = np.isfinite(want) & np.isfinite(got)
        if not np.array_equal(np.isfinite(want), np.isfinite(got)):
            return float("inf")
        shares = np.abs(want[finite] - got[finite]) / allowed[finite]
        worst = max(worst, float(shares.max(initial=0.0)))
    return worst


def study(lesson: Lesson, seeds: int, seconds: float) -> tuple[int, dict[str, Worst]]:
    """Return the number of seeds tried in some seconds, and the worst of each check."""
    single, double = reference.ReferenceEnvironment(), DoubleEnvironment()
    drive(single.load(lesson.reference_code, "torch"))
    with in_double():
        drive(double.load(lesson.reference_code, "torch"))
    found: dict[str, Worst] = {}
    began = time.monotonic()
    for seed in range(seeds):
        if time.monotonic() - began > seconds:
            return seed, found
        planned = plan(lesson, seed)
        checks = {case_id(check, case): check for check, cases in planned for case in cases}
        for request in requests(lesson, planned):
            check = checks[request.case]
            try:
                one = _answer(single, request)
                with in_double():
                    other = _answer(double, request)
            except UserCodeError:
                continue  # PyTorch code that asks for a dtype
            worst = found.setdefault(check.title, Worst())
            share = share_of_tolerance(check, check.compared(one), check.compared(other))
            worst.cases += 1
            worst.beyond += share > 1
            if share > worst.share:
                worst.share, worst.seed = share, seed
    return seeds, found


def _answer(env: reference.ReferenceEnvironment, request: Request) -> Tree:
    arguments = json.loads(json.dumps(request.args))  # as they come to a sandbox
    inside = import_module(request.inside)
    tree: Tree = inside.refer(env, arguments, [*request.input_sets])[0]
    return tree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="most for one lesson")
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pack = load_pack()
    once = patch.object(reference, "timed", lambda action, *, steady=True: (action(), 0.0))
    with once:
        for name in options.lessons or pack.lessons:
            seeds, found = study(pack.lesson(name), options.seeds, options.seconds)
            print(f"{name}: {seeds} seeds")
            for title, one in found.items():
                if one.share > SHOWN:
                    beyond = f"{one.beyond} of {one.cases} cases beyond the tolerance"
                    print(
                        f"    {title}: {beyond}, at worst {one.share:.2g} of it (seed {one.seed})"
                    )


if __name__ == "__main__":
    main()
