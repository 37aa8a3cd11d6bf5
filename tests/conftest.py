"""What all tests share: homes of their own, and one memory of what PyTorch answered."""

import gc
import os
import tempfile
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

import pluggy
import pytest

from tutor.engine import session
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.storage import cache as cache_module

# Answers of the reference are keyed by content, so all tests and all test processes may share
# them; without this every test would import PyTorch.
SIGNS_OF_NO_TORCH = ("No module named 'torch'", "no-torch", "without PyTorch, lessons are")

SHARED_CACHE = Path(tempfile.gettempdir()) / f"jaxtutor-tests-{os.getuid()}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proofs", action="store_true", help="run slow tests, too: `make proofs`")
    parser.addoption("--commit", help="try what of the course a run on this commit tried")
    parser.addoption(
        "--without-torch", action="store_true", help="skip tests that need PyTorch: `make newest`"
    )
    parser.addoption(
        "--without", action="append", default=[], help="a layer of protection to attack without"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "proof: takes long, and belongs to `make proofs`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("proofs"):
        return
    slow = [item for item in items if item.get_closest_marker("proof")]
    items[:] = [item for item in items if item not in slow]
    config.hook.pytest_deselected(items=slow)


def pytest_collection_finish() -> None:
    """Keep what collecting made out of garbage collection: a million objects that live as long as
    the process, which Textual's own collections would visit at each start of an app."""
    gc.collect()
    gc.freeze()


needed: WeakKeyDictionary[pytest.Item, bool] = WeakKeyDictionary()
"""The tests that have failed for want of PyTorch."""


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pluggy.Result]:
    """With `--without-torch`, count a test as skipped if it failed for want of PyTorch."""
    outcome = yield
    report = outcome.get_result()
    if not (item.config.getoption("--without-torch") and report.failed):
        return
    # What such a test left behind may fail its teardown, too.
    if needed.get(item) or any(sign in report.longreprtext for sign in SIGNS_OF_NO_TORCH):
        needed[item] = True
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "needs PyTorch")


def make_home(folder: Path) -> Path:
    """A `JAXTUTOR_HOME` with nothing in it but the shared cache."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    SHARED_CACHE.mkdir(exist_ok=True)
    if not (home / "cache").exists():
        (home / "cache").symlink_to(SHARED_CACHE)
    return home


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a home of its own, so none sees the developer's files or another test's."""
    made = make_home(tmp_path)
    monkeypatch.setenv("JAXTUTOR_HOME", str(made))
    monkeypatch.setattr(cache_module, "notices", [])
    monkeypatch.setattr(cache_module, "_noticed", False)
    of_terminals = ("TERM_PROGRAM", "TMUX", "ZELLIJ")
    for name in ("NO_COLOR", "FORCE_COLOR", "EDITOR", "VISUAL", *of_terminals):
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Sandboxes that need neither import JAX nor, if told so, compile what a solution does."""
    SHARED_CACHE.mkdir(exist_ok=True)
    with Forks(SHARED_CACHE) as sandboxes:
        yield sandboxes


@cache
def course() -> Pack:
    """The course, read once for all test modules."""
    return load_pack()


@pytest.fixture
def forked(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have code checked in sandboxes that were forked, as in the app and in grading. They are
    protected like those that are started afresh: `tests/sandbox/test_zygote.py`."""
    monkeypatch.setattr(session, "FreshSandboxes", lambda: forks)


@pytest.fixture(scope="session")
def pack() -> Pack:
    return course()


MINI = Path(__file__).parent / "packs" / "mini" / "lessons"


@pytest.fixture(scope="session")
def mini() -> Pack:
    """A pack of two lessons with small limits."""
    return load_pack(MINI)
