"""Forked workers behave like spawned ones, are independent, and end with the main process."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import MINI
from tests.sandbox.processes import alive
from tests.stopwatch import until
from tutor.engine.plan import configuration_of
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import CheckResult
from tutor.sandbox import zygotes as zygotes
from tutor.sandbox.process import Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forking is for Linux only")

DOUBLE = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def lesson(mini: Pack) -> Lesson:
    return mini.lesson("double")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Forks]:
    """Zygotes that a test may kill."""
    with Forks(tmp_path) as forks:
        yield forks


def test_a_forked_worker_has_the_protections_of_a_spawned_one_and_knows_no_more(
    forks: Forks, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OUR_SECRET", "planted")
    code = "import os\nprint(os.getcwd() == os.environ['HOME'], *os.environ)\n" + DOUBLE
    with Session(lesson, code) as session:
        afresh = session.check()
    with Session(lesson, code, sandboxes=forks) as session:
        forked = session.check()
        bench = session.main_sandbox
        assert bench is not None
        tasks = list(Path(f"/proc/{bench.sandbox.pid}/task").iterdir())
        assert len(tasks) > 1
        for task in tasks:
            status = (task / "status").read_text()
            assert "NoNewPrivs:\t1" in status
            assert "Seccomp:\t2" in status
    assert forked.isolation == afresh.isolation
    assert forked.verdict == afresh.verdict == "pass"
    assert forked.versions == afresh.versions
    assert forked.devices == afresh.devices
    environment, theirs = forked.stdout.split(), afresh.stdout.split()
    assert environment[0] == theirs[0] == "True"
    assert "XLA_FLAGS" in environment
    assert "OUR_SECRET" not in environment
    assert set(environment) <= set(theirs)  # JAX adds to it while it is imported


def test_the_memory_of_earlier_runs_does_not_count_against_later_ones(forks: Forks, lesson: Lesson):
    """One run takes 6 × 30 MiB of 1024; ten runs in one process would not fit."""
    code = "import numpy as np\nKEPT = []\n" + DOUBLE.replace(
        "return", "KEPT.append(np.ones(30 << 17))\n    return"
    )
    with Session(lesson, code, sandboxes=forks) as session:
        for seed in range(10):
            report = session.check(seed)
            assert report.passed, report


def test_a_zygote_has_one_thread_and_runs_no_backend(own: Forks, lesson: Lesson):
    with Session(lesson, DOUBLE, sandboxes=own) as session:
        assert session.check().passed
    zygote = own.zygotes.pid("learner")
    assert zygote is not None
    assert len(list(Path(f"/proc/{zygote}/task").iterdir())) == 1
    until(
        lambda: not Path(f"/proc/{zygote}/task/{zygote}/children").read_text(),
        "that nothing of its workers is left, not even how they ended",
    )


def test_forked_workers_have_different_random_states(forks: Forks, lesson: Lesson):
    code = (
        "import random, numpy as np, os\n"
        "print(random.random(), np.random.rand(), os.urandom(4).hex())\n" + DOUBLE
    )
    printed = set()
    for _ in range(3):
        with Session(lesson, code, sandboxes=forks) as session:
            printed |= set(session.check().stdout.split())
    assert len(printed) == 9


def test_a_killed_zygote_is_replaced(own: Forks, lesson: Lesson):
    for _ in range(2):
        with Session(lesson, DOUBLE, sandboxes=own) as session:
            assert session.check().passed
        zygote = own.zygotes.pid("learner")
        assert zygote is not None
        os.kill(zygote, signal.SIGKILL)
        until(lambda pid=zygote: not alive(pid), "its end")  # type: ignore[misc]


def test_a_run_outlives_its_zygote(own: Forks, lesson: Lesson):
    told: list[CheckResult] = []

    def on_result(result: CheckResult) -> None:
        if not told:
            zygote = own.zygotes.pid("learner")
            bench = session.main_sandbox
            assert zygote is not None
            assert bench is not None
            worker = bench.sandbox.pid
            os.kill(zygote, signal.SIGKILL)
            until(lambda: not alive(worker), "the worker's end, with its zygote's")
        told.append(result)

    with Session(lesson, DOUBLE, sandboxes=own) as session:
        report = session.check(0, on_result)
    assert report.passed, report
    assert [result.name for result in told] == ["value", "again"]


def test_pytorch_outlives_its_zygote(own: Forks, lesson: Lesson, tmp_path: Path):
    own.reference().close()
    zygote = own.zygotes.pid("reference")
    assert zygote is not None
    os.kill(zygote, signal.SIGKILL)
    with Session(lesson, DOUBLE, sandboxes=own, reference_cache=tmp_path / "none") as session:
        assert session.check().passed


def test_killing_one_kills_only_that(forks: Forks, lesson: Lesson):
    first, second = (forks.start(lesson, configuration_of(lesson)) for _ in range(2))
    first.kill()
    until(lambda: not first.alive, "the end of the first")
    assert second.ready().devices == 1
    assert second.alive
    first.close()
    second.close()


def test_closed_zygotes_start_nothing_more(lesson: Lesson, tmp_path: Path):
    from tutor.sandbox.process import Failed

    forks = Forks(tmp_path)
    forks.start(lesson, configuration_of(lesson)).close()
    forks.close()
    with pytest.raises(Failed, match="shutting down"):
        forks.start(lesson, configuration_of(lesson))


def test_a_zygote_that_cannot_start_costs_time_only(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        zygotes, "command", lambda *rest: [sys.executable, "-c", "raise SystemExit('no')"]
    )
    with Forks(tmp_path) as forks:
        with Session(lesson, DOUBLE, sandboxes=forks) as session:
            assert session.check().passed
        assert forks.zygotes.pid("learner") is None


PROGRAM = f"""
import sys
from tutor.pack import load_pack
from tutor.pool.pool import Pool
lesson = load_pack({str(MINI)!r}).lesson("double")
pool = Pool()
pool.expect([(lesson, ["def double(x):\\n    return 2 * x\\n"])])
assert pool.ready(lesson, 60)
pool.reference()
print(*pool.processes().values(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_main_process(how: signal.Signals):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) in (3, 4)  # two zygotes, and a sandbox; perhaps a second one
        assert all(map(alive, pids))
        process.send_signal(how)
    until(lambda: not any(map(alive, pids)), f"the end of {pids}")


def test_a_sandbox_that_waits_is_not_a_childs_child(forks: Forks, lesson: Lesson):
    """What is forked leads a session of its own, so killing it kills no zygote."""
    with forks.start(lesson, configuration_of(lesson)) as sandbox:
        sandbox.ready()
        assert isinstance(sandbox, Sandbox)
        zygote = forks.zygotes.pid("learner")
        assert os.getsid(sandbox.pid) == sandbox.pid
        assert zygote is not None
        assert os.getsid(zygote) == zygote
