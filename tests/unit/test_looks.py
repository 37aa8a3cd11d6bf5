"""What a submission's source says that it looks at; ordinary code says nothing of that kind."""

import msgspec

from benchmarks.held_out import held_out, names
from tests.cases import for_each
from tests.conftest import course
from tutor.authoring.trial import trials
from tutor.engine.looks import MAX_LOOK_NAME, MAX_LOOKS, looks
from tutor.lesson import Lesson
from tutor.report import Look, LookKind, Report, looks_text
from tutor.sandbox.protocol import Noticed

PACK = course()

SAID: list[tuple[LookKind, str]] = [
    ("stack", "sys._getframe()"),
    ("stack", "from sys import _getframe as g; g()"),
    ("stack", 'getattr(sys, "_get" + "frame")()'),
    ("stack", 'getattr(sys, "_getframe")()'),
    ("stack", 'vars(sys)["_getframe"]()'),
    ("stack", 'operator.attrgetter("tb_frame.f_back")(tb)'),
    ("stack", "sys._current_frames()"),
    ("stack", "traceback.extract_stack()"),
    ("stack", "from traceback import walk_stack as walk"),
    ("stack", "logging.getLogger().findCaller()"),
    ("stack", "logging.info('here', stack_info=True)"),
    ("stack", "error.__traceback__.tb_frame.f_back"),
    ("stack", "(i for i in x).gi_frame.f_back"),
    ("stack", "jax.make_jaxpr(f)(x).eqns[0].source_info.traceback"),
    ("import", "import inspect"),
    ("import", "import inspect as i; i.stack()"),
    ("import", "from inspect import stack"),
    ("import", "import gc"),
    ("import", "import ctypes.util"),
    ("import", 'importlib.import_module("inspect").stack()'),
    ("code", "f.__code__.co_name"),
    ("code", "f.__closure__[0].cell_contents"),
    ("objects", "gc.get_referrers(x)"),
    ("objects", "object.__subclasses__()"),
    ("tracing", "sys.settrace(f)"),
    ("tracing", "threading.setprofile(f)"),
    ("tracing", "sys.monitoring.use_tool_id(0, 'x')"),
    ("text", "exec('1')"),
    ("text", "builtins.eval('1')"),
    ("text", "f = compile; f('1', '', 'eval')"),
    ("modules", "sys.modules['jax']"),
    ("modules", "from sys import modules"),
    ("modules", "import sys as s; s.modules"),
    ("modules", 'getattr(sys, "modules")'),
    ("modules", 'getattr(sys, name)'),
    ("modules", "import tutor.checks.inside.prng"),
    ("modules", "from tutor.sandbox import worker"),
    ("modules", 'importlib.import_module("tutor.checks")'),
    ("modules", 'importlib.import_module("tu" + name)'),
    ("modules", '__import__("tutor")'),
    ("modules", "f.__globals__['x'] = 1"),
    ("modules", 'operator.attrgetter("__globals__")(f)'),
    ("modules", "jnp.__dict__['stack'] = f"),
    ("modules", "vars(jnp).update(stack=f)"),
    ("patch", "jax.jit = f"),
    ("patch", "jnp.stack, y = f, 1"),
    ("patch", "del jax.lax.scan"),
    ("patch", "jax._src.random.bits += 1"),
    ("patch", "for jax.jit in [f]: pass"),
    ("patch", "m = jax.lax; m.scan = f"),
    ("patch", "from jax import lax as m; m.scan = f"),
    ("patch", "setattr(jax, 'jit', f)"),
    ("patch", "type.__setattr__(jax.Array, 'at', f)"),
    ("patch", "from flax import nnx; nnx.Linear.__call__ = f"),
]  # fmt: skip

IMPORTS = "import builtins, importlib, jax, logging, operator, sys, traceback, jax.numpy as jnp\n\n"

ORDINARY = """\
import dataclasses, enum, functools, logging, os, sys, traceback, typing, warnings
from collections import namedtuple
from flax import linen as nn, nnx
import jax
from jax import config
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", False)
config.update("jax_debug_nans", False)
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "")
T = typing.TypeVar("T")
Pair = namedtuple("Pair", "a b")
Color = enum.Enum("Color", "red green")
Made = dataclasses.make_dataclass("Made", ["x"])

class Typed(typing.NamedTuple):
    modules: tuple = ()

@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Held:
    x: float
    def __post_init__(self):
        object.__setattr__(self, "x", float(self.x))

class Net(nn.Module):
    names: tuple = ("a", "b")
    def setup(self):
        for name in self.names:
            setattr(self, name, nn.Dense(1))
    def __call__(self, x):
        return sum(getattr(self, name)(x) for name in self.names)

class Own:
    def __init__(self, **values):
        self.__dict__.update(values)
        self.modules = [values]

def eval(model, x):
    model.eval()
    model.scale = 1
    return model.modules

def compile(step):
    return jax.jit(step)

def patch(random):
    random.key = 0

def name(f):
    "Uses `f.__name__`, not sys._getframe or tutor.checks."
    return f"{f.__name__} {vars(f)}"

def double(x):
    logging.getLogger("mine").info("called")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("once", stacklevel=2)
    try:
        raise ValueError
    except ValueError:
        text = traceback.format_exc()
    activation = getattr(jax.nn, "re" + "lu")
    Held(1), Made(2), Pair(1, 2), Typed()
    net = Net()
    net.init_with_output(jax.random.key(0), jnp.ones((1, 1)))
    nnx.jit(lambda m, x: m(x))(nnx.Linear(1, 1, rngs=nnx.Rngs(0)), jnp.ones((1, 1)))
    compile(functools.partial(jnp.add, 1))(2)
    np.ones(3).ctypes
    return 2 * x
"""
"""Ordinary code that libraries look at, or that uses names that would be looks elsewhere."""


@for_each(("kind", "code"), SAID)
def test_a_look_that_the_source_says_is_reported_with_its_line(kind: LookKind, code: str):
    assert (3, kind) in {(look.line, look.kind) for look in looks(IMPORTS + code)}


def test_ordinary_code_looks_at_nothing():
    assert looks(ORDINARY) == ()


@for_each("lesson", list(PACK.lessons.values()), ids=lambda lesson: lesson.id)
def test_no_answer_of_the_course_looks_at_anything(lesson: Lesson):
    # Idle answers are made by `pack test`, not by people.
    for trial in trials(PACK, lesson, (0,), with_variants=True)[0]:
        assert trial.kind == "idle" or looks(trial.code) == (), trial.name


@for_each("lesson", names())
def test_no_held_out_answer_looks_at_anything(lesson: str):
    assert looks(held_out(lesson).code) == looks(held_out(lesson).edited) == ()


def test_what_a_sandbox_says_is_kept_within_bounds():
    hostile = [Noticed("stack", "\x1b[31m\n", 10**9), Noticed("code", "__code__", 2)]
    found = looks("x = 1\ny = 2\n", [*hostile, *(Noticed("text", "exec", n) for n in range(100))])
    assert found[:2] == (Look(0, "stack", "␛[31m␊"), Look(0, "text", "exec"))
    assert Look(2, "code", "__code__") in found and len(found) == 6
    assert len(looks("f.__code__\n" * 1_000)) == MAX_LOOKS
    (look,) = looks(f"import jax\njax.{'x' * 100_000} = 1\n")
    assert len(look.name) == MAX_LOOK_NAME


def test_looks_are_read_by_people():
    found = looks("import sys\n\nsys._getframe()\nframe.f_back\neval('1')\n")
    assert looks_text(found) == (
        "reads the call stack at lines 3, 4 (`sys._getframe`, `f_back`); "
        "runs text as code at line 5 (`eval`)"
    )
    assert looks_text([Look(0, "tracing", "sys.settrace")]) == (
        "traces the interpreter (`sys.settrace`)"
    )


def test_a_report_keeps_looks_in_json():
    report = Report("double", "pass", (), looks=looks("f.__code__\nexec('1')\n"))
    assert len(report.looks) == 2 and Report.from_json(report.to_json()) == report
    assert Report.from_json(msgspec.json.encode({"lesson": "a", "verdict": "pass", "checks": []}))
