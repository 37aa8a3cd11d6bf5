"""Code that looks at the interpreter is reported with its line, however it spells that; what
libraries look at on behalf of ordinary code is not."""

from tests.cases import for_each
from tests.unit.test_looks import ORDINARY
from tutor.engine.looks import looks
from tutor.engine.session import run
from tutor.lesson import Lesson
from tutor.report import LookKind

HEAD = """\
import builtins, ctypes, dataclasses, enum, functools, gc, inspect, logging, operator, sys
import threading, traceback, typing, warnings
from collections import namedtuple
import jax
import jax.numpy as jnp
from flax import linen, nnx

def double(x):
    return 2 * x

def caught():
    try:
        1 / 0
    except ZeroDivisionError as error:
        return error.__traceback__

"""

NOTICED: list[tuple[str, LookKind]] = [
    ('getattr(sys, "emarfteg_"[::-1])()', "stack"),
    ('getattr(sys, "semarf_tnerruc_"[::-1])()', "stack"),
    ('list(map(getattr(sys, "emarfteg_"[::-1]), [0]))', "stack"),
    ('jax.tree.map(getattr(sys, "emarfteg_"[::-1]), [0])', "stack"),
    ('functools.partial(getattr(sys, "emarfteg_"[::-1]), 1)()', "stack"),
    ('getattr(traceback, "kcats_tcartxe"[::-1])()', "stack"),
    ('getattr(traceback, "kcats_tamrof"[::-1])()', "stack"),
    ('next(getattr(traceback, "kcats_klaw"[::-1])(None))', "stack"),
    ('next(getattr(traceback, "bt_klaw"[::-1])(caught()))', "stack"),
    ('getattr(inspect, "kcats"[::-1])()', "stack"),
    ('getattr(inspect, "emarftnerruc"[::-1])()', "stack"),
    ('getattr(logging.getLogger(), "rellaCdnif"[::-1])()', "stack"),
    ('getattr(caught(), "emarf_bt"[::-1])', "stack"),
    ('operator.attrgetter("emarf_bt"[::-1])(caught())', "stack"),
    ('getattr((i for i in "a"), "emarf_ig"[::-1])', "stack"),
    ('getattr(double, "__edoc__"[::-1])', "code"),
    ("inspect.signature(double)", "code"),
    ('getattr(sys, "ecarttes"[::-1])(None)', "tracing"),
    ('getattr(sys, "eliforptes"[::-1])(None)', "tracing"),
    ('getattr(sys, "koohtiduadda"[::-1])(lambda *event: None)', "tracing"),
    ('getattr(gc, "stcejbo_teg"[::-1])()', "objects"),
    ('getattr(gc, "srerrefer_teg"[::-1])([])', "objects"),
    ('getattr(gc, "stnerefer_teg"[::-1])([])', "objects"),
    ('getattr(ctypes, "fosserdda"[::-1])(ctypes.c_int())', "memory"),
    ('getattr(builtins, "lave"[::-1])("1")', "text"),
    ('getattr(builtins, "cexe"[::-1])("import sys; sys._get" "frame()")', "stack"),
    ('getattr(builtins, "elipmoc"[::-1])("1", "f", "eval")', "text"),
]
"""What the source does not say, and of what kind it is."""


@for_each("start", range(0, len(NOTICED), 7))
def test_looks_that_the_source_hides_are_noticed(start: int, lesson: Lesson):
    tried = NOTICED[start : start + 7]
    source = HEAD + "\n".join(code for code, _ in tried) + "\n"
    expected = {(line, kind) for line, (_, kind) in enumerate(tried, HEAD.count("\n") + 1)}
    report = run(lesson, source)
    assert report.passed
    assert expected - {(look.line, look.kind) for look in report.looks} == set()
    assert not expected & {(look.line, look.kind) for look in looks(source)}


def test_a_thread_that_traces_is_noticed(lesson: Lesson):
    source = f"""{HEAD}
getattr(threading, "ecarttes"[::-1])(lambda *event: None)
thread = threading.Thread(target=double, args=(1,))
thread.start()
thread.join()
"""
    report = run(lesson, source)
    assert report.passed and (0, "tracing") in {(look.line, look.kind) for look in report.looks}


def test_a_look_stays_in_the_report_whatever_follows(lesson: Lesson):
    after = f"""{HEAD}
getattr(sys, "emarfteg_"[::-1])()
for name, module in list(getattr(sys, "seludom"[::-1]).items()):
    if name.startswith("tutor.sandbox"):
        module.__dict__.clear()
import os
os._exit(0)
"""
    report = run(lesson, after)
    line = after.split("\n").index('getattr(sys, "emarfteg_"[::-1])()') + 1
    assert report.verdict == "error"
    assert (line, "stack") in {(look.line, look.kind) for look in report.looks}


def test_what_libraries_look_at_for_ordinary_code_does_not_count(lesson: Lesson):
    report = run(lesson, ORDINARY)
    assert report.passed, report
    assert report.looks == ()
