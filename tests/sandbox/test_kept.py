"""What a learner's runs compiled is kept for their next ones, and for nobody else's."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.sandbox.test_warm import ready, rests, run
from tests.sandbox.test_zygote import DOUBLE
from tests.stopwatch import until
from tutor.engine.background import RaceFinished, RunEvent, RunFinished, Runner
from tutor.engine.plan import configuration_of
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool import kept, warm_sandbox
from tutor.pool.forks import Forks
from tutor.pool.kept import KeepingSandboxes, KeptPrograms, bounded
from tutor.pool.pool import Pool
from tutor.report import Report
from tutor.tree import Leaf, Tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forking is for Linux only")

SEES = """
import jax
heard = []
jax.monitoring.register_event_listener(lambda event, **_: heard.append(event))

@jax.jit
def once(x):
    return 2 * x

def double(x):
    y = once(x)
    print("/jax/compilation_cache/cache_hits" in heard)
    return y
"""
"""Says whether JAX had to compile its program."""

FORGES = """
import jax, jax.numpy as jnp
from jax._src import compilation_cache

ProgramCache = type(compilation_cache._cache)
programs = {}
put = ProgramCache.put

def forged(self, key, program):
    programs[key.rpartition("-")[0]] = key, program
    put(self, key, program)

ProgramCache.put = forged

@jax.jit
def once(x):
    return 2 * x

@jax.jit
def other(x):
    return 3 * x

def double(x):
    y = once(x)
    other(x)
    if "jit_once" in programs and "jit_other" in programs:
        put(compilation_cache._cache, programs["jit_once"][0], programs["jit_other"][1])
    return y
"""
"""Keeps the program of `3 * x` under the name of that of `2 * x`."""


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def started(home: Path) -> Iterator[Pool]:
    with Pool(cache=home) as pool:
        yield pool


@pytest.fixture
def pool(started: Pool, home: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A pool in which one sandbox waits at a time, so that a run gets the newest."""
    monkeypatch.setattr(warm_sandbox, "CORES", 1)
    for path in (home / "own-programs").glob("*"):
        path.unlink()
    started.expect([])
    until(lambda: not started._waiting and rests(started), "that nothing waits or is prepared")
    return started


def ran(pool: Pool, lesson: Lesson, code: str) -> Report:
    """Run code as the app does, to the end."""
    told: list[RunEvent] = []
    runner = Runner(pool, pool.ran)
    try:
        runner.run(lesson, code, told.append)
        until(lambda: any(isinstance(event, RunFinished) for event in told), "a verdict")
        report = next(event.report for event in told if isinstance(event, RunFinished))
        if report.passed:
            until(lambda: isinstance(told[-1], RaceFinished), "the race")
        return report
    finally:
        runner.close()


def files(home: Path) -> list[Path]:
    return sorted((home / "own-programs").glob("*"))


def test_an_own_program_is_compiled_once(pool: Pool, home: Path, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    ready(pool, lesson)
    assert ran(pool, lesson, SEES).stdout.split()[0] == "False"
    assert files(home)
    pool.expect([])
    pool.expect([(lesson, [DOUBLE])])
    ready(pool, lesson)
    assert ran(pool, lesson, f"# edited\n{SEES}").stdout.split()[0] == "True"


def test_fresh_runs_leave_and_find_nothing(pool: Pool, home: Path, lesson: Lesson, tmp_path: Path):
    ran(pool, lesson, SEES)
    before = [path.read_bytes() for path in files(home)]
    assert before
    with Pool(cache=home, fresh=True) as fresh:
        assert ran(fresh, lesson, SEES).stdout.split()[0] == "False"
    assert [path.read_bytes() for path in files(home)] == before


def test_forged_programs_harm_only_their_author(pool: Pool, home: Path, lesson: Lesson):
    """Row O12: the next own run may be wrong; fresh ones, graders and the pack's are not."""
    assert ran(pool, lesson, FORGES).passed
    assert not ran(pool, lesson, SEES).passed  # or this would show nothing
    ready_again = f"# for grading\n{SEES}"
    with Pool(cache=home, fresh=True) as fresh:
        assert ran(fresh, lesson, SEES).passed
        fresh.expect([(lesson, [SEES])])
        ready(fresh, lesson)
        assert ran(fresh, lesson, ready_again).passed
    with Forks(home) as forks:
        forks.compile_programs(lesson, SEES)
        assert run(forks, lesson, ready_again).passed


def test_no_program_of_the_packs_is_made_where_own_ones_are(pool: Pool, home: Path, lesson: Lesson):
    """Or a forged program would come to a grader by way of priming."""
    ran(pool, lesson, FORGES)
    for number in range(2):
        pool.expect([(lesson, [f"# {number}\n{SEES}"])])
        ready(pool, lesson)
        ran(pool, lesson, FORGES)
    with Forks(home) as forks:
        forks.use_programs(lesson, [f"# {number}\n{SEES}" for number in range(2)])
        assert run(forks, lesson, f"# graded\n{SEES}").passed


@pytest.mark.parametrize("damage", ["nonsense", "cut", "empty"])
def test_damaged_programs_cost_time_only(pool: Pool, home: Path, lesson: Lesson, damage: str):
    ran(pool, lesson, SEES)
    store = KeptPrograms(home / "own-programs")
    key = (lesson, configuration_of(lesson), 0)
    programs: dict[str, Tree] = {}
    for name, leaf in store.load(*key).items():
        assert isinstance(leaf, Leaf)
        whole = leaf.values
        changed = {"nonsense": whole[::-1].copy(), "cut": whole[:20], "empty": whole[:0]}[damage]
        programs[name] = Leaf(changed, "array")
    assert programs
    for path in files(home):
        path.unlink()
    store.add(*key, programs)
    assert ran(pool, lesson, SEES).passed


CALLS = "import jax.numpy as jnp\n\ndef double(x):\n    return jnp.trim_zeros(x)\n"
REPLACES = f"""{CALLS}
def twice(filt, trim="fb"):
    return 2 * filt

jnp.trim_zeros.__code__ = twice.__code__
"""
"""Changes a function in a way that comparing the libraries' names does not show."""


def test_a_verdict_does_not_depend_on_the_code_before(pool: Pool, lesson: Lesson):
    pool.expect([(lesson, [DOUBLE])])
    for code, passed in ((REPLACES, True), (CALLS, False)):
        ready(pool, lesson)
        assert ran(pool, lesson, code).passed is passed


# --- bounds --------------------------------------------------------------------------------------

LEAVES = some.one_of(
    some.none(),
    some.text(),
    some.integers(0, 300).map(lambda size: Leaf(np.zeros(size, "u1"), "array")),
    some.integers(0, 3).map(lambda size: Leaf(np.zeros((size, 2), "u1"), "array")),
    some.floats().map(lambda number: Leaf(np.asarray(number), "float")),
)
NAMES = some.one_of(some.text(max_size=70), some.integers(0, 99).map("{:064x}".format))


@given(some.one_of(LEAVES, some.dictionaries(NAMES, LEAVES)))
def test_only_bounded_bytes_are_kept(programs: Tree):
    found = bounded(programs)
    for name, leaf in found.items():
        assert isinstance(programs, dict)
        assert programs[name] is leaf
        assert isinstance(leaf, Leaf)
        assert len(name) == 64
        assert leaf.values.dtype == np.uint8
    assert sum(leaf.values.nbytes for leaf in found.values()) <= kept.MAX_LESSON_BYTES  # type: ignore[union-attr]


def test_the_newest_are_kept(tmp_path: Path, lesson: Lesson, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept, "MAX_LESSON_BYTES", 10_000)
    store = KeptPrograms(tmp_path)
    key = (lesson, configuration_of(lesson), 0)
    for number in range(30):
        store.add(*key, {f"{number:064x}": Leaf(np.zeros(1000, "u1"), "array")})
    assert sorted(store.load(*key)) == [f"{number:064x}" for number in range(20, 30)]


# --- `check` -------------------------------------------------------------------------------------


def test_check_keeps_what_it_compiled(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JAXTUTOR_HOME", str(tmp_path))
    for expected in ("False", "True"):
        with Session(lesson, SEES, sandboxes=KeepingSandboxes([], 0)) as session:
            assert session.check().stdout.split()[0] == expected
