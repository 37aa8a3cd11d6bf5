"""Waiting sandboxes are primed, replaced and freed, and never change a verdict."""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.attacks.test_lying import memory
from tests.sandbox.test_zygote import DOUBLE, alive
from tests.stopwatch import PATIENCE, Stopwatch, until
from tutor.engine.plan import configuration_of, decoy, plan
from tutor.engine.references import References
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool import warm_sandbox
from tutor.pool.forks import Forks
from tutor.pool.pool import Pool
from tutor.pool.programs import Programs
from tutor.report import Report
from tutor.sandbox.process import Sandbox
from tutor.tree import Leaf, leaves

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forking is for Linux only")


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def started(cache: Path) -> Iterator[Pool]:
    """A pool whose zygotes have to import JAX and PyTorch only once."""
    with Pool(cache=cache) as pool:
        yield pool


@pytest.fixture
def pool(started: Pool, cache: Path) -> Iterator[Pool]:
    """A pool in which nothing waits, and that has no programs."""
    yield started
    started.expect([])
    until(lambda: not workers(started) and rests(started), "that nothing waits or is prepared")
    shutil.rmtree(cache / "programs", ignore_errors=True)


@pytest.fixture
def learning(forks: Forks, tmp_path: Path) -> Forks:
    """Forks of the same zygotes, with their own programs."""
    own = Forks(tmp_path)
    own.zygotes = forks.zygotes
    return own


def run(pool: Pool | Forks, lesson: Lesson, code: str, seed: int = 0) -> Report:
    with Session(lesson, code, sandboxes=pool) as session:
        return session.check(seed)


def ready(pool: Pool, lesson: Lesson) -> None:
    until(lambda: pool.ready(lesson, 1.0), "that all is ready")


def workers(pool: Pool) -> set[int]:
    return {pid for name, pid in pool.processes().items() if name.startswith("waiting")}


def rests(pool: Pool) -> bool:
    """Return whether the pool's thread waits for something to do: no sandbox is being prepared,
    which would keep what it has read of the cache."""
    return bool(pool._change._waiters)  # type: ignore[attr-defined]


def within(lesson: Lesson, seconds: float) -> Lesson:
    """Return the lesson with another limit."""
    limits = msgspec.structs.replace(lesson.limits, seconds=seconds)
    return msgspec.structs.replace(lesson, limits=limits)


# --- the pool ----------------------------------------------------------------------------------


def test_a_waiting_sandbox_is_used_once_and_replaced(pool: Pool, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    used: set[int] = set()
    for _ in range(3):
        ready(pool, lesson)
        waiting = workers(pool)
        with Session(lesson, DOUBLE, sandboxes=pool) as session:
            report = session.check()
            assert report.passed
            assert session.main_sandbox is not None
            pid = session.main_sandbox.sandbox.pid
        assert pid in waiting
        assert pid not in used
        used.add(pid)
    until(lambda: not any(map(alive, used)), "the end of those that were used")


def test_a_second_sandbox_serves_a_run_that_comes_before_the_first_is_replaced(
    pool: Pool, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(warm_sandbox, "CORES", 2)
    monkeypatch.setattr(warm_sandbox, "free_memory_mb", lambda: warm_sandbox.AMPLE_MB)
    pool.expect([(lesson, [DOUBLE])])
    until(lambda: len(workers(pool)) == 2 and all(w.ready for w in pool._waiting), "two")
    waiting = workers(pool)
    taken = [pool.take(lesson, configuration_of(lesson)) for _ in range(2)]
    assert {sandbox.pid for sandbox in taken} == waiting
    for sandbox in taken:
        pool.release(sandbox)
    for name, value in (("free_memory_mb", lambda: warm_sandbox.AMPLE_MB - 1), ("CORES", 1)):
        with monkeypatch.context() as scarce:
            scarce.setattr(warm_sandbox, name, value)
            assert [one[0] for one in warm_sandbox.needed(pool._expected)] == [lesson]


def test_the_next_lesson_gets_a_sandbox_and_others_lose_theirs(pool: Pool, mini: Pack):
    double, tall = (mini.lesson(name) for name in ("double", "tall"))
    pool.expect([(double, [DOUBLE]), (tall, ["def tall(x):\n    return x.T\n"])])
    ready(pool, double)
    ready(pool, tall)
    before = workers(pool)
    pool.expect([(tall, ["def tall(x):\n    return x.T\n"])])
    until(lambda: len(workers(pool)) < len(before), "that one is let go")
    ready(pool, tall)
    assert run(pool, tall, "def tall(x):\n    return x.T\n").passed


def test_a_worker_that_died_waiting_is_replaced(pool: Pool, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    ready(pool, lesson)
    for pid in workers(pool):
        os.kill(pid, signal.SIGKILL)
        until(lambda pid=pid: not alive(pid), "its end")  # type: ignore[misc]
    report = run(pool, lesson, DOUBLE)
    assert report.passed, report.fault
    ready(pool, lesson)


def test_a_worker_killed_while_it_is_primed_is_replaced_by_one_that_is_primed(
    pool: Pool, lesson: Lesson
):
    slow = "import time\ntime.sleep(1)\ndef double(x):\n    return 2 * x\n"
    patient = within(lesson, 20.0)
    pool.expect([(patient, [slow])])
    until(lambda: bool(workers(pool)), "one that is being primed")
    os.kill(min(workers(pool)), signal.SIGKILL)
    ready(pool, patient)
    programs = Programs(pool._cache / "programs")
    assert programs.load(patient, configuration_of(patient), slow, 0)


def test_a_killed_zygote_costs_time_only(pool: Pool, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    ready(pool, lesson)
    os.kill(pool.processes()["zygote learner"], signal.SIGKILL)
    assert run(pool, lesson, DOUBLE).passed
    until(lambda: pool.ready(lesson, 0) and all(map(alive, workers(pool))), "another that waits")


@pytest.mark.proof
def test_an_idle_pool_frees_everything(tmp_path: Path, lesson: Lesson):
    with Pool(cache=tmp_path) as pool:
        pool.expect([(lesson, [DOUBLE])])
        ready(pool, lesson)
        pids = [*pool.processes().values()]
        pool.idle = 0.0
        until(lambda: not pool.processes() and not any(map(alive, pids)), "that all is given back")
        pool.idle = PATIENCE
        pool.keep_alive()
        ready(pool, lesson)
        assert run(pool, lesson, DOUBLE).passed


def test_without_memory_nothing_waits(pool: Pool, lesson: Lesson, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(warm_sandbox, "free_memory_mb", lambda: 500)
    pool.expect([(lesson, [DOUBLE])])
    assert run(pool, lesson, DOUBLE).passed
    assert "zygote learner" in pool.processes()
    assert not workers(pool)


def test_a_pool_can_be_closed_at_any_moment(tmp_path: Path, lesson: Lesson):
    for seconds in (0.0, 0.3, 1.0, 2.0):
        watch = Stopwatch()
        with Pool(cache=tmp_path / str(seconds)) as pool:
            pool.expect([(lesson, [DOUBLE])])
            end = time.monotonic() + seconds
            until(lambda end=end: time.monotonic() >= end, "the moment")  # type: ignore[misc]
            pids = [*pool.processes().values()]
        assert watch.seconds < seconds + 20
        # They are killed; the kernel takes a moment, above all to free JAX's memory.
        until(lambda pids=pids: not any(map(alive, pids)), "their end")  # type: ignore[misc]


def test_two_instances_share_the_cache(tmp_path: Path, lesson: Lesson):
    with Pool(cache=tmp_path) as first, Pool(cache=tmp_path) as second:
        for pool in (first, second):
            pool.expect([(lesson, [DOUBLE])])
        reports: list[Report] = []
        threads = [
            threading.Thread(target=lambda p=pool: reports.append(run(p, lesson, DOUBLE)))
            for pool in (first, second)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [report.verdict for report in reports] == ["pass", "pass"]
        ready(first, lesson)
        ready(second, lesson)
    assert Programs(tmp_path / "programs").load(lesson, configuration_of(lesson), DOUBLE, 0)


# --- priming -----------------------------------------------------------------------------------

MEDDLES = """
import os, random, sys, warnings
import jax, numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_debug_nans", True)
os.environ["MEDDLED"] = "yes"
warnings.simplefilter("error")
np.seterr(all="raise")
np.random.seed(1)
random.seed(1)
print("from priming")
def double(x):
    print("from priming as well")
    return 2 * x
"""

INNOCENT = """
import os, random, sys, warnings
import jax, jax.numpy as jnp, numpy as np

assert jnp.arange(2.0).dtype == "float32", "x64 is still on"
assert not jax.config.jax_debug_nans
assert "MEDDLED" not in os.environ
warnings.warn("nothing")
assert np.geterr()["over"] != "raise"
assert not hasattr(sys.modules["submission"], "MEDDLES")
print(random.random(), np.random.rand())
def double(x):
    return 2 * x
"""


def test_changes_by_priming_are_undone(pool: Pool, lesson: Lesson):
    pool.expect([(lesson, [MEDDLES])])
    printed = set()
    for _ in range(2):
        ready(pool, lesson)
        report = run(pool, lesson, INNOCENT)
        assert report.passed, report
        assert "priming" not in report.stdout
        printed |= set(report.stdout.split())
    assert len(printed) == 4  # all draws differ


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(3)\n",
        "while True: pass\n",
        "1 / 0\n",
        "def double(:\n",
        "x = bytearray(1 << 40)\n",
    ],
    ids=["exits", "endless", "raises", "no Python", "too much"],
)
@pytest.mark.proof
def test_code_that_cannot_prime_costs_time_only(pool: Pool, lesson: Lesson, code: str):
    pool.expect([(lesson, [code])])
    assert run(pool, lesson, DOUBLE).passed
    ready(pool, lesson)
    assert run(pool, lesson, DOUBLE).passed


def test_a_run_interrupts_priming(pool: Pool, lesson: Lesson):
    slow = "import time\ndef double(x):\n    time.sleep(2)\n    return 2 * x\n"
    patient = within(lesson, 20.0)
    pool.expect([(patient, [slow])])
    until(lambda: bool(workers(pool)), "one that is being primed")
    watch = Stopwatch()
    assert run(pool, patient, DOUBLE).passed
    assert watch.seconds < 2 * 2 * sum(check.case_count for check in lesson.checks)


def test_priming_uses_the_same_shapes_and_other_numbers(pack: Pack):
    for lesson in pack.lessons.values():
        planned = plan(lesson, 3)
        for (check, cases), (_, others) in zip(planned, decoy(lesson, planned, 7), strict=True):
            for case, other in zip(cases, others, strict=True):
                assert other.secret is None
                for one, two in zip(case.input_sets, other.input_sets, strict=True):
                    mine, theirs = (dict(leaves({**tree})) for tree in (one, two))
                    assert mine.keys() == theirs.keys()
                    for path, leaf in mine.items():
                        _same_but_for_numbers(
                            leaf, theirs[path], f"{lesson.id}: {check.title}: {path}"
                        )


def _same_but_for_numbers(leaf: Leaf, other: Leaf, where: str) -> None:
    assert (leaf.type, leaf.values.shape) == (other.type, other.values.shape), where
    assert leaf.values.dtype == other.values.dtype, where
    if leaf.type == "array" and leaf.values.dtype.kind == "f" and leaf.values.size > 1:
        assert (leaf.values != other.values).any(), where


# --- what must not be shared -------------------------------------------------------------------


PLANTED = "def double(x):\n    'planted_in_the_solution'\n    return x + x\n"


def assert_nothing_planted(learning: Forks, lesson: Lesson) -> None:
    """Run a submission, and look through the memory of its sandbox."""
    with Session(lesson, "'the_control'\n" + DOUBLE, sandboxes=learning) as session:
        assert session.check().passed
        assert session.main_sandbox is not None
        everything = b"".join(memory(session.main_sandbox.sandbox.pid))
    assert b"the_control" in everything
    assert b"planted_in_the_solution" not in everything


def test_grading_workers_hold_nothing_of_the_solution(learning: Forks, lesson: Lesson):
    learning.compile_programs(lesson, PLANTED)
    assert_nothing_planted(learning, lesson)


def test_grading_workers_hold_nothing_of_a_solution_that_was_judged(
    learning: Forks, lesson: Lesson
):
    with Session(lesson, PLANTED, sandboxes=learning.learning(lesson, PLANTED)) as session:
        assert session.check().passed
    assert_nothing_planted(learning, lesson)


def test_programs_of_submissions_are_not_kept(pool: Pool, cache: Path, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    ready(pool, lesson)
    files = sorted((cache / "programs").rglob("*.programs"))
    assert files
    before = [path.read_bytes() for path in files]
    unusual = (
        "import jax.numpy as jnp\ndef double(x):\n    return jnp.arctanh(jnp.tanh(x)) * 0 + 2 * x\n"
    )
    assert run(pool, lesson, unusual).passed
    ready(pool, lesson)
    assert sorted((cache / "programs").rglob("*.programs")) == files
    assert [path.read_bytes() for path in files] == before


def test_a_worker_cannot_reach_the_cache(pool: Pool, cache: Path, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    ready(pool, lesson)
    (path,) = (cache / "programs").rglob("*.programs")
    for mode in ("rb", "ab"):
        report = run(pool, lesson, f"open({str(path)!r}, {mode!r})\n" + DOUBLE)
        assert report.fault is not None
        assert "PermissionError" in report.fault.message


def test_cached_programs_are_not_compiled_again(learning: Forks, lesson: Lesson):
    code = (
        "import jax\nfound = []\n"
        "jax.monitoring.register_event_listener(lambda event, **_: found.append(event))\n"
        "@jax.jit\ndef twice(x):\n    return 2 * x\n"
        "def double(x):\n    y = twice(x)\n"
        "    print('/jax/compilation_cache/cache_hits' in found)\n    return y\n"
    )
    before = run(learning, lesson, code)
    learning.compile_programs(lesson, code)
    after = run(learning, lesson, code)
    assert before.passed
    assert after.passed
    assert before.stdout.split()[0] == "False"
    assert after.stdout.split()[0] == "True"


REPORTING_HITS = """\
import jax
found = []
jax.monitoring.register_event_listener(lambda event, **_: found.append(event))
@jax.jit
def {name}(x):
    return 2 * x
def double(x):
    y = {name}(x)
    print('/jax/compilation_cache/cache_hits' in found)
    return y
"""


def test_a_run_that_judges_an_answer_compiles_its_programs_for_others(
    learning: Forks, lesson: Lesson
):
    """Of the solution, and then of a variant; those of the former stay."""
    codes = [REPORTING_HITS.format(name=name) for name in ("twice", "doubled")]
    for code in codes:
        with Session(lesson, code, sandboxes=learning.learning(lesson, code)) as session:
            report = session.check()
        assert report.passed
        assert report.stdout.split()[0] == "False"
    for code in codes:
        assert run(learning, lesson, code).stdout.split()[0] == "True"


def test_an_answer_that_breaks_its_sandbox_gives_no_programs(learning: Forks, lesson: Lesson):
    code = "import os\ndef double(x):\n    os._exit(0)\n"
    with Session(lesson, code, sandboxes=learning.learning(lesson, code)) as session:
        assert session.check().verdict == "error"
    assert not learning.programs.load(lesson, configuration_of(lesson), code, 0)
    assert run(learning, lesson, DOUBLE).passed


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 40, None], ids=["empty", "nonsense", "cut"])
def test_damaged_programs_are_compiled_again(
    learning: Forks, tmp_path: Path, lesson: Lesson, damage: bytes | None
):
    learning.compile_programs(lesson, DOUBLE)
    (path,) = (tmp_path / "programs").iterdir()
    path.write_bytes(path.read_bytes()[:-9] if damage is None else damage)
    assert run(learning, lesson, DOUBLE).passed
    learning.compile_programs(lesson, DOUBLE)
    assert learning.programs.load(lesson, configuration_of(lesson), DOUBLE, 0)


def test_the_program_cache_is_bounded(
    tmp_path: Path, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    import numpy as np

    monkeypatch.setattr("tutor.pool.programs.MAX_BYTES", 10_000)
    kept = Programs(tmp_path)
    for number in range(20):
        kept.save(
            lesson,
            configuration_of(lesson),
            f"# {number}",
            0,
            {"key": Leaf(np.zeros(1000, "u1"), "array")},
        )
    assert 5 <= len(list(tmp_path.iterdir())) <= 10
    assert kept.load(lesson, configuration_of(lesson), "# 19", 0)
    assert not kept.load(lesson, configuration_of(lesson), "# 0", 0)


# --- PyTorch -----------------------------------------------------------------------------------


def test_a_duplicate_request_waits_for_the_first(tmp_path: Path, lesson: Lesson, forks: Forks):
    from tutor.engine.plan import requests

    begun: list[Sandbox] = []

    def begin() -> Sandbox:
        begun.append(forks.reference())
        return begun[-1]

    asked = requests(lesson, plan(lesson, 0))
    both = [References(lesson, asked, tmp_path, begin, recorded=False) for _ in range(2)]
    for one in both:
        one.start()
    first, second = (one.get(asked[0].case) for one in both)
    assert (first.tree is second.tree) or first.seconds == second.seconds
    assert len(begun) == 1
    for one in both:
        one.close()


def test_cancelling_one_request_keeps_the_others(tmp_path: Path, lesson: Lesson, forks: Forks):
    from tutor.engine.plan import requests
    from tutor.sandbox.process import Cancelled

    asked = requests(lesson, plan(lesson, 0))
    first, second = (
        References(lesson, asked, tmp_path, forks.reference, recorded=False) for _ in range(2)
    )
    first.start()
    second.start()
    first.cancel()
    with pytest.raises(Cancelled):
        first.get(asked[0].case)
    assert second.get(asked[0].case).tree is not None
    first.close()
    second.close()
