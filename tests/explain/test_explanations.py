"""Explanations reach the learner: in reports, in `check`, in the app's results, in `explain`."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from tests.conftest import MINI
from tests.stopwatch import GUARD
from tutor import render
from tutor.engine.session import Session
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import Explanation, Report

TRANSPOSED = "def tall(x):\n    return x.reshape(4, 3)\n"
TORCH = "import jax.numpy as jnp\n\n\ndef double(x):\n    return x.unsqueeze(0)\n"
SAID = "Gradient only defined for scalar-output functions. Output had shape: (3,). "
AT_IMPORT = "import jax.numpy as jnp\n\njnp.ones(3).unsqueeze(0)\n"


def rendered(report: Report, lessons: tuple[str, ...] = ()) -> str:
    out = Console(file=io.StringIO(), width=200)
    for result in report.checks:
        out.print(render.check(result, lessons))
    out.print(render.rest(report, lessons))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def checked(pack: Pack, lesson: str, code: str, forks: Forks) -> Report:
    with Session(pack.lesson(lesson), code, sandboxes=forks) as session:
        return session.check()


def test_an_exception_in_a_check_is_explained(mini: Pack, forks: Forks):
    report = checked(mini, "double", TORCH, forks)
    fault = report.checks[0].fault
    assert fault is not None and fault.explanation is not None
    assert (fault.exception, fault.explanation.id) == ("AttributeError", "unsqueeze")
    assert report.checks[0].explained == fault.explanation
    assert "return x.unsqueeze(0)" in fault.explanation.what
    assert not fault.explanation.likely
    assert f"→ {fault.explanation.what}" in rendered(report)


def test_an_exception_at_import_is_explained(mini: Pack, forks: Forks):
    report = checked(mini, "double", AT_IMPORT, forks)
    assert report.fault is not None and report.fault.explanation is not None
    assert "→ `jnp.ones(3).unsqueeze(0)`" in rendered(report)


def test_a_wrong_answer_is_explained_as_likely(mini: Pack, forks: Forks):
    report = checked(mini, "tall", TRANSPOSED, forks)
    explanation = report.checks[0].explanation
    assert explanation is not None
    assert explanation.likely
    assert "→ Probably: " in rendered(report)


def test_explanations_survive_json_and_old_reports_are_read(mini: Pack, forks: Forks):
    report = checked(mini, "double", TORCH, forks)
    assert Report.from_json(report.to_json()) == report
    data = json.loads(report.to_json())
    for check in data["checks"]:
        del check["explanation"], check["fault"]["explanation"], check["fault"]["exception"]
    old = Report.from_json(json.dumps(data))
    assert old.checks[0].explained is None


def test_an_unchanged_starter_is_not_explained(mini: Pack, forks: Forks):
    report = checked(mini, "double", mini.lesson("double").starter, forks)
    assert all(result.explained is None for result in report.checks)


def test_a_lesson_is_named_if_the_pack_has_it():
    explanation = Explanation("a", "what", "why", "x = 1", "vmap-basics")
    for lessons, shown in ((("vmap-basics",), True), (("other",), False), ((), False)):
        out = Console(file=io.StringIO(), width=80)
        out.print(render.explanation(explanation, lessons))
        assert isinstance(out.file, io.StringIO)
        assert ("lesson vmap-basics" in out.file.getvalue()) == shown


def test_messages_of_untrusted_code_cannot_contain_escapes_or_markup(mini: Pack, forks: Forks):
    raising = f"(_ for _ in ()).throw(TypeError('{SAID}' + '\\x1b[31m[red]'))"
    code = f"def double(x):\n    return next({raising})\n"
    report = checked(mini, "double", code, forks)
    assert report.checks[0].explained is not None
    assert "\x1b" not in report.to_json().decode()


def test_what_the_learner_raises_is_not_explained(mini: Pack, forks: Forks):
    report = checked(mini, "double", f"def double(x):\n    raise TypeError('{SAID}')\n", forks)
    assert report.checks[0].explained is None


def test_explanations_do_not_reveal_hidden_values(mini: Pack, forks: Forks):
    report = checked(mini, "tall", TRANSPOSED, forks)
    explanation = report.checks[0].explanation
    assert explanation is not None
    assert not any(c.isdigit() for c in explanation.what + explanation.why)


WINDOW = "import jax\n\n\ndef double(x):\n    return jax.lax.reduce_window(x, 2)\n"
HOSTILE = """import jax

class Forged:
    __module__ = "jax.numpy"
    __doc__ = "\\x1b[31m[red]" + "a" * 1_000_000
    __call__ = staticmethod(int)

forged = Forged()

def double(x):
    return forged("no")
"""


def test_a_function_whose_call_fails_is_shown_in_its_own_words(mini: Pack, forks: Forks):
    report = checked(mini, "double", WINDOW, forks)
    fault = report.checks[0].fault
    assert fault is not None and fault.explanation is None and fault.called is not None
    assert fault.called.name == "jax.lax.reduce_window"
    shown = rendered(report)
    assert "jax.lax.reduce_window(operand, init_value" in shown
    assert "Reduction over padded windows" in shown


def test_what_a_function_says_is_left_out_where_an_explanation_is_sure(mini: Pack, forks: Forks):
    code = "import jax\n\n\ndef double(x):\n    return jax.vmap(abs, in_axes=(0, 0))(x)\n"
    report = checked(mini, "double", code, forks)
    fault = report.checks[0].fault
    assert fault is not None and fault.explanation is not None and not fault.explanation.likely
    assert fault.called is not None and fault.called.name == "jax.vmap"
    assert fault.called.about not in rendered(report)


def test_what_a_forged_function_says_is_cut_and_made_harmless(mini: Pack, forks: Forks):
    report = checked(mini, "double", HOSTILE, forks)
    fault = report.checks[0].fault
    assert fault is not None and fault.called is not None
    assert fault.called.name == "forged" and fault.called.about.endswith("a…")
    assert len(repr(fault.called)) < 2_000
    assert "\x1b" not in report.to_json().decode() and "\x1b" not in rendered(report)
    assert "[red]" in rendered(report)  # as text, not as markup


# --- jaxtutor explain ------------------------------------------------------------------------


def jaxtutor(*arguments: str, text: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "tutor", "explain", *arguments]
    return subprocess.run(
        command, input=text, capture_output=True, env=os.environ, timeout=GUARD, check=False
    )


KNOWN = b"TypeError: Gradient only defined for scalar-output functions. Output had shape: (3,)."
UNKNOWN = b"KeyError: 'learning_rate'"


def test_a_traceback_from_jax_is_explained():
    code = "import jax\n\n\ndef f(x):\n    return x if x > 0 else -x\n\n\njax.jit(f)(1.0)\n"
    raised = subprocess.run(
        [sys.executable, "-"], input=code.encode(), capture_output=True, timeout=GUARD, check=False
    )
    done = jaxtutor("-", text=raised.stderr)
    assert done.returncode == 0, raised.stderr
    assert b"needs True or False" in done.stdout
    assert not done.stderr


def test_a_file_is_explained_and_the_lesson_named_if_the_pack_has_it(tmp_path: Path):
    (tmp_path / "trace.txt").write_bytes(KNOWN)
    done = jaxtutor(str(tmp_path / "trace.txt"))
    assert done.returncode == 0
    assert b"Taught in the lesson grad-basics" in done.stdout
    done = jaxtutor(str(tmp_path / "trace.txt"), "--pack", str(MINI))
    assert done.returncode == 0
    assert b"grad-basics" not in done.stdout


def test_json_is_one_explanation_or_null():
    done = jaxtutor("-", "--json", text=KNOWN)
    assert json.loads(done.stdout)["id"] == "grad-of-a-vector"
    done = jaxtutor("-", "--json", text=UNKNOWN)
    assert (done.returncode, json.loads(done.stdout)) == (1, None)


def test_an_unknown_error_exits_with_1():
    done = jaxtutor("-", text=UNKNOWN)
    assert done.returncode == 1
    assert b"No explanation known" in done.stdout


@pytest.mark.parametrize("text", [b"", b"hello\n", b"\xff\xfe\x00", b"loss: 0.3\n"])
def test_text_without_a_traceback_is_a_usage_error(text: bytes):
    done = jaxtutor("-", text=text)
    assert done.returncode == 2
    assert b"no traceback found" in done.stderr and b"jaxtutor explain -" in done.stderr


@pytest.mark.parametrize("file", ["missing.txt", "."])
def test_an_unreadable_file_is_a_usage_error(file: str, tmp_path: Path):
    done = jaxtutor(str(tmp_path / file))
    assert done.returncode == 2
    assert b"expected a text file" in done.stderr
    assert b"Traceback" not in done.stderr
