"""`jaxtutor history`: list attempts, print one, have it back."""

from pathlib import Path

from tests.command import jaxtutor

WRONG = "def double(x):\n    return 3 * x\n"


def said(*arguments: str) -> str:
    done = jaxtutor("history", "double", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_attempts_are_listed_printed_and_restored(home: Path):
    assert "no attempts at double yet" in said()
    jaxtutor("check", "double")  # makes the file, and checks the starter
    own = home / "workspace" / "mini" / "double.py"
    own.write_text(WRONG)
    jaxtutor("check", "double")
    listed = said().splitlines()
    assert [line.split()[:2] for line in listed[:2]] == [["1", "!"], ["2", "✗"]]
    assert listed[1].endswith("0 of 2 checks pass")
    assert "jaxtutor history double --show 2" in listed[2]
    assert said("--show", "2") == WRONG
    own.write_text("# unfinished\n")
    assert f"Restored into {own}" in said("--restore", "2")
    assert own.read_text() == WRONG
    assert said("--show", "3") == "# unfinished\n"
    done = jaxtutor("history", "double", "--show", "9")
    assert done.returncode == 2 and b"expected 1 to 3" in done.stderr
