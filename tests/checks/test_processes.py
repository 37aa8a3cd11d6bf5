"""`pure` with `across_processes`: what depends on Python's hashes of text is found."""

from tests.cases import for_each
from tutor.checks.pure import Pure
from tutor.engine.plan import configurations
from tutor.engine.session import Session
from tutor.inputs.draws import parse
from tutor.lesson import Lesson, Limits
from tutor.pool.forks import Forks
from tutor.report import CheckResult, Report

HEAD = "import zlib\nimport jax\n\nNAMES = ['kernel', 'bias', 'scale', 'shift', 'gain']\n\n"
PURE = Pure(pure="f(key)", across_processes=True)
KEYS = """
def f(key):
    print("called")
    return {{name: jax.random.normal(jax.random.fold_in(key, {0}), (3,)) for name in NAMES}}
"""
RIGHT = {
    "a checksum": KEYS.format("zlib.crc32(name.encode())"),
    "the position": KEYS.format("NAMES.index(name)"),
    "a sorted set": KEYS.format("sorted(set(NAMES)).index(name)"),
    "the hash of integers": KEYS.format("hash((len(name), ord(name[0]))) % 2**31"),
}
WRONG = {
    "the hash of text": KEYS.format("hash(name) % 2**31"),
    "the hash of a path": KEYS.format("abs(hash(('net', name))) % 2**31"),
    "the order of a set": KEYS.format("[*set(NAMES)].index(name)"),
    "the address of an object": KEYS.format("id(name) % 2**31"),
    "the number of the process": "import os\nPID = os.getpid()\ndef f(key):\n    return PID\n",
}


def checked(check: Pure, code: str, forks: Forks) -> tuple[Report, CheckResult]:
    lesson = Lesson(
        id="processes", title="Processes", track="checks", minutes=1, brief="-", starter=HEAD,
        torch="import torch", hints=("-",), checks=(check,), inputs={"key": parse("key()")},
        limits=Limits(seconds=60),
    )  # fmt: skip
    assert len(configurations(lesson)) == 1 + check.across_processes
    with Session(lesson, HEAD + code, sandboxes=forks) as session:
        report = session.check()
    return report, report.checks[0]


@for_each("style", RIGHT)
def test_what_is_the_same_in_every_process_passes(style: str, forks: Forks):
    report, result = checked(PURE, RIGHT[style], forks)
    assert result.status == "pass", result.text
    other, _ = checked(Pure(pure="f(key)"), RIGHT[style], forks)
    assert report.stdout == other.stdout  # what the other process printed is not shown again


@for_each("mistake", WRONG)
def test_what_differs_between_processes_is_found(mistake: str, forks: Forks):
    _, result = checked(PURE, WRONG[mistake], forks)
    assert result.status == "fail"
    assert "another Python process gives a different result" in result.text
    _, alone = checked(Pure(pure="f(key)"), WRONG[mistake], forks)
    assert alone.status == "pass", "one process cannot tell"
