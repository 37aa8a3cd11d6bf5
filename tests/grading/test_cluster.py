"""Grading on a real scheduler and real workers, some of which are killed."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml
from distributed import Client

from benchmarks.dask_cluster import DaskCluster, until
from tests.conftest import MINI, SHARED_CACHE, make_home
from tests.grading.poison import LOG, POISON
from tests.stopwatch import GUARD
from tutor.cli import main
from tutor.grading import cluster_worker as worker
from tutor.grading.batch import BatchOptions, BatchRunner
from tutor.grading.cluster import ClusterExecutor
from tutor.grading.executors import Executor, Job, LocalExecutor, Unavailable
from tutor.grading.journal import Journal
from tutor.grading.result import Result
from tutor.grading.results_file import results_line
from tutor.grading.submissions import Submissions
from tutor.manifest import Pack
from tutor.pool.forks import Forks

RIGHT = "def double(x):\n    return x + x  # {}\n"
WRONG = "def double(x):\n    return 3 * x  # {}\n"
BROKEN = "def double(x):\n    return undefined  # {}\n"


class Cluster(DaskCluster):
    """`poisoned` is a file with a line per killed worker."""

    def __init__(self, folder: Path) -> None:
        self.poisoned = folder / "poisoned"
        self.poisoned.touch()
        home = str(make_home(folder))
        super().__init__(folder, {"JAXTUTOR_HOME": home, LOG: str(self.poisoned)})


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers, each with a nanny that restarts it."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as made:
        made.workers(2, "--preload", "tests.grading.poison")
        yield made


@pytest.fixture
def two(started: Cluster) -> Cluster:
    """The same, once both workers are connected: a killed one takes a while to restart."""
    with Client(started.address, timeout=GUARD) as client:
        client.wait_for_workers(2, timeout=GUARD)
    return started


def hand_in(folder: Path, codes: list[str]) -> Path:
    folder.mkdir()
    for number, code in enumerate(codes):
        (folder / f"student {number:02}.py").write_text(code.format(number))
    return folder


def grade(
    pack: Pack,
    folder: Path,
    out: Path,
    executor: Executor,
    on_result=lambda result, known: None,
    on_stall=lambda reason: None,
) -> list[Result]:
    """Grade, and return the journal's results by name."""
    with Submissions(folder, ["double"], pack.lessons) as submissions, Journal(out) as journal:
        order = BatchOptions(("double",), 7, resume=True)
        BatchRunner(pack, order, submissions, journal, executor, on_result, on_stall).run()
        found = [journal.result(*pair) for pair in sorted(journal)]
        lines = (out / "journal.jsonl").read_bytes().splitlines()
    # Internal errors are graded again.
    lines = [line for line in lines if b'"verdict":"internal"' not in line]
    assert len(lines) == len(found) == len(submissions.all)
    return [result for result in found if result is not None]


def marks(results: list[Result]) -> list[bytes]:
    return [results_line(result) for result in results]


@pytest.mark.proof
def test_results_equal_local_ones_even_if_a_worker_is_lost(
    two: Cluster, mini: Pack, forks: Forks, tmp_path: Path
):
    folder = hand_in(tmp_path / "in", [RIGHT, WRONG, BROKEN, RIGHT] * 4 + [""])
    with LocalExecutor(
        mini, 1, forks=forks, reference_cache=SHARED_CACHE / "references"
    ) as executor:
        here = grade(mini, folder, tmp_path / "here", executor)
    with ClusterExecutor(mini, two.address) as executor, Client(two.address) as client:
        assert not executor.missing_protections("double")
        results = 0

        def kill_one(result: Result, known: bool) -> None:
            nonlocal results
            results += 1
            if results == 4:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        there = grade(mini, folder, tmp_path / "there", executor, kill_one)
    assert marks(here) == marks(there)
    assert [one.verdict for one in there[:4]] == ["pass", "fail", "error", "pass"]


@pytest.mark.proof
def test_a_submission_that_kills_three_workers_needs_review(
    two: Cluster, mini: Pack, tmp_path: Path
):
    folder = hand_in(tmp_path / "in", [RIGHT, WRONG, POISON, RIGHT, RIGHT])
    before = len(two.poisoned.read_text().splitlines())
    with ClusterExecutor(mini, two.address) as executor:
        found = grade(mini, folder, tmp_path / "out", executor)
    outcomes = [(one.verdict, one.fault) for one in found]
    assert [one.verdict for one in found] == ["pass", "fail", "ungraded", "pass", "pass"], outcomes
    assert found[2].score is None
    assert "3 workers were lost while they ran it" in found[2].fault
    assert len(two.poisoned.read_text().splitlines()) - before == 3


def test_the_command_grades_on_a_cluster_and_leaves_nothing_there(
    two: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = hand_in(tmp_path / "in", [RIGHT, WRONG])
    command = ["grade", str(folder), "--pack", str(MINI), "--lesson", "double", "--json"]
    assert main([*command, "--scheduler", two.address, "--out", str(tmp_path / "out")]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"] == {"pass": 1, "fail": 1}
    with Client(two.address) as client:
        pids = client.run(os.getpid).values()
    until(lambda: not any(psutil.Process(pid).children() for pid in pids))


def test_workers_with_other_versions_are_refused(
    two: Cluster, mini: Pack, monkeypatch: pytest.MonkeyPatch
):
    ours = {**worker.versions(), "jax": "0.0.1"}
    monkeypatch.setattr(worker, "versions", lambda: ours)
    with pytest.raises(Unavailable) as error:
        ClusterExecutor(mini, two.address)
    assert re.search(
        r"tcp://127\.0\.0\.1:\d+ has jax 0(\.\d+)+ \(here: 0\.0\.1\)", str(error.value)
    )


@pytest.mark.proof
def test_a_later_worker_with_other_versions_leaves(two: Cluster, mini: Pack):
    with ClusterExecutor(mini, two.address) as executor:
        other = two.workers(1, "--no-nanny", "--preload", "tests.grading.other_version")
        _, stderr = other.communicate(timeout=GUARD)
        assert executor.submit(Job("double", RIGHT, (7,))).result(120)[0].passed
    assert b"it has jaxtutor 0.0.0 (here: " in stderr


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at 'tcp://127.0.0.1:1'"),
        ("nonsense", "no Dask scheduler answers at 'nonsense'"),
    ],
)
def test_a_missing_scheduler_is_reported(
    address: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = hand_in(tmp_path / "in", [RIGHT])
    out = tmp_path / "out"
    command = ["grade", str(folder), "--pack", str(MINI), "--lesson", "double", "--out", str(out)]
    assert main([*command, "--scheduler", address]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_a_scheduler_without_workers_is_reported(mini: Pack, tmp_path: Path):
    none = pytest.raises(Unavailable, match=r"has no workers\. Start some: dask worker")
    with Cluster(tmp_path) as alone, none:
        ClusterExecutor(mini, alone.address)


@pytest.mark.proof
def test_a_batch_waits_for_workers_and_survives_its_scheduler(
    mini: Pack, forks: Forks, tmp_path: Path
):
    folder = hand_in(tmp_path / "in", [RIGHT, WRONG, BROKEN, RIGHT] * 4)
    reasons, found = [], []
    with Cluster(tmp_path) as other:
        first = other.workers(1, "--no-nanny")
        with ClusterExecutor(mini, other.address) as executor:
            first.kill()

            def start_another(reason: str) -> None:
                if not reasons:
                    other.workers(1)
                reasons.append(reason)

            def kill_the_scheduler(result: Result, known: bool) -> None:
                found.append(result)
                if len(found) == 5:
                    other.scheduler.kill()

            with pytest.raises(Unavailable, match="once it is back, continue with --resume"):
                grade(mini, folder, tmp_path / "out", executor, kill_the_scheduler, start_another)
    assert "waiting for workers, because all are gone" in reasons[0]
    before = [one for one in found if one.verdict != "internal"]
    assert len(before) >= 5
    with LocalExecutor(
        mini, 1, forks=forks, reference_cache=SHARED_CACHE / "references"
    ) as executor:
        after = grade(mini, folder, tmp_path / "out", executor)
        here = grade(mini, folder, tmp_path / "here", executor)
    assert marks(after) == marks(here)
    assert {*marks(before)} <= {*marks(here)}


@pytest.mark.proof
def test_it_grades_over_tls(tmp_path: Path):
    """Configured by a file that every process reads, as in Dask's documentation."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
         "-out", certificate, "-subj", "/CN=localhost"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    side = {"key": str(key), "cert": str(certificate)}
    tls = {"ca-file": str(certificate), "scheduler": side, "worker": side, "client": side}
    config = {"distributed": {"comm": {"require-encryption": True, "tls": tls}}}
    (tmp_path / "dask.yaml").write_text(yaml.safe_dump(config))
    environ = {
        **os.environ,
        "DASK_CONFIG": str(tmp_path / "dask.yaml"),
        "JAXTUTOR_HOME": str(make_home(tmp_path)),
    }
    folder = hand_in(tmp_path / "in", [RIGHT, WRONG])
    with DaskCluster(tmp_path, environ, "tls://") as encrypted:
        encrypted.workers(1, "--no-nanny")
        done = subprocess.run(
            [sys.executable, "-m", "tutor", "grade", str(folder), "--pack", str(MINI), "--lesson",
             "double", "--json", "--scheduler", encrypted.address, "--out", str(tmp_path / "out")],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
    assert encrypted.address.startswith("tls://")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdicts"] == {"pass": 1, "fail": 1}


def test_without_dask_the_command_says_what_to_install(tmp_path: Path):
    folder = hand_in(tmp_path / "in", [RIGHT])
    program = (
        "import sys; sys.modules['distributed'] = None\n"
        "from tutor.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "grade", str(folder), "--lesson", "vmap-basics",
         "--scheduler", "tcp://127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=GUARD,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "jaxtutor: --scheduler needs Dask. Run: pip install 'jaxtutor[cluster]'\n"
