"""`predict`: right answers in several styles pass, wrong ones are told what the program gives, and
no submission can change what it gives."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.cases import for_each
from tutor.checks.answers import Answered, Unanswered
from tutor.checks.predict import Gives, Predict, answers_file
from tutor.engine.session import Session
from tutor.grading.points import mark_reports
from tutor.lesson import Lesson
from tutor.pack import BadPack, load_pack
from tutor.pool.forks import Forks
from tutor.render import verdict
from tutor.report import CheckResult, Report

JNP = "import jax\nimport jax.numpy as jnp\n"
BECAUSE = "Because it is so."


def asks(
    name: str, gives: Gives, program: str, of: str = "", choices: dict[str, str] | None = None
) -> Predict:
    return Predict(
        predict=f"What about {name}?",
        name=name,
        program=JNP + dedent(program),
        gives=gives,
        of=of,
        choices=choices or {},
        because=BECAUSE,
    )


CHOICES = {"`x` is 9": "x[0] == 9", "`x` is 0": "x[0] == 0", "it is neither": "x[0] not in (0, 9)"}
WRITES = "x = jnp.zeros(2)\ny = x.at[0].set(9)"
TWICE = "@jax.jit\ndef f(x):\n    print('tracing', x.shape)\n    return x + 1\n"
QUESTIONS = [
    asks("joined", "shape", "y = jnp.ones((3, 1)) + jnp.ones(4)", "y"),
    asks("line", "shape", "y = jnp.zeros((2, 5))", "y[0]"),
    asks("scalar", "shape", "y = jnp.zeros(3)", "y.sum()"),
    asks("whole", "value", "y = jnp.arange(4)", "y.sum()"),
    asks("third", "value", "y = jnp.ones(2) / 3", "y"),
    asks("yes", "value", "y = jnp.ones(2)", "bool((y > 0).all())"),
    asks("kind", "value", "y = jnp.arange(3) / 2", "str(y.dtype)"),
    asks("hole", "value", "y = jnp.log(-jnp.ones(()))", "y"),
    asks("tree", "value", "y = {'a': (1, jnp.ones(2))}", "y"),
    asks("wide", "value", "jax.config.update('jax_enable_x64', True)", "str(jnp.ones(1).dtype)"),
    asks("narrow", "value", "", "str(jnp.ones(1).dtype)"),
    asks("refused", "error", "x = jnp.zeros(3)\nx[0] = 1"),
    asks("traced", "error", "f = jax.jit(lambda x: 1 if x > 0 else 2)", "f(1.0)"),
    asks("fine", "error", "x = jnp.zeros(3)", "x + 1"),
    asks("compiled", "compiles", TWICE + "xs = [jnp.ones(n) for n in (3, 3, 4)]", "[*map(f, xs)]"),
    asks("printed", "prints", TWICE + "f(jnp.ones(3))\nf(jnp.zeros(3))"),
    asks("late", "prints", "jax.jit(lambda x: jax.debug.print('{}', x))(jnp.ones(()))"),
    asks("nothing", "prints", "x = 1"),
    asks("which", "choice", WRITES, choices=CHOICES),
]
LESSON = Lesson(
    id="guess",
    title="Guess",
    track="t",
    minutes=1,
    brief="Say what each program gives.",
    hints=("Think.",),
    starter=answers_file(QUESTIONS),
    checks=tuple(QUESTIONS),
)

RIGHT = {
    "joined": ["(3, 4)", "[3, 4]", "3, 4"],
    "line": ["(5,)", "(5)", "[5]"],
    "scalar": ["()", "[]"],
    "whole": ["6", "6.0", "2 * 3"],
    "third": ["[0.33, 0.33]", "(1 / 3, 1 / 3)", "[0.3333, 0.333]"],
    "yes": ["True", "1"],
    "kind": ["'float32'", '" float32 "', "float32"],
    "hole": ["float('nan')", "'nan'", "jnp.nan", "nan"],
    "tree": ["{'a': (1, [1, 1])}", "{'a': [1, (1.0, 1.0)]}"],
    "wide": ["'float64'"],
    "narrow": ["'float32'"],
    "refused": ["TypeError", "'TypeError'"],
    "traced": ["jax.errors.TracerBoolConversionError", "'ConcretizationTypeError'", "'TypeError'"],
    "fine": ["None", "'none'"],
    "compiled": ["2", "2.0"],
    "printed": ["'tracing (3,)'", "'tracing (3,)\\n'", "'''\ntracing (3,)\n'''"],
    "late": ["'1.0'"],
    "nothing": ["''", "' '"],
    "which": ["'b'", "b", "'B'", "'b)'", '"(b)"'],
}
WRONG = {
    "joined": ["(4, 3)", "(3, 1)", "12", "'(3, 4)'", "None", "3 * 4"],
    "line": ["()", "(2,)", "(2, 5)"],
    "scalar": ["(1,)", "1", "None"],
    "whole": ["10", "6.01", "'6'", "[6]"],
    "third": ["[0.3, 0.3]", "0.33", "[1, 1]", "[[0.33, 0.33]]"],
    "yes": ["False", "'True'"],
    "kind": ["'int32'", "0"],
    "hole": ["0", "'inf'", "None"],
    "tree": ["{'a': (1, [1, 2])}", "{'b': (1, [1, 1])}", "(1, [1, 1])"],
    "wide": ["'float32'"],
    "narrow": ["'float64'"],
    "refused": ["None", "ValueError", "'Exception'", "Exception"],
    "traced": ["'ValueError'", "None"],
    "fine": ["'TypeError'"],
    "compiled": ["3", "1", "'2'"],
    "printed": ["''", "'tracing (3,) tracing (3,)'"],
    "late": ["''", "'Traced<float32[]>'"],
    "nothing": ["'1'", "None"],
    "which": ["'a'", "'d'", "2", "None", "''"],
}


def checked(lesson: Lesson, code: str, forks: Forks, seed: int = 0) -> Report:
    with Session(lesson, code, sandboxes=forks) as session:
        return session.check(seed)


def answers(table: dict[str, list[str]], number: int) -> str:
    return "\n".join(f"{name} = {those[number % len(those)]}" for name, those in table.items())


def test_there_are_answers_to_every_question() -> None:
    names = {question.name for question in QUESTIONS}
    assert set(RIGHT) == set(WRONG) == names


@pytest.mark.parametrize("number", range(5))
def test_right_answers_pass_however_they_are_written(number: int, forks: Forks) -> None:
    report = checked(LESSON, answers(RIGHT, number), forks)
    assert report.passed, [(c.name, c.message) for c in report.checks if c.status != "pass"]
    assert all(check.afterword == BECAUSE for check in report.checks)


@pytest.mark.parametrize("number", range(6))
def test_wrong_answers_are_told_what_the_program_gives(number: int, forks: Forks) -> None:
    report = checked(LESSON, answers(WRONG, number), forks)
    for check in report.checks:
        assert check.status == "fail", check
        told = "; it is " in check.message or "is code" in check.message
        assert told, check


def test_nothing_is_explained_before_an_answer(forks: Forks) -> None:
    report = checked(LESSON, LESSON.starter, forks)
    assert {(c.status, c.message, c.afterword) for c in report.checks} == {
        ("fail", "not answered yet", "")
    }


def failed(code: str, forks: Forks, name: str = "joined") -> CheckResult:
    report = checked(LESSON, code, forks)
    return next(check for check in report.checks if check.name == name)


def test_an_answer_must_not_be_computed(forks: Forks) -> None:
    result = failed("import jax.numpy as jnp\njoined = (jnp.ones((3, 1)) + 1).shape", forks)
    assert result.message.startswith("line 2: `(jnp.ones((3, 1)) + 1).shape` is code")
    result = failed("\n\njoined = tuple(range(3))", forks)
    assert result.message.startswith("line 3: `tuple(range(3))` is code")


def test_a_syntax_error_is_told_like_in_every_lesson(forks: Forks) -> None:
    report = checked(LESSON, "joined = (3, 4", forks)
    assert report.fault is not None
    assert report.fault.code == "syntax-error"
    assert report.fault.line == 1


HOSTILE = """
import jax.numpy as jnp, numpy, builtins
class Any(tuple):
    __eq__ = lambda *_: True
jnp.ones = lambda *a: numpy.zeros((4, 3))
numpy.shape = jnp.shape = lambda x: (4, 3)
builtins.print = lambda *_: None
joined = (4, 3)
"""


def test_no_submission_changes_what_a_program_gives(forks: Forks) -> None:
    value = asks("joined", "shape", "y = jnp.ones((3, 1)) + jnp.ones(4)", "y")
    # A second question, with code to write, makes the submission run.
    mixed = Lesson(
        id="mixed", title="Mixed", track="t", minutes=1, brief="…", hints=("…",),
        torch="def f(x): return x", starter="def f(x): ...",
        checks=(value, *_identity()),
    )  # fmt: skip
    with Session(mixed, HOSTILE + "\ndef f(x): return x", sandboxes=forks) as session:
        reports = [session.check(seed) for seed in (0, 1)]
    for report in reports:
        assert report.checks[0].message == "you answered (4, 3); it is (3, 4)"
        assert report.checks[1].status == "pass"


def _identity() -> tuple:  # type: ignore[type-arg]
    from tutor.checks.value import Value
    from tutor.inputs.draws import parse

    return (Value(value="f(x)", inputs={"x": parse("normal(3)")}),)


@for_each(
    ("code", "said"),
    [
        ("def f(x): return x", "answer the question, too: joined"),
        ("joined = ...\ndef f(x): return x", "answer the question, too: joined"),
        ("joined = len([1])\ndef f(x): return x", "answer the question, too: joined"),
        ("joined = (4, 3)\ndef f(x): return x", "joined: you answered (4, 3); it is (3, 4)"),
        ("def f(x): return x + 1", "value: f(x): "),
    ],
)
def test_a_question_left_open_does_not_count_against_the_code(
    forks: Forks, code: str, said: str
) -> None:
    question = asks("joined", "shape", "y = jnp.ones((3, 1)) + jnp.ones(4)", "y")
    lesson = Lesson(
        id="mixed", title="Mixed", track="t", minutes=1, brief="…", hints=("…",),
        torch="def f(x): return x", starter="def f(x): ...",
        checks=(question, *_identity()),
    )  # fmt: skip
    report = checked(lesson, code, forks)
    open_question = said.startswith("answer")
    assert (report.checks[1].status == "pass") == ("return x + 1" not in code)
    assert (": answer the question, too: joined; 1 of 2 " in verdict(report).plain) == open_question
    marks = mark_reports(lesson, [report])
    assert (marks.verdict, marks.score) == ("fail", float("return x + 1" not in code))
    assert marks.fault.startswith(said)
    assert report.first_failure is not None
    assert report.first_failure.names[0] == ("joined" if marks.score else "value: f(x)")


def test_what_keeps_a_program_from_running_is_the_packs_fault(forks: Forks) -> None:
    broken = {
        "raises": asks("q", "value", "y = 1 / 0", "y"),
        "two are true": asks("q", "choice", "x = 1", choices={"one": "x == 1", "two": "x > 0"}),
        "none is true": asks("q", "choice", "x = 1", choices={"one": "x == 2", "two": "x < 0"}),
    }
    words = {"raises": "ZeroDivisionError", "two are true": "a and b is", "none is true": "none is"}
    for name, question in broken.items():
        lesson = Lesson(
            id="b", title="B", track="t", minutes=1, brief="…", hints=("…",), checks=(question,)
        )
        report = checked(lesson, "q = 1", forks)
        assert report.verdict == "internal"
        assert report.checks[0].fault is not None
        assert report.checks[0].fault.code == "broken-pack"
        assert words[name] in report.checks[0].message


def test_graders_are_told_what_guessing_earns(forks: Forks) -> None:
    report = checked(LESSON, answers(RIGHT, 0), forks)
    (note,) = mark_reports(LESSON, [report]).notes
    assert "1 question with choices" in note
    assert "0.333 of 19 points" in note


# --- reading -------------------------------------------------------------------------------------


def test_the_last_assignment_counts() -> None:
    source = "a = 1\na: int = 2\nif True:\n    a = 3\nb = c = (1, 'x')\n"
    assert Answered(source).answer("a") == 2
    assert Answered(source).answer("b") == Answered(source).answer("c") == (1, "x")
    with pytest.raises(Unanswered, match="write `d = …`"):
        Answered(source).answer("d")


@for_each(
    "code",
    ["__import__('os')", "[1 for _ in range(9)]", "f'{1}'", "1 if x else 2", "9**9**9", "(1,) * 3"],
)
def test_code_is_no_answer(code: str) -> None:
    with pytest.raises(Unanswered, match="line 1"):
        Answered(f"a = {code}").answer("a")


@for_each(
    ("code", "value"),
    [
        ("jnp.array([[1, 2], [3, 4]], dtype=jnp.int32)", [[1, 2], [3, 4]]),
        ("np.int32(3)", 3),
        ("jnp.float32(0.5)", 0.5),
        ("tuple([3, 4])", (3, 4)),
        ("int(True)", 1),
        ("TypeError.__name__", "TypeError"),
        ("jnp.asarray((1, -2))", (1, -2)),
    ],
)
def test_what_people_write_around_an_answer_is_read(code: str, value: object) -> None:
    assert Answered(f"a = {code}").answer("a") == value


@for_each("code", ["tuple(3)", "int('3')", "int(0.5)", "jnp.array(1, 2)", "list()"])
def test_other_calls_are_no_answer(code: str) -> None:
    with pytest.raises(Unanswered, match="is code"):
        Answered(f"a = {code}").answer("a")


def test_large_answers_are_refused() -> None:
    with pytest.raises(Unanswered, match="too many"):
        Answered(f"a = [{'1,' * 20_000}]").answer("a")
    with pytest.raises((SyntaxError, Unanswered)):
        Answered(f"a = {'(' * 5000}{')' * 5000}").answer("a")


# --- in a pack -----------------------------------------------------------------------------------

PACK = "format: 1\nid: p\ntitle: P\ntracks: [{id: t, title: T, lessons: [q]}]\n"
HEAD = "id: q\ntitle: Q\ntrack: t\nminutes: 2\nbrief: …\nhints: [a]\n"
ASKED = """\
  - predict: What is `y`?
    name: y
    program: y = 1
    gives: value
    of: y
    because: It is.
"""


def read(tmp_path: Path, lesson: str) -> Lesson:
    (tmp_path / "t").mkdir(exist_ok=True)
    (tmp_path / "pack.yaml").write_text(PACK)
    (tmp_path / "t/q.yaml").write_text(lesson)
    return load_pack(tmp_path).lesson("q")


def test_the_starter_asks(tmp_path: Path) -> None:
    lesson = read(tmp_path, f"{HEAD}checks:\n{ASKED}")
    assert lesson.starter == "# What is `y`?\n#\n#     y = 1\n#\n# The value:\ny = ...\n"
    mixed = f"{HEAD}torch: 'def f(x): return x'\nstarter: 'def f(x): ...'\nchecks:\n{ASKED}"
    assert read(tmp_path, f"{mixed}  - value: f(2.0)\n").starter.endswith(
        "y = ...\n\n\ndef f(x): ..."
    )


@for_each(
    ("old", "new", "line", "words"),
    [
        ("name: y", "name: y shape", 9, "must be a Python name"),
        ("    of: y\n", "", 8, "needs an expression"),
        ("of: y", "of: z", 12, "the program does not define 'z'"),
        ("gives: value", "gives: choice", 8, "choices: must be two or more"),
        ("gives: value", "gives: vlaue", 11, "must be one of choice, compiles, error"),
        ("program: y = 1", "program: y = (", 10, "invalid Python"),
        ("    because: It is.\n", "", 8, "'because' is missing"),
    ],
)
def test_problems_are_told_with_their_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in ASKED
    with pytest.raises(BadPack) as error:
        read(tmp_path, f"{HEAD}checks:\n{ASKED.replace(old, new)}")
    problem = error.value.problems[0]
    assert problem.line == line, problem
    assert words in problem.message, problem


def test_a_lesson_with_code_needs_its_pytorch(tmp_path: Path) -> None:
    with pytest.raises(BadPack) as error:
        read(tmp_path, f"{HEAD}checks:\n{ASKED}  - value: f(2.0)\n")
    messages = " ".join(problem.message for problem in error.value.problems)
    assert "'torch' is missing" in messages
    assert "'starter' is missing" in messages


@for_each(
    ("code", "expected"),
    [
        ("one = 1\ntwo = 2.5\na = [one, two]", [1, 2.5]),
        ("a = (4, 2) + (4, 3)", (4, 2, 4, 3)),
        ("old = 2.0\na = round(old * 0.1 + 3 * 0.9, 3)", 2.9),
        ("a = jnp.asarray([1, 2], dtype=jnp.float32).tolist()", [1, 2]),
        ("loss = -3\na = -loss", 3),
        ("b = c\nc = b\na = b", "b"),
        ("a = b", "b"),
        ("x = helper(3)\na = (x, 1)", ("x", 1)),
        ("float32 = 3\na = jnp.float32", "jnp.float32"),
        ("a = jax.errors.TracerBoolConversionError.__name__", "TracerBoolConversionError"),
    ],
)
def test_names_in_an_answer_stand_for_what_the_file_assigns(code: str, expected: object):
    assert Answered(code).answer("a") == expected


def test_names_cannot_make_an_answer_too_large():
    code = "\n".join(f"a{n} = (a{n + 1}, a{n + 1}, a{n + 1})" for n in range(40)) + "\na40 = 1\n"
    with pytest.raises(Unanswered, match="line 1"):
        Answered(code).answer("a0")
