"""Grade hostile and honest submissions alternately in one process, with sandboxes like graders'.

    .venv/bin/python -m tests.attacks.campaign [HOW_MANY_OF_EACH]

Every hostile submission must fail and every honest one get the right mark. Afterwards no process,
file, mount or control group may be left, and the memory of this process must not have grown. Exits
with 1 if anything of this fails. `make attacks` runs it with 200 of each.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.attacks.hostile import SUBMISSIONS, aimed_at
from tests.attacks.targets import aims
from tests.conftest import MINI
from tests.sandbox.processes import children
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.sandbox.cgroup import leftovers
from tutor.sandbox.watchdog import usage

HONEST = {
    "pass": [
        "def double(x):\n    return 2 * x\n",
        "import jax.numpy as jnp\n\ndef double(x):\n    return jnp.add(x, x)\n",
        "import jax\n\ndouble = jax.jit(lambda x: x * 2.0)\n",
        "import jax.numpy as jnp\n\ndef double(x):\n    return jnp.einsum('ij->ij', x) * 2\n",
    ],
    "fail": [
        "def double(x):\n    return 3 * x\n",
        "def double(x):\n    return (2 * x).T\n",
        "def double(x):\n    return 2 * x.at[0, 0].add(1e-3)\n",
    ],
    "error": ["def double(x):\n    return 2 * y\n", "def double(x)\n    return 2 * x\n"],
}
GROWTH_MB = 20
"""How much this process may grow after its first twenty runs."""


def hostile(targets: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and code of all attacks forever, in a new order each time."""
    order = random.Random(0)
    while True:
        for one in order.sample(list(SUBMISSIONS.values()), len(SUBMISSIONS)):
            yield one.name, aimed_at(targets, one.code)


def honest() -> Iterator[tuple[str, str]]:
    """Return the right verdicts, and code."""
    while True:
        for verdict, texts in HONEST.items():
            for text in texts:
                yield verdict, text


def mounts() -> int:
    return len(Path("/proc/self/mounts").read_text().splitlines())


def main(count: int) -> int:
    wrong: list[str] = []
    seconds: dict[str, list[float]] = {"hostile": [], "honest": []}
    lesson = load_pack(MINI).lesson("double")
    first_mb = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home, private, aimed_at = folder / "home", folder / "tmp", folder / "targets"
        os.environ["JAXTUTOR_HOME"] = str(home)
        private.mkdir()
        aimed_at.mkdir()
        tempfile.tempdir = str(private)
        before = mounts()
        with aims(aimed_at, home) as targets, Forks() as forks:
            attacks, answers = hostile(targets), honest()
            for number in range(count):
                attack, text = next(attacks)
                verdict, took = judged(forks, lesson, text, number)
                seconds["hostile"].append(took)
                if verdict not in ("fail", "error"):
                    wrong.append(f"{attack}: {verdict}")
                deserved, text = next(answers)
                verdict, took = judged(forks, lesson, text, number)
                seconds["honest"].append(took)
                if verdict != deserved:
                    wrong.append(f"honest answer after {attack}: {verdict}, deserved {deserved}")
                if number == min(20, count - 1):
                    first_mb = usage(os.getpid()).resident_mb
        wrong += [f"left running: {command}" for command in children()]
        groups = [path for path in leftovers() if path.name.split("-")[1] == str(os.getpid())]
        wrong += [f"left behind: {path}" for path in [*private.iterdir(), *groups]]
        wrong += [f"outside was written: {path}" for path in aimed_at.glob("outside*")]
        wrong += ["mounts left behind"] if mounts() != before else []
        tempfile.tempdir = None
    last_mb = usage(os.getpid()).resident_mb
    if last_mb > first_mb + GROWTH_MB:
        wrong.append(f"this process grew from {first_mb} to {last_mb} MiB")
    for kind, took in seconds.items():
        print(f"{kind}: {len(took)} submissions, median {statistics.median(took):.2f} s, "
              f"longest {max(took):.2f} s")  # fmt: skip
    print(f"memory of this process: {first_mb} MiB early, {last_mb} MiB at the end")
    print("\n".join(wrong) if wrong else "all held, all judged right, nothing left")
    return 1 if wrong else 0


def judged(forks: Forks, lesson: Lesson, text: str, seed: int) -> tuple[str, float]:
    began = time.perf_counter()
    with Session(lesson, text, sandboxes=forks) as session:
        report = session.check(seed)
    return report.verdict, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
