"""Problems in rule files are reported with file, line and column."""

from pathlib import Path

import pytest

from tests.explain.rule_files import read_rules
from tutor.pack import BadPack

RULES = """\
about: Tests.
rules:
  - id: one
    when:
      exception: TypeError
      message: got {n:int} of them
    what: There are {n}.
    why: Because.
    instead: |
      x = 1
    lesson: grad-basics
    example: |
      raise TypeError
"""


def read(folder: Path, text: str) -> str:
    (folder / "rules.yaml").write_text(text)
    try:
        read_rules(folder)
    except BadPack as error:
        return str(error)
    return ""


def test_a_valid_file_has_no_problems(tmp_path: Path):
    assert not read(tmp_path, RULES)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{n:int} of", "{n:int}{m} of", ":6:27: message: adjacent fields need text"),
        ("{n:int}", "{n:integer}", ":6:20: message: unknown kind 'integer'"),
        ("are {n}", "are {m}", ":7:21: what: unknown field 'm'"),
        ("Because", "Because {nn}", ":8:18: why: unknown field 'nn'"),
        ("x = 1", "x = = 1", ":10:11: instead: invalid Python"),
        ("raise TypeError", "raise (", ":13:13: example: invalid Python"),
        ("exception: TypeError", "exception: builtins.TypeError", ":5:18: exception: 'builtins"),
        ("exception:", "excepton:", ":5:7: unknown key 'excepton'; did you mean 'exception'?"),
        ("exception: TypeError", "cause: sgin", ":5:14: cause: unknown value 'sgin'; did you mean"),
        ("exception: TypeError", "check: vlaue", ":5:14: check: unknown value 'vlaue'; did"),
        ("exception: TypeError", "fault: timeot", ":5:14: fault: unknown value 'timeot'; did"),
        ("    lesson: grad-basics\n", "", ":3:5: 'lesson' is missing"),
        ("lesson: grad-basics", "lesson: Grad basics", ":11:13: lesson: must be lower-case words"),
        ("      exception: TypeError\n      message: got {n:int} of them\n", "      line: a\n",
         ":5:7: when: must contain an exception, a message"),
    ],
)  # fmt: skip
def test_a_problem_is_reported_with_its_position(tmp_path: Path, old: str, new: str, message: str):
    assert old in RULES
    found = read(tmp_path, RULES.replace(old, new))
    assert message in found, found
    assert found.startswith(f"{tmp_path.name}/rules.yaml:")


def test_a_duplicate_id_is_reported(tmp_path: Path):
    again = RULES + RULES[RULES.index("  - id") :]
    assert ":14:5: duplicate rule 'one'" in read(tmp_path, again)
