"""Breakdown of a warm run's time: tracing, lowering, XLA, the rest of JAX, the main process.

    python -m benchmarks.breakdown LESSON DEVICES QUICK

This does the work of a waiting sandbox in a process set up the same way, where JAX's own timing
events are available. The main process's part is the rest of a run's time.
"""

import gc
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tutor.engine.plan import (
    Configuration,
    Plan,
    configuration_of,
    configurations,
    decoy,
    plan,
    sandbox_for,
)
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.pool.forks import Forks
from tutor.sandbox.launch import environment
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment

EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowering",
    "/jax/core/compile/backend_compile_duration": "xla",
}


class Parts(Struct):
    """Seconds inside the sandboxes of one run. `xla`: compiling, or loading a cached program;
    `rest`: everything else in JAX, mostly Python, and running the programs; `loading`: importing
    the submission and the lesson's harness."""

    tracing: float = 0.0
    lowering: float = 0.0
    xla: float = 0.0
    rest: float = 0.0
    loading: float = 0.0

    @property
    def total(self) -> float:
        return self.tracing + self.lowering + self.xla + self.rest + self.loading


def measure(lesson: Lesson) -> Parts:
    """Return the parts of a run of the lesson's solution, in a new process per configuration."""
    found = Parts()
    with tempfile.TemporaryDirectory() as name:
        for configuration in configurations(lesson):
            spec = sandbox_for(lesson, configuration)
            command = [sys.executable, "-m", "benchmarks.breakdown", lesson.id]
            done = subprocess.run(
                [*command, str(configuration.devices)],
                env=environment(spec, Path(name)), stdout=subprocess.PIPE, check=True,
            )  # fmt: skip
            one = msgspec.json.decode(done.stdout, type=Parts)
            for part in Parts.__struct_fields__:
                setattr(found, part, getattr(found, part) + getattr(one, part))
    return found


def forks(lesson: Lesson, samples: int) -> list[float]:
    """Return the seconds from requesting a sandbox, forked from a zygote, until it is ready."""
    configuration = configurations(lesson)[0]
    seconds = []
    with tempfile.TemporaryDirectory() as folder, Forks(Path(folder)) as source:
        source.start(lesson, configuration).close()
        for _ in range(samples):
            began = time.perf_counter()
            with source.start(lesson, configuration) as sandbox:
                sandbox.ready()
                seconds.append(time.perf_counter() - began)
    return seconds


# --- in the new process -----------------------------------------------------------------------


def inside(pack: Pack, lesson: Lesson, configuration: Configuration) -> Parts:
    """Return the parts of the solution's run after priming, as in a waiting sandbox."""
    import jax

    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.worker import libraries

    libraries("learner")
    environment = LearnerEnvironment()
    solution = pack.solution(lesson.id)
    assert solution is not None
    planned = [
        (c, cases) for c, cases in plan(lesson, 0) if configuration_of(lesson, c) == configuration
    ]
    _load(environment, lesson, solution, "prime.py")
    _observe(environment, decoy(lesson, planned, 1))
    gc.collect()
    spans: dict[str, list[tuple[float, float]]] = {name: [] for name in EVENTS.values()}

    def on_duration(event: str, duration_secs: float, **_: str | int) -> None:
        if event in EVENTS:
            now = time.perf_counter()
            spans[EVENTS[event]].append((now - duration_secs, now))

    jax.monitoring.register_event_duration_secs_listener(on_duration)
    began = time.perf_counter()
    _load(environment, lesson, solution, "submission.py")
    loaded = time.perf_counter()
    _observe(environment, planned)
    ended = time.perf_counter()
    parts = Parts(**{name: _covered(found) for name, found in spans.items()})
    parts.loading = loaded - began
    parts.rest = max(0.0, ended - loaded - parts.tracing - parts.lowering - parts.xla)
    return parts


def _load(environment: "LearnerEnvironment", lesson: Lesson, code: str, filename: str) -> None:
    if lesson.jax_harness is not None:
        environment.load_harness(lesson.jax_harness, "jax_harness.py")
    environment.load(code, filename)


def _observe(environment: object, planned: Plan) -> None:
    for check, cases in planned:
        observe = import_module(check.inside).observe
        for case in cases:
            input_sets: list[Tree] = [*case.input_sets]
            observe(environment, check.observe(), input_sets)


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of the spans: nested traces count once."""
    seconds, until = 0.0, 0.0
    for start, end in sorted(spans):
        seconds += max(0.0, end - max(start, until))
        until = max(until, end)
    return seconds


def main() -> None:
    """Print `Parts` as JSON."""
    pack = open_pack()
    lesson = pack.lesson(sys.argv[1])
    parts = inside(pack, lesson, Configuration(int(sys.argv[2])))
    sys.stdout.buffer.write(msgspec.json.encode(parts))


if __name__ == "__main__":
    main()
