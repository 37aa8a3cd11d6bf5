"""Breakdown of a first run's time: tracing, lowering, XLA, the rest of JAX, the main process.

    python -m benchmarks.breakdown LESSON DEVICES < ANSWER

This does the work of a waiting sandbox in a process set up the same way, where JAX's own timing
events are available. The main process's part is the rest of a run's time.
"""

import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
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
from tutor.engine.sandbox_requests import observations
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.pool.forks import Forks
from tutor.sandbox.calls import drive
from tutor.sandbox.launch import environment
from tutor.sandbox.protocol import HARNESS

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment

EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowering",
    "/jax/core/compile/backend_compile_duration": "xla",
}


class Parts(Struct):
    """Seconds inside the sandboxes of one run. `xla`: compiling; `rest`: everything else in JAX,
    mostly Python, and running the programs; `loading`: importing the submission and the lesson's
    harness. `programs` counts those that are compiled."""

    tracing: float = 0.0
    lowering: float = 0.0
    xla: float = 0.0
    rest: float = 0.0
    loading: float = 0.0
    programs: int = 0

    @property
    def total(self) -> float:
        return self.tracing + self.lowering + self.xla + self.rest + self.loading


def measure(lesson: Lesson, code: str) -> Parts:
    """Return the parts of the first run of an answer, in a new process per configuration."""
    found = Parts()
    with tempfile.TemporaryDirectory() as name:
        for configuration in configurations(lesson):
            spec = sandbox_for(lesson, configuration)
            command = [sys.executable, "-m", "benchmarks.breakdown", lesson.id]
            done = subprocess.run(
                [*command, str(configuration.devices)], input=code.encode(),
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


def inside(pack: Pack, lesson: Lesson, configuration: Configuration, code: str) -> Parts:
    """Return the parts of an answer's run after priming with the solution, as in a waiting
    sandbox."""
    import jax

    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.worker import libraries

    libraries("learner")
    environment = LearnerEnvironment()
    solution = pack.solution(lesson.id)
    assert solution is not None
    planned = [
        (check, cases)
        for check, cases in plan(lesson, 0)
        if configuration_of(lesson, check) == configuration and check.ahead() is None
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
    _load(environment, lesson, code, f"{lesson.id}.py")
    loaded = time.perf_counter()
    _observe(environment, planned)
    ended = time.perf_counter()
    parts = Parts(
        tracing=_covered(spans["tracing"]),
        lowering=_covered(spans["lowering"]),
        xla=_covered(spans["xla"]),
        loading=loaded - began,
        programs=len(spans["xla"]),
    )
    parts.rest = max(0.0, ended - loaded - parts.tracing - parts.lowering - parts.xla)
    return parts


def _load(environment: "LearnerEnvironment", lesson: Lesson, code: str, filename: str) -> None:
    if lesson.jax_harness is not None:
        drive(environment.load_harness(lesson.jax_harness, HARNESS))
    drive(environment.load(code, filename))


def _observe(environment: object, planned: Plan) -> None:
    for check, cases in planned:
        for case in cases:
            for request, inputs in observations(check, case):
                observed = import_module(request.inside).observe(environment, request.args, inputs)
                if isinstance(observed, Generator):
                    drive(observed)


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
    parts = inside(pack, lesson, Configuration(int(sys.argv[2])), sys.stdin.read())
    sys.stdout.buffer.write(msgspec.json.encode(parts))


if __name__ == "__main__":
    main()
